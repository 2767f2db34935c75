"""Reads stub files. A line is an entry and is parsed when somebody asks for its name, so that a large file costs one search.

What this package tells of a library stands in `derived/NAME.stub`, made by a script, and above it in `written/NAME.stub`, by hand. The files of a
library are read when a name of it is asked for, NAME being what it is imported as.

Syntax, one entry a line, in these files and in those of users (`torchdevlint.stubs.user`):

    def torch.cat(tensors: list[Tensor @ d], dim=..., *, out: Tensor @ d=...) -> Tensor @ d: ...
    def torch.zeros(*size, device: Device=...) -> Tensor[size] @ device: ...
    torch.concat = torch.cat
    class torch.nn.Linear(Module): parameters

`Tensor @ d` is a tensor on the device that `d` stands for: all of one letter share it. `Tensor @ ~d` may be a zero-dimensional tensor on
the CPU as well, `Tensor @ ~~d` where the others have no dimension either. `Tensor @ cpu` must be, or is, on the CPU; `Tensor @ any` has a device
of its own, and `list[Tensor @ first]` takes tensors of any, of which a result may be where the first one is, and the first ones of two lists share it.
`Tensor[0]` has rank 0, `Tensor[1]` rank 1 or more; `Tensor[size]` takes its rank from its size argument, `Tensor[any]` may have any;
without a word, `RANKS` in `knowledge/functions.py` tells it. `Array` is an array of NumPy with a dimension or more, `Array[2]` one of so many.
`Self` is the first argument, `Self @ device` the same moved to the device of an argument.
A parameter `model: Module` is a module that is moved, in place, to where the function chooses. `Object` comes back where nothing is known of it.
Several lines of one name are overloads: the first that fits the arguments holds.
A class is a `Module` with `parameters`, which each of its inputs meets, with `weights` of which that is not certain, with `buffers` that it was
given, or `empty`. A method of it is `def package.Class.forward(self, ...)`,
in which `Tensor @ self` is on the device of the module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

Rank = int | Literal["size", "data", "reduced", "stacked", "any"] | None
RANKS = ("size", "data", "reduced", "stacked", "any")

_FOLDERS = ("written", "derived")  # what stands first holds
_SUFFIX = ".stub"
_SHIPPED = "torchdevlint/stubs/"  # how a file of this package is named to users
_ENTRY = re.compile(r"^(?:def ([\w.]+)\(|class ([\w.]+)\(|([\w.]+) = )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a stub. `kind`: "tensor", "tensors" (a list), "number", "device", "module" (moved in place) or "" (no device depends on it)."""

    name: str
    kind: Literal["tensor", "tensors", "number", "device", "module", ""] = ""
    device: str = ""
    tolerant: bool | Literal["all"] = False
    keyword_only: bool = False
    starred: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What comes back: `shape` "tensor", "list", "tuple" (with `names`), "self", "moved", "same", "number", "none", "array" or "unknown"."""

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
    """A class whose instances are modules. `holds`: "parameters", "weights", "buffers", "empty" or "unknown"."""

    name: str
    holds: str


Entry = tuple[Signature, ...] | ModuleStub


class Lines(NamedTuple):
    """The lines of an entry as they are written, the file that they stand in, and the row of each."""

    text: tuple[str, ...]
    file: str
    rows: tuple[int, ...]


class Stubs:
    """The entries of some stub files, and behind them those of others: what stands first holds."""

    def __init__(self, entries: Mapping[str, Lines], behind: Stubs | None = None) -> None:
        self._entries, self._behind = entries, behind
        self._found: dict[str, Entry | None] = {}
        self._homes: set[str] = set()
        if behind is not None:
            parts = (name.split(".") for name in entries)
            self._homes = {".".join(several[:length]) for several in parts for length in range(1, len(several))}

    def names(self) -> Iterator[str]:
        """Every name that a stub tells of."""
        yield from self._entries
        if self._behind is not None:
            yield from (name for name in self._behind.names() if name not in self._entries)

    def lines(self, name: str) -> Lines | None:
        """What is written of a name; None where nothing is."""
        found = self._entries.get(name)
        return found if found is not None or self._behind is None else self._behind.lines(name)

    def given(self) -> Iterator[str]:
        """The names that a user's stubs tell of."""
        return iter(self._entries if self._behind is not None else ())

    def is_given(self, name: str) -> bool:
        """True for a name that a user's stub tells of: it stands above what is known of the name otherwise."""
        return self._behind is not None and name in self._entries

    def is_home(self, name: str) -> bool:
        """True for a package, module or class of which a user's stub tells some part."""
        return name in self._homes

    def find(self, name: str) -> Entry | None:
        """What is known of a dotted name; None for nothing."""
        if name not in self._found:
            if name not in self._entries:
                return self._behind.find(name) if self._behind is not None else None
            self._found[name] = self._read(name)
        return self._found[name]

    def _read(self, name: str) -> Entry | None:
        seen = {name}
        while (target := alias_of(self._entries[name].text[0])) is not None:
            if target in seen:
                return None
            if target not in self._entries:
                return self.find(target)
            seen.add(target)
            name = target
        lines = self._entries[name].text
        if lines[0].startswith("class "):
            return ModuleStub(name, lines[0].rpartition(":")[2].strip())
        return tuple(_signature(name, line) for line in lines)

    def functions(self, name: str) -> tuple[Signature, ...]:
        """The overloads of a function; none where nothing is known."""
        found = self.find(name)
        return found if isinstance(found, tuple) else ()

    def method(self, name: str) -> tuple[Signature, ...]:
        """The overloads of a method of tensors; its first parameter is the tensor itself."""
        return self.functions("torch.Tensor." + name) or self.functions("torch." + name)

    def places_module(self, name: str) -> bool:
        """True for a function, or a class, that puts a module which it is given on a device of its choice."""
        return any(parameter.kind == "module" for one in self.functions(name) for parameter in one.parameters)

    def module_class(self, name: str) -> ModuleStub | None:
        """What is known of a class of modules."""
        found = self.find(name)
        return found if isinstance(found, ModuleStub) else None


