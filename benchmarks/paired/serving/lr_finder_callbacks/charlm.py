import torch
from torch import nn
from torch.utils.data import Dataset


class NGramDataset(Dataset):
    """Next-token prediction on a periodic sequence with some noise."""

    def __init__(self, n, vocab, context, seed=0):
        g = torch.Generator().manual_seed(seed)
        base = torch.arange(n + context) * 7 % vocab
        noise = torch.randint(0, vocab, base.shape, generator=g)
        keep = torch.rand(base.shape, generator=g) > 0.1
        self.tokens = torch.where(keep, base, noise)
        self.context = context

    def __len__(self):
        return len(self.tokens) - self.context

    def __getitem__(self, i):
        return self.tokens[i:i + self.context], self.tokens[i + self.context]


class BengioLM(nn.Module):
    def __init__(self, vocab, width, context):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.body = nn.Sequential(nn.Linear(width * context, 4 * width), nn.Tanh(), nn.Linear(4 * width, width))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        h = self.norm(self.body(self.embed(x).flatten(1)))
        return h @ self.embed.weight.t()
