from __future__ import annotations

from dataclasses import dataclass
from typing import List, Union

import torch

Device = Union[str, torch.device]


@dataclass
class AdsBatch:
    """A mini batch in the layout of EmbeddingBag: one (indices, offsets) pair for each table."""

    dense: torch.Tensor
    indices: List[torch.Tensor]
    offsets: List[torch.Tensor]
    labels: torch.Tensor

    def __len__(self) -> int:
        return self.labels.shape[0]

    def pin_memory(self) -> AdsBatch:
        return AdsBatch(
            self.dense.pin_memory(),
            [i.pin_memory() for i in self.indices],
            [o.pin_memory() for o in self.offsets],
            self.labels.pin_memory(),
        )

    def to(self, device: Device, non_blocking: bool = False) -> AdsBatch:
        return AdsBatch(
            dense=self.dense.to(device, non_blocking=non_blocking),
            indices=[i.to(device, non_blocking=non_blocking) for i in self.indices],
            offsets=[o.to(device, non_blocking=non_blocking) for o in self.offsets],
            labels=self.labels.to(device, non_blocking=non_blocking),
        )


def collate(samples) -> AdsBatch:
    dense, bags, labels = zip(*samples)
    n_tables = len(bags[0])
    indices, offsets = [], []
    for table in range(n_tables):
        column = [torch.tensor(b[table], dtype=torch.long) for b in bags]
        lengths = torch.tensor([0] + [len(c) for c in column[:-1]])
        indices.append(torch.cat(column))
        offsets.append(lengths.cumsum(0))
    return AdsBatch(
        dense=torch.stack([torch.tensor(d, dtype=torch.float32) for d in dense]).log1p(),
        indices=indices,
        offsets=offsets,
        labels=torch.tensor(labels, dtype=torch.float32),
    )
