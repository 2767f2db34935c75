import torch
from torch import nn


class Decoder(nn.Module):
    """A recurrent decoder; one step for a batch of states and tokens."""

    def __init__(self, vocab: int, dim: int):
        super().__init__()
        self.dim = dim
        self.embed = nn.Embedding(vocab, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab, bias=False)
        self.out.weight = self.embed.weight

    def initial(self, n: int = 1):
        return self.embed.weight.new_zeros(n, self.dim)

    def step(self, state, token):
        return self.cell(self.embed(token), state)

    def logits(self, state):
        return self.out(self.norm(state))
