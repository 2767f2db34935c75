"""Factories: functions that make tensors out of no tensor, on the device that they are told or on the default one.

C++ makes every tensor on the CPU here; the patch says on which device the user wanted it. A factory that runs inside
C++ passes no patch, and its result stays a wildcard.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import torch
from torch.utils import _device as torch_device

from torchdevlint.machine import errors, ledger
from torchdevlint.machine.dispatch import check_generator
from torchdevlint.machine.moves import move, without_modes
from torchdevlint.machine.patches import replace
from torchdevlint.machine.places import user_place
from torchdevlint.machine.state import STATE, normal_device
from torchdevlint.machine.tags import CPU, WILD, Tag, device_of, set_tag, storage_of, tag_of

_stack_length = torch._C._len_torch_function_stack
_LIKE = ("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like")
_FROM_DATA = ("tensor", "as_tensor", "asarray", "scalar_tensor")
_NUMBERS = frozenset((int, float, bool, complex))
_FEW = 64
"""A longer list takes longer to read than to send through the machine."""
_ON_HOST = ("from_numpy", "frombuffer", "from_file", "from_dlpack")


def _only_machine_dispatches() -> bool:
    return torch._C._len_torch_dispatch_stack() == 1


def default_device() -> Any:
    """The device of the innermost ``with torch.device(...)`` or of `torch.set_default_device`; None without one."""
    for position in reversed(range(_stack_length())):
        mode = torch._C._get_function_stack_at(position)
        if isinstance(mode, torch_device.DeviceContext):
            return mode.device
    return None


def _finish(made: Any, device: Any, pinned: bool) -> Any:
    tag = Tag(device, user_place(3))
    set_tag(made, tag)
    if made.layout != torch.strided:
        made._tdl_tag = tag
    if pinned:
        if device != CPU:
            raise errors.fault(RuntimeError("Only dense CPU tensors can be pinned"), "pin_memory", [("tensor", made)])
        storage_of(made)._tdl_pinned = True
    return made


def _factory(original: Any, in_cpp: bool = True) -> Any:
    @functools.wraps(original)
    def factory(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None or isinstance(kwargs.get("device"), bool):
            return original(*args, **kwargs)
        if not in_cpp and kwargs.get("layout") is torch.jagged:
            return original(*args, **kwargs)  # Python, which concatenates the tensors
        spec = kwargs.pop("device", None)
        if spec is None and not in_cpp and args and isinstance(next(iter(args[0]), None), torch.Tensor):
            spec = device_of(args[0][0])  # a nested tensor is where the first of its tensors is
        if spec is None and _stack_length():
            spec = default_device()
        device = CPU if spec is None else normal_device(spec)
        if device.type not in ("cpu", "cuda"):
            return original(*args, device=device, **kwargs)
        if kwargs.get("generator") is not None:
            check_generator(device, kwargs["generator"])
        pinned = kwargs.pop("pin_memory", False)
        if in_cpp and _only_machine_dispatches():
            with without_modes():  # nothing to check, and the tag is known here
                made = original(*args, device=CPU, **kwargs)
        else:
            made = original(*args, device=CPU, **kwargs)
        return _finish(made, device, pinned)

    return factory


def _like(original: Any) -> Any:
    @functools.wraps(original)
    def like(*args: Any, **kwargs: Any) -> Any:
        pinned = kwargs.pop("pin_memory", False)
        spec = kwargs.pop("device", None)
        device = device_of(args[0] if args else kwargs["input"]) if spec is None else normal_device(spec)
        if device.type not in ("cpu", "cuda"):
            return original(*args, device=device, **kwargs)
        return _finish(original(*args, **kwargs), device, pinned)

    return like


def _normal(original: Any) -> Any:
    plain = _factory(original)

    @functools.wraps(original)
    def normal(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, torch.Tensor) for value in (*args, *kwargs.values())):
            return original(*args, **kwargs)  # an operator on its arguments
        return plain(*args, **kwargs)

    return normal


def _are_numbers(data: Any) -> bool:
    """Whether data is a Python number, or a short list of them: torch reads nothing else to make a tensor of it."""
    kind = type(data)
    if kind in _NUMBERS:
        return True
    return (kind is list or kind is tuple) and len(data) <= _FEW and all(type(item) in _NUMBERS for item in data)


def _from_data(original: Any) -> Any:
    """`torch.tensor` and its kin: without a device, the data's own, if it is a tensor."""
    copies = original.__name__ in ("tensor", "scalar_tensor")

    @functools.wraps(original)
    def from_data(*args: Any, **kwargs: Any) -> Any:
        spec = kwargs.pop("device", None)
        if spec is None and _stack_length():
            spec = default_device()
        data: Any = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        of_tensor = isinstance(data, torch.Tensor)
        if spec is None:
            device = device_of(data) if of_tensor else CPU
        else:
            device = normal_device(spec) if not isinstance(spec, bool) else original(*args, device=spec, **kwargs)
        if device.type not in ("cpu", "cuda"):
            return original(*args, device=device, **kwargs)
        pinned = kwargs.pop("pin_memory", False)
        if of_tensor and not copies:
            wanted = kwargs.get("dtype")
            return move(
                data if wanted is None else STATE.originals["to"](data, wanted), device, cause=original.__name__
            )
        if of_tensor:
            _warn_copy()
            data = data.detach()
            made = STATE.originals["clone"](STATE.originals["to"](data, kwargs.get("dtype") or data.dtype))
            made = made.requires_grad_(kwargs.get("requires_grad", False))
            if device == device_of(data):
                return made
            return _finish(made, device, pinned)
        numbers = _are_numbers(data)
        if numbers and _only_machine_dispatches():
            with without_modes():  # no tensor is read, and the tag is known here
                made = original(*args, device=CPU, **kwargs)
        else:
            made = original(*args, device=CPU, **kwargs)
        if not (copies or numbers) and tag_of(made) is not WILD:  # shares memory with an array
            return move(made, device, cause=original.__name__)
        _finish(made, device, pinned)
        if device != CPU:
            ledger.record_copy("h2d", original.__name__, made)
            ledger.record_sync(original.__name__)
        return made

    return from_data


