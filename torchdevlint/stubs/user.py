"""Stub files that a user names in the settings. They are data: read with a limit, checked line by line, never run.

What cannot be used is an error with file and line. A stub that is passed over in silence would be worse than none.
"""

# Paths are strings here, as in the settings.
# ruff: noqa: PTH100, PTH118

from __future__ import annotations

import ast
import keyword
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from torchdevlint.source import disk
from torchdevlint.source.reading import LARGEST_SETTINGS, read_bytes
from torchdevlint.stubs.loader import RANKS, RESULTS, Lines, Stubs, alias_of, shipped

SUFFIX = ".stub"
_MOST_BYTES = 4_000_000  # of all files of one run's settings: they go to each process that examines files
_LONGEST_LINE = 2_000  # characters; a parser that recurses reads it
_HOLDS = ("parameters", "weights", "buffers", "empty", "unknown")
_CLASS = re.compile(r"class ([^\s(]*)\(Module\): (\w+)")
_FUNCTION = re.compile(r"def ([^\s(]*)(\(.*)")
_ALIAS = re.compile(r"(\S+) = (\S+)")
_RECEIVER = "self"
_EVERYWHERE = ("cpu", "accelerator")  # devices that a result may be on without an argument that says so


class StubError(Exception):
    """Stubs that cannot be used; the message says where and why."""


class StubFile(NamedTuple):
    """A file that was read."""

    path: str
    text: str


def gather(paths: Sequence[str]) -> tuple[StubFile, ...]:
    """The stub files that are named, and those in and below the folders that are; raises `StubError`."""
    found: dict[str, StubFile] = {}
    size = 0
    for given in paths:
        path = os.path.abspath(given)
        for file in _below(path) if disk.is_folder(path) else (path,):
            if file not in found:
                found[file] = StubFile(file, _text(file))
                size += len(found[file].text)
                if size > _MOST_BYTES:
                    raise StubError(f"{given}: the stub files hold more than {_MOST_BYTES // 1000:,} kB")
    return tuple(found.values())


def _below(folder: str) -> Iterator[str]:
    """The stub files in a folder and below, sorted; links to folders are not followed."""
    pending, is_empty = [folder], True
    while pending:
        at = pending.pop()
        try:
            entries = sorted(disk.entries(at), key=lambda entry: entry.name)
        except OSError as error:
            raise StubError(f"{at}: {error.strerror}") from None
        for entry in entries:
            if entry.name.endswith(SUFFIX) and not entry.is_dir():
                is_empty = False
                yield os.path.join(at, entry.name)
        pending += [os.path.join(at, entry.name) for entry in reversed(entries) if entry.is_dir(follow_symlinks=False)]
    if is_empty:
        raise StubError(f"{folder}: there is no *{SUFFIX} file in this folder")


def _text(path: str) -> str:
    try:
        return read_bytes(path, LARGEST_SETTINGS).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise StubError(f"{path}: not valid UTF-8") from None
    except OSError as error:
        raise StubError(f"{path}: {error.strerror}") from None


@lru_cache(maxsize=8)
def of(files: tuple[StubFile, ...]) -> Stubs:
    """The entries of these files, above those that are shipped; raises `StubError`."""
    if not files:
        return shipped()
    entries: dict[str, Lines] = {}
    for file in files:
        for name, lines in _entries(file).items():
            if name in entries:
                other = entries[name]
                raise StubError(
                    f"{file.path}:{lines.rows[0]}: {name} stands in {other.file}:{other.rows[0]} already, "
                    "and overloads stand in one file"
                )
            entries[name] = lines
    _check_aliases(entries)
    return Stubs(entries, shipped())


@lru_cache(maxsize=8)
def libraries(files: tuple[StubFile, ...]) -> tuple[bytes, ...]:
    """The names of the libraries that the files tell of."""
    return tuple(dict.fromkeys(name.partition(".")[0].encode() for name in of(files).given()))


