"""Names and annotations of LibCST nodes, as text and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from torchdevlint.program import literals
from torchdevlint.program.annotations import UNKNOWN, is_literal, parse_annotation, plain
from torchdevlint.program.builder import BodyBuilder
from torchdevlint.program.ir import (
    Annotation,
)

KEYWORD_VALUES = {"None": None, "True": True, "False": False}


def dotted(node: cst.CSTNode) -> str | None:
    """`a.b.c` as text, or None for any other expression."""
    parts = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name or node.value in KEYWORD_VALUES:
        return None
    parts.append(node.value)
    parts.reverse()
    return ".".join(parts)


def root(node: Any) -> cst.Name:
    """The first name of `a.b.c`."""
    while isinstance(node, cst.Attribute):
        node = node.value
    assert isinstance(node, cst.Name)
    return node


def annotation_of(b: BodyBuilder, node: cst.BaseExpression) -> Annotation:
    """The annotation that an expression spells; strings in it are parsed, never evaluated."""
    handler = _ANNOTATIONS.get(type(node))
    return handler(b, node) if handler is not None else UNKNOWN


def _name(b: BodyBuilder, node: cst.Name) -> Annotation:
    name = node.value
    if name in KEYWORD_VALUES:
        return plain(name) if name == "None" else UNKNOWN
    b.words.add(name)
    return plain(name)


def _attribute(b: BodyBuilder, node: cst.Attribute) -> Annotation:
    name = dotted(node)
    if name is None:
        return UNKNOWN
    b.words.update(name.split("."))
    return plain(name)


def _subscript(b: BodyBuilder, node: cst.Subscript) -> Annotation:
    name = dotted(node.value)
    if name is None:
        return UNKNOWN
    b.words.update(name.split("."))
    if is_literal(name):
        return plain(name)
    items = [part.slice for part in node.slice]
    first = items[0]
    if len(items) == 1 and type(first) is cst.Index and type(first.value) is cst.Tuple:
        return Annotation(name, _elements(b, first.value.elements))
    arguments = [annotation_of(b, item.value) if type(item) is cst.Index else UNKNOWN for item in items]
    return Annotation(name, tuple(arguments))


def _alternatives(b: BodyBuilder, node: cst.BinaryOperation) -> Annotation:
    rights = []
    left: cst.BaseExpression = node
    while isinstance(left, cst.BinaryOperation) and type(left.operator) is cst.BitOr:
        rights.append(left.right)
        left = left.left
    if not rights:
        return UNKNOWN
    return Annotation("|", tuple([annotation_of(b, part) for part in (left, *reversed(rights))]))


def _list(b: BodyBuilder, node: cst.List) -> Annotation:
    return Annotation("[]", _elements(b, node.elements))


def _elements(b: BodyBuilder, elements: Sequence[cst.BaseElement]) -> tuple[Annotation, ...]:
    return tuple([annotation_of(b, element.value) for element in elements])


def _string(b: BodyBuilder, node: cst.SimpleString | cst.ConcatenatedString) -> Annotation:
    pieces = pieces_of(node)
    if any(type(piece) is not cst.SimpleString for piece in pieces):
        return UNKNOWN
    try:
        text = literals.joined([piece.value for piece in pieces])
    except ValueError:
        return UNKNOWN
    return parse_annotation(text) if isinstance(text, str) else UNKNOWN


_ANNOTATIONS: dict[type[Any], Callable[[BodyBuilder, Any], Annotation]] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Subscript: _subscript,
    cst.BinaryOperation: _alternatives,
    cst.List: _list,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _string,
}


def pieces_of(node: cst.CSTNode) -> list[Any]:
    """The strings that are joined by standing side by side, which LibCST nests to the right."""
    pieces: list[Any] = []
    while type(node) is cst.ConcatenatedString:
        pieces.append(node.left)
        node = node.right
    pieces.append(node)
    return pieces
