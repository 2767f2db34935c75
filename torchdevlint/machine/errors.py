"""The errors of a CUDA machine, in PyTorch's own words, with the guilty lines attached.

Texts are those of the sources named at each function; where releases differ, `WORDING` says which one the installed
library holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from torchdevlint.machine.places import FaultPlaces, TensorStory, user_place
from torchdevlint.machine.tags import ANY_DEVICE, tag_of

ATTRIBUTE = "torchdevlint_places"
"""The attribute of a raised error that holds its `FaultPlaces`."""
MOST_FAULTS = 1000


@dataclass(slots=True)
class _Wording:
    different_from_others: bool = True
    """Newer: "got X is on cpu, different from other tensors on cuda:0"; older: "found at least two devices"."""


WORDING = _Wording()


@dataclass(frozen=True, slots=True)
class Fault:
    """A device error that the machine raised; the program may still have caught it."""

    kind: str
    message: str
    places: FaultPlaces

    def to_dict(self) -> dict[str, object]:
        """Plain data for a report."""
        return {"kind": self.kind, "message": self.message, "places": self.places.to_dict()}


FAULTS: list[Fault] = []


_AcceleratorError: type[RuntimeError] = getattr(torch, "AcceleratorError", RuntimeError)  # newer torch

_CUDA_ADVICE = (
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable "
    "device-side assertions.\n"
)
_NO_DEVICE: dict[str, tuple[type[Exception], str]] = {
    "cpu": (AssertionError, "Torch not compiled with CUDA enabled"),
    "no-driver": (
        RuntimeError,
        "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from "
        "http://www.nvidia.com/Download/index.aspx",
    ),
    "hidden": (RuntimeError, "No CUDA GPUs are available"),
}


def story(name: str, tensor: Any) -> TensorStory:
    """What is known about one tensor of a fault, or about a generator."""
    if isinstance(tensor, torch._C.Generator):
        from torchdevlint.machine.patches.generator import tag_of_generator

        tag = tag_of_generator(tensor)
    else:
        tag = tag_of(tensor)
    return TensorStory(name, "unknown" if tag.device is ANY_DEVICE else str(tag.device), tag.born, tag.moved)


def fault(error: Exception, operator: str, tensors: Iterable[tuple[str, Any]] = ()) -> Exception:
    """Attach the guilty lines to a device error and keep it for the report. Gives the error back, to be raised."""
    places = FaultPlaces(operator, user_place(), tuple(story(name, tensor) for name, tensor in tensors))
    setattr(error, ATTRIBUTE, places)
    if len(FAULTS) < MOST_FAULTS:
        FAULTS.append(Fault(type(error).__name__, str(error), places))
    return error


def no_device(build: str) -> Exception:
    """torch/cuda/__init__.py _lazy_init and c10/cuda/CUDAFunctions.cpp, by build."""
    kind, text = _NO_DEVICE[build]
    return fault(kind(text), "torch.cuda._lazy_init")


def bad_fork() -> Exception:
    """torch/cuda/__init__.py _lazy_init."""
    text = (
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' "
        "start method"
    )
    return fault(RuntimeError(text), "torch.cuda._lazy_init")


def fork_use(operator: str) -> Exception:
    """An operator on a tensor that a forked child inherited: the driver's context is not there (c10/cuda)."""
    return fault(_AcceleratorError("CUDA error: initialization error\n" + _CUDA_ADVICE), operator)


def runtime_error(text: str) -> Exception:
    """An error of CUDA's runtime (c10/cuda/CUDAException.cpp)."""
    return fault(_AcceleratorError(f"CUDA error: {text}\n{_CUDA_ADVICE}"), "torch.cuda")


def invalid_ordinal() -> Exception:
    """c10/cuda/CUDAException.cpp, cudaErrorInvalidDevice."""
    text = "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?\n"
    return fault(_AcceleratorError(text + _CUDA_ADVICE), "torch.device")


def two_devices(first: Any, second: Any) -> RuntimeError:
    """aten/src/ATen/TensorIterator.cpp."""
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    )


def wrong_argument(common: Any, argument: str, device: Any, method: str) -> RuntimeError:
    """c10/core/impl DeviceGuardImplInterface / aten/src/ATen/core/op_registration/adaption.cpp."""
    if WORDING.different_from_others:
        return RuntimeError(
            f"Expected all tensors to be on the same device, but got {argument} is on {device}, different from other "
            f"tensors on {common} (when checking argument in method {method})"
        )
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {common} and {device}! "
        f"(when checking argument for argument {argument} in method {method})"
    )
