"""Machines without GPUs: torch is as it is, but refuses CUDA as the build of the shape does, on whichever wheel it runs.

What a CUDA build without driver says was read off one (torch 2.15.0+cu132); a hidden GPU differs in the texts alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch.utils import _device as torch_device

from torchdevlint.machine import errors
from torchdevlint.machine.patches import device as device_patch
from torchdevlint.machine.patches import replace
from torchdevlint.machine.tags import Device

_CUDA_VERSION = "12.8"
_NO_ACCELERATOR = "Cannot access accelerator device when none is available."
_NO_TYPE = "type torch.cuda.{} not available. Torch not compiled with CUDA enabled."
_RUNTIME_ERROR = {
    "no-driver": "CUDA driver version is insufficient for CUDA runtime version",
    "hidden": "no CUDA-capable device is detected",
}
_INDEXED_METHODS = ("to", "cuda", "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor")
_TENSOR_TYPES = ("FloatTensor", "DoubleTensor", "HalfTensor", "LongTensor", "IntTensor", "ByteTensor", "BoolTensor")


def install(build: str) -> None:
    """Patch torch for a build without a usable GPU."""
    wheel_has_cuda = torch.version.cuda is not None
    _install_questions(build)
    if build != "cpu":
        device_patch.install()
        _install_indices(lambda index: Device("cuda", index))
        _install_accelerator(Device("cuda"), lambda: _refuse(build))
        _install_refusals(build)
    elif wheel_has_cuda:
        _install_indices(_no_accelerator)
        _install_accelerator(None, _no_accelerator)
        _install_without_cuda()


def _refuse(build: str) -> NoReturn:
    raise errors.no_device(build)


def _no_accelerator(*_: Any, **__: Any) -> NoReturn:
    raise errors.fault(RuntimeError(_NO_ACCELERATOR), "torch.accelerator")


def _answer(name: str, value: Any) -> Any:
    def answer(*args: Any, **kwargs: Any) -> Any:
        return value

    answer.__name__ = name
    return answer


def _raising(name: str, action: Callable[[], NoReturn]) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        action()

    refuse.__name__ = name
    return refuse


def _install_questions(build: str) -> None:
    for name in ("_lazy_init", "init"):
        replace(torch.cuda, name, _raising(name, lambda: _refuse(build)))  # every use of CUDA comes through here
    replace(torch.cuda, "is_available", _answer("is_available", False))
    replace(torch.cuda, "device_count", _answer("device_count", 0))
    replace(torch.version, "cuda", None if build == "cpu" else _CUDA_VERSION)
    replace(torch.backends.cuda, "is_built", _answer("is_built", build != "cpu"))
    replace(torch.backends.cudnn, "is_available", _answer("is_available", build != "cpu"))


def _install_accelerator(accelerator: Any, refuse: Callable[[], NoReturn]) -> None:
    """torch.accelerator tells the accelerator that the build has, and whether it is there."""
    module = getattr(torch, "accelerator", None)
    if module is None:  # torch before 2.6
        return

    def current_accelerator(check_available: bool = False) -> Any:
        return None if check_available else accelerator

    replace(module, "current_accelerator", current_accelerator)
    replace(module, "is_available", _answer("is_available", False))
    replace(module, "device_count", _answer("device_count", 0))
    for name in ("synchronize", "current_device_index", "set_device_index", "current_stream"):
        replace(module, name, _raising(name, refuse))


def _install_indices(of_index: Callable[[int], Any]) -> None:
    """A bare index names a device of the accelerator; C++ asks the accelerator of the wheel, not of the shape."""
    tensor = torch.Tensor
    targets: list[tuple[Any, str]] = [(tensor, name) for name in _INDEXED_METHODS]
    targets.append((torch._C._nn, "_parse_to"))
    for constructor in torch_device._device_constructors():
        name = getattr(constructor, "__name__", "")
        if getattr(torch, name, None) is constructor:
            targets.append((torch, name))
    for owner, name in targets:
        replace(owner, name, _with_indices(getattr(owner, name), of_index, owner is not torch))


def _with_indices(original: Any, of_index: Callable[[int], Any], positional: bool) -> Any:
    """``original`` with an integer device turned by ``of_index``; ``positional``: the first argument may be one."""
    position = 0 if original.__name__ == "_parse_to" else 1
    positional = positional and original.__name__ in ("to", "cuda", "_parse_to")

    @functools.wraps(original)
    def indexed(*args: Any, **kwargs: Any) -> Any:
        if type(kwargs.get("device")) is int:
            kwargs["device"] = of_index(kwargs["device"])
        if positional and len(args) > position and type(args[position]) is int:
            args = (*args[:position], of_index(args[position]), *args[position + 1 :])
        return original(*args, **kwargs)

    return indexed


def _install_refusals(build: str) -> None:
    """A CUDA build reaches for the driver where a CPU build has no code at all."""

    def refuse() -> NoReturn:
        _refuse(build)

    for name in ("set_device", "get_rng_state", "set_rng_state", *_TENSOR_TYPES):
        replace(torch.cuda, name, _raising(name, refuse))
    replace(torch.Tensor, "pin_memory", _raising("pin_memory", refuse))

    def runtime_error() -> NoReturn:
        raise errors.runtime_error(_RUNTIME_ERROR[build])

    replace(torch.cuda, "Stream", _raising("Stream", runtime_error))
    replace(torch, "Generator", _generator(runtime_error))


def _install_without_cuda() -> None:
    """A CPU build on a CUDA wheel."""
    for name in _TENSOR_TYPES:
        replace(torch.cuda, name, _raising(name, functools.partial(_no_type, name)))
    replace(torch.Tensor, "pin_memory", _raising("pin_memory", _no_accelerator))
    replace(torch, "Generator", _generator(_no_generator))


def _no_type(name: str) -> NoReturn:
    raise errors.fault(TypeError(_NO_TYPE.format(name)), f"torch.cuda.{name}")


def _no_generator() -> NoReturn:
    text = "Cannot get CUDA generator without ATen_cuda library."
    raise errors.fault(RuntimeError(text), "torch.Generator")


def _generator(refuse: Callable[[], NoReturn]) -> Any:
    native: Any = torch._C.Generator

    class Generator(native):  # type: ignore[misc]
        """A generator; one on CUDA is refused."""

        def __new__(cls, device: Any = "cpu") -> Any:
            if Device(device).type == "cuda":
                refuse()
            return native.__new__(cls, device)

    Generator.__module__ = "torch"
    return Generator
