"""A Jupyter notebook as one program: its Python cells in order, and back into the file so that nothing else changes by a byte.

Between two cells stands a comment line with a key that no cell contains; by it the repaired program falls into cells again. The cells keep how
their lines were written (nbformat 4: an array of lines or one string; nbformat 3: `input`), unchanged lines keep their very spelling in JSON.
"""

from __future__ import annotations

import codecs
import difflib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from torchdevlint.findings import Edit, Finding, Fix, Outcome, Related, Span
from torchdevlint.source import json_text
from torchdevlint.source.json_text import JsonError, Node
from torchdevlint.source.magics import Masks, is_python, masked
from torchdevlint.source.source import SourceError

SUFFIX = ".ipynb"
MOST_PROGRAM = 4_000_000  # characters of all cells together


class Cell(NamedTuple):
    """A Python cell: its number in the notebook (from 1, all kinds of cells counted) and its source in the file."""

    number: int
    source: Node


@dataclass(frozen=True, slots=True)
class Notebook:
    """The text of a notebook's program, with what it takes to write it back. It is used where a `Source` is."""

    path: str
    text: str
    raw: str
    cells: tuple[Cell, ...]
    masks: Masks
    bom: bytes = b""
    encoding: str = "utf-8"

    @classmethod
    def from_bytes(cls, path: str, stored: bytes) -> Notebook:
        """Raises `SourceError` for what is no notebook."""
        bom = codecs.BOM_UTF8 if stored.startswith(codecs.BOM_UTF8) else b""
        try:
            raw = stored[len(bom) :].decode("utf-8")
            root = json_text.parse(raw)
        except UnicodeDecodeError as error:
            row = stored[: error.start].count(b"\n") + 1
            raise SourceError(f"the notebook is not UTF-8 (byte 0x{error.object[error.start]:02x})", row) from None
        except JsonError as error:
            raise SourceError(f"the notebook is no JSON: {error}", error.row) from None
        cells = tuple(_python_cells(root)) if _speaks_python(root) else ()
        texts = ["".join(_lines(cell.source)) for cell in cells]
        if sum(map(len, texts)) > MOST_PROGRAM:
            raise SourceError(f"the cells hold more than {MOST_PROGRAM:,} characters")
        key = _unused_key(texts)
        masks = Masks(key)
        parts = []
        for cell, text in zip(cells, texts, strict=True):
            lines = text.replace("\r\n", "\n").split("\n")
            parts.append("\n".join([_marker(key, cell.number), *masked(lines, masks)]) + "\n")
        return cls(path, "".join(parts), raw, cells, masks, bom)

    @property
    def newline(self) -> str:
        return "\n"

    def with_text(self, text: str) -> Notebook:
        """The same notebook with another program; raises `ValueError` when it does not fall into the same cells."""
        self._texts(text)
        return replace(self, text=text)

    def to_bytes(self) -> bytes:
        """The file: the strings of changed cells are new, all else is as it was."""
        parts, at = [], 0
        for cell, text in zip(self.cells, self._texts(self.text), strict=True):
            old = _lines(cell.source)
            if "".join(old).replace("\r\n", "\n") != text:
                parts += [self.raw[at : cell.source.start], _rewritten(self.raw, cell.source, old, text)]
                at = cell.source.end
        return self.bom + ("".join(parts) + self.raw[at:]).encode("utf-8")

    def first_rows(self) -> Mapping[int, int]:
        """By number of the cell: how many rows of the program stand before its first line."""
        numbers = {_marker(self.masks.key, cell.number): cell.number for cell in self.cells}
        return {numbers[line]: row for row, line in enumerate(self.text.split("\n"), start=1) if line in numbers}

    def row_name(self) -> Callable[[int], str]:
        """How a message calls a row of the program: "3 of cell 2"."""
        places = _Places(self.first_rows())

        def name(row: int) -> str:
            cell, before = places.cell(row)
            return f"{row - before} of cell {cell}"

        return name

    def _texts(self, program: str) -> list[str]:
        """The cells of a program, what was hidden in its place again."""
        lines = program.split("\n")
        markers = [_marker(self.masks.key, cell.number) for cell in self.cells]
        rows = [row for row, line in enumerate(lines) if line.startswith(_marker(self.masks.key, 0)[:-1])]
        if [lines[row] for row in rows] != markers or (lines[:1] != markers[:1] and markers):
            raise ValueError("an edit crosses the border of a cell")
        ends = [*rows[1:], len(lines) - 1] if rows else []
        restored = [
            "\n".join(self.masks.restore(line) for line in lines[row + 1 : end])
            for row, end in zip(rows, ends, strict=True)
        ]
        if sum(line.count(f"#{self.masks.key}:") for line in lines) != self.masks.hidden:
            raise ValueError("an edit changes what is no Python")
        return restored


