from typing import Sequence

import torch
from torch import Tensor, nn


class PiecewiseLinear(nn.Module):
    """One piecewise-linear curve per feature, on fixed equidistant knots in [0, 1]."""

    def __init__(self, n_features: int, n_knots: int = 8) -> None:
        super().__init__()
        self.n_knots = n_knots
        self.heights = nn.Parameter(0.1 * torch.randn(n_features, n_knots))

    def forward(self, x: Tensor) -> Tensor:
        pos = x.clamp(0, 1) * (self.n_knots - 1)
        lo = pos.floor().long().clamp(max=self.n_knots - 2)
        frac = pos - lo
        h = self.heights.unsqueeze(0).expand(x.size(0), -1, -1)
        left = h.gather(2, lo.unsqueeze(2)).squeeze(2)
        right = h.gather(2, (lo + 1).unsqueeze(2)).squeeze(2)
        return left + frac * (right - left)


class CalibratedLinear(nn.Module):
    """Sum of calibrated features; ``directions`` holds +1, -1 or 0 (free)."""

    def __init__(self, directions: Sequence[int], n_knots: int = 8) -> None:
        super().__init__()
        self.directions = list(directions)
        self.calibrators = PiecewiseLinear(len(self.directions), n_knots)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        return self.calibrators(x).sum(dim=1) + self.bias

    @torch.no_grad()
    def violations(self) -> int:
        steps = self.calibrators.heights.diff(dim=1)
        sign = steps.new_tensor(self.directions).unsqueeze(1)
        return int((steps * sign < -1e-6).sum())
