"""Names and annotations of LibCST nodes, as text and as plain data."""

from __future__ import annotations

from typing import Any

import libcst as cst

from torchdevlint.program import literals
from torchdevlint.program.annotations import UNKNOWN, is_literal, parse_annotation
from torchdevlint.program.builder import BodyBuilder
from torchdevlint.program.ir import (
    Annotation,
)


def dotted(node: cst.CSTNode) -> str | None:
    """`a.b.c` as text, or None for any other expression."""
    if isinstance(node, cst.Name):
        return node.value
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    parts.reverse()
    return ".".join(parts)


def root(node: Any) -> cst.Name:
    while isinstance(node, cst.Attribute):
        node = node.value
    assert isinstance(node, cst.Name)
    return node


def annotation_of(b: BodyBuilder, node: cst.BaseExpression) -> Annotation:
    if isinstance(node, cst.Name | cst.Attribute):
        name = dotted(node)
        if name is None:
            return UNKNOWN
        b.words.update(name.split("."))
        return Annotation(name)
    if isinstance(node, cst.Subscript):
        name = dotted(node.value)
        if name is None:
            return UNKNOWN
        b.words.update(name.split("."))
        if is_literal(name):
            return Annotation(name)
        items = (part.slice for part in node.slice)
        return Annotation(
            name, tuple(annotation_of(b, item.value) if isinstance(item, cst.Index) else UNKNOWN for item in items)
        )
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        rights = []
        left: cst.BaseExpression = node
        while isinstance(left, cst.BinaryOperation) and isinstance(left.operator, cst.BitOr):
            rights.append(left.right)
            left = left.left
        return Annotation("|", tuple(annotation_of(b, part) for part in (left, *reversed(rights))))
    if isinstance(node, cst.List):
        return Annotation("[]", tuple(annotation_of(b, element.value) for element in node.elements))
    if isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        pieces = pieces_of(node)
        if all(isinstance(piece, cst.SimpleString) for piece in pieces):
            try:
                text = literals.joined([piece.value for piece in pieces])
            except ValueError:
                return UNKNOWN
            return parse_annotation(text) if isinstance(text, str) else UNKNOWN
    return UNKNOWN


def pieces_of(node: cst.CSTNode) -> list[Any]:
    """The strings that are joined by standing side by side, which LibCST nests to the right."""
    pieces: list[Any] = []
    while isinstance(node, cst.ConcatenatedString):
        pieces.append(node.left)
        node = node.right
    pieces.append(node)
    return pieces
