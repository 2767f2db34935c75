"""From edits of nodes to edits of text, and from these to a new text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from torchdevlint.findings import Edit
from torchdevlint.fixes.builders import NodeEdit
from torchdevlint.fixes.tree import parents_in
from torchdevlint.source.lines import Lines
from torchdevlint.source.positions import OffsetSpan, Place, record

_FORMATTED = re.compile(r"""[fF][rR]?["']""")
_PLAIN_STRING = re.compile(r"""(["'])([^"'\\\r\n]*)\1""")


class Splicer:
    """Renders node edits of one module as text edits."""

    def __init__(self, module: cst.Module, text: str, lines: Lines, edits: Iterable[NodeEdit]) -> None:
        """`text` is what the module was parsed from, `lines` its lines; `edits` are all those that will be asked for."""
        edits = list(edits)
        self._module = module
        self._lines = lines
        self._text = text
        self._has_f_strings = _FORMATTED.search(text) is not None
        self._blocks = _Blocks(module) if any(edit.kind == "remove-statement" for edit in edits) else None
        self._targets: list[cst.CSTNode] = [edit.target for edit in edits]
        if self._blocks is not None:
            self._targets += [part for edit in edits for part in self._blocks.around(edit.target)]
        self._places: dict[int, Place] = {}

    def locate(self, nodes: Iterable[cst.CSTNode] = ()) -> dict[int, OffsetSpan]:
        """Finds where the targets stand and, in the same generation of the code, the spans of `nodes`."""
        recording = record(self._module, self._text, nodes, self._targets)
        self._places = recording.places
        return recording.spans

    def edits(self, edits: Sequence[NodeEdit]) -> tuple[Edit, ...] | None:
        """The edits as minimal replacements of text, sorted; None when they overlap or a target is not in the module."""
        if not self._places:
            self.locate()
        if any(id(edit.target) not in self._places for edit in edits):
            return None
        made = []
        for edit in edits:
            fitting = self._fitting(self._minimal(*self._splice(edit)), edit.target)
            if fitting is None:
                return None
            made.append(fitting)
        made.sort(key=lambda edit: (edit.start, edit.end))
        if any(before.end > after.start for before, after in itertools.pairwise(made)):
            return None
        return tuple(made)

    def _fitting(self, made: Edit, target: cst.CSTNode) -> Edit | None:
        """The edit with quotes that Pythons before 3.12 take where it stands; None where there are none."""
        quotes = self._quotes_around(target)
        if not quotes:
            return made
        content = made.content
        if any(quote in content for quote in quotes):
            other = "'" if quotes[0].startswith('"') else '"'
            content = _PLAIN_STRING.sub(lambda found: f"{other}{found[2]}{other}", content)
        refused = {"\\", "#", *quotes, *("\r\n" if any(len(quote) == 1 for quote in quotes) else "")}
        return None if any(part in content for part in refused) else replace(made, content=content)

    def _quotes_around(self, target: cst.CSTNode) -> list[str]:
        """The quotes of the f-strings in which a node stands."""
        if not self._has_f_strings:
            return []
        parents = parents_in(self._module)
        found: list[str] = []
        node = parents.get(target)
        while node is not None:
            if isinstance(node, cst.FormattedString):
                found.append(node.end)
            node = parents.get(node)
        return found

    def _splice(self, edit: NodeEdit) -> tuple[int, int, str]:
        place = self._places[id(edit.target)]
        if edit.kind == "remove-statement":
            return self._removal(edit.target)
        if edit.kind == "insert-before":
            at = self._behind_blank_lines(place)
            return at, at, self._statement(edit.replacement, place)
        if edit.kind == "insert-after":
            joint = "" if self._text[: place.end].endswith(("\n", "\r")) else self._module.default_newline
            return place.end, place.end, joint + self._statement(edit.replacement, place)
        replacement = edit.replacement
        if isinstance(edit.target, cst.BaseSmallStatement) and isinstance(replacement, cst.BaseSmallStatement):
            replacement = replacement.with_changes(semicolon=edit.target.semicolon)  # it belongs to the line
        return place.start, place.end, self._render(replacement, place)

    def _render(self, replacement: cst.CSTNode | str, place: Place) -> str:
        if isinstance(replacement, str):
            return replacement.replace("\n", self._module.default_newline)
        state = CodegenState(
            self._module.default_indent, self._module.default_newline, indent_tokens=list(place.indentation)
        )
        replacement._codegen(state)
        return "".join(state.tokens)

    def _statement(self, replacement: cst.CSTNode | str, place: Place) -> str:
        """An inserted statement with the indentation of its place."""
        if isinstance(replacement, str):
            indentation = "".join(place.indentation)
            replacement = "".join(
                indentation + line if line.strip() else line for line in replacement.splitlines(keepends=True)
            )
        return self._render(replacement, place)

    def _behind_blank_lines(self, place: Place) -> int:
        """Blank lines above a statement stay above what is inserted before it."""
        at = place.start
        for line in self._text[place.start : place.end].splitlines(keepends=True):
            if line.strip():
                break
            at += len(line)
        return at

    def _removal(self, target: cst.CSTNode) -> tuple[int, int, str]:
        """The lines of a statement; a body that would be empty gets `pass`, comments above the statement stay."""
        assert self._blocks is not None
        small, line, siblings = self._blocks.statement(target)
        place = self._places[id(small)]
        if siblings == 1 and not self._blocks.in_module(line):
            return place.start, place.end, "pass"
        if len(getattr(line, "body", (small,))) > 1 and small is not line:
            return self._small_removal(small, line.body)
        start = max(self._text.rfind("\n", 0, place.start), self._text.rfind("\r", 0, place.start)) + 1
        return start, self._places[id(line)].end, ""

    def _small_removal(self, small: cst.CSTNode, body: Sequence[cst.CSTNode]) -> tuple[int, int, str]:
        """`a; b; c` without `b`, or without the last of them."""
        index = next(number for number, item in enumerate(body) if item is small)
        place = self._places[id(small)]
        if index + 1 < len(body):
            return place.start, self._places[id(body[index + 1])].start, ""
        end = self._places[id(body[index - 1])].end
        # The place of a small statement includes the semicolon behind it and the blanks around that.
        return end - len(self._text[:end]) + len(self._text[:end].rstrip("; \t")), place.end, ""

    def _minimal(self, start: int, end: int, content: str) -> Edit:
        """The replacement without the text that old and new have in common at their ends, at borders of words."""
        old = self._text[start:end]
        head = _common(old, content)
        while head > 0 and _splits_word(old, head) | _splits_word(content, head):
            head -= 1
        old, content = old[head:], content[head:]
        tail = _common(old[::-1], content[::-1])
        while tail > 0 and _splits_word(old, len(old) - tail) | _splits_word(content, len(content) - tail):
            tail -= 1
        start, end = start + head, end - tail
        return Edit(start, end, content[: len(content) - tail], self._lines.span(start, end))


