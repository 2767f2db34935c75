"""Lowers what branches: conditions, loops, `with`, `try`, `match` and comprehensions, for every front end.

A front end takes a node apart, in its own syntax, and hands the parts over with the functions that lower them.
Parts are nodes of that front end and never looked into here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from torchdevlint.program.builder import BodyBuilder, FinallyExit
from torchdevlint.program.ir import (
    Block,
    Choice,
    Comprehension,
    Enter,
    Exit,
    Iterate,
    Raise,
    Register,
    TryContext,
)


class Operands(NamedTuple):
    """The operands of `a and b and c` or of `a or b or c`, as long as no parentheses part them."""

    shape: Literal["and", "or"]
    nodes: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Expressions:
    """How a front end lowers expressions and targets. `operands` is None for what is no `and` and no `or`."""

    evaluate: Callable[[BodyBuilder, Any], Register]
    store: Callable[[BodyBuilder, Any, Register], None]
    operands: Callable[[Any], Operands | None]


@dataclass(frozen=True, slots=True)
class Syntax(Expressions):
    """How it lowers the bodies of statements as well."""

    suite: Callable[[BodyBuilder, Any], None]


# ---------------------------------------------------------------------------------------------------- choices


def boolean(b: BodyBuilder, syntax: Expressions, node: Any, operands: Operands) -> Register:
    """The value of `a and b and c`."""
    is_and = operands.shape == "and"
    *others, last = operands.nodes
    values = []
    ends = []
    for operand in others:
        value = syntax.evaluate(b, operand)
        values.append(value)
        further, short = b.new_block(), b.new_block()
        if is_and:
            b.branch(value, further, short)
        else:
            b.branch(value, short, further)
        ends.append(short)
        b.begin(further)
    values.append(syntax.evaluate(b, last))
    join = b.enter()
    for end in ends:
        b.edge(end, join)
    return b.add(Choice(node, b.register(), operands.shape, tuple(values)))


def conditional(b: BodyBuilder, syntax: Expressions, links: Iterable[tuple[Any, Any, Any]], otherwise: Any) -> Register:
    """The value of `a if t else b if u else c`: `links` are (node, test, value), `otherwise` stands behind the last `else`."""
    pending: list[tuple[Any, Register, Register, Block]] = []
    for node, test, value in links:
        tested = syntax.evaluate(b, test)
        on_true, on_false = b.new_block(), b.new_block()
        b.branch(tested, on_true, on_false)
        b.begin(on_true)
        pending.append((node, tested, syntax.evaluate(b, value), b.block))
        b.begin(on_false)
    last = syntax.evaluate(b, otherwise)
    for node, tested, chosen, end in reversed(pending):
        join = b.enter()
        b.edge(end, join)
        dst = b.add(Choice(node, b.register(), "if", (chosen, last), tested))
        last = dst
    return last


def condition(b: BodyBuilder, syntax: Expressions, node: Any, on_true: Block, on_false: Block) -> None:
    """Branches on a test; `and` and `or` in it become branches of their own, so that each operand refines by itself."""
    operands = syntax.operands(node)
    if operands is None:
        b.branch(syntax.evaluate(b, node), on_true, on_false)
        return
    is_and = operands.shape == "and"
    *others, last = operands.nodes
    for operand in others:
        further = b.new_block()
        if is_and:
            condition(b, syntax, operand, further, on_false)
        else:
            condition(b, syntax, operand, on_true, further)
        b.begin(further)
    condition(b, syntax, last, on_true, on_false)


def if_(b: BodyBuilder, syntax: Syntax, branches: Iterable[tuple[Any, Any]], orelse: Any | None) -> None:
    """`if`, `elif` and `else`: `branches` are (test, body)."""
    ends: list[Block] = []
    on_false = b.block
    for test, body in branches:
        on_true, on_false = b.new_block(), b.new_block()
        condition(b, syntax, test, on_true, on_false)
        b.begin(on_true)
        syntax.suite(b, body)
        if b.live:
            ends.append(b.block)
        b.begin(on_false)
    if orelse is None:
        # Nothing stands on the last false edge: the block it leads to is where the branches meet.
        for end in ends:
            b.edge(end, on_false)
        return
    syntax.suite(b, orelse)
    if b.live:
        ends.append(b.block)
    b.join(ends)


def assert_(b: BodyBuilder, syntax: Syntax, node: Any, test: Any, message: Any | None) -> None:
    """`assert test, message`."""
    holds, fails = b.new_block(), b.new_block()
    condition(b, syntax, test, holds, fails)
    b.begin(fails)
    if message is not None:
        syntax.evaluate(b, message)
    b.ops.append(Raise(node, None))
    b.begin(holds)


# ---------------------------------------------------------------------------------------------------- loops


def for_(
    b: BodyBuilder, syntax: Syntax, node: Any, target: Any, iterable: Any, body: Any, orelse: Any | None, is_async: bool
) -> None:
    """`for target in iterable: body`, with its `else`."""
    source = syntax.evaluate(b, iterable)
    after = b.new_block()
    otherwise = b.new_block() if orelse is not None else after
    header = b.enter_loop(after)
    turn = b.new_block()
    b.edge(header, turn)
    b.edge(header, otherwise)
    b.begin(turn)
    dst = b.add(Iterate(node, b.register(), source, is_async))
    syntax.store(b, target, dst)
    _end_loop(b, syntax, header, body, orelse, otherwise, after)


def while_(b: BodyBuilder, syntax: Syntax, test: Any | None, body: Any, orelse: Any | None) -> None:
    """`while test: body`, with its `else`; a test of None always holds."""
    after = b.new_block()
    otherwise = b.new_block() if orelse is not None else after
    header = b.enter_loop(after)
    turn = b.new_block()
    if test is None:
        b.jump(turn)
    else:
        condition(b, syntax, test, turn, otherwise)
    b.begin(turn)
    _end_loop(b, syntax, header, body, orelse, otherwise, after)


def _end_loop(
    b: BodyBuilder, syntax: Syntax, header: Block, body: Any, orelse: Any | None, otherwise: Block, after: Block
) -> None:
    syntax.suite(b, body)
    b.jump(header)
    b.leave_loop()
    if orelse is not None:
        b.begin(otherwise)
        syntax.suite(b, orelse)
        if otherwise.index in b.reached:
            b.jump(after)
    b.begin_if_reached(after)


class Clause(NamedTuple):
    """`for target in iterable if test ...` in a comprehension; `names` are those that the target binds."""

    node: Any
    target: Any
    names: Sequence[str]
    iterable: Any
    tests: Sequence[Any]
    is_async: bool


def comprehension(
    b: BodyBuilder,
    syntax: Expressions,
    node: Any,
    shape: Literal["list", "set", "generator", "dict"],
    clauses: Sequence[Clause],
    element: tuple[Any | None, Any],
) -> Register:
    """The loops of a comprehension, inline, with its variables renamed so that they are its own. `element` is its key and value."""
    iterable = syntax.evaluate(b, clauses[0].iterable)
    first, is_alone = iterable, len(clauses) == 1 and not clauses[0].tests
    outside = b.renames
    b.comprehensions += 1
    b.renames = outside | {name: f"{name}@{b.comprehensions}" for clause in clauses for name in clause.names}
    after = exit_to = b.new_block()
    for number, clause in enumerate(clauses):
        if number:
            iterable = syntax.evaluate(b, clause.iterable)
        header = b.enter_loop(after)
        turn = b.new_block()
        header.successors += [turn.index, exit_to.index]
        b.begin(turn)
        dst = b.add(Iterate(clause.node, b.register(), iterable, clause.is_async, is_alone))
        first = dst if not number else first
        syntax.store(b, clause.target, dst)
        for test in clause.tests:
            further = b.new_block()
            condition(b, syntax, test, further, header)
            b.begin(further)
        exit_to = header
    key = None if element[0] is None else syntax.evaluate(b, element[0])
    value = syntax.evaluate(b, element[1])
    b.jump(exit_to)
    for _ in clauses:
        b.leave_loop()
    b.renames = outside
    b.begin(after)
    return b.add(Comprehension(node, b.register(), shape, key, value, first if is_alone else None))


# ---------------------------------------------------------------------------------------------------- with, try, match


def with_(b: BodyBuilder, syntax: Syntax, items: Iterable[tuple[Any, Any, Any | None]], body: Any) -> None:
    """`with manager as target: body`; `items` are (node, manager, target)."""
    managers: list[Register] = []
    outside = b.withs
    for node, expression, target in items:
        manager = syntax.evaluate(b, expression)
        dst = b.add(Enter(node, b.register(), manager))
        if target is not None:
            syntax.store(b, target, dst)
        b.withs = (*b.withs, manager)
        managers.append(manager)
        b.enter()
    syntax.suite(b, body)
    b.withs = outside
    if b.live:
        b.enter()
        b.ops.append(Exit(None, tuple(reversed(managers))))


class Handler(NamedTuple):
    """`except type as name: body`; `names` are the dotted names that it catches, `name` is a node with the text of it."""

    node: Any
    type: Any | None
    names: tuple[str, ...]
    name: tuple[Any, str] | None
    body: Any


def try_(
    b: BodyBuilder, syntax: Syntax, body: Any, handlers: Sequence[Handler], orelse: Any | None, final: Any | None
) -> None:
    """`try: body`, with its handlers, its `else` and its `finally`."""
    b.try_count += 1
    identity = b.try_count
    catches = tuple(name for handler in handlers for name in handler.names)
    outside = b.tries
    exit_: FinallyExit | None = None
    if final is not None:
        b.tries = (*outside, TryContext(identity, "finally", catches))
        exit_ = FinallyExit(b.new_block())
        b.exits.append(exit_)
    before = b.block
    first = len(b.body.blocks)

    b.tries = (*outside, TryContext(identity, "body", catches))
    b.enter()
    syntax.suite(b, body)
    raising = [before, *b.body.blocks[first:]]
    if orelse is not None:
        b.tries = (*outside, TryContext(identity, "else", catches))
        b.enter()
        syntax.suite(b, orelse)
    ends = [b.block] if b.live else []

    for handler in handlers:
        b.tries = (*outside, TryContext(identity, "handler", handler.names))
        entry = b.new_block()
        b.edge(before, entry)
        b.raise_into(raising, entry)
        b.begin(entry)
        if handler.type is not None:
            value = b.opaque(handler.node, syntax.evaluate(b, handler.type))
            if handler.name is not None:
                b.bind(*handler.name, value)
        syntax.suite(b, handler.body)
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
    syntax.suite(b, final)
    for kind in sorted(exit_.exits):
        b.leave(kind)
    b.tries = outside
    if b.live and ends:
        b.enter()
    else:
        b.live = False


Step = tuple[str | int, ...]


class Captures:
    """What a pattern captures: nodes with their names, and the path to the part of the subject (see `ir.Opaque`)."""

    def __init__(self, path: tuple[Step, ...] = ()) -> None:
        self.path = path
        self.found: list[tuple[Any, str, tuple[Step, ...]]] = []
        self.tests: list[tuple[Any, ...]] = []  # see `ir.Matches`

    def ask(self, kind: str, *given: object) -> None:
        """A test of what the path leads to."""
        self.tests.append((kind, self.path, *given))

    def note(self, node: Any, name: str, *step: str | int) -> None:
        """Captures what the path leads to, or the part of it that a step leads to."""
        self.found.append((node, name, (*self.path, step) if step else self.path))

    @contextmanager
    def inside(self, *step: str | int) -> Iterator[None]:
        """Patterns in here are matched with a part."""
        saved, self.path = self.path, (*self.path, step)
        try:
            yield
        finally:
            self.path = saved


Pattern = Callable[[BodyBuilder, Any, Captures], None]


class Case(NamedTuple):
    """`case pattern if guard: body`."""

    pattern: Any
    guard: Any | None
    body: Any


def match_(
    b: BodyBuilder,
    syntax: Syntax,
    subject: Any,
    cases: Iterable[Case],
    lower_pattern: Pattern,
    is_irrefutable: Callable[[Any], bool],
) -> None:
    """`match subject:`; `lower_pattern` evaluates what a pattern compares with and notes what it captures: a node with its name."""
    value = syntax.evaluate(b, subject)
    ends: list[Block] = []
    for case in cases:
        if not b.live:
            b.revive()
        captures = Captures()
        lower_pattern(b, case.pattern, captures)
        always = case.guard is None and is_irrefutable(case.pattern)
        matched = b.enter() if always else b.new_block()
        otherwise = None if always else b.new_block()
        if otherwise is not None and captures.tests:
            b.branch(b.matches(case.pattern, value, captures.tests), matched, otherwise)
            b.begin(matched)
        elif otherwise is not None:
            b.edge(b.block, matched)
            b.edge(b.block, otherwise)
            b.begin(matched)
        for node, name, path in captures.found:
            b.bind(node, name, b.capture(node, value, path))
        if case.guard is not None and otherwise is not None:
            body = b.new_block()
            condition(b, syntax, case.guard, body, otherwise)
            b.begin(body)
        syntax.suite(b, case.body)
        if b.live:
            ends.append(b.block)
        if otherwise is not None:
            b.begin(otherwise)
        else:
            b.live = False
    if b.live:
        ends.append(b.block)
    b.join(ends)


def alternatives(b: BodyBuilder, patterns: Iterable[Any], captures: Captures, lower_pattern: Pattern) -> None:
    """`a | b`: every pattern binds the same names."""
    bound = {name for _, name, _ in captures.found}
    several = []
    for pattern in patterns:
        inner = Captures(captures.path)
        lower_pattern(b, pattern, inner)
        captures.found += [capture for capture in inner.found if capture[1] not in bound]
        bound.update(name for _, name, _ in inner.found)
        several.append(tuple(inner.tests))
    if all(several):
        captures.ask("any", *several)


def sequence_pattern(
    b: BodyBuilder, patterns: Sequence[Any], star: int | None, captures: Captures, lower_pattern: Pattern
) -> None:
    """`[a, *b, c]`; `star` is the position of the starred part, which is left to the caller."""
    count = len(patterns)
    captures.ask("sized", count - (star is not None), star is not None)
    for at, pattern in enumerate(patterns):
        index = at if star is None or at < star else at - count
        step = ("rest", at, count - 1 - at) if at == star else ("item", index)
        with captures.inside(*step):
            lower_pattern(b, pattern, captures)
