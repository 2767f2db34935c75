"""torch.distributed: NCCL is not there, so its name stands for gloo, which takes the machine's tensors as they are."""

from __future__ import annotations

import functools
import time
from typing import Any

import torch.distributed as dist
from torch.utils._python_dispatch import _disable_current_modes

from torchdevlint.machine import errors
from torchdevlint.machine.notes import note
from torchdevlint.machine.patches import replace
from torchdevlint.machine.tags import device_of, flat

_NOTE = "NCCL's collectives run over gloo on a virtual GPU: their speed and deadlocks are not judged"
_COLLECTIVES = (
    "all_reduce",
    "broadcast",
    "reduce",
    "all_gather",
    "all_gather_into_tensor",
    "gather",
    "scatter",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "all_to_all",
    "all_to_all_single",
    "send",
    "recv",
    "isend",
    "irecv",
)
_nccl_groups: set[int] = set()
"""Identities of process groups that the program made with NCCL."""


def _is_nccl(group: Any) -> bool:
    group = dist.distributed_c10d._get_default_group() if group is None else group
    return id(group) in _nccl_groups


def _without_nccl(original: Any) -> Any:
    @functools.wraps(original)
    def make_group(*args: Any, **kwargs: Any) -> Any:
        position = 0 if original.__name__ == "init_process_group" else 2
        given = args[position] if len(args) > position else kwargs.get("backend")
        if given is None or str(given).lower() != "nccl":
            return original(*args, **kwargs)
        note(_NOTE)
        if len(args) > position:
            args = (*args[:position], "gloo", *args[position + 1 :])
        else:
            kwargs["backend"] = "gloo"
        kwargs.pop("device_id", None)
        made = original(*args, **kwargs)
        _nccl_groups.add(id(made if made is not None else dist.distributed_c10d._get_default_group()))
        return made

    return make_group


def _get_backend(original: Any) -> Any:
    @functools.wraps(original)
    def get_backend(group: Any = None) -> Any:
        return "nccl" if _is_nccl(group) else original(group)

    return get_backend


def _on_gpu_only(original: Any) -> Any:
    @functools.wraps(original)
    def collective(*args: Any, **kwargs: Any) -> Any:
        tensors = flat([*args, *kwargs.values()])
        group = kwargs.get("group") or next((value for value in args if isinstance(value, dist.ProcessGroup)), None)
        for tensor in tensors:
            if device_of(tensor).type == "cpu" and _is_nccl(group):
                text = "No backend type associated with device type cpu"
                raise errors.fault(RuntimeError(text), original.__name__, [("tensor", tensor)])
        return _outside_of_modes(original)(*args, **kwargs)

    return collective


def _outside_of_modes(original: Any) -> Any:
    """Without the machine's dispatch mode. Gloo's thread keeps the modes of who asked it for something and needs the interpreter's lock to drop them, which
    the thread that ends the process group holds while it waits for that one (torch 2.13, ProcessGroupGloo.cpp, `AsyncWork`, `~ProcessGroupGloo`).
    """

    @functools.wraps(original)
    def without(*args: Any, **kwargs: Any) -> Any:
        with _disable_current_modes():
            return original(*args, **kwargs)

    return without


_DROPPING_S = 0.05


def _when_modes_are_dropped(original: Any) -> Any:
    """The end of a process group. What autograd asks of gloo, for DistributedDataParallel, runs in the machine's mode; gloo's threads get the time and the
    interpreter's lock to drop it (see `_outside_of_modes`).
    """

    @functools.wraps(original)
    def destroy(*args: Any, **kwargs: Any) -> Any:
        time.sleep(_DROPPING_S)
        return original(*args, **kwargs)

    return destroy


def _is_nccl_available() -> bool:
    return True


def install() -> None:
    """Patch the functions in torch.distributed and where they are defined."""
    if not dist.is_available():
        return
    c10d = dist.distributed_c10d
    patched = {name: _on_gpu_only(getattr(dist, name)) for name in _COLLECTIVES}
    patched["init_process_group"] = _without_nccl(dist.init_process_group)
    patched["new_group"] = _without_nccl(dist.new_group)
    patched["barrier"] = _outside_of_modes(dist.barrier)
    patched["destroy_process_group"] = _when_modes_are_dropped(dist.destroy_process_group)
    patched["get_backend"] = _get_backend(dist.get_backend)
    patched["is_nccl_available"] = _is_nccl_available
    for name, function in patched.items():
        replace(dist, name, function)
        replace(c10d, name, function)
