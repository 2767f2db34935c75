import torch
import torch.nn as nn
import torch.nn.functional as F


class BiEncoder(nn.Module):
    def __init__(self, vocab_size, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.score = nn.Linear(dim, 1)
        self.log_temp = nn.Parameter(torch.tensor(2.0))

    @property
    def device(self):
        return self.log_temp.device

    def forward(self, ids):
        x = self.embed(ids)
        x = x + F.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        att = self.score(x).squeeze(-1).masked_fill(ids == 0, -1e4).softmax(-1)
        return F.normalize((att.unsqueeze(-1) * x).sum(1), dim=-1)


class TextPipeline:
    """Tokenizer and encoder together: strings in, vectors out."""

    def __init__(self, tokenizer, encoder, max_len=32):
        self.tokenizer, self.encoder, self.max_len = tokenizer, encoder, max_len

    def batch(self, texts):
        rows = [torch.tensor(self.tokenizer.encode(t)[: self.max_len]) for t in texts]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True).to(self.encoder.device)

    def __call__(self, texts):
        return self.encoder(self.batch(texts))

    @torch.no_grad()
    def embed(self, texts, batch_size=16):
        was_training = self.encoder.training
        self.encoder.eval()
        chunks = [self(texts[i:i + batch_size]) for i in range(0, len(texts), batch_size)]
        self.encoder.train(was_training)
        return torch.cat(chunks)