def _entries(file: StubFile) -> dict[str, Lines]:
    found: dict[str, tuple[list[str], list[int]]] = {}
    for row, line in _lines(file):
        try:
            name = _checked(line)
            texts, rows = found.setdefault(name, ([], []))
            if texts and not (line.startswith("def ") and texts[0].startswith("def ")):
                raise StubError(f"{name} stands on line {rows[0]} already, and only functions have overloads")
        except StubError as error:
            raise StubError(f"{file.path}:{row}: {error}") from None
        texts.append(line)
        rows.append(row)
    return {name: Lines(tuple(texts), file.path, tuple(rows)) for name, (texts, rows) in found.items()}


def _lines(file: StubFile) -> Iterator[tuple[int, str]]:
    """The entries with their rows, without comments and the text in triple quotes that a file may begin with."""
    is_prose = False
    for row, written in enumerate(re.split(r"\r\n|\r|\n", file.text), start=1):
        line = written.rstrip()
        if is_prose:
            is_prose = not line.endswith('"""')
            continue
        if line.startswith('"""'):
            is_prose = line == '"""' or not line.endswith('"""')
            continue
        line = line.partition("#")[0].rstrip()
        if line:
            yield row, line
    if is_prose:
        raise StubError(f'{file.path}: a text in """ has no end')


def _checked(line: str) -> str:
    """The name that a line is about; raises `StubError` for one that is no entry."""
    if len(line) > _LONGEST_LINE:
        raise StubError(f"the line is longer than {_LONGEST_LINE:,} characters")
    if line[0].isspace():
        raise StubError("an entry stands on one line that is not indented")
    if line.startswith("class "):
        found = _CLASS.fullmatch(line)
        if found is None or found[2] not in _HOLDS:
            raise StubError(
                f"a class is `class package.Name(Module): HOLDS`, where HOLDS is one of {', '.join(_HOLDS)}"
            )
        return _dotted(found[1])
    if line.startswith("def "):
        function = _FUNCTION.fullmatch(line)
        if function is None or not function[2].endswith(": ..."):
            raise StubError("a function is `def package.name(parameters) -> result: ...`, on one line")
        name = _dotted(function[1])
        _check_function(function[2])
        return name
    alias = _ALIAS.fullmatch(line)
    if alias is None:
        raise StubError("an entry begins with `def` or `class`, or is `package.name = package.other`")
    _dotted(alias[2])
    return _dotted(alias[1])


def _dotted(name: str) -> str:
    parts = name.split(".")
    if len(parts) < 2 or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise StubError(f"a dotted name in full is wanted, as in package.module.name, not {name!r}")
    return name


def _check_aliases(entries: dict[str, Lines]) -> None:
    """Every `a = b` must lead to an entry."""
    for name, lines in entries.items():
        seen, at = {name}, alias_of(lines.text[0])
        while at is not None and at in entries and at not in seen:
            seen.add(at)
            at = alias_of(entries[at].text[0])
        if at is not None and (at in seen or shipped().find(at) is None):
            told = "stands for itself" if at in seen else f"stands for {at}, of which nothing is known"
            raise StubError(f"{lines.file}:{lines.rows[0]}: {name} {told}")


# ---------------------------------------------------------------------------------------------------- functions


def _check_function(written: str) -> None:
    """Raises `StubError` for parameters and a result that the analysis would not understand."""
    try:
        [node] = ast.parse("def f" + written).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        told = error.msg if isinstance(error, SyntaxError) else "it cannot be parsed"
        raise StubError(f"not valid syntax: {told}") from None
    if not isinstance(node, ast.FunctionDef) or len(node.body) != 1 or not _is_ellipsis(node.body[0]):
        raise StubError("a function is `def package.name(parameters) -> result: ...`, on one line")
    given = node.args
    if given.kwarg is not None:
        raise StubError(f"`**{given.kwarg.arg}` cannot be told of; name the keywords that matter")
    for default in (*given.defaults, *(one for one in given.kw_defaults if one is not None)):
        if not (isinstance(default, ast.Constant) and default.value is ...):
            raise StubError("a default is written `=...`")
    several = [*given.posonlyargs, *given.args, *([given.vararg] if given.vararg else ()), *given.kwonlyargs]
    devices = {one.arg for one in several if isinstance(one.annotation, ast.Name) and one.annotation.id == "Device"}
    variables = {found for one in several if (found := _variable(one, devices))}
    if several and several[0].arg == _RECEIVER:
        variables.add(_RECEIVER)
    elif _RECEIVER in variables:
        raise StubError("`Tensor @ self` is on the device of a module: the first parameter of the method is `self`")
    if node.returns is None:
        raise StubError("the result is missing: `-> Tensor @ d`, `-> Self`, `-> None`")
    if not several and any(isinstance(one, ast.Name) and one.id == "Self" for one in ast.walk(node.returns)):
        raise StubError("`Self` is the first argument, and there is none")
    _check_result(node.returns, variables, devices)