def located(outcome: Outcome, before: Notebook, after: Notebook) -> Outcome:
    """The outcome of a notebook with rows counted within cells, as notebooks show them."""
    places, old = _Places(after.first_rows()), _Places(before.first_rows())
    return replace(
        outcome,
        findings=tuple(places.finding(finding) for finding in outcome.findings),
        fixed=tuple(old.finding(finding) for finding in outcome.fixed),
        original=before.raw if outcome.original else "",
        cells=places.first_rows,
    )


class _Places:
    def __init__(self, first_rows: Mapping[int, int]) -> None:
        self.first_rows = first_rows
        self._order = sorted(((row, number) for number, row in first_rows.items()), reverse=True)

    def cell(self, row: int) -> tuple[int, int]:
        """The cell that a row of the program is in, and the rows before it."""
        return next(((number, first) for first, number in self._order if first < row), (self._order[-1][1], 0))

    def span(self, span: Span) -> tuple[int, Span]:
        number, first = self.cell(span.start.row)
        start, end = (replace(position, row=position.row - first) for position in (span.start, span.end))
        return number, Span(start, end)

    def finding(self, finding: Finding) -> Finding:
        if not self._order:
            return finding
        cell, span = self.span(finding.span)
        return replace(
            finding,
            cell=cell,
            span=span,
            noqa_row=finding.noqa_row - self.first_rows[cell],
            related=tuple(
                self.related(other) if other.filename == finding.filename else other for other in finding.related
            ),
            fix=finding.fix and self.fix(finding.fix),
        )

    def related(self, other: Related) -> Related:
        cell, span = self.span(other.span)
        return replace(other, cell=cell, span=span)

    def fix(self, fix: Fix) -> Fix:
        return replace(fix, edits=tuple(self.edit(edit) for edit in fix.edits))

    def edit(self, edit: Edit) -> Edit:
        cell, span = self.span(edit.span)
        return replace(edit, cell=cell, span=span)


# ---------------------------------------------------------------------------------------------------- reading


def _speaks_python(root: Node) -> bool:
    """Whether the notebook's kernel runs Python; one that does not say is taken for Python."""
    metadata = root.get("metadata")
    for table, name in (("kernelspec", "language"), ("language_info", "name")):
        found = metadata and metadata.get(table)
        language = found and found.get(name)
        if language is not None and isinstance(language.value, str):
            return language.value.lower() in ("python", "ipython", "python3", "")
    return True


def _python_cells(root: Node) -> Iterator[Cell]:
    sheets = root.get("worksheets")
    groups = (
        [(root.get("cells"), "source")]
        if sheets is None
        else [(sheet.get("cells"), "input") for sheet in sheets.items()]
    )
    if groups and groups[0][0] is None:
        raise SourceError("the file is no notebook: it has no cells")
    number = 0
    for cells, name in groups:
        for cell in cells.items() if cells is not None else ():
            number += 1
            kind, source = cell.get("cell_type"), cell.get(name)
            if kind is None or kind.value != "code" or source is None or not _is_text(source):
                continue
            if is_python("".join(_lines(source)).split("\n")):
                yield Cell(number, source)


def _is_text(source: Node) -> bool:
    return isinstance(source.value, str) or (
        bool(source.items()) and all(isinstance(line.value, str) for line in source.items())
    )


def _lines(source: Node) -> list[str]:
    """The strings of a cell's source."""
    return [str(line.value) for line in source.items()] if isinstance(source.value, list) else [str(source.value)]


def _unused_key(texts: Sequence[str]) -> str:
    """A word that no cell contains."""
    number = 0
    while any(f"cell-{number}" in text for text in texts):
        number += 1
    return f"cell-{number}"


def _marker(key: str, number: int) -> str:
    return f"# {key} {number}"


# ---------------------------------------------------------------------------------------------------- writing


def _rewritten(raw: str, source: Node, old: list[str], text: str) -> str:
    """The JSON of a changed cell, in the style of the old."""
    crlf = any("\r\n" in line for line in old)
    if crlf:
        text = text.replace("\n", "\r\n")
    ascii_only = raw.isascii()
    elements = source.items()
    if not elements:
        return json.dumps(text, ensure_ascii=ascii_only)
    new = text.splitlines(keepends=True) if crlf else _kept_lines(text)
    spelled = [raw[node.start : node.end] for node in elements]
    written: list[str] = []
    for tag, i, j, k, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        written += (
            spelled[i:j] if tag == "equal" else [json.dumps(line, ensure_ascii=ascii_only) for line in new[k:end]]
        )
    opening = raw[source.start : elements[0].start]
    between = raw[elements[0].end : elements[1].start] if len(elements) > 1 else "," + opening[1:]
    return opening + between.join(written) + raw[elements[-1].end : source.end]


def _kept_lines(text: str) -> list[str]:
    """Lines with their newlines, split at newlines alone."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
