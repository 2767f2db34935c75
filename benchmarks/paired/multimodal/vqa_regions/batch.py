from dataclasses import dataclass, fields, replace
from typing import List

import torch
from torch import Tensor


def _place(value, device):
    if isinstance(value, Tensor):
        return value.to(device, non_blocking=True)
    if isinstance(value, (list, tuple)):
        return type(value)(_place(v, device) for v in value)
    return value


@dataclass
class VQABatch:
    question: Tensor
    question_len: Tensor
    regions: List[Tensor]
    target: Tensor
    ids: List[str]

    # pack_padded_sequence wants these on the host
    HOST_ONLY = ("question_len",)

    def to(self, device):
        moved = {
            f.name: _place(getattr(self, f.name), device)
            for f in fields(self)
            if f.name not in self.HOST_ONLY
        }
        return replace(self, **moved)

    def __len__(self):
        return len(self.ids)
