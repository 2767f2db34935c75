"""The virtual accelerator machine: CUDA devices inside a CPU-only PyTorch, for running programs, not for speed.

``start(Shape(gpus=1))`` turns the running process into such a machine. Importing this package does not import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchdevlint.machine.shape import Shape

if TYPE_CHECKING:
    from torchdevlint.machine.core import Machine, MachineError, current, start

__all__ = ["Machine", "MachineError", "Shape", "current", "start"]


def __getattr__(name: str) -> Any:
    if name in ("Machine", "MachineError", "current", "start"):
        from torchdevlint.machine import core

        return getattr(core, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