def _warn_copy() -> None:
    warnings.warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
        UserWarning,
        stacklevel=3,
    )


def _on_host(original: Any) -> Any:
    @functools.wraps(original)
    def on_host(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        if tag_of(made).device is CPU or tag_of(made) is WILD:
            set_tag(made, Tag(CPU, user_place()))
        return made

    return on_host


def _sparse(original: Any) -> Any:
    """Sparse constructors are on the device of their values, unless they are told another."""
    plain = _factory(original)
    position = 1 if original.__name__ == "sparse_coo_tensor" else 2

    @functools.wraps(original)
    def sparse(*args: Any, **kwargs: Any) -> Any:
        given = args[position] if len(args) > position else kwargs.get("values")
        values = given if isinstance(given, torch.Tensor) else None
        if kwargs.get("device") is None and values is not None and default_device() is None:
            kwargs["device"] = device_of(values)
        # C++ brings the indices to the values' device (Note [Ensuring sparse values and indices match devices])
        target = normal_device(kwargs.get("device") or default_device() or CPU)
        moved = [move(value, target) if isinstance(value, torch.Tensor) else value for value in args]
        named = {
            name: move(value, target) if isinstance(value, torch.Tensor) else value for name, value in kwargs.items()
        }
        return plain(*moved, **named)

    return sparse


def install() -> None:
    """Patch torch's factories by their names in torch, torch.fft and torch.nested."""
    made_by = {"torch": torch, "fft": torch.fft, "nested": torch.nested}
    for constructor in list(torch_device._device_constructors()):
        name = getattr(constructor, "__name__", "").removeprefix("fft_")
        owner = next((module for module in made_by.values() if getattr(module, name, None) is constructor), None)
        if owner is None or name in _FROM_DATA:
            continue
        if name.startswith("sparse_"):
            replace(owner, name, _sparse(constructor))
        else:
            replace(owner, name, _factory(constructor, in_cpp=owner is not torch.nested))
    for name in _FROM_DATA:
        replace(torch, name, _from_data(getattr(torch, name)))
    for name in _LIKE:
        replace(torch, name, _like(getattr(torch, name)))
    for name in _ON_HOST:
        replace(torch, name, _on_host(getattr(torch, name)))
    replace(torch, "normal", _normal(torch.normal))
