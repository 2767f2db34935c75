from __future__ import annotations

from dataclasses import asdict, dataclass, fields

import torch


@dataclass
class TargetScaler:
    """Per-series location and scale of the target."""

    center: torch.Tensor
    scale: torch.Tensor

    @classmethod
    def fit(cls, panel: torch.Tensor) -> TargetScaler:
        q = torch.quantile(panel, torch.tensor([0.25, 0.5, 0.75]), dim=1)
        return cls(center=q[1], scale=(q[2] - q[0]).clamp_min(1e-3))

    def to(self, device) -> TargetScaler:
        return TargetScaler(**{f.name: getattr(self, f.name).to(device) for f in fields(self)})

    def transform(self, y, series):
        return (y - self.center[series].unsqueeze(1)) / self.scale[series].unsqueeze(1)

    def inverse(self, y, series):
        shape = (-1,) + (1,) * (y.ndim - 1)
        return y * self.scale[series].view(shape) + self.center[series].view(shape)

    def state(self) -> dict:
        return {k: v.cpu() for k, v in asdict(self).items()}
