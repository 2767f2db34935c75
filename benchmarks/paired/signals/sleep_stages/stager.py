import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class MaskedNorm(nn.Module):
    """Standardizes each night over its valid epochs."""

    def forward(self, x, valid):
        w = valid[..., None].to(x.dtype)
        n = w.sum(1, keepdim=True)
        mean = (x * w).sum(1, keepdim=True) / n
        var = ((x - mean).square() * w).sum(1, keepdim=True) / n
        return (x - mean) * (var + 1e-5).rsqrt()


class Stager(nn.Module):
    def __init__(self, n_features=5, n_stages=5, hidden=24):
        super().__init__()
        self.norm = MaskedNorm()
        self.embed = nn.Sequential(nn.Linear(n_features, hidden), nn.Tanh())
        self.rnn = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, n_stages)

    def forward(self, bands, lengths):
        steps = torch.arange(bands.shape[1], device=bands.device)
        valid = steps < lengths.to(bands.device)[:, None]
        x = self.embed(self.norm(bands, valid))
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(h)
