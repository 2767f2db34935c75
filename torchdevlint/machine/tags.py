"""Virtual devices as tags on the Python object of a tensor's storage.

Views, ``.data =`` swaps, autograd's saved tensors and checkpoints share the storage and so the tag: since 2.1
PyTorch keeps a storage's Python object alive as long as the storage. `selftest` checks that before the machine starts.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from torchdevlint.machine.places import Place

Device = torch.device
"""The real class: `patches.device` puts a stand-in into the torch namespace."""
CPU = torch.device("cpu")
ANY_DEVICE: Any = object()
"""The device of a tensor made inside C++: it takes the device of its users."""

storage_of: Any = torch._C.TensorBase.untyped_storage
native_device: Any = torch._C.TensorBase.device.__get__
WRAPPERS: set[type] = set()
"""Classes made by `Tensor._make_wrapper_subclass`: their own `__torch_dispatch__` unwraps them, and the machine sees what is inside."""
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_cuda_devices: list[torch.device] = []


class Tag:
    """Where a storage lives, and the user lines that put it there. Tags are shared between storages: never mutate."""

    __slots__ = ("born", "device", "moved")

    def __init__(self, device: Any, born: Place | None = None, moved: Place | None = None) -> None:
        self.device = device
        self.born = born
        self.moved = moved


HOST = Tag(CPU)
"""The tag of every storage that nobody tagged."""
WILD = Tag(ANY_DEVICE)


def cuda_device(index: int) -> torch.device:
    """The one `torch.device` object for ``cuda:index``, so that devices compare by identity."""
    while len(_cuda_devices) <= index:
        _cuda_devices.append(torch.device("cuda", len(_cuda_devices)))
    return _cuda_devices[index]


def install_default() -> None:
    """Make `HOST` the tag of every storage. A class attribute: reading it costs no dictionary look-up that fails."""
    torch.UntypedStorage._tdl_tag = HOST  # type: ignore[attr-defined]


def tag_of(tensor: Any) -> Tag:
    """The tag of a tensor's storage; of the tensor itself where it has no storage (sparse, nested, batched)."""
    try:
        tag: Tag = storage_of(tensor)._tdl_tag
    except (NotImplementedError, RuntimeError):
        return _tag_without_storage(tensor)
    except ValueError:  # a lazy parameter lets few functions through before it has a shape
        with torch._C.DisableTorchFunctionSubclass():
            return storage_of(tensor)._tdl_tag  # type: ignore[no-any-return]
    return tag


def set_tag(tensor: Any, tag: Tag) -> None:
    """Tag a tensor's storage, or the tensor itself where it has none."""
    try:
        storage_of(tensor)._tdl_tag = tag
    except (NotImplementedError, RuntimeError):
        functorch = torch._C._functorch
        if functorch.is_functorch_wrapped_tensor(tensor):
            set_tag(functorch.get_unwrapped(tensor), tag)
        else:
            tensor._tdl_tag = tag
    except ValueError:
        with torch._C.DisableTorchFunctionSubclass():
            storage_of(tensor)._tdl_tag = tag


def _tag_without_storage(tensor: Any) -> Tag:
    own = tensor.__dict__.get("_tdl_tag")
    if own is not None:
        return own  # type: ignore[no-any-return]
    # vmap and grad wrap tensors: the wrapped one carries the storage
    functorch = torch._C._functorch
    if functorch.is_functorch_wrapped_tensor(tensor):
        return tag_of(functorch.get_unwrapped(tensor))
    return HOST


def device_in_op(tensor: Any) -> Any:
    """The device that operator checks see: the tag's; `ANY_DEVICE` for a meta tensor, which C++ checks itself."""
    tag = tag_of(tensor)
    if tag is HOST and tensor.is_meta:
        return ANY_DEVICE
    return tag.device


def device_of(tensor: Any) -> torch.device:
    """The device that a user sees. A wildcard is settled here: it becomes the device of the last operator."""
    tag = tag_of(tensor)
    if tag is HOST:
        return _untagged_device(tensor)
    if tag is WILD:
        from torchdevlint.machine.dispatch import settled_by

        tag = settled_by()
        set_tag(tensor, tag)
    return tag.device  # type: ignore[no-any-return]


def _untagged_device(tensor: Any) -> torch.device:
    if type(tensor) not in _PLAIN and is_traceable_wrapper_subclass(tensor):  # its inner tensors carry the tags
        inner, _ = tensor.__tensor_flatten__()
        return device_of(getattr(tensor, inner[0]))
    return native_device(tensor)  # type: ignore[no-any-return]


def flat(value: Any) -> list[Any]:
    """The tensors in an operator's argument or result."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in flat(item)]
    return []
