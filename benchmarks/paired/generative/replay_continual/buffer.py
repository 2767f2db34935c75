from dataclasses import dataclass, field
from typing import Optional

import torch


@dataclass
class ReservoirBuffer:
    """Reservoir sampling over a stream (Vitter), as used by ER / DER++.

    `storage` says where the examples live; sampling is reproducible through its own generator.
    """

    capacity: int
    storage: torch.device
    seed: int = 0
    seen: int = 0
    x: Optional[torch.Tensor] = None
    y: Optional[torch.Tensor] = None
    logits: Optional[torch.Tensor] = None
    gen: torch.Generator = field(init=False, repr=False)

    def __post_init__(self):
        self.storage = torch.device(self.storage)
        self.gen = torch.Generator(device=self.storage).manual_seed(self.seed)

    def __len__(self):
        return min(self.seen, self.capacity)

    def _allocate(self, x, logits):
        self.x = torch.empty(self.capacity, *x.shape[1:], device=self.storage)
        self.y = torch.empty(self.capacity, dtype=torch.long, device=self.storage)
        self.logits = torch.empty(self.capacity, logits.shape[1], device=self.storage)

    def add(self, x, y, logits):
        if self.x is None:
            self._allocate(x, logits)
        for i in range(x.shape[0]):
            if self.seen < self.capacity:
                slot = self.seen
            else:
                slot = int(torch.randint(self.seen + 1, (1,), generator=self.gen, device=self.storage))
            self.seen += 1
            if slot < self.capacity:
                self.x[slot] = x[i].detach()
                self.y[slot] = y[i]
                self.logits[slot] = logits[i].detach()

    def sample(self, n, device=None):
        idx = torch.randint(len(self), (n,), generator=self.gen, device=self.storage)
        device = device or self.storage
        return self.x[idx].to(device), self.y[idx].to(device), self.logits[idx].to(device)

    def class_counts(self, num_classes):
        return torch.bincount(self.y[:len(self)].cpu(), minlength=num_classes).tolist()
