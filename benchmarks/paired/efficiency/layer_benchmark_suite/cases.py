import torch
from torch import nn
from torch.nn import functional as F

from bench.registry import benchmark


@benchmark(shape=(4, 8, 12, 12), tags=("conv",))
def dense_conv():
    return nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())


@benchmark(shape=(4, 8, 12, 12), tags=("conv", "compressed"))
def separable_conv():
    return nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 16, 1), nn.BatchNorm2d(16), nn.ReLU())


@benchmark(shape=(4, 8, 12, 12), tags=("conv", "compressed"))
def ghost_conv():
    class Ghost(nn.Module):
        def __init__(self):
            super().__init__()
            self.primary = nn.Conv2d(8, 8, 3, padding=1)
            self.cheap = nn.Conv2d(8, 8, 3, padding=1, groups=8)

        def forward(self, x):
            y = F.relu(self.primary(x))
            return torch.cat([y, F.relu(self.cheap(y))], 1)

    return Ghost()


@benchmark(shape=(32, 64), train=False, tags=("linear",))
def dense_linear():
    return nn.Linear(64, 64)


@benchmark(shape=(32, 64), train=False, tags=("linear", "compressed"))
def low_rank_linear():
    full = nn.Linear(64, 64)
    u, s, vh = torch.linalg.svd(full.weight.detach())
    r = 12
    down, up = nn.Linear(64, r, bias=False), nn.Linear(r, 64)
    down.weight.data.copy_(s[:r, None].sqrt() * vh[:r])
    up.weight.data.copy_(u[:, :r] * s[:r].sqrt())
    up.bias.data.copy_(full.bias)
    return nn.Sequential(down, up)
