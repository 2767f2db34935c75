import torch
import torch.nn as nn


class GRULM(nn.Module):
    def __init__(self, vocab, dim=24):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids, state=None):
        h, state = self.rnn(self.emb(ids), state)
        return self.out(h), state

    @torch.no_grad()
    def generate(self, prompt, steps, temperature=1.0):
        device = self.emb.weight.device
        ids = prompt.to(device)
        logits, state = self(ids)
        for _ in range(steps):
            nxt = torch.multinomial((logits[:, -1] / temperature).softmax(-1), 1)
            ids = torch.cat([ids, nxt], 1)
            logits, state = self(nxt, state)
        return ids
