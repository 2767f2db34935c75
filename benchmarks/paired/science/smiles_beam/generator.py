import torch
import torch.nn as nn

from vocab import PAD


class SmilesLM(nn.Module):
    def __init__(self, n_tokens, emb=16, hidden=32, layers=2):
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.embed = nn.Embedding(n_tokens, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hidden, layers, batch_first=True)
        self.proj = nn.Linear(hidden, n_tokens)

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, tokens, state=None):
        out, state = self.rnn(self.embed(tokens), state)
        return self.proj(out), state
