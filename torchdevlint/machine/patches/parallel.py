"""nn.DataParallel: the copies between devices are C++ functions that a CPU build does not have."""

from __future__ import annotations

from typing import Any

import torch
from torch.cuda import nccl

from torchdevlint.machine.moves import move
from torchdevlint.machine.patches import replace
from torchdevlint.machine.state import normal_device
from torchdevlint.machine.tags import CPU


def _scatter(tensor: Any, devices: Any, chunk_sizes: Any = None, dim: int = 0, streams: Any = None) -> Any:
    parts = tensor.split(chunk_sizes, dim) if chunk_sizes else tensor.chunk(len(devices), dim)
    return tuple(
        move(part.contiguous(), normal_device(device), cause="scatter")
        for part, device in zip(parts, devices, strict=False)
    )


def _gather(tensors: Any, dim: int = 0, destination: Any = None) -> Any:
    device = CPU if destination == -1 else normal_device("cuda" if destination is None else destination)
    return torch.cat([move(tensor, device, cause="gather") for tensor in tensors], dim)


def _broadcast(tensor: Any, devices: Any) -> Any:
    return [move(tensor, normal_device(device), cause="broadcast") for device in devices]


def _broadcast_coalesced(tensors: Any, devices: Any, buffer_size: int = 0) -> Any:
    return [[move(tensor, normal_device(device), cause="broadcast") for tensor in tensors] for device in devices]


def _no_nccl(tensors: Any) -> bool:
    return False


def install() -> None:
    """Supply the functions."""
    for function in (_scatter, _gather, _broadcast, _broadcast_coalesced):
        replace(torch._C, function.__name__, function)
    replace(nccl, "is_available", _no_nccl)  # gradients are then added with plain operators
