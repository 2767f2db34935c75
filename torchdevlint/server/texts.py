"""Texts as an editor speaks of them: lines from 0, columns in the units that were negotiated; and the edits between two texts."""

from __future__ import annotations

import difflib
import itertools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from torchdevlint.findings import Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]

# The line ends of the protocol, which are those of Python. `str.splitlines` knows others: a form feed ends no line.
_NEWLINE = re.compile("\r\n|\r|\n")
_UNITS: Mapping[Encoding, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "utf-32": len,
}


class Point(NamedTuple):
    """A place as the protocol counts: line and character from 0."""

    line: int
    character: int


class Range(NamedTuple):
    """A half-open stretch of a text."""

    start: Point
    end: Point


class Change(NamedTuple):
    """What an editor has changed, or shall change. No range: the whole text."""

    range: Range | None
    text: str


class Text:
    """One version of a text, with its lines."""

    __slots__ = ("_ends", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        newlines = [found.span() for found in _NEWLINE.finditer(text)]
        self._starts = [0, *(end for _, end in newlines)]
        self._ends = [*(start for start, _ in newlines), len(text)]

    def line(self, number: int) -> str:
        """A line without its end; an empty one behind the last."""
        return self.text[self._starts[number] : self._ends[number]] if number < len(self._starts) else ""

    def offset(self, point: Point, encoding: Encoding) -> int:
        """The offset in code points. What lies behind a line, or the text, is its end; what splits a character is in front of it."""
        if point.line >= len(self._starts):
            return len(self.text)
        line = self.line(point.line)
        if encoding == "utf-32" or line.isascii():
            column = min(point.character, len(line))
        else:
            units, column, at = _UNITS[encoding], 0, 0
            for character in line:
                at += units(character)
                if at > point.character:
                    break
                column += 1
        return self._starts[point.line] + column

    def point(self, row: int, column: int, encoding: Encoding) -> Point:
        """The place of a row and column that count from 1 and in code points."""
        before = self.line(row - 1)[: column - 1]
        return Point(row - 1, len(before) if before.isascii() else _UNITS[encoding](before))

    def point_at(self, offset: int, encoding: Encoding) -> Point:
        """The place of an offset."""
        row = bisect_right(self._starts, offset)
        return self.point(row, offset - self._starts[row - 1] + 1, encoding)

    def range(self, span: Span, encoding: Encoding) -> Range:
        """The stretch of a finding."""
        return Range(
            self.point(span.start.row, span.start.column, encoding), self.point(span.end.row, span.end.column, encoding)
        )

    def changed(self, change: Change, encoding: Encoding) -> Text:
        """The text behind a change."""
        if change.range is None:
            return Text(change.text)
        start, end = (self.offset(point, encoding) for point in change.range)
        return Text(self.text[:start] + change.text + self.text[max(start, end) :])

    def edits_to(self, other: str, encoding: Encoding) -> Iterator[Change]:
        """The changes of whole lines that make another text of this one: an editor keeps its marks in all other lines."""
        old, new = _lines(self.text), _lines(other)
        starts = [0]
        for line in old:
            starts.append(starts[-1] + len(line))
        for tag, i, j, k, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                at = Range(self.point_at(starts[i], encoding), self.point_at(starts[j], encoding))
                yield Change(at, "".join(new[k:end]))


def _lines(text: str) -> list[str]:
    """The lines with their ends."""
    cuts = [0, *(found.end() for found in _NEWLINE.finditer(text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(cuts) if start < end]
