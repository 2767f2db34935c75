"""What stands below and above a LibCST node.

`CSTNode.children` visits the node with a visitor that collects: it copies the node, with all checks of its constructor, for each question.
Here the names of the fields that a class visits, in the order of the source, are learned once from that visit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import libcst as cst

_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}
_NOTHING, _NODE, _SEQUENCE = range(3)
_KINDS: dict[type[Any], int] = {}  # an abstract class answers `isinstance` slowly


class _Fields(cst.CSTVisitor):
    """Notes the fields of one node that are visited."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        self.names.append(attribute)

    def on_visit(self, node: cst.CSTNode) -> bool:
        return False


def _fields(node: cst.CSTNode) -> tuple[str, ...]:
    visitor = _Fields()
    node._visit_and_replace_children(visitor)
    # LibCST tells of the format of a replacement field, its last part, only where there is one.
    last = ["format_spec"] if hasattr(node, "format_spec") else []
    found = _FIELDS[type(node)] = tuple(dict.fromkeys(visitor.names + last))
    return found


def _kind(value: Any) -> int:
    found = _NODE if isinstance(value, cst.CSTNode) else _SEQUENCE if isinstance(value, (tuple, list)) else _NOTHING
    _KINDS[type(value)] = found
    return found


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes right below a node, in the order of the source."""
    found: list[cst.CSTNode] = []
    kinds = _KINDS
    names = _FIELDS.get(type(node))
    if names is None:
        names = _fields(node)
    for name in names:
        value = getattr(node, name)
        kind = kinds.get(type(value))
        if kind is None:
            kind = _kind(value)
        if kind == _NODE:
            found.append(value)
        elif kind == _SEQUENCE:
            found.extend(value)
    return found


def walk(root: Any) -> Iterator[cst.CSTNode]:
    """The node and all nodes below it, in the order of the source (nothing for None and sentinels)."""
    stack = [root] if isinstance(root, cst.CSTNode) else []
    while stack:
        node = stack.pop()
        yield node
        below = children(node)
        below.reverse()
        stack += below


# The statements of the last module, each with the parents of all that stands in it: the next version of a text shares most of them.
_KNOWN: dict[int, tuple[cst.CSTNode, dict[cst.CSTNode, cst.CSTNode]]] = {}


@lru_cache(maxsize=1)
def parents_in(module: cst.Module) -> dict[cst.CSTNode, cst.CSTNode]:
    """Every node's parent; only the last module is kept."""
    global _KNOWN
    before = _KNOWN
    known: dict[int, tuple[cst.CSTNode, dict[cst.CSTNode, cst.CSTNode]]] = {}
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    pending: list[cst.CSTNode] = [module]
    while pending:
        node = pending.pop()
        for child in children(node):
            found[child] = node
            if not isinstance(child, _STATEMENTS) or (isinstance(child, cst.ClassDef) and node is module):
                pending.append(child)
                continue
            statement, below = before.get(id(child), (None, {}))
            if statement is not child:
                below = _parents_below(child)
            known[id(child)] = child, below
            found.update(below)
    _KNOWN = known
    return found


_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement)


def _parents_below(root: cst.CSTNode) -> dict[cst.CSTNode, cst.CSTNode]:
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        below = children(node)
        for child in below:
            found[child] = node
        pending += below
    return found
