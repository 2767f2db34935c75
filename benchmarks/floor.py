"""Four patterns without any context, as anybody would write them first. A linter has to beat them, mostly by its silence."""

from __future__ import annotations

import ast
from collections.abc import Iterator

FACTORIES = frozenset("arange empty eye full linspace ones rand randn tensor zeros".split())
MOVES = frozenset(("cpu", "cuda", "to", "type_as"))


def findings(text: bytes) -> list[tuple[str, tuple[int, ...]]]:
    """(pattern, lines) of a file; nothing for one that does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [(pattern, (row,)) for pattern, row in _matches(tree)]


def _matches(tree: ast.Module) -> Iterator[tuple[str, int]]:
    moved = {id(value) for call in ast.walk(tree) if isinstance(call, ast.Call) for value in _moved_by(call)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        receiver, name, keywords = node.func.value, node.func.attr, {keyword.arg for keyword in node.keywords}
        is_torch = isinstance(receiver, ast.Name) and receiver.id == "torch"
        if is_torch and name == "load" and "map_location" not in keywords and len(node.args) < 2:
            yield "FLOOR-load", node.lineno
        elif is_torch and name in FACTORIES and not keywords & {"device", None} and id(node) not in moved:
            yield "FLOOR-create", node.lineno
        elif name == "cuda" and not is_torch:
            yield "FLOOR-cuda", node.func.end_lineno or node.lineno
        elif name == "numpy" and not is_torch and "cpu(" not in ast.unparse(receiver):
            yield "FLOOR-numpy", node.func.end_lineno or node.lineno


def _moved_by(call: ast.Call) -> Iterator[ast.expr]:
    """What a `.to(...)` moves: its receiver, the calls before it in the chain, and the left operands of arithmetic."""
    value = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr in MOVES else None
    while value is not None:
        yield value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            value = value.func.value
        else:
            value = value.left if isinstance(value, ast.BinOp) else None
