"""Gathers: traces of one event with different static delays."""
from dataclasses import dataclass

import torch

from .shift import shift_traces


def ricker(n, centre, width):
    t = (torch.arange(n) - centre) / width
    return (1 - 2 * t**2) * torch.exp(-(t**2))


@dataclass
class Gather:
    traces: torch.Tensor   # (events, stations, samples)
    delay: torch.Tensor    # (events, stations), in samples

    @classmethod
    def simulate(cls, events, stations=8, samples=128, noise=0.08, seed=0):
        g = torch.Generator().manual_seed(seed)
        width = 5.0 + 3.0 * torch.rand(events, generator=g)
        source = torch.stack([ricker(samples, samples / 2, w) for w in width])
        delay = 6.0 * torch.randn(events, stations, generator=g)
        delay = (delay - delay.mean(1, keepdim=True)).clamp(-15.0, 15.0)
        traces = shift_traces(source[:, None].expand(-1, stations, -1), delay)
        traces = traces + noise * torch.randn(traces.shape, generator=g)
        return cls(traces, delay)

    def __len__(self):
        return len(self.traces)

    def batches(self, size, generator=None):
        order = torch.randperm(len(self), generator=generator)
        for pick in order.split(size):
            yield self.traces[pick], self.delay[pick]
