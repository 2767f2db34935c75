"""Unified diffs of repaired files, as `git apply` and `patch -p1` take them."""

# Paths are strings here: see discovery.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchdevlint.reporting.plain import shown
from torchdevlint.reporting.style import Style

if TYPE_CHECKING:
    from torchdevlint.findings import Edit, Outcome

_COLOURS = (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """The diff of every outcome that changes its file.

    A diff is made of the bytes of the files, whatever their encodings: those that are no UTF-8 are surrogates, to be written with the
    error handler "surrogateescape". On a terminal, which would obey them, control characters are escaped instead.
    """
    for outcome in outcomes:
        if outcome.stored is not None and outcome.read is not None:
            before, after = (raw.decode("utf-8", "surrogateescape") for raw in (outcome.read, outcome.stored))
            name = name_in_patch(outcome.filename)
            for line in unified(before, after, _header("a", name), _header("b", name)):
                yield painted(line, style)


def unified(before: str, after: str, old: str = "", new: str = "", context: int = 3) -> Iterator[str]:
    """The lines of a unified diff. Carriage returns are kept, so that it can be applied to a file with Windows newlines."""
    import difflib

    for line in difflib.unified_diff(_lines(before), _lines(after), old, new, lineterm="\n", n=context):
        body = line.removesuffix("\n")
        yield body
        if body == line:
            yield "\\ No newline at end of file"


def painted(line: str, style: Style) -> str:
    """A line of a diff in its colour, and escaped where a person reads it."""
    colour = next((name for start, name in _COLOURS if line.startswith(start)), None)
    if style.terminal:
        line = "\t".join(map(shown, line.removesuffix("\r").split("\t")))
    return style.paint(line, colour) if colour else line


def name_in_patch(filename: str) -> str:
    """A path as a patch names it: from the current folder, without links, which no patch is applied through."""
    if filename == "-":
        return "/-"
    real, here = os.path.realpath(filename), os.path.join(os.path.realpath(os.curdir), "")
    return "/" + real.removeprefix(here).replace(os.sep, "/").removeprefix("/")


def _header(side: str, name: str) -> str:
    """The name behind `---` or `+++`, quoted as git does where it holds what would end it; a tab ends one with blanks."""
    name = side + name
    if shown(name) == name and not any(char in name for char in '"\\'):
        return name + "\t" * (" " in name)
    return '"' + "".join(map(_quoted, os.fsencode(name))) + '"'


def _quoted(byte: int) -> str:
    char = chr(byte)
    return f"\\{char}" if char in '"\\' else char if 32 <= byte < 127 else f"\\{byte:03o}"


def _lines(text: str) -> list[str]:
    """Split at newlines alone: `str.splitlines` also splits at form feeds and others that are part of a line."""
    return [*(line + "\n" for line in text.split("\n")[:-1]), *([last] if (last := text.rsplit("\n", 1)[-1]) else [])]


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with a fix's edits."""
    for edit in reversed(edits):
        text = text[: edit.start] + edit.content + text[edit.end :]
    return text
