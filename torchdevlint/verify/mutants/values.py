"""The tensors that a value holds: found within bounds, moved to the GPU, brought back to the host."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import types
import unittest
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from torchdevlint.machine.places import user_place
from torchdevlint.machine.tags import ANY_DEVICE, WILD, Device, Tag, cuda_device, set_tag, tag_of

_gradient: Any = torch._C.TensorBase.grad.__get__  # type: ignore[union-attr]
_DEEPEST, _MOST = 4, 60
_ATOMS: tuple[type, ...] = (
    str,
    bytes,
    int,
    float,
    complex,
    type,
    type(None),
    types.ModuleType,
    torch.dtype,
    torch.Size,
    Device,
)
_ATOM_TYPES = frozenset((*_ATOMS, bool))
"""What most values are: to look a type up is quicker than to ask for its subclasses."""
_OWN_WAY = (torch.distributions.Distribution, torch.optim.Optimizer)
"""Objects of torch that hold tensors and cannot be moved: their tensors are tagged in place."""


def device_type(tensor: Any) -> str:
    """ "cuda", "cpu" (also for what C++ made, whose device is open), or another type."""
    tag = tag_of(tensor)
    if tag.device is ANY_DEVICE:
        return "cpu"
    if tag.device.type == "cpu":
        inner = _inner(tensor)
        if inner is not None:
            return device_type(inner)
        return "meta" if tensor.is_meta else "cpu"
    return str(tag.device.type)


def _inner(tensor: Any) -> Any:
    if type(tensor) in (torch.Tensor, torch.nn.Parameter) or not hasattr(tensor, "__tensor_flatten__"):
        return None
    try:
        names, _ = tensor.__tensor_flatten__()
        return getattr(tensor, names[0]) if names else None
    except (AttributeError, NotImplementedError, TypeError):
        return None


def tensors(value: Any, depth: int = 0) -> Iterator[Any]:
    """The tensors that a value holds, in bounds of depth and width."""
    seen: set[int] = set()
    stack: list[Iterator[Any]] = [iter((value,))]
    while stack:
        for item in stack[-1]:
            if type(item) in _ATOM_TYPES:
                continue
            if isinstance(item, torch.Tensor):
                yield item
                continue
            level = depth + len(stack) - 1
            if level > _DEEPEST or id(item) in seen or isinstance(item, _ATOMS):
                continue
            seen.add(id(item))
            stack.append(iter(_parts(item, level)))
            break
        else:
            stack.pop()


def _parts(value: Any, depth: int) -> Iterable[Any]:
    """What a value is made of, one level down. The value itself keeps all of it alive."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return itertools.islice(value, _MOST)
    if isinstance(value, dict):
        return itertools.islice(value.values(), _MOST)
    if isinstance(value, torch.nn.Module):
        return itertools.chain(value.parameters(), value.buffers()) if "_parameters" in value.__dict__ else ()
    if isinstance(value, types.MethodType):
        return (value.__self__,)
    if isinstance(value, types.BuiltinMethodType):
        return (value.__self__,) if isinstance(value.__self__, torch.Tensor) else ()
    if isinstance(value, functools.partial):
        return (value.args, value.keywords, value.func)
    if isinstance(value, types.FunctionType):
        return map(_content, value.__closure__ or ())
    if depth < 3 and not isinstance(value, unittest.TestCase) and not _is_foreign(value):
        fields = getattr(value, "__dict__", None)
        if isinstance(fields, dict):
            return itertools.islice(fields.values(), _MOST)
    return ()


