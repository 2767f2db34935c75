"""Annotations that are written as text, parsed with the standard library's `ast` and never evaluated."""

from __future__ import annotations

import ast
import functools
import re
import warnings

from torchdevlint.program.ir import Annotation

UNKNOWN = Annotation("?")

_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")
_LONGEST = 2000  # characters; a longer string is no annotation, and ast would nest deeply


@functools.lru_cache(maxsize=4096)
def parse_annotation(text: str) -> Annotation:
    """The annotation that `text` spells; `Annotation("?")` when it is no expression that names a type."""
    text = text.strip()
    if _DOTTED.match(text):
        return Annotation(text)
    if len(text) > _LONGEST:
        return UNKNOWN
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(f"({text})", mode="eval")
        return annotation_of(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UNKNOWN


def annotation_of(node: ast.expr) -> Annotation:
    """The annotation that a node of the standard library's `ast` spells."""
    match node:
        case ast.Name(id=name):
            return Annotation(name)
        case ast.Attribute():
            return Annotation(dotted_name(node) or "?")
        case ast.Constant(value=None):
            return Annotation("None")
        case ast.Constant(value=str(text)):
            return parse_annotation(text)
        case ast.Subscript(value=value, slice=index):
            base = dotted_name(value)
            if base is None or is_literal(base):
                return Annotation(base or "?")
            items = index.elts if isinstance(index, ast.Tuple) else [index]
            return Annotation(base, tuple(annotation_of(item) for item in items))
        case ast.BinOp(op=ast.BitOr()):
            return Annotation("|", tuple(_alternatives(node)))
        case ast.List(elts=items):
            return Annotation("[]", tuple(annotation_of(item) for item in items))
    return UNKNOWN


def is_literal(name: str) -> bool:
    """True for `Literal`, whose arguments are values and no types."""
    return name.rpartition(".")[2] == "Literal"


def dotted_name(node: ast.expr) -> str | None:
    """`a.b.c` as text, or None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _alternatives(node: ast.expr) -> list[Annotation]:
    rights: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        rights.append(node.right)
        node = node.left
    return [annotation_of(part) for part in (node, *reversed(rights))]