# Modules of torch that define what another one offers.
_OFFERED_BY = {
    "torch.functional": "torch",
    "torch.nn.modules": "torch.nn",
    "torch.nn.parameter": "torch.nn",
    "torch.cuda.amp.grad_scaler": "torch.cuda.amp",
    **dict.fromkeys(("torch.nn.parallel.data_parallel", "torch.nn.parallel.distributed"), "torch.nn.parallel"),
    **{f"torch.nn.utils.{name}": "torch.nn.utils" for name in ("clip_grad", "convert_parameters", "fusion", "init")},
    **{f"torch.nn.utils.{name}": "torch.nn.utils" for name in ("spectral_norm", "weight_norm")},
    **{
        f"torch.utils.data.{name}": "torch.utils.data"
        for name in ("dataset", "dataloader", "sampler", "_utils.collate")
    },
    **{f"torch.autograd.{name}": "torch.autograd" for name in ("function", "variable")},
    **{f"torch.amp.{name}": "torch.amp" for name in ("grad_scaler", "autocast_mode")},
}


# transformers, and what it was called before its second version, with the same classes of models.
_TRANSFORMERS = ("transformers.", "pytorch_transformers.", "pytorch_pretrained_bert.")


def public(name: str) -> str:
    """The name under which a library offers what is imported by a dotted name: `torch.nn.Linear` for `torch.nn.modules.linear.Linear`."""
    module, _, last = name.rpartition(".")
    if name.startswith(_TRANSFORMERS):
        return f"transformers.{last}" if last[:1].isupper() and "_" not in last else name
    if not name.startswith("torch."):
        return name
    if module.startswith("torch.nn.modules."):
        module = "torch.nn.modules"
    is_class = last[:1].isupper()
    home = _OFFERED_BY.get(module) if is_class or module != "torch.nn.modules" else None
    return name if home is None else f"{home}.{last}"


def alias_of(line: str) -> str | None:
    """The `b` of `a = b`; None for any other entry."""
    if line.startswith(("def ", "class ")):
        return None
    return line.partition(" = ")[2].strip()


