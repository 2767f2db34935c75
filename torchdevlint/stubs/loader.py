"""Reads stub files. A line is an entry and is parsed when somebody asks for its name, so that a large file costs one search.

Syntax, one entry a line, in files named `*.stub` beside this one:

    def torch.cat(tensors: list[Tensor @ d], dim=..., *, out: Tensor @ d=...) -> Tensor @ d: ...
    def torch.zeros(*size, device: Device=...) -> Tensor[size] @ device: ...
    torch.concat = torch.cat
    class torch.nn.Linear(Module): parameters

`Tensor @ d` is a tensor on the device that `d` stands for: all of one letter share it. `Tensor @ ~d` may be a zero-dimensional tensor on
the CPU as well. `Tensor @ cpu` must be, or is, on the CPU; `Tensor @ any` has a device of its own. `Tensor[0]` has rank 0, `Tensor[1]` rank 1;
`Tensor[size]` takes its rank from its size argument. Several lines of one name are overloads: the first that fits the arguments holds.
A class is a `Module` with `parameters`, with `buffers` that it was given, or `empty`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

Rank = int | Literal["size", "data", "reduced", "stacked"] | None

FILES = ("corrections.stub", "libraries.stub", "torch.stub")  # what stands first holds
_ENTRY = re.compile(r"^(?:def ([\w.]+)\(|class ([\w.]+)\(|([\w.]+) = )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a stub. `kind`: "tensor", "tensors" (a list of them), "number", "device" or "" (no device depends on it)."""

    name: str
    kind: Literal["tensor", "tensors", "number", "device", ""] = ""
    device: str = ""
    tolerant: bool = False
    keyword_only: bool = False
    starred: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What comes back: `shape` "tensor", "list", "tuple" (with `names`), "self", "number", "none", "module", "array" or "unknown"."""

    shape: str
    device: str = "d"
    rank: Rank = None
    names: tuple[str, ...] = ()
    parts: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True)
class Signature:
    """One overload of a function."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Result

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of a name."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True, slots=True)
class ModuleStub:
    """A class whose instances are modules. `holds`: "parameters", "buffers", "empty" or "unknown"."""

    name: str
    holds: str


Entry = tuple[Signature, ...] | ModuleStub


@cache
def _lines() -> dict[str, list[str]]:
    """The entries of all stub files by name; a name of an earlier file hides that of a later one."""
    found: dict[str, list[str]] = {}
    for file in FILES:
        text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
        mine: dict[str, list[str]] = {}
        for match in _ENTRY.finditer(text):
            name = match[1] or match[2] or match[3]
            mine.setdefault(name, []).append(text[match.start() : text.find("\n", match.end())])
        for name, lines in mine.items():
            found.setdefault(name, lines)
    return found


def names() -> Iterator[str]:
    """Every name that a stub tells of."""
    yield from _lines()


def source(name: str) -> list[str]:
    """The lines of a name as they are written; none where nothing is known."""
    return _lines().get(name, [])


@lru_cache(maxsize=4096)
def find(name: str) -> Entry | None:
    """What is known of a dotted name; None for nothing."""
    lines = _lines().get(name)
    if lines is None:
        return None
    if lines[0].startswith("class "):
        return ModuleStub(name, lines[0].rpartition(":")[2].strip())
    if not lines[0].startswith("def "):
        return find(lines[0].partition(" = ")[2].strip())
    return tuple(_signature(name, line) for line in lines)


def functions(name: str) -> tuple[Signature, ...]:
    """The overloads of a function; none where nothing is known."""
    found = find(name)
    return found if isinstance(found, tuple) else ()


def method(name: str) -> tuple[Signature, ...]:
    """The overloads of a method of tensors; its first parameter is the tensor itself."""
    return functions("torch.Tensor." + name) or functions("torch." + name)


@cache
def tensor_methods() -> frozenset[str]:
    """The names of all methods that operators give to tensors."""
    return frozenset(source("torch.Tensor.methods")[0].partition('"')[2].rstrip('"').split())


def module_class(name: str) -> ModuleStub | None:
    """What is known of a class of modules."""
    found = find(name)
    return found if isinstance(found, ModuleStub) else None


def _signature(name: str, line: str) -> Signature:
    parsed = ast.parse("def f" + line[line.index("(") :]).body[0]
    assert isinstance(parsed, ast.FunctionDef)
    given = parsed.args
    plain = [*given.posonlyargs, *given.args]
    optional = {argument.arg for argument in plain[len(plain) - len(given.defaults) :]} if given.defaults else set()
    optional |= {a.arg for a, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is not None}
    found = [_parameter(argument, optional=argument.arg in optional) for argument in plain]
    if given.vararg is not None:
        found.append(_parameter(given.vararg, starred=True))
    found += [_parameter(a, optional=a.arg in optional, keyword_only=True) for a in given.kwonlyargs]
    return Signature(name, tuple(found), _result(parsed.returns))


def _parameter(
    argument: ast.arg, *, optional: bool = False, keyword_only: bool = False, starred: bool = False
) -> Parameter:
    kind, device, tolerant = "", "", False
    written = argument.annotation
    if isinstance(written, ast.Subscript) and isinstance(written.value, ast.Name) and written.value.id == "list":
        kind, written = "tensors", written.slice
    if isinstance(written, ast.BinOp):
        kind = kind or "tensor"
        side = written.right
        if isinstance(side, ast.UnaryOp):
            tolerant, side = True, side.operand
        device = ast.unparse(side)
    elif isinstance(written, ast.Name):
        kind = {"Scalar": "number", "Device": "device", "Tensor": "tensor"}.get(written.id, "")
        device = "any" if kind == "tensor" else ""
    return Parameter(argument.arg, kind, device, tolerant, keyword_only, starred, optional)  # type: ignore[arg-type]


_WORDS = {"Self": "self", "None": "none", "Scalar": "number", "Array": "array", "Module": "module", "Same": "same"}


def _result(written: ast.expr | None) -> Result:
    if isinstance(written, ast.Constant):
        return Result("none")
    if isinstance(written, ast.Name):
        return Result(_WORDS.get(written.id, "unknown"))
    if isinstance(written, ast.BinOp):
        rank: Rank = None
        if isinstance(written.left, ast.Subscript):
            inside = written.left.slice
            rank = inside.value if isinstance(inside, ast.Constant) else ast.unparse(inside)  # type: ignore[assignment]
        return Result("tensor", ast.unparse(written.right), rank)
    if isinstance(written, ast.Subscript):
        return Result("list", parts=(_result(written.slice),))
    if isinstance(written, ast.Call):
        keywords = written.keywords
        return Result(
            "tuple",
            names=tuple(keyword.arg or "" for keyword in keywords),
            parts=tuple(_result(keyword.value) for keyword in keywords),
        )
    return Result("unknown")
