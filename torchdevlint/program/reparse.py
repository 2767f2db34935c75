"""LibCST's tree of a text, of which the statements that did not change are those of the version before.

LibCST takes most of the time of a key in a file with findings. A statement at the top of a file has nothing of the statements around it but
the comments between them, so that the changed ones are parsed together with their neighbours, and these are thrown away.
"""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from torchdevlint.program.bounds import measure, parse
from torchdevlint.program.ir import Row

Rows = tuple[Row, ...]


class Version(NamedTuple):
    """A text, the rows of the statements at its top, and its tree."""

    lines: list[str]
    rows: Rows
    module: cst.Module


def reparse(before: Version | None, text: str, rows: Rows) -> Version:
    """The tree of a text; raises `ParseFailure`."""
    lines = text.split("\n")
    rows = _lines_of(rows)
    module = _patched(before, lines, rows) if before is not None and _is_plain(text) else None
    return Version(lines, rows, module if module is not None else parse(text))


def _is_plain(text: str) -> bool:
    return "\r" not in text and "\f" not in text and not measure(text).is_deep


def _lines_of(rows: Rows) -> Rows:
    """The statements of which several stand in one line are one."""
    found: list[Row] = []
    for row in rows:
        if found and found[-1].last >= row.first:
            found[-1] = Row(found[-1].first, row.last)
        else:
            found.append(row._replace(inner=_lines_of(row.inner)))
    return tuple(found)


class _Change(NamedTuple):
    """How many lines at both ends two texts have in common, and by how much the lines of the last ones have moved."""

    head: int
    tail: int
    length: int
    shift: int

    def kept(self, old: Rows, new: Rows, fewest: int = 1) -> tuple[int, int] | None:
        """How many of the first and of the last statements stay; None where there is none of the first, or fewer of the last."""
        # A statement stays where the line in which the next one begins, and with it all comments between them, is what it was.
        first = sum(row.first <= self.head for row in new[1:])
        # The others stay where the statement before them, which may take comments, is what it was.
        last = max(sum(row.first > self.length - self.tail for row in new) - 1, 0)
        if first < 1 or last < fewest or first + last > min(len(new), len(old)):
            return None
        are_same = old[:first] == new[:first] and self.moved(old[len(old) - last :]) == new[len(new) - last :]
        return (first, last) if are_same else None

    def moved(self, rows: Rows) -> Rows:
        """Rows behind the change, in the new text."""
        return tuple(
            Row(row.first + self.shift, row.last + self.shift, self.moved(row.inner) if row.inner else ())
            for row in rows
        )


def _patched(before: Version, lines: list[str], rows: Rows) -> cst.Module | None:
    old = before.module
    if len(old.body) != len(before.rows):
        return None
    most = min(len(lines), len(before.lines))
    head = _common(before.lines, lines, most)
    tail = _common(before.lines[::-1], lines[::-1], most - head)
    change = _Change(head, tail, len(lines), len(lines) - len(before.lines))
    return _in_class(before, change, lines, rows) or _in_module(before, change, lines, rows)


def _in_module(before: Version, change: _Change, lines: list[str], rows: Rows) -> cst.Module | None:
    kept = change.kept(before.rows, rows)
    if kept is None:
        return None
    body = before.module.body
    first, last = kept
    middle = _parsed(lines, rows, kept, before.module)
    if middle is None or not any(
        map(_is_indented, (*body[:first], *middle))
    ):  # else another line tells the indentation
        return None
    return before.module.with_changes(body=[*body[:first], *middle, *body[len(body) - last :]])


def _in_class(before: Version, change: _Change, lines: list[str], rows: Rows) -> cst.Module | None:
    """The same within the one class in which the change is."""
    at = sum(row.last <= change.head for row in rows)
    if len(rows) != len(before.rows) or at == len(rows) or not rows[at].inner:
        return None
    old = before.rows[at]
    if change.length - change.tail > rows[at].last:
        return None  # what stands behind the class has changed as well
    ends_alone = _ends_alone(before.lines, before.rows, at) and _ends_alone(lines, rows, at)
    kept = change.kept(old.inner, rows[at].inner, 0 if ends_alone else 1) if old.inner else None
    around = (*before.rows[:at], *change.moved(before.rows[at + 1 :])), (*rows[:at], *rows[at + 1 :])
    statement = before.module.body[at]
    if kept is None or around[0] != around[1] or not isinstance(statement, cst.ClassDef):
        return None
    body = statement.body.body
    first, last = kept
    middle = _parsed(lines, rows[at].inner, kept, before.module) if len(body) == len(old.inner) else None
    if middle is None or not _is_indented(statement):
        return None
    inner = statement.body.with_changes(body=[*body[:first], *middle, *body[len(body) - last :]])
    body = list(before.module.body)
    body[at] = statement.with_changes(body=inner)
    return before.module.with_changes(body=body)


def _ends_alone(lines: list[str], rows: Rows, at: int) -> bool:
    """True where nothing but blank lines is between a statement and the next one, so that no comment is of one or the other."""
    return at + 1 < len(rows) and not "".join(lines[rows[at].last : rows[at + 1].first - 1]).strip()


def _parsed(lines: list[str], rows: Rows, kept: tuple[int, int], old: cst.Module) -> list[cst.CSTNode] | None:
    """The statements that do not stay, parsed between their neighbours."""
    first, last = kept
    begin, end = rows[first - 1].first, rows[min(len(rows) - last, len(rows) - 1)].last
    is_inside = lines[begin - 1][:1].isspace()
    made = parse("\n".join([*(["class _:"] if is_inside else []), *lines[begin - 1 : end], ""]))
    body = made.body[0].body.body if is_inside else made.body  # type: ignore[union-attr]
    is_like = made.default_newline == old.default_newline and made.default_indent == old.default_indent
    middle = list(body[1:-1] if last else body[1:])
    return middle if is_like and len(middle) == len(rows) - first - last else None


def _common(left: list[str], right: list[str], most: int) -> int:
    return next((at for at in range(most) if left[at] != right[at]), most)


def _is_indented(statement: cst.CSTNode) -> bool:
    return isinstance(getattr(statement, "body", None), cst.IndentedBlock)