def _is_ellipsis(statement: ast.stmt) -> bool:
    is_constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_constant and statement.value.value is ...  # type: ignore[attr-defined]


def _variable(parameter: ast.arg, devices: set[str]) -> str | None:
    """The device that a parameter must be on, "" or None where it has none."""
    written = parameter.annotation
    if written is None or (isinstance(written, ast.Name) and written.id in ("Tensor", "Scalar", "Device", "Module")):
        return None
    inside = written
    if isinstance(written, ast.Subscript) and isinstance(written.value, ast.Name) and written.value.id == "list":
        inside = written.slice
    if isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.MatMult) and _is_name(inside.left, "Tensor"):
        side = inside.right
        is_tolerant = isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.Invert)
        while isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.Invert):
            side = side.operand
        if isinstance(side, ast.Name):
            if side.id == "accelerator" or side.id in devices or (is_tolerant and side.id in ("any", "cpu")):
                raise StubError(f"`{parameter.arg}` cannot be asked to be on {ast.unparse(inside.right)!r}")
            return side.id
    raise StubError(
        f"`{parameter.arg}: {ast.unparse(written)}` is not understood: Tensor @ d, Tensor @ ~d, Tensor @ cpu, Tensor @ any, "
        "list[Tensor @ d], Scalar, Device and Module are"
    )


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _check_result(written: ast.expr, variables: set[str], devices: set[str]) -> None:
    if isinstance(written, ast.Constant) and written.value is None:
        return
    if isinstance(written, ast.Name) and written.id in RESULTS:
        return
    if isinstance(written, ast.Subscript) and _is_name(written.value, "Array"):
        if not isinstance(written.slice, ast.Constant) or not _is_rank(written.slice):
            raise StubError("the rank of an Array is a number")
        return
    if isinstance(written, ast.Subscript) and _is_name(written.value, "list"):
        _check_result(written.slice, variables, devices)
        return
    if isinstance(written, ast.Call) and _is_name(written.func, "Result") and written.keywords and not written.args:
        for part in written.keywords:
            if part.arg is None:
                raise StubError("the parts of a `Result` have names")
            _check_result(part.value, variables, devices)
        return
    if isinstance(written, ast.BinOp) and isinstance(written.op, ast.MatMult) and isinstance(written.right, ast.Name):
        left, device = written.left, written.right.id
        is_tensor = _is_name(left, "Tensor") or (isinstance(left, ast.Subscript) and _is_name(left.value, "Tensor"))
        if is_tensor or _is_name(left, "Self"):
            if isinstance(left, ast.Subscript) and not _is_rank(left.slice):
                raise StubError(f"a rank is a number, or one of {', '.join(RANKS)}")
            known = {*devices, *_EVERYWHERE, *(variables - {"any"} if is_tensor else ())}
            if device not in known:
                raise StubError(
                    f"the result is on {device!r}, which is neither the device of a parameter nor one of {', '.join(_EVERYWHERE)}"
                )
            return
    raise StubError(
        f"the result `{ast.unparse(written)}` is not understood: Tensor @ d, Tensor[0] @ d, Self, Self @ device, list[...], "
        f"Result(name=...), {', '.join(sorted(RESULTS - {'Self'}))} and None are"
    )


def _is_rank(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) is int and node.value >= 0
    return isinstance(node, ast.Name) and node.id in RANKS
