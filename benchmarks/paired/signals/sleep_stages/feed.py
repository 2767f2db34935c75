from collections.abc import Iterable, Iterator

import torch

HOST_FIELDS = frozenset({"lengths"})


class DeviceFeed:
    """Iterates over a loader and puts the tensors of each batch on a device.

    Fields named in `host` are needed by host code and stay where they are.
    With `ahead`, the next batch is requested before the current one is used.
    """

    def __init__(self, loader: Iterable, device, host: Iterable[str] = (), ahead: bool = False):
        self.loader = loader
        self.device = torch.device(device)
        self.host = frozenset(host)
        self.ahead = ahead

    def __len__(self):
        return len(self.loader)

    def place(self, batch: dict) -> dict:
        placed = {}
        for name, value in batch.items():
            if isinstance(value, torch.Tensor) and name not in self.host:
                value = value.to(self.device, non_blocking=self.ahead)
            placed[name] = value
        return placed

    def __iter__(self) -> Iterator[dict]:
        if not self.ahead:
            yield from map(self.place, self.loader)
            return
        waiting = None
        for batch in self.loader:
            upcoming = self.place(batch)
            if waiting is not None:
                yield waiting
            waiting = upcoming
        if waiting is not None:
            yield waiting
