from typing import Iterator, NamedTuple

import torch


class EventBatch(NamedTuple):
    src: torch.Tensor
    dst: torch.Tensor
    t: torch.Tensor
    msg: torch.Tensor

    def to(self, device, **kwargs):
        return EventBatch(*(field.to(device, **kwargs) for field in self))


class EventLog:
    """Chronological list of interactions (src, dst, time, edge features)."""

    def __init__(self, src, dst, t, msg):
        order = torch.argsort(t)
        self.data = EventBatch(src[order], dst[order], t[order], msg[order])

    def __len__(self):
        return self.data.src.numel()

    def slice(self, start, stop):
        return EventLog(*(f[start:stop] for f in self.data))

    def chronological_split(self, val=0.15, test=0.15):
        n = len(self)
        a, b = int(n * (1 - val - test)), int(n * (1 - test))
        return self.slice(0, a), self.slice(a, b), self.slice(b, n)

    def batches(self, size) -> Iterator[EventBatch]:
        for lo in range(0, len(self), size):
            yield EventBatch(*(f[lo:lo + size] for f in self.data))


def synthetic_interactions(num_users=20, num_items=10, num_events=240, msg_dim=4, seed=0):
    """Users have a preferred item which drifts over time."""
    g = torch.Generator().manual_seed(seed)
    t = torch.rand(num_events, generator=g) * 100.0
    src = torch.randint(num_users, (num_events,), generator=g)
    favourite = (src + (t / 25.0).long()) % num_items
    other = torch.randint(num_items, (num_events,), generator=g)
    dst = torch.where(torch.rand(num_events, generator=g) < 0.8, favourite, other) + num_users
    msg = torch.randn(num_events, msg_dim, generator=g) * 0.1
    msg[:, 0] += favourite.float() / num_items
    return EventLog(src, dst, t, msg), num_users, num_items
