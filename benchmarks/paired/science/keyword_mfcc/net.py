import torch
import torch.nn as nn

from features import deltas, mfcc


class KeywordNet(nn.Module):
    def __init__(self, n_classes, n_mfcc=12, channels=24):
        super().__init__()
        self.n_mfcc = n_mfcc
        self.bn_in = nn.BatchNorm1d(2 * n_mfcc)
        self.conv = nn.Sequential(
            nn.Conv1d(2 * n_mfcc, channels, 5, padding=2), nn.BatchNorm1d(channels), nn.ReLU(),
            nn.Conv1d(channels, channels, 3, padding=2, dilation=2, groups=channels),
            nn.Conv1d(channels, channels, 1), nn.BatchNorm1d(channels), nn.ReLU(),
        )
        self.attn = nn.Conv1d(channels, 1, 1)
        self.fc = nn.Linear(channels, n_classes)

    def forward(self, wav):
        with torch.no_grad():
            c = mfcc(wav, n_mfcc=self.n_mfcc)
            x = torch.cat([c, deltas(c)], dim=1)
        h = self.conv(self.bn_in(x))
        w = torch.softmax(self.attn(h), dim=-1)
        return self.fc((h * w).sum(-1))
