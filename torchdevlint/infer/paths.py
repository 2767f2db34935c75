"""Strings and paths as values: what a path is put together of, which file that names, and the words in it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from torchdevlint.infer.joins import lift
from torchdevlint.infer.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    Args,
    Bound,
    Const,
    Ext,
    Func,
    Keywords,
    OneOf,
    Partial,
    Ref,
    Site,
    Sort,
    Term,
    Text,
    Tup,
    Value,
    alternatives,
    parts_of,
    text_of,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

PATH = "@path"  # of a file that was opened
_SLASH = Const("/")
_FIELD = re.compile(r"\{[^{}]*\}")
_PERCENT = re.compile(r"%(?:\(\w+\))?[-+ #0-9.]*[a-zA-Z]")
_FILE_NAME = re.compile(r"(?:\A|/)([\w-]{3,}\.\w+)\Z")
_MOST_DEEP = 10
_MOST_WORDS = 40
PARSES_OPTIONS = ("parse_args", "parse_known_args", "parse_args_into_dataclasses")

# Methods of a path, or a string, that give the same file, or name one beside or below it.
_SAME = frozenset("resolve absolute expanduser as_posix strip rstrip lstrip open __str__ __fspath__".split())
_BELOW = frozenset("joinpath glob rglob iterdir with_name with_suffix".split())
_LISTED = frozenset("glob rglob iterdir".split())
_TESTS: dict[str, Callable[[str, str], bool]] = {"endswith": str.endswith, "startswith": str.startswith}
_SAME_FILE = frozenset(
    f"os.{name}" for name in "fspath path.abspath path.expanduser path.expandvars path.realpath path.normpath".split()
)
_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"})


def is_text(value: Value) -> bool:
    """True for a string, or a path, of which something is known."""
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def call(ctx: Context, name: str, args: Args, site: Site | None) -> Value | None:
    """A call of a function of `os.path`, `pathlib` or `glob`; None for any other, and where nothing is known of what it is given."""
    if not args:
        return None
    if name == "os.path.join" or name in _PATHS:
        return joined(*args)
    if name in _SAME_FILE:
        return lift(text_of, args[0])
    if name == "os.path.dirname":
        return lift(parent, args[0])
    if name in ("glob.glob", "glob.iglob"):
        return ctx.new(site, "list", None, {"*": lift(text_of, args[0])}, tag="files")
    return None


def joined(*parts: Value) -> Value:
    """One path below the other."""
    between = [one for part in parts for one in (_SLASH, part)]
    return text_of(*between[1:])


def parent(path: Value) -> Value:
    """The folder of a path."""
    last = path.parts[-1] if isinstance(path, Text) else path
    if not isinstance(last, Const) or not isinstance(last.value, str):
        return text_of(path, _SLASH, Const(".."))
    folder, slash, _ = last.value.rpartition("/")
    before = path.parts[:-1] if isinstance(path, Text) else ()
    return text_of(*before, Const(folder if slash else "."))


def formatted(template: str, args: Args, pattern: re.Pattern[str] = _FIELD) -> Value:
    """`template.format(*args)`, or `template % args`."""
    pieces = pattern.split(template)
    given = args if len(args) == len(pieces) - 1 else [UNKNOWN] * (len(pieces) - 1)
    parts: list[Value] = [Const(pieces[0])]
    for one, piece in zip(given, pieces[1:], strict=True):
        parts += [one, Const(piece)]
    return text_of(*parts)


def formatted_by_name(template: str, given: dict[str, Value]) -> Value:
    """`template.format(name=value)`."""
    names = [one.strip("{}").partition(":")[0] for one in _FIELD.findall(template)]
    return formatted(template, [given.get(name, UNKNOWN) for name in names])


def of_percent(template: str, given: Value) -> Value:
    """`template % given`."""
    return formatted(template, list(given.items) if isinstance(given, Tup) else [given], _PERCENT)


def glob_of(text: Text) -> str:
    """A text with an asterisk for each part that is not known."""
    return "".join(str(one.value) if isinstance(one, Const) else "*" for one in text.parts)


def binary(operator: str, left: Value, right: Value) -> Value | None:
    """`left + right` of strings, `left / right` of paths; None for anything else."""
    if not (is_text(left) or is_text(right)):
        return None
    others = [one for one in (left, right) if not is_text(one)]
    if any(isinstance(one, Const) or not isinstance(one, (Sort, Term)) for one in others):
        return None
    if operator == "+":
        return text_of(left, right)
    return joined(left, right) if operator == "/" else None


def method(ctx: Context, path: Value, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value | None:
    """`path.name(...)` of a string or a path; None for what this table does not know."""
    first = args[0] if args else None
    if isinstance(path, Const) and name in _FOLDED and site is not None:
        return _folded(ctx, path.value, name, args, site)
    if name in _SAME:
        return path
    if name in _LISTED:
        return ctx.new(site, "list", None, {"*": joined(path, *args, *((UNKNOWN,) if not args else ()))}, tag="files")
    if name == "joinpath" or (name == "with_name" and args):
        return joined(path if name == "joinpath" else parent(path), *args)
    if not isinstance(path, Const):
        return None
    if name == "format":
        if keywords and "{}" not in path.value:
            return formatted_by_name(path.value, keywords)
        return formatted(path.value, args)
    if name in _TESTS and isinstance(first, Const) and isinstance(first.value, str):
        return TRUE if _TESTS[name](path.value, first.value) else FALSE
    return None


_FOLDED = frozenset(
    "capitalize casefold lower upper title swapcase strip lstrip rstrip removeprefix removesuffix replace split rsplit splitlines "
    "partition rpartition join center ljust rjust zfill find rfind count startswith endswith isdigit isalpha isnumeric isupper islower".split()
)
"""Methods of strings whose result is known where the string and the arguments are."""
_MOST_LETTERS, _MOST_PIECES = 400, 8


def _folded(ctx: Context, text: str, name: str, args: Args, site: Site) -> Value | None:
    from torchdevlint.infer.library import of_python

    given = [_plain(ctx, one) for one in args]
    if any(one is _NOT_PLAIN for one in given) or len(text) > _MOST_LETTERS:
        return None
    try:
        made = getattr(text, name)(*given)
    except (TypeError, ValueError, OverflowError):
        return None
    is_long = isinstance(made, (str, list)) and len(made) > (_MOST_LETTERS if isinstance(made, str) else _MOST_PIECES)
    return None if is_long else of_python(ctx, made, site, (name,))


_NOT_PLAIN = object()


def _plain(ctx: Context, value: Value) -> object:
    """A literal, or a list of literals, as a value of Python."""
    from torchdevlint.infer import reading

    if isinstance(value, Const):
        return value.value
    known = reading.items(ctx, value)
    if known is None or not all(isinstance(one, Const) for one in known):
        return _NOT_PLAIN
    values = [one.value for one in known if isinstance(one, Const)]
    return tuple(values) if isinstance(value, Tup) else values


# ------------------------------------------------------------------------------------------------ which file


def file_of(ctx: Context, value: Value) -> Value:
    """What names a file: its path, or the object that it is read through. Files that were opened are known by their paths."""
    for _ in range(_MOST_DEEP):
        rec = ctx.heap.get(value) if isinstance(value, Term) else None
        if rec is not None and PATH in rec.fields:
            value = rec.fields[PATH]
        elif isinstance(value, Term) and value.op == "enter":
            value = value.args[0]
        else:
            break
    return _canonical(value)


def _canonical(value: Value) -> Value:
    parts = list(parts_of_path(value))
    if len(parts) == 1 and not is_text(parts[0]):
        return parts[0]
    whole = text_of(*parts)
    if isinstance(whole, Const) and isinstance(whole.value, str) and whole.value:
        return Const(posixpath.normpath(whole.value))
    return whole


def parts_of_path(value: Value, deep: int = _MOST_DEEP) -> Iterator[Value]:
    """What a path is put together of, also by operations that wait for a caller."""
    if isinstance(value, Text):
        for part in value.parts:
            yield from parts_of_path(part, deep - 1) if deep else (part,)
        return
    if isinstance(value, Term) and deep:
        if value.op == "binary" and value.args[0] in ("+", "/"):
            yield from parts_of_path(value.args[1], deep - 1)
            if value.args[0] == "/":
                yield _SLASH
            yield from parts_of_path(value.args[2], deep - 1)
            return
        function = value.args[0] if value.op == "call" else None
        if isinstance(function, Term) and function.op == "attribute":
            receiver, name = function.args
            if name in _SAME:
                yield from parts_of_path(receiver, deep - 1)
                return
            if name in _BELOW:
                yield from parts_of_path(receiver, deep - 1)
                for one in value.args[1]:
                    yield _SLASH
                    yield from parts_of_path(one, deep - 1)
                return
    yield value


def file_names(path: Value) -> frozenset[str]:
    """The literal names of files in a path: "manifest.pt" of `folder / "manifest.pt"`."""
    *_, last = parts_of_path(path)
    found = _FILE_NAME.search(str(last.value)) if isinstance(last, Const) else None
    return frozenset({found.group(1)}) if found is not None else frozenset()


def written(path: Value) -> str:
    """A path as somebody writes it, with `{}` for what is no literal: "{}/vocab-{}.pt"."""
    return "".join(str(part.value) if isinstance(part, Const) else "{}" for part in parts_of_path(path))


def is_known(path: Value) -> bool:
    """True for a path of which no part is unknown: where it occurs again, it is the same file."""
    return all(part is not UNKNOWN and not isinstance(part, Sort) for part in parts_of_path(path))


def is_literal(path: Value) -> bool:
    """True for a path with a literal in it, by which it is known again."""
    return any(isinstance(part, Const) for part in parts_of_path(path))


def words(path: Value) -> set[str]:
    """The names and literals that a path is made of: of variables, attributes, keys, and functions."""
    return _collected(path, _words_of)


def made_by(path: Value) -> set[str]:
    """The last names of the functions that gave a path, or a part of it: "hf_hub_download"."""
    return _collected(path, _callees_of)


def _collected(path: Value, collect: Callable[[Value, set[str], int], None]) -> set[str]:
    """What is collected of the parts of a path."""
    found: set[str] = set()
    for one in alternatives(path):
        for part in parts_of_path(one):
            collect(part, found, _MOST_DEEP)
    return found


def _callees_of(value: Value, found: set[str], deep: int) -> None:
    if not isinstance(value, Term) or not deep:
        return
    if value.op == "call":
        found.add(last_name(value.args[0]))
    if value.op == "unknown" and value.args and isinstance(value.args[0], Site):
        found.add(callee_of(value.args[0]))
    for one in value.args:
        _callees_of(one, found, deep - 1)


def _words_of(value: object, found: set[str], deep: int) -> None:
    if isinstance(value, Const) and isinstance(value.value, str):
        found.add(value.value)
    elif isinstance(value, (Ext, Bound)):
        found.add(last_name(value))
    elif isinstance(value, (Tup, Text, OneOf)):
        for one in parts_of(value):
            _words_of(one, found, deep)
    elif isinstance(value, Ref):
        place = value.place
        while isinstance(place, tuple) and len(place) == 3 and place[0] == "at":
            place = place[2]
        if isinstance(place, tuple) and isinstance(place[0], Site):
            found |= _words_at_site(place[0])
    elif isinstance(value, Term) and deep and not is_of_options(value):
        if value.op in ("parameter", "attribute"):
            found.add(value.args[1])
        if value.op == "unknown" and value.args and isinstance(value.args[0], Site):
            found |= _words_at_site(value.args[0])
        for one in value.args:
            for inner in one if isinstance(one, tuple) else (one,):
                _words_of(inner, found, deep - 1)
        if value.op == "call" and isinstance(value.args[0], Func):
            found.add(value.args[0].body.name)


def is_of_options(value: Term) -> bool:
    """True for `parser.parse_args()`: a path that is an option of a program is not made of the program's description."""
    return value.op == "call" and last_name(value.args[0]) in PARSES_OPTIONS


