from torch import nn

from tagger.registry import MODELS


@MODELS.register
class ResMLP(nn.Module):
    def __init__(self, in_dim, out_dim, width=64, depth=2, dropout=0.0):
        super().__init__()
        self.inp = nn.Linear(in_dim, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Dropout(dropout))
            for _ in range(depth)
        )
        self.out = nn.Linear(width, out_dim)

    def forward(self, x):
        x = self.inp(x)
        for b in self.blocks:
            x = x + b(x)
        return self.out(x)