def _common(left: str, right: str) -> int:
    """The length of the common prefix."""
    length = min(len(left), len(right))
    return next((index for index in range(length) if left[index] != right[index]), length)


def _splits_word(text: str, at: int) -> bool:
    """True when a cut at `at` goes through an identifier, a number or a run of blanks at a newline."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return ((before.isalnum() or before == "_") and (after.isalnum() or after == "_")) or (
        before == "\r" and after == "\n"
    )


def _parts(node: Any) -> Iterator[Any]:
    """What of a statement may hold further statements."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        part = getattr(node, name, None)
        if isinstance(part, cst.CSTNode):
            yield part
        elif part is not None:
            yield from part


class _Blocks:
    """Which block each statement of a module stands in."""

    def __init__(self, module: cst.Module) -> None:
        self._module = module
        self._parents: dict[int, Any] = {}
        stack: list[Any] = [module]
        while stack:
            node = stack.pop()
            body = getattr(node, "body", None)
            if isinstance(body, (list, tuple)):
                self._parents.update((id(item), node) for item in body)
            stack.extend(_parts(node))

    def around(self, target: cst.CSTNode) -> tuple[Any, ...]:
        """The nodes whose places a removal of `target` needs."""
        small, line, _ = self.statement(target)
        body = line.body if isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) else ()
        return (small, line, *body)

    def statement(self, target: Any) -> tuple[Any, Any, int]:
        """The statement itself, the line that holds it (itself when compound), and how many statements its block has."""
        if isinstance(target, cst.SimpleStatementLine) and len(target.body) == 1:
            target = target.body[0]
        line = self._parents.get(id(target), self._module)
        if isinstance(line, cst.SimpleStatementLine):
            block = self._parents.get(id(line), self._module)
            return target, line, len(block.body) + len(line.body) - 1
        if isinstance(line, cst.SimpleStatementSuite):
            return target, line, len(line.body)
        return target, target, len(line.body)

    def in_module(self, line: Any) -> bool:
        """True for a statement of the module itself, whose body may be empty."""
        return self._parents.get(id(line)) is self._module
