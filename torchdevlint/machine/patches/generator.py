"""torch.Generator: CUDA generators do not exist in a CPU build, and their states are CPU byte tensors."""

from __future__ import annotations

from typing import Any

import torch

from torchdevlint.machine import errors
from torchdevlint.machine.patches import replace
from torchdevlint.machine.places import user_place
from torchdevlint.machine.state import normal_device
from torchdevlint.machine.tags import CPU, HOST, Tag, device_of

_tags: dict[int, Tag] = {}
"""Devices of generators that Python made, and the lines, by the address of the C++ object: C++ wraps them anew."""


def tag_of_generator(generator: Any) -> Tag:
    """The device of a generator and the line that made it, whoever wrapped it."""
    return _tags.get(generator._cdata, HOST)


def device_of_generator(generator: Any) -> Any:
    """The device of a generator."""
    return tag_of_generator(generator).device


def check_state(state: Any, operator: str) -> None:
    """torch/csrc/Generator.cpp: a state is a CPU ByteTensor, whatever the generator's device."""
    if device_of(state).type != "cpu" or state.dtype != torch.uint8:
        text = "RNG state must be a torch.ByteTensor"
        raise errors.fault(TypeError(text), operator, [("state", state)])


_Native: Any = torch._C.Generator


class Generator(_Native):  # type: ignore[misc]
    """A CPU generator that says it is on a CUDA device when it was made for one."""

    def __new__(cls, device: Any = "cpu") -> Any:
        where = normal_device(device)
        made = _Native.__new__(cls, CPU if where.type == "cuda" else where)
        _tags[made._cdata] = Tag(where, user_place())
        return made

    def __init__(self, device: Any = "cpu") -> None:
        pass

    @property
    def device(self) -> Any:
        return device_of_generator(self)

    def set_state(self, state: Any) -> Any:
        check_state(state, "Generator.set_state")
        return super().set_state(state)

    def __del__(self) -> None:
        _tags.pop(self._cdata, None)


Generator.__module__ = "torch"


def _set_rng_state(original: Any) -> Any:
    def set_rng_state(new_state: Any) -> None:
        check_state(new_state, "torch.set_rng_state")
        original(new_state)

    return set_rng_state


def install() -> None:
    """Patch the class and the functions that set a state."""
    replace(torch, "Generator", Generator)
    checked = _set_rng_state(torch.random.set_rng_state)
    replace(torch.random, "set_rng_state", checked)
    replace(torch, "set_rng_state", checked)