class _Shipped(Mapping[str, Lines]):
    """The entries of this package, of each library when one of its names is asked for."""

    def __init__(self) -> None:
        self._of_libraries: dict[str, Mapping[str, Lines]] = {}

    def _of(self, library: str) -> Mapping[str, Lines]:
        found = self._of_libraries.get(library)
        if found is None:
            found = self._of_libraries[library] = _entries_of(library) if library in libraries() else {}
        return found

    def __getitem__(self, name: str) -> Lines:
        return self._of(name.partition(".")[0])[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._of(name.partition(".")[0])

    def __iter__(self) -> Iterator[str]:
        for library in sorted(libraries()):
            yield from self._of(library)

    def __len__(self) -> int:
        return sum(len(self._of(library)) for library in libraries())


def _entries_of(library: str) -> dict[str, Lines]:
    """The entries of one library; a name of an earlier file hides that of a later one."""
    found: dict[str, Lines] = {}
    for folder in _FOLDERS:
        file = resources.files(__package__).joinpath(folder, library + _SUFFIX)
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        mine: dict[str, list[tuple[str, int]]] = {}
        row, counted = 1, 0
        for match in _ENTRY.finditer(text):
            name = match[1] or match[2] or match[3]
            row, counted = row + text.count("\n", counted, match.start()), match.start()
            mine.setdefault(name, []).append((text[match.start() : text.find("\n", match.end())], row))
        for name, lines in mine.items():
            place = f"{_SHIPPED}{folder}/{library}{_SUFFIX}"
            found.setdefault(name, Lines(tuple(line for line, _ in lines), place, tuple(at for _, at in lines)))
    return found


@cache
def shipped() -> Stubs:
    """The stubs of this package."""
    return Stubs(_Shipped())


@cache
def libraries() -> frozenset[str]:
    """The libraries that the stubs of this package tell of, by the names that they are imported under."""
    folders = (resources.files(__package__).joinpath(folder) for folder in _FOLDERS)
    return frozenset(
        file.name.removesuffix(_SUFFIX)
        for folder in folders
        for file in folder.iterdir()
        if file.name.endswith(_SUFFIX)
    )


@cache
def tensor_methods() -> frozenset[str]:
    """The names of all methods that operators give to tensors."""
    lines = shipped().lines("torch.Tensor.methods")
    assert lines is not None
    return frozenset(lines.text[0].partition('"')[2].rstrip('"').split())


# ---------------------------------------------------------------------------------------------------- in use

_in_use: ContextVar[Stubs | None] = ContextVar("stubs in use", default=None)


def in_use() -> Stubs:
    """The stubs of the settings of the file that is looked at."""
    return _in_use.get() or shipped()


@contextmanager
def using(stubs: Stubs) -> Iterator[None]:
    """Looks at a file with these stubs.

    Rules are asked about a Program and know no settings. So the stubs of a file's settings are set around its examination, and read where its
    analysis begins (`torchdevlint.infer.kept`), which carries them from there on: what is kept of a project is kept for one set of stubs.
    """
    token = _in_use.set(stubs)
    try:
        yield
    finally:
        _in_use.reset(token)


# ---------------------------------------------------------------------------------------------------- syntax


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
    kind, device = "", ""
    tolerant: bool | Literal["all"] = False
    written = argument.annotation
    if isinstance(written, ast.Subscript) and isinstance(written.value, ast.Name) and written.value.id == "list":
        kind, written = "tensors", written.slice
    if isinstance(written, ast.BinOp):
        kind = kind or "tensor"
        side = written.right
        while isinstance(side, ast.UnaryOp):
            tolerant, side = "all" if tolerant else True, side.operand
        device = ast.unparse(side)
    elif isinstance(written, ast.Name):
        kind = {"Scalar": "number", "Device": "device", "Tensor": "tensor", "Module": "module"}.get(written.id, "")
        device = "any" if kind == "tensor" else ""
    return Parameter(argument.arg, kind, device, tolerant, keyword_only, starred, optional)  # type: ignore[arg-type]


_WORDS = {"Self": "self", "Scalar": "number", "Array": "array", "Same": "same", "Object": "unknown"}
RESULTS = frozenset(_WORDS)


def _result(written: ast.expr | None) -> Result:
    if isinstance(written, ast.Constant):
        return Result("none")
    if isinstance(written, ast.Name):
        return Result(_WORDS.get(written.id, "unknown"))
    if isinstance(written, ast.BinOp):
        if isinstance(written.left, ast.Name) and written.left.id == "Self":
            return Result("moved", ast.unparse(written.right))
        rank: Rank = None
        if isinstance(written.left, ast.Subscript):
            inside = written.left.slice
            rank = inside.value if isinstance(inside, ast.Constant) else ast.unparse(inside)  # type: ignore[assignment]
        return Result("tensor", ast.unparse(written.right), rank)
    if isinstance(written, ast.Subscript) and isinstance(written.value, ast.Name) and written.value.id == "Array":
        return Result("array", rank=ast.literal_eval(written.slice))
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
