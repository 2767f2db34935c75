import torch
from torch import nn


class GRULM(nn.Module):
    def __init__(self, vocab_size: int, dim: int = 48, layers: int = 1):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.rnn = nn.GRU(dim, dim, layers, batch_first=True)
        self.head = nn.Linear(dim, vocab_size)

    def forward(self, ids: torch.Tensor, state: torch.Tensor = None):
        out, state = self.rnn(self.embed(ids), state)
        return self.head(out), state
