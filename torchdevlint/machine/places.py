"""Lines of user code: where a tensor was born, where it last moved, where a fault was met."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import torch


class Place(NamedTuple):
    """A line of a Python file (1-based)."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


class TensorStory(NamedTuple):
    """One tensor of a fault: the name of its argument, where it lives, and how it came there (None: not known)."""

    name: str
    device: str
    created: Place | None
    moved: Place | None


class FaultPlaces(NamedTuple):
    """What the machine knows about a device fault: the operator, the line where the tensors met, and each tensor."""

    operator: str
    met: Place | None
    tensors: tuple[TensorStory, ...]

    def describe(self) -> str:
        """One sentence, such as "weight on cuda:0: created model.py:41, moved train.py:37; met at train.py:52"."""
        parts = [_story(tensor) for tensor in self.tensors]
        return "; ".join([*parts, f"met at {self.met}" if self.met else "met outside user code"])

    def to_dict(self) -> dict[str, object]:
        """Plain data for a report."""
        tensors = [
            {"name": t.name, "device": t.device, "created": _plain(t.created), "moved": _plain(t.moved)}
            for t in self.tensors
        ]
        return {"operator": self.operator, "met": _plain(self.met), "tensors": tensors, "text": self.describe()}


def _plain(place: Place | None) -> list[object] | None:
    return None if place is None else [place.file, place.line]


def _story(tensor: TensorStory) -> str:
    steps = [f"created {tensor.created}" if tensor.created else "created outside user code"]
    if tensor.moved:
        steps.append(f"moved {tensor.moved}")
    return f"{tensor.name} on {tensor.device}: {', '.join(steps)}"


_USER, _LIBRARY, _MACHINERY = 0, 1, 2
_TORCH_ROOTS: tuple[str, ...] = (str(Path(torch.__file__).parent), str(Path(__file__).parent))
_STDLIB_ROOTS = tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
_SITE_ROOTS = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
_named_user: tuple[str, ...] = ()
_level_of_file: dict[str, int] = {}


def name_machinery(folder: str) -> None:
    """Frames of files below this folder are neither the user's nor a library's."""
    global _TORCH_ROOTS
    _TORCH_ROOTS = (*_TORCH_ROOTS, folder)
    _level_of_file.clear()


def name_user_code(folders: Iterable[str]) -> None:
    """Files below these folders are user code wherever they are installed."""
    global _named_user
    _named_user = (*_named_user, *folders)
    _level_of_file.clear()


def _classify(file: str) -> int:
    if file.startswith(_TORCH_ROOTS) or file.startswith("<frozen "):
        level = _MACHINERY
    elif _named_user and file.startswith(_named_user):
        level = _USER
    elif file.startswith(_SITE_ROOTS) or "site-packages" in file:
        level = _LIBRARY
    elif file.startswith(_STDLIB_ROOTS) or file == "<string>":
        level = _MACHINERY
    else:
        level = _USER
    _level_of_file[file] = level
    return level


def user_place(depth: int = 1) -> Place | None:
    """The innermost line of user code on the stack; else the innermost line of a library other than torch."""
    frame = sys._getframe(depth)
    library: Place | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        level = _level_of_file.get(file)
        if level is None:
            level = _classify(file)
        if level == _USER:
            return Place(file, frame.f_lineno)
        if level == _LIBRARY and library is None:
            library = Place(file, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return library
