import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


class DINOHead(nn.Module):
    def __init__(self, in_dim, out_dim, hidden=48, bottleneck=16):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(in_dim, hidden), nn.GELU(), nn.Linear(hidden, bottleneck))
        self.last = weight_norm(nn.Linear(bottleneck, out_dim, bias=False))

    def forward(self, x):
        return self.last(F.normalize(self.mlp(x), dim=-1))


def build_network(in_dim=16, width=32, prototypes=24):
    backbone = nn.Sequential(nn.Linear(in_dim, width), nn.BatchNorm1d(width), nn.GELU(), nn.Linear(width, width))
    return nn.Sequential(backbone, DINOHead(width, prototypes))
