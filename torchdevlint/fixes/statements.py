"""Edits of whole statements: put one under a condition, move one up."""

from __future__ import annotations

import libcst as cst

from torchdevlint.fixes.builders import Edits, NodeEdit, _split_leading, _statement_of
from torchdevlint.program import ir


def guard_statement(program: ir.Program, op: ir.Op, condition: str) -> Edits | None:
    """`call()` as a statement -> `if condition:` above it; None when the call is not a whole statement line of its own."""
    line = _own_line(program, op)
    if line is None:
        return None
    guarded = cst.If(
        test=cst.parse_expression(condition),
        body=cst.IndentedBlock([line.with_changes(leading_lines=[])]),
        leading_lines=line.leading_lines,
    )
    return (NodeEdit(line, guarded),)


def move_statement_above(program: ir.Program, op: ir.Op, anchor: ir.Op) -> Edits | None:
    """Moves the statement line of `op` above the statement of the same block that `anchor` stands in.

    Comments directly above the statement go with it. None when the two are in different blocks or in the wrong order, or when the
    statement shares its line with others.
    """
    found, goal = _statement_of(program, op.node), _statement_of(program, anchor.node)
    if found is None or goal is None or found[0] is not goal[0]:
        return None
    moved, first = found[1], goal[1]
    body = list(found[0].body)
    if not isinstance(moved, cst.SimpleStatementLine) or len(moved.body) != 1 or body.index(moved) <= body.index(first):
        return None
    blank, own = _split_leading(moved)
    if any(line.comment is not None for line in blank):
        return None
    text = cst.Module([]).code_for_node(moved.with_changes(leading_lines=own))
    return (NodeEdit(first, text, "insert-before"), NodeEdit(moved, "\n" * len(blank)))


def _own_line(program: ir.Program, op: ir.Op) -> cst.SimpleStatementLine | None:
    """The statement line that consists of the expression of `op` alone."""
    found = _statement_of(program, op.node)
    line = None if found is None else found[1]
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    statement = line.body[0]
    return line if isinstance(statement, cst.Expr) and statement.value is op.node else None
