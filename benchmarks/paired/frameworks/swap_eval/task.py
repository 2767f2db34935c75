import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from avgtrain import LoggingMixin, LoopMixin, SwaMixin


class Fourier(nn.Module):
    def __init__(self, bands):
        super().__init__()
        self.register_buffer("freq", 2.0 ** torch.arange(bands) * math.pi, persistent=False)

    def forward(self, x):
        z = x[..., None] * self.freq
        return torch.cat([z.sin(), z.cos()], dim=-1).flatten(1)


class Regressor(nn.Module):
    def __init__(self, bands, width):
        super().__init__()
        self.features = Fourier(bands)
        self.body = nn.Sequential(nn.Linear(2 * 2 * bands, width), nn.GELU(),
                                  nn.Linear(width, width), nn.GELU())
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        mean, log_var = self.head(self.body(self.features(x))).chunk(2, dim=-1)
        return mean.squeeze(-1), log_var.squeeze(-1).clamp(-6, 4)


class SurfaceTrainer(LoggingMixin, SwaMixin, LoopMixin):
    def __init__(self, cfg, device):
        self.cfg = cfg
        self.device = device
        self.model = Regressor(cfg["bands"], cfg["width"]).to(device)

    def loss(self, batch):
        x, y = batch
        mean, log_var = self.model(x)
        return F.gaussian_nll_loss(mean, y, log_var.exp())


def surface(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 2, generator=g) * 2 - 1
    y = (3 * x[:, 0]).sin() * (2 * x[:, 1]).cos() + 0.1 * torch.randn(n, generator=g)
    return TensorDataset(x, y)


def loaders(cfg):
    return (DataLoader(surface(512, 1), batch_size=cfg["batch"], shuffle=True),
            DataLoader(surface(128, 2), batch_size=cfg["batch"]))
