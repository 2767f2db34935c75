"""torch.multiprocessing: storages sent to another process keep their tag (C++ would want CUDA's IPC handles)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

from torchdevlint.machine.places import Place
from torchdevlint.machine.state import initialise
from torchdevlint.machine.tags import CPU, Tag, cuda_device, storage_of

_reductions: Any = reductions


@contextmanager
def _on_host(storage: Any) -> Iterator[None]:
    """Inside, torch takes the storage for a CPU one: its bytes travel through shared host memory."""
    tag = storage._tdl_tag
    storage._tdl_tag = Tag(CPU)
    try:
        yield
    finally:
        storage._tdl_tag = tag


def rebuild(index: int, born: Place | None, moved: Place | None, function: Any, args: Any) -> Any:
    """Make the storage in the receiving process; it is on the sender's device."""
    initialise()
    storage = function(*args)
    storage._tdl_tag = Tag(cuda_device(index), born, moved)
    return storage


def _reduce_storage(storage: Any) -> Any:
    if not storage.is_cuda:
        return _reductions.reduce_storage(storage)
    tag = storage._tdl_tag
    with _on_host(storage):
        function, args = _reductions.reduce_storage(storage)
    return rebuild, (tag.device.index, tag.born, tag.moved, function, args)


def _reduce_tensor(tensor: Any) -> Any:
    if not tensor.is_cuda or tensor.layout != torch.strided:
        return _reductions.reduce_tensor(tensor)
    with _on_host(storage_of(tensor)):
        return _reductions.reduce_tensor(tensor)


def install() -> None:
    """Register the reductions."""
    ForkingPickler.register(torch.UntypedStorage, _reduce_storage)
    ForkingPickler.register(torch.Tensor, _reduce_tensor)
    ForkingPickler.register(torch.nn.Parameter, _reduce_tensor)
