from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Placement:
    devices: tuple[torch.device, ...]

    @property
    def first(self) -> torch.device:
        return self.devices[0]

    @property
    def last(self) -> torch.device:
        return self.devices[-1]

    def __getitem__(self, i: int) -> torch.device:
        return self.devices[i]

    def __str__(self) -> str:
        return " -> ".join(str(d) for d in self.devices)


def plan(stages: int, max_gpus: int | None = None) -> Placement:
    n = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if max_gpus is not None:
        n = min(n, max_gpus)
    devices = [torch.device("cuda", i) for i in range(min(n, stages))]
    devices += [torch.device("cpu")] * (stages - len(devices))
    return Placement(tuple(devices))