def _content(cell: types.CellType) -> Any:
    """What a closure's cell holds; None for an empty one."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


_FOREIGN = frozenset(("numpy", "_pytest", "pytest", "unittest", "pandas", "scipy", "builtins"))


def _is_foreign(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in _FOREIGN


def holds(value: Any, kind: str, depth: int = 0) -> bool:
    """Whether a value holds a tensor on such a device; `depth`: how deep in another value it lies."""
    if type(value) in _ATOM_TYPES or type(value).__module__ == "numpy":
        return False
    if isinstance(value, torch.Tensor):
        return device_type(value) == kind
    if type(value) in (list, tuple) and _ATOM_TYPES.issuperset(map(type, value)):
        return False
    return any(device_type(tensor) == kind for tensor in tensors(value, depth))


def retag(tensor: Any, fresh: bool = False) -> None:
    """The tensor is on the GPU from now on: leaf, identity and aliases stay. `fresh`: it was made just now, there and nowhere else before."""
    old = tag_of(tensor)
    if fresh and old.born is not None and old.moved is None:
        new = Tag(cuda_device(0), old.born)
    else:
        place = user_place(2)
        new = Tag(cuda_device(0), old.born or place, place)
    set_tag(tensor, new)
    if tensor.layout in (torch.sparse_coo,):
        tensor._tdl_tag = new
        for part in (tensor._indices(), tensor._values()):
            set_tag(part, new)
    elif tensor.layout != torch.strided:
        tensor._tdl_tag = new
    inner = _inner(tensor)
    if inner is not None and device_type(inner) == "cpu":
        retag(inner)
    gradient = _gradient(tensor) if tensor.is_leaf else None
    if gradient is not None and device_type(gradient) == "cpu":
        retag(gradient)


def moved(value: Any, fresh: bool, depth: int = 0) -> Any:
    """`value` on the GPU. `fresh`: it was made just now, so that tensors are tagged in place; else they are copied, as `.cuda()` does."""
    if isinstance(value, torch.Tensor):
        if device_type(value) != "cpu":
            return value
        if fresh or tag_of(value) is WILD or (value.is_leaf and value.requires_grad):
            retag(value, fresh)
            return value
        return value.cuda()
    if depth > _DEEPEST or isinstance(value, _ATOMS):
        return value
    if isinstance(value, torch.nn.Module):
        return _ask(value)
    if isinstance(value, _OWN_WAY):
        for tensor in tensors(value):
            if device_type(tensor) == "cpu":
                retag(tensor)
        return value
    return _moved_container(value, fresh, depth)


def _moved_container(value: Any, fresh: bool, depth: int) -> Any:
    go: Callable[[Any], Any] = lambda item: moved(item, fresh, depth + 1)  # noqa: E731
    kind = type(value)
    if kind is list:
        if any(
            isinstance(item, torch.Tensor) or not isinstance(item, _ATOMS) for item in itertools.islice(value, _MOST)
        ):
            value[:] = map(go, value)
        return value
    if isinstance(value, tuple):
        if kind is tuple:
            return tuple(map(go, value))
        if hasattr(value, "_fields"):
            return kind(*map(go, value))
        if kind.__module__.startswith("torch.return_types"):
            return kind(list(map(go, value)))
        return _ask(value) if holds(value, "cpu") else value
    if isinstance(value, dict):
        for key in list(value):
            item = value[key]
            other = go(item)
            if other is not item:
                value[key] = other
        return value
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):
        return _ask(value)
    if _is_foreign(value) or isinstance(value, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        return value
    if not holds(value, "cpu"):
        return value
    if callable(getattr(kind, "to", None)) or callable(getattr(kind, "cuda", None)):
        return _ask(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            item = getattr(value, field.name, None)
            other = go(item)
            if other is not item:
                object.__setattr__(value, field.name, other)
    return value


def _ask(value: Any) -> Any:
    """What a user writes: `value.to("cuda:0")`, else `value.cuda()`. A value that cannot be moved stays."""
    for name, arguments in (("to", ("cuda:0",)), ("cuda", ())):
        move = getattr(value, name, None)
        if not callable(move):
            continue
        try:
            made = move(*arguments)
        except Exception:  # foreign code: another signature, an abstract method
            continue
        return value if made is None else made
    return value


def to_host(value: Any, depth: int = 0) -> Any:
    """`value` with its tensors on the CPU, for functions that compare."""
    if isinstance(value, torch.Tensor):
        return value.cpu() if device_type(value) == "cuda" else value
    if depth > _DEEPEST:
        return value
    if type(value) in (list, tuple):
        return type(value)(to_host(item, depth + 1) for item in value)
    if type(value) is dict:
        return {key: to_host(item, depth + 1) for key, item in value.items()}
    return value
