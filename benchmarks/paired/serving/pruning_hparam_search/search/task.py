import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, CONTEXT = 30, 5


def make_sets(n=128, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(0, VOCAB, (n, CONTEXT), generator=g)
    y = (x[:, 0] + x[:, -1]) % VOCAB
    y = torch.where(torch.rand(n, generator=g) < 0.5, x[:, 1], y)
    cut = int(0.75 * n)
    return TensorDataset(x[:cut], y[:cut]), TensorDataset(x[cut:], y[cut:])


def loaders(settings):
    train, val = make_sets(seed=settings.seed)
    g = torch.Generator().manual_seed(settings.seed)
    pin = settings.device != "cpu"
    return (DataLoader(train, settings.batch_size, shuffle=True, generator=g, pin_memory=pin),
            DataLoader(val, 32, pin_memory=pin))


class WindowLM(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.hidden = nn.Linear(width * CONTEXT, 4 * width)
        self.drop = nn.Dropout(dropout)
        self.proj = nn.Linear(4 * width, width)
        self.out = nn.Linear(width, VOCAB)

    def forward(self, ids):
        h = torch.tanh(self.hidden(self.embed(ids).flatten(1)))
        return self.out(self.proj(self.drop(h)))
