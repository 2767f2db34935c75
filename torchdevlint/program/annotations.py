"""Annotations as nodes of the standard library's `ast`, and as text, which is parsed with it. Nothing is evaluated."""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections.abc import Callable
from typing import Any

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
        return annotation_of(tree.body, set())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UNKNOWN


def annotation_of(node: ast.expr, words: set[str]) -> Annotation:
    """The annotation that a node of the standard library's `ast` spells; the names in it are added to `words`."""
    handler = _HANDLERS.get(type(node))
    return handler(node, words) if handler is not None else UNKNOWN


# Frozen, and the same few names come again and again.
plain = functools.lru_cache(maxsize=4096)(Annotation)


def _name(node: ast.Name, words: set[str]) -> Annotation:
    words.add(node.id)
    return plain(node.id)


def _attribute(node: ast.Attribute, words: set[str]) -> Annotation:
    name = dotted_name(node)
    if name is None:
        return UNKNOWN
    words.update(name.split("."))
    return plain(name)


def _constant(node: ast.Constant, words: set[str]) -> Annotation:
    if node.value is None:
        return plain("None")
    return parse_annotation(node.value) if isinstance(node.value, str) else UNKNOWN


def _subscript(node: ast.Subscript, words: set[str]) -> Annotation:
    name = dotted_name(node.value)
    if name is None:
        return UNKNOWN
    words.update(name.split("."))
    if is_literal(name):
        return plain(name)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return Annotation(name, _elements(items, words))


def _list(node: ast.List, words: set[str]) -> Annotation:
    return Annotation("[]", _elements(node.elts, words))


def _elements(items: list[ast.expr], words: set[str]) -> tuple[Annotation, ...]:
    return tuple([annotation_of(item.value if isinstance(item, ast.Starred) else item, words) for item in items])


def _alternatives(node: ast.expr, words: set[str]) -> Annotation:
    rights: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        rights.append(node.right)
        node = node.left
    return (
        Annotation("|", tuple([annotation_of(part, words) for part in (node, *reversed(rights))]))
        if rights
        else UNKNOWN
    )


_HANDLERS: dict[type[ast.expr], Callable[[Any, set[str]], Annotation]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Constant: _constant,
    ast.Subscript: _subscript,
    ast.List: _list,
    ast.BinOp: _alternatives,
}


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