def _words_at_site(site: Site) -> set[str]:
    return words_at(site.op.dst, site.body) if site.body is not None and isinstance(site.op, ir.Call) else set()


def words_at(register: ir.Register | None, body: ir.Body) -> set[str]:
    """The names and literals in an expression as it is written."""
    lookup, found, pending = Lookup.of(body), set[str](), [register]
    for _ in range(_MOST_WORDS):
        written = lookup.definition(pending.pop()) if pending else None
        if isinstance(written, (ir.Load, ir.Attribute)):
            found.add(written.name)
        if isinstance(written, ir.Constant) and isinstance(written.value, str):
            found.add(written.value)
        elif isinstance(written, (ir.Attribute, ir.Subscript)):
            pending.append(written.object)
        elif isinstance(written, ir.Binary):
            pending += [written.left, written.right]
        elif isinstance(written, ir.FormattedString):
            found.add(written.prefix)
            pending += written.parts
        elif isinstance(written, ir.Call):
            method = lookup.definition(written.function)
            is_option = isinstance(method, ir.Attribute) and method.name in PARSES_OPTIONS
            pending += [] if is_option else [written.function, *(argument.value for argument in written.arguments)]
    return found


def last_name(value: object) -> str:
    """The last name of what is called, or read: "hf_hub_download" for `huggingface_hub.hf_hub_download`."""
    if isinstance(value, (Ext, Bound)):
        return value.name.rpartition(".")[2]
    if isinstance(value, Func):
        return value.body.name
    if isinstance(value, Partial):
        return last_name(value.function)
    if isinstance(value, Term):
        if value.op in ("attribute", "parameter"):
            return str(value.args[1])
        if value.op == "item" and isinstance(value.args[1], Const):
            return str(value.args[1].value)
        if value.op in ("call", "moved", "element", "unpack", "item"):
            return last_name(value.args[0])
        if value.op == "unknown" and value.args and isinstance(value.args[0], Site):
            return callee_of(value.args[0])
    return ""


def callee_of(site: Site) -> str:
    """The last name of what is called at a site."""
    if site.body is None or not isinstance(site.op, ir.Call):
        return ""
    function = Lookup.of(site.body).definition(site.op.function)
    return function.name if isinstance(function, (ir.Load, ir.Attribute)) else ""
