"""Unified diffs of repaired texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchdevlint.reporting.style import Style

if TYPE_CHECKING:
    from torchdevlint.findings import Edit, Outcome

_COLOURS = (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """The diff of every outcome that changes its file."""
    for outcome in outcomes:
        if outcome.stored is not None:
            yield from unified(outcome.original, outcome.text, style, outcome.filename)


def unified(before: str, after: str, style: Style, filename: str = "", context: int = 3) -> Iterator[str]:
    """The lines of a unified diff. Carriage returns are kept, so that `patch` can apply it to a file with Windows newlines."""
    import difflib

    for line in difflib.unified_diff(_lines(before), _lines(after), filename, filename, lineterm="\n", n=context):
        colour = next((name for start, name in _COLOURS if line.startswith(start)), None)
        body = line.removesuffix("\n")
        yield style.paint(body, colour) if colour else body
        if body == line:
            yield "\\ No newline at end of file"


def _lines(text: str) -> list[str]:
    """Split at newlines alone: `str.splitlines` also splits at form feeds and others that are part of a line."""
    return [*(line + "\n" for line in text.split("\n")[:-1]), *([last] if (last := text.rsplit("\n", 1)[-1]) else [])]


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with a fix's edits."""
    for edit in reversed(edits):
        text = text[: edit.start] + edit.content + text[edit.end :]
    return text
