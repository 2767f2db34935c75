"""Where nodes of a LibCST tree stand in their text, and which row and column an offset is.

LibCST's position providers cost two parses. Here the code is generated once, up to the last of the chosen nodes, and what is noted is
only where these begin and end: a quarter of a parse at most.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.findings import Position, Span
from torchdevlint.source.deep_stack import call_with_deep_stack

if TYPE_CHECKING:
    import libcst as cst

_LOST = frozenset("\ufeff\f\r\\\n")  # what LibCST may drop; a continued line only in front of a statement
_BLANK = re.compile(r"(?:[ \t\f]|\\(?:\r\n|[\r\n]))*")
_NEWLINE = re.compile(r"\r\n|[\r\n]")


class OffsetSpan(NamedTuple):
    """The stretch of a node, in code points of the text, half open.

    `start` and `end` are those of the node without its own parentheses: `x` in `(x)`, but all of `(x).y`, whose parentheses are
    those of a part. `outer_start` and `outer_end` take its own parentheses in. For other nodes both are the
    same: a statement without the comments and blank lines before it and without its newline, an argument without its comma.
    """

    start: int
    end: int
    outer_start: int
    outer_end: int


class LineIndex:
    """The lines of a text as Python counts them: behind each \\n, \\r\\n and \\r, and nowhere else (a form feed ends no line)."""

    __slots__ = ("_starts",)

    def __init__(self, text: str) -> None:
        self._starts = [0, *(newline.end() for newline in _NEWLINE.finditer(text))]

    @property
    def rows(self) -> int:
        """How many lines there are; a text that ends in a newline has an empty one behind it."""
        return len(self._starts)

    def position(self, offset: int) -> Position:
        """The row and column (from 1, in code points) of an offset."""
        row = bisect_right(self._starts, offset)
        return Position(row, offset - self._starts[row - 1] + 1)

    def span(self, start: int, end: int) -> Span:
        """The stretch between two offsets."""
        return Span(self.position(start), self.position(end))

    def offset(self, position: Position) -> int:
        """The offset of a row and column; raises `IndexError` for a row that the text does not have."""
        if position.row < 1:
            raise IndexError(f"row {position.row}")
        return self._starts[position.row - 1] + position.column - 1


class Place(NamedTuple):
    """A node's whole text (with its parentheses, leading lines and newline), half open, and the indentation there."""

    start: int
    end: int
    indentation: tuple[str, ...]


class Recording(NamedTuple):
    """What one generation of a module's code tells: the spans of some nodes and the places of others, by `id(node)`."""

    spans: dict[int, OffsetSpan]
    places: dict[int, Place]


def spans(module: cst.Module, nodes: Iterable[cst.CSTNode], text: str | None = None) -> dict[int, OffsetSpan]:
    """The spans of `nodes` in `text`, which `module` was parsed from, keyed by `id(node)`; without `text`, in `module.code`.

    LibCST loses a byte-order mark, form feeds at the start of a line and a last lone \\r; the offsets count them all the same.
    A node that is not in the module has no entry. Raises `ValueError` when `text`, up to the last of the nodes, is not what the module was parsed from.
    """
    return record(module, text, nodes).spans


def record(
    module: cst.Module, text: str | None, nodes: Iterable[cst.CSTNode], whole: Iterable[cst.CSTNode] = ()
) -> Recording:
    """The spans of `nodes` and the places of `whole`, as `spans` gives them."""
    chosen, placed = {id(node) for node in nodes}, {id(node) for node in whole}
    if not chosen and not placed:
        return Recording({}, {})
    state = _generated(module, chosen, placed, text)
    code = "".join(state.tokens)
    ends = [0, *accumulate(map(len, state.tokens))]
    offsets = range(len(code) + 1) if text is None or text.startswith(code) else _offsets(code, text)
    last = len(state.tokens)  # LibCST takes back the newline of a last line that has none
    places = {
        key: Place(offsets[ends[min(start, last)]], offsets[ends[min(end, last)]], indentation)
        for key, (start, end, indentation) in state.places.items()
    }
    found = {}
    for key in chosen & state.outer.keys():
        outer = state.outer[key]
        inner = state.inner.get(key, outer)
        if key not in state.parenthesised:
            outer = inner
        start, end, outer_start, outer_end = (ends[index] for index in (*inner, *outer))
        if key not in state.inner:
            start += len(code[start:end]) - len(code[start:end].lstrip())  # a clause: ` for x in y`
            outer_start = start
        found[key] = OffsetSpan(offsets[start], offsets[end], offsets[outer_start], offsets[outer_end])
    return Recording(found, places)


