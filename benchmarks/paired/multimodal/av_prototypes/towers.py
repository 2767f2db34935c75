import torch
from torch import nn
import torch.nn.functional as F


class AudioTower(nn.Module):
    def __init__(self, mels=16, dim=24):
        super().__init__()
        self.conv = nn.Conv1d(mels, 32, 5, stride=2)
        self.proj = nn.Linear(32, dim)
        self.register_buffer("window", torch.hann_window(20))

    def forward(self, spec):
        h = F.relu(self.conv(spec * self.window))
        return self.proj(h.mean(-1))


class VideoTower(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.frame = nn.Sequential(nn.Flatten(2), nn.Linear(3 * 6 * 6, 32), nn.ReLU())
        self.temporal = nn.GRU(32, dim, batch_first=True)

    def forward(self, clip):
        _, h = self.temporal(self.frame(clip))
        return h[-1]
