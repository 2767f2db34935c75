"""Phase folded views of a light curve, computed on the fly."""
import torch
from torch import nn
import torch.nn.functional as F

from lightcurves import fold


class TableModule(nn.Module):
    """A module with constant tables.

    The tables are functions of the hyperparameters, so they are neither
    parameters nor buffers and stay out of every checkpoint; they follow the
    module through ``.to()``, ``.double()`` and so on.
    """

    tables = ()

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        for name in self.tables:
            setattr(self, name, fn(getattr(self, name)))
        return self

    def extra_repr(self):
        return ", ".join(f"{n}={tuple(getattr(self, n).shape)}" for n in self.tables)


class GlobalView(TableModule):
    """The whole orbit, binned and lightly smoothed."""

    tables = ("edges", "smoother")
    half_width = 0.5

    def __init__(self, bins: int):
        super().__init__()
        self.bins = bins
        self.edges = torch.linspace(-self.half_width, self.half_width, bins + 1)
        kernel = torch.tensor([1.0, 2.0, 1.0])
        self.smoother = (kernel / kernel.sum()).view(1, 1, -1)

    def select(self, phase):
        return torch.ones_like(phase)

    def finish(self, view):
        return view

    def forward(self, time, flux, period, epoch):
        phase = fold(time, period[:, None], epoch[:, None])
        weight = self.select(phase)
        where = torch.bucketize(phase, self.edges[1:-1])
        total = flux.new_zeros(len(flux), self.bins)
        count = torch.zeros_like(total)
        total.scatter_add_(1, where, weight * (flux - 1.0))
        count.scatter_add_(1, where, weight)
        view = total / count.clamp(min=1.0)
        view = F.conv1d(view[:, None], self.smoother, padding=1)[:, 0]
        depth = view.abs().amax(dim=1, keepdim=True).clamp(min=1e-6)
        return self.finish(view / depth)


class LocalView(GlobalView):
    """A close-up of the event, tapered towards its borders."""

    tables = GlobalView.tables + ("taper",)
    half_width = 0.08

    def __init__(self, bins: int):
        super().__init__(bins)
        self.taper = torch.hann_window(bins + 2, periodic=False)[1:-1].sqrt()

    def select(self, phase):
        return (phase.abs() < self.half_width).to(phase.dtype)

    def finish(self, view):
        return view * self.taper


VIEWS = {"global": GlobalView, "local": LocalView}
