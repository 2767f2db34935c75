import torch
import torch.nn as nn


class OccupancyGrid(nn.Module):
    """Coarse EMA of the density, used to skip the empty part of each ray."""

    def __init__(self, aabb, resolution=16, decay=0.9, threshold=0.01, warmup=2):
        super().__init__()
        self.resolution = resolution
        self.decay = decay
        self.threshold = threshold
        self.warmup = warmup
        self.register_buffer("aabb", torch.as_tensor(aabb, dtype=torch.float32).view(2, 3))
        self.register_buffer("density", torch.zeros(resolution ** 3))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def _cell_centres(self):
        r = self.resolution
        axis = (torch.arange(r, device=self.density.device) + 0.5) / r
        grid = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), dim=-1)
        return grid.reshape(-1, 3)

    @torch.no_grad()
    def update(self, field):
        unit = self._cell_centres()
        unit = unit + (torch.rand_like(unit) - 0.5) / self.resolution
        self.density.mul_(self.decay)
        self.density.copy_(torch.maximum(self.density, field.density(unit * 2 - 1)))
        self.steps += 1

    def query(self, pts):
        """pts: (..., 3) in world units -> bool mask of the occupied ones."""
        lo, hi = self.aabb
        unit = (pts - lo) / (hi - lo)
        inside = ((unit >= 0) & (unit < 1)).all(dim=-1)
        if self.steps.item() < self.warmup:
            return inside
        ijk = (unit.clamp(0, 1 - 1e-6) * self.resolution).long()
        flat = (ijk[..., 0] * self.resolution + ijk[..., 1]) * self.resolution + ijk[..., 2]
        return inside & (self.density[flat] > self.threshold)

    def extra_repr(self):
        return f"resolution={self.resolution}, threshold={self.threshold}"
