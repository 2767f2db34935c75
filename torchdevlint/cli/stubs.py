"""`torchdevlint stubs`: what is known of a name of a library."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Iterator
from typing import Any

from torchdevlint import cli
from torchdevlint.settings import Resolver, SettingsError
from torchdevlint.stubs import loader
from torchdevlint.stubs.loader import Stubs

_MOST_NEAR = 5
_MOST_METHODS = 60
_TENSOR = "torch.Tensor."
_METHOD_NAMES = _TENSOR + "methods"  # the entry that lists the names of all methods of tensors
_HOLDS = {
    "parameters": "It has parameters: they move with the module, and its input must be on the module's device.",
    "weights": "It has parameters, which move with the module: once it was moved, its inputs are wanted there, and its outputs are there.",
    "buffers": "It has buffers and no parameters: they move with the module, and its input must be on the module's device.",
    "empty": "It has neither parameters nor buffers, and so no device: calling it claims nothing.",
    "unknown": "What it holds is not known: it is moved like a module, and calling it claims nothing.",
}
_EPILOG = """\
examples:
  torchdevlint stubs torch.cat                what the operator wants of its tensors, and where its result is
  torchdevlint stubs torch.nn.Linear          whether a class of modules has parameters or buffers
  torchdevlint stubs torch.Tensor             the methods of tensors

how an entry reads:
  Tensor @ d        a tensor on the device d: all of one letter must share one, and a result on d is there
  Tensor @ ~d       the same, but a zero-dimensional tensor may be on the CPU (~~d: where no other has a dimension)
  Tensor @ cpu      a tensor that must be, or is, on the CPU
  Tensor @ any      a tensor that may be on any device
  Tensor @ device   a tensor on the device of the argument `device`, or on the default device
  Tensor[0], [1]    a tensor of rank 0, or of rank 1 or more; [size], [data]: the argument tells
  Self, Self @ x    the first argument; the same, moved to the device of the argument `x`
  a = b             a name for the same thing
  # FILE:ROW        where the entry stands: in this package, or in a stub file of the settings
  Several lines of one name are overloads.

exit codes: 0 something is known, 2 nothing is known of the name, or the settings cannot be used
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(
        subparsers,
        "stubs",
        "Shows what the device stubs say of a function, a method or a class: on which devices it wants its tensors, and where its results are.",
        _EPILOG,
    )
    parser.add_argument(
        "names", metavar="NAME", nargs="+", help="a dotted name in full, as in torch.nn.functional.cross_entropy"
    )
    parser.add_argument(
        "--stubs",
        action="append",
        metavar="PATH",
        help="a file of device stubs, or a folder of them (several: repeat the option), instead of those of the settings",
    )
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    overrides = {} if arguments.stubs is None else {"stubs": tuple(map(os.path.abspath, arguments.stubs))}
    folder = os.getcwd()  # noqa: PTH109
    try:
        stubs = Resolver(overrides=overrides).for_folder(folder).device_stubs()
    except SettingsError as error:
        return cli.fail(str(error))
    for name in arguments.names:
        lines = list(_known(stubs, name))
        if not lines:
            return cli.fail(f"nothing is known of {name!r}{_near(stubs, name)}")
        print("\n".join(lines))
    return 0


def _known(stubs: Stubs, name: str) -> Iterator[str]:
    """The entries of a name, of what it is another name for, and the methods of a class."""
    if name != _METHOD_NAMES:
        yield from _entries(stubs, name)
    if name.startswith(_TENSOR) and stubs.lines(name) is None:
        method = name.removeprefix(_TENSOR)
        if method in loader.tensor_methods():
            told = list(_entries(stubs, "torch." + method))
            yield f"{name} is a method of tensors{': the tensor is its first argument' if told else ''}"
            yield from told
    yield from _methods(stubs, name)


def _entries(stubs: Stubs, name: str) -> Iterator[str]:
    """The lines of a name and of what it stands for, each with the place that it is from."""
    seen: set[str] = set()
    at: str | None = name
    while at is not None and at not in seen:
        seen.add(at)
        lines = stubs.lines(at)
        if lines is None:
            break
        for line, row in zip(lines.text, lines.rows, strict=True):
            yield f"{line}  # {_place(lines.file)}:{row}"
        at = loader.alias_of(lines.text[0])
    stub = stubs.module_class(name)
    if stub is not None:
        yield _HOLDS.get(stub.holds, "")


def _place(file: str) -> str:
    """A file of a user from the current folder, where it stands below that."""
    below = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    return file.removeprefix(below)


def _methods(stubs: Stubs, name: str) -> Iterator[str]:
    """The names below a name: a class's methods, a module's functions."""
    if name + "." == _TENSOR:
        found = sorted(loader.tensor_methods())
    else:
        found = sorted(other.removeprefix(name + ".") for other in stubs.names() if other.startswith(name + "."))
    if found:
        more = len(found) - _MOST_METHODS
        yield f"{len(found)} names below {name}: {' '.join(found[:_MOST_METHODS])}{f' and {more} more' if more > 0 else ''}"


def _near(stubs: Stubs, name: str) -> str:
    """Known names that end in the same word, or else are spelled alike."""
    known = [other for other in stubs.names() if other != _METHOD_NAMES]
    last = name.rpartition(".")[2]
    near = [other for other in known if other.rpartition(".")[2] == last]
    near = [other for other in near if other.endswith(f".{name}")] or near
    near.sort(key=lambda other: -difflib.SequenceMatcher(None, name, other).ratio())
    near = near or difflib.get_close_matches(name, known, n=_MOST_NEAR, cutoff=0.7)
    return f" (did you mean {', '.join(map(repr, near[:_MOST_NEAR]))}?)" if near else ""
