"""Lowers suites, and the statements of the standard library's `ast` that branch: conditions, loops, `with` and `try`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from torchdevlint.program.annotations import dotted_name
from torchdevlint.program.ast_expressions import condition, evaluate, store
from torchdevlint.program.builder import BodyBuilder, FinallyExit
from torchdevlint.program.ir import Block, Enter, Exit, Iterate, Raise, Register, TryContext

# What lowers each type of statement; `from_ast` adds those that do not branch.
STATEMENTS: dict[type[Any], Callable[[BodyBuilder, Any], None]] = {}


def suite(b: BodyBuilder, statements: Iterable[ast.stmt]) -> None:
    """Lowers statements that stand behind one another."""
    for statement in statements:
        if not b.live:
            b.revive()
        STATEMENTS[type(statement)](b, statement)


def named(node: Any) -> Any:
    """What is written where a node binds a name: a node of LibCST (see `from_libcst`); `ast` has none for it."""
    return getattr(node, "named", node)


def _if(b: BodyBuilder, node: ast.If) -> None:
    branches = [(node.test, node.body)]
    orelse = node.orelse
    # An `elif` stands where its `if` does, an `if` in an `else` behind it.
    while len(orelse) == 1 and isinstance(orelse[0], ast.If) and orelse[0].col_offset == node.col_offset:
        branches.append((orelse[0].test, orelse[0].body))
        orelse = orelse[0].orelse
    ends: list[Block] = []
    on_false = b.block
    for test, body in branches:
        on_true, on_false = b.new_block(), b.new_block()
        condition(b, test, on_true, on_false)
        b.begin(on_true)
        suite(b, body)
        if b.live:
            ends.append(b.block)
        b.begin(on_false)
    if not orelse:
        # Nothing stands on the last false edge: the block it leads to is where the branches meet.
        for end in ends:
            b.edge(end, on_false)
        return
    suite(b, orelse)
    if b.live:
        ends.append(b.block)
    b.join(ends)


def _assert(b: BodyBuilder, node: ast.Assert) -> None:
    holds, fails = b.new_block(), b.new_block()
    condition(b, node.test, holds, fails)
    b.begin(fails)
    if node.msg is not None:
        evaluate(b, node.msg)
    b.ops.append(Raise(node, None))
    b.begin(holds)


def _for(b: BodyBuilder, node: ast.For | ast.AsyncFor) -> None:
    source = evaluate(b, node.iter)
    after = b.new_block()
    otherwise = b.new_block() if node.orelse else after
    header = b.enter_loop(after)
    turn = b.new_block()
    b.edge(header, turn)
    b.edge(header, otherwise)
    b.begin(turn)
    store(b, node.target, b.add(Iterate(node, b.register(), source, type(node) is ast.AsyncFor)))
    _end_loop(b, header, node, otherwise, after)


def _while(b: BodyBuilder, node: ast.While) -> None:
    after = b.new_block()
    otherwise = b.new_block() if node.orelse else after
    header = b.enter_loop(after)
    turn = b.new_block()
    if _is_always_true(node.test):
        b.jump(turn)
    else:
        condition(b, node.test, turn, otherwise)
    b.begin(turn)
    _end_loop(b, header, node, otherwise, after)


def _is_always_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and type(test.value) in (bool, int) and test.value == 1


def _end_loop(
    b: BodyBuilder, header: Block, node: ast.For | ast.AsyncFor | ast.While, otherwise: Block, after: Block
) -> None:
    suite(b, node.body)
    b.jump(header)
    b.leave_loop()
    if node.orelse:
        b.begin(otherwise)
        suite(b, node.orelse)
        if otherwise.index in b.reached:
            b.jump(after)
    b.begin_if_reached(after)


def _with(b: BodyBuilder, node: ast.With | ast.AsyncWith) -> None:
    managers: list[Register] = []
    outside = b.withs
    for item in node.items:
        manager = evaluate(b, item.context_expr)
        dst = b.add(Enter(item, b.register(), manager))
        if item.optional_vars is not None:
            store(b, item.optional_vars, dst)
        b.withs = (*b.withs, manager)
        managers.append(manager)
        b.enter()
    suite(b, node.body)
    b.withs = outside
    if b.live:
        b.enter()
        b.ops.append(Exit(None, tuple(reversed(managers))))


def _caught(type_: ast.expr | None) -> tuple[str, ...]:
    """The dotted names that a handler catches."""
    if type_ is None:
        return ("BaseException",)
    if isinstance(type_, ast.Tuple):
        return tuple(dotted_name(item.value if isinstance(item, ast.Starred) else item) or "?" for item in type_.elts)
    return (dotted_name(type_) or "?",)


def _try(b: BodyBuilder, node: Any) -> None:
    b.try_count += 1
    identity = b.try_count
    handlers: list[ast.ExceptHandler] = node.handlers
    catches = tuple(name for handler in handlers for name in _caught(handler.type))
    outside = b.tries
    exit_: FinallyExit | None = None
    if node.finalbody:
        b.tries = (*outside, TryContext(identity, "finally", catches))
        exit_ = FinallyExit(b.new_block(), len(b.withs))
        b.exits.append(exit_)
    before = b.block
    first = len(b.body.blocks)

    b.tries = (*outside, TryContext(identity, "body", catches))
    b.enter()
    suite(b, node.body)
    raising = [before, *b.body.blocks[first:]]
    if node.orelse:
        b.tries = (*outside, TryContext(identity, "else", catches))
        b.enter()
        suite(b, node.orelse)
    ends = [b.block] if b.live else []

    for handler in handlers:
        b.tries = (*outside, TryContext(identity, "handler", _caught(handler.type)))
        entry = b.new_block()
        b.edge(before, entry)
        b.raise_into(raising, entry)
        b.begin(entry)
        if handler.type is not None:
            value = b.opaque(handler, evaluate(b, handler.type))
            if handler.name is not None:
                b.bind(named(handler), handler.name, value)
        suite(b, handler.body)
        if b.live:
            ends.append(b.block)

    if exit_ is None:
        b.tries = outside
        b.join(ends)
        return
    b.exits.pop()
    b.tries = (*outside, TryContext(identity, "finally", catches))
    b.edge(before, exit_.entry)
    b.raise_into(b.body.blocks[first:], exit_.entry)
    for end in ends:
        b.edge(end, exit_.entry)
    b.begin(exit_.entry)
    suite(b, node.finalbody)
    for kind in sorted(exit_.exits):
        if b.withs or kind == "return":
            b.leave_behind(kind)
        else:
            b.leave(kind)
    b.tries = outside
    if b.live and ends:
        b.enter()
    else:
        b.live = False


STATEMENTS.update(
    {
        ast.If: _if,
        ast.Assert: _assert,
        ast.For: _for,
        ast.AsyncFor: _for,
        ast.While: _while,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.Try: _try,
    }
)
if hasattr(ast, "TryStar"):  # since Python 3.11
    STATEMENTS[ast.TryStar] = _try
