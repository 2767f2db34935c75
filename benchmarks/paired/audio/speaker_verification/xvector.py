import torch
import torch.nn as nn


class StatsPool(nn.Module):
    def forward(self, x, mask):
        w = mask.unsqueeze(1).to(x.dtype)
        n = w.sum(-1)
        mean = (x * w).sum(-1) / n
        var = ((x - mean.unsqueeze(-1)).pow(2) * w).sum(-1) / n
        return torch.cat([mean, (var + 1e-5).sqrt()], dim=1)


class XVector(nn.Module):
    def __init__(self, n_feats, channels=24, emb_dim=16):
        super().__init__()
        self.tdnn = nn.Sequential(
            nn.Conv1d(n_feats, channels, 5, padding=2), nn.ReLU(), nn.BatchNorm1d(channels),
            nn.Conv1d(channels, channels, 3, padding=2, dilation=2), nn.ReLU(), nn.BatchNorm1d(channels))
        self.pool = StatsPool()
        self.proj = nn.Linear(2 * channels, emb_dim)

    def forward(self, feats, lengths):
        mask = torch.arange(feats.size(-1), device=feats.device) < lengths.to(feats.device).unsqueeze(1)
        return self.proj(self.pool(self.tdnn(feats), mask))
