import time
from collections import OrderedDict
from contextlib import contextmanager

import torch
from torch import nn


def synchronize(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class Stopwatch:
    def __init__(self, device):
        self.device = device
        self.laps = []

    @contextmanager
    def lap(self):
        synchronize(self.device)
        t0 = time.perf_counter()
        yield
        synchronize(self.device)
        self.laps.append(time.perf_counter() - t0)

    @property
    def median_us(self):
        laps = sorted(self.laps)
        return laps[len(laps) // 2] * 1e6


class MacCounter:
    """Counts multiply-accumulates of linear and convolution layers."""

    def __init__(self, module):
        self.by_layer = OrderedDict()
        self.handles = []
        for name, m in module.named_modules():
            if isinstance(m, (nn.Linear, nn.Conv2d)):
                self.handles.append(m.register_forward_hook(self._hook(name or type(m).__name__)))

    def _hook(self, name):
        def hook(m, args, out):
            if isinstance(m, nn.Conv2d):
                per_output = m.in_channels // m.groups * m.kernel_size[0] * m.kernel_size[1]
            else:
                per_output = m.in_features
            self.by_layer[name] = self.by_layer.get(name, 0) + out.numel() * per_output

        return hook

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for h in self.handles:
            h.remove()

    @property
    def total(self):
        return sum(self.by_layer.values())