class _NotRecorded:
    """A context that does nothing; what `contextmanager` makes for each node would be half of the code generation."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


_NOT_RECORDED = _NotRecorded()


class _AllPassed(Exception):
    """The code of every chosen node was generated."""


def _generated(module: cst.Module, chosen: set[int], placed: set[int], text: str | None) -> Any:
    """The recorder after it has generated the code up to the last of the nodes, or all of it where the text does not begin so."""

    def generate(*, whole: bool) -> Any:
        global _GENERATED
        state = _recorder()(default_indent=module.default_indent, default_newline=module.default_newline)
        state.watch(chosen, placed, whole)
        made: dict[int, _Generated] = {}
        with suppress(_AllPassed):
            _by_statements(module, chosen | placed, _GENERATED, made)._codegen(state)
        _GENERATED = made
        return state

    def found() -> Any:
        state = generate(whole=text is None)
        return state if text is None or text.startswith("".join(state.tokens)) else generate(whole=True)

    try:
        return found()
    except RecursionError:
        return call_with_deep_stack(found)


class _Generated(NamedTuple):
    """The code of a statement: under which indentation, its tokens, and which nodes stand in it, by their `id`."""

    node: cst.CSTNode
    indentation: tuple[str, ...]
    tokens: list[str]
    nodes: frozenset[int]


# Of the statements of the last module: the next version of a text shares most of them.
_GENERATED: dict[int, _Generated] = {}


class _Statement:
    """Stands for a statement while code is generated: one that was generated before, and holds no chosen node, is copied."""

    __slots__ = ("before", "made", "node")

    def __init__(self, node: cst.CSTNode, before: dict[int, _Generated], made: dict[int, _Generated]) -> None:
        self.node, self.before, self.made = node, before, made

    def _codegen(self, state: Any) -> None:
        key, indentation = id(self.node), tuple(state.indent_tokens)
        known = self.before.get(key)
        if known is not None and known.node is self.node and known.indentation == indentation:
            self.made[key] = known
            if known.nodes.isdisjoint(state.noted):
                state.tokens += known.tokens
                return
        start, state.passed = len(state.tokens), []
        self.node._codegen(state)
        self.made[key] = _Generated(self.node, indentation, state.tokens[start:], frozenset(state.passed))


def _by_statements(
    module: cst.Module, noted: set[int], before: dict[int, _Generated], made: dict[int, _Generated]
) -> cst.Module:
    """The module with stand-ins for the statements at its top, and for those of the classes there."""
    import libcst as cst

    def stand_ins(statements: Iterable[cst.CSTNode]) -> Any:
        return [_Statement(statement, before, made) for statement in statements]

    def has_stand_ins(statement: cst.CSTNode) -> bool:
        """True for a class whose statements are copied one by one."""
        block = statement.body if isinstance(statement, cst.ClassDef) else None
        return isinstance(block, cst.IndentedBlock) and noted.isdisjoint((id(statement), id(block)))

    body: list[Any] = []
    for statement in module.body:
        if has_stand_ins(statement):
            block: Any = statement.body
            body.append(statement.with_changes(body=block.with_changes(body=stand_ins(block.body))))
        else:
            body += stand_ins([statement])
    return module if id(module) in noted else module.with_changes(body=body)


@functools.cache
def _recorder() -> Any:
    """A code generation that notes between which tokens the chosen nodes stand."""
    from libcst._nodes.internal import CodegenState

    class Recorder(CodegenState):
        def watch(self, chosen: set[int], placed: set[int], whole: bool) -> None:
            self.chosen = set(chosen)  # grows by the nodes that the chosen ones begin and end with
            self.placed = placed
            self.noted = chosen | placed
            self.ahead = set() if whole else chosen | placed
            self.places: dict[int, tuple[int, int, tuple[str, ...]]] = {}
            self.passed: list[int] = []  # the nodes of the present statement
            self.parenthesised: set[int] = set()
            self.outer: dict[int, tuple[int, int]] = {}
            self.inner: dict[int, tuple[int, int]] = {}

        def before_codegen(self, node: cst.CSTNode) -> None:
            self.passed.append(id(node))
            if id(node) in self.noted:
                self.outer[id(node)] = (len(self.tokens), -1)

        def after_codegen(self, node: cst.CSTNode) -> None:
            key = id(node)
            if key in self.noted:
                self.outer[key] = start, end = self.outer[key][0], len(self.tokens)
                if getattr(node, "lpar", None):
                    self.parenthesised.add(key)
                if key in self.placed:
                    self.places[key] = start, end, tuple(self.indent_tokens)
                if key in self.ahead:
                    self.ahead.remove(key)
                    if not self.ahead:
                        raise _AllPassed

        def record_syntactic_position(
            self,
            node: cst.CSTNode,
            *,
            start_node: cst.CSTNode | None = None,
            end_node: cst.CSTNode | None = None,
        ) -> Any:
            return self._recorded(node, start_node, end_node) if id(node) in self.chosen else _NOT_RECORDED

        @contextmanager
        def _recorded(
            self, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
        ) -> Iterator[None]:
            ends = [end for end in (start_node, end_node) if end is not None]
            self.chosen.update(map(id, ends))
            self.noted.update(map(id, ends))
            start = len(self.tokens)
            yield
            end = len(self.tokens)
            if start_node is not None:
                start = self._syntactic(start_node)[0]
            if end_node is not None:
                end = self._syntactic(end_node)[1]
            self.inner[id(node)] = (start, end)

        def _syntactic(self, node: cst.CSTNode) -> tuple[int, int]:
            return self.inner.get(id(node), self.outer[id(node)])

    return Recorder


def _offsets(code: str, text: str) -> list[int]:
    """The offset in `text` of each character of `code`, which lacks some of its characters, and that of the end."""
    offsets: list[int] = []
    at = 0
    while len(offsets) < len(code):
        index = len(offsets)
        if (
            at == 0 or text[at - 1] in "\r\n\ufeff"
        ):  # behind a form feed or a continued line, LibCST indents in its own way
            blank, theirs = _blank(text, at), _blank(code, index)
            if blank != theirs:
                at += len(blank)
                offsets += [at] * len(theirs)
                continue
        while text[at : at + 1] != code[index]:
            if text[at : at + 1] not in _LOST:
                raise ValueError("the text is not what the module was parsed from")
            at += 1
        offsets.append(at)
        at += 1
    if not _LOST.issuperset(text[at:]):
        raise ValueError("the text is not what the module was parsed from")
    return [*offsets, at]


def _blank(text: str, at: int) -> str:
    """What stands in front of the first word of a line, lines that it continues included."""
    found = _BLANK.match(text, at)
    assert found is not None
    return found[0]
