"""torch.multiprocessing: tensors sent to another process keep their tag (C++ would want CUDA's IPC handles)."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing.reductions import reduce_tensor

from torchdevlint.machine.places import Place
from torchdevlint.machine.state import initialise
from torchdevlint.machine.tags import CPU, Tag, cuda_device, device_of, set_tag, storage_of, tag_of

_reduce_tensor: Any = reduce_tensor


def rebuild(index: int, born: Place | None, moved: Place | None, function: Any, args: Any) -> Any:
    """Make the tensor in the receiving process; it is on the sender's device."""
    tensor = function(*args)
    initialise()
    set_tag(tensor, Tag(cuda_device(index), born, moved))
    return tensor


def _reduce(tensor: Any) -> Any:
    tag = tag_of(tensor)
    if device_of(tensor).type != "cuda" or tensor.layout != torch.strided:
        return _reduce_tensor(tensor)
    storage = storage_of(tensor)
    storage._tdl_tag = Tag(CPU)  # the bytes travel through shared host memory
    try:
        function, args = _reduce_tensor(tensor)
    finally:
        storage._tdl_tag = tag
    return rebuild, (tag.device.index, tag.born, tag.moved, function, args)


def install() -> None:
    """Register the reduction for tensors and parameters."""
    ForkingPickler.register(torch.Tensor, _reduce)
    ForkingPickler.register(torch.nn.Parameter, _reduce)
