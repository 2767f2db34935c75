from torch import nn


class SharedTrunk(nn.Module):
    def __init__(self, n_in, tasks, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.heads = nn.ModuleDict({t: nn.Linear(width, k) for t, k in tasks.items()})

    def forward(self, x):
        h = self.trunk(x)
        return {t: head(h) for t, head in self.heads.items()}
