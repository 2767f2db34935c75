"""What a test of a name leaves of its value: behind `if isinstance(x, nn.Module):` the name is no tensor, behind `if x.is_cuda:` it is none on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from torchdevlint.infer import conditions
from torchdevlint.infer.joins import one_of
from torchdevlint.infer.values import (
    HOST,
    NO_TENSOR,
    NONE,
    NOTHING,
    TRUE,
    UNKNOWN,
    Const,
    Device,
    Ext,
    Guard,
    OneOf,
    Tensor,
    Term,
    Tup,
    Value,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context
    from torchdevlint.infer.state import Env

Test = Callable[[Value], Value]
NARROWING = frozenset({"isinstance", "is_none", "is_cuda"})  # the terms of conditions that leave something of a value


class Left(NamedTuple):
    """What a test of an item leaves of it."""

    read: ir.Subscript
    value: Value


def narrowed(
    ctx: Context, env: Env, body: ir.Body, register: ir.Register, registers: Mapping[ir.Register, Value], outcome: bool
) -> Env | Left:
    """The names along the side of a test on which it comes out one way, or the item that it is about."""
    known = Lookup.of(body)
    op = known.definition(register)
    while isinstance(op, ir.Unary) and op.operator == "not":
        op, outcome = known.definition(op.operand), not outcome
    asked = _asked(ctx, op, known, registers)
    if asked is None:
        return env
    read, test = asked
    is_none = isinstance(test, _OfNone) and test.outcome is outcome
    if isinstance(read, ir.Subscript):
        item = registers.get(read.dst)
        if is_none and _is_open(item):
            return Left(read, NONE)
        left = _left_of(item, test, outcome) if isinstance(item, OneOf) else None
        return env if left is None else Left(read, left)
    name = read.name
    value = env.get(name)
    if is_none and _is_open(value):
        return {**env, name: NONE}
    if _is_open(value) and not outcome and test(Tensor(HOST)) == TRUE:
        return {**env, name: Term(NO_TENSOR, value)}
    if not isinstance(value, OneOf):
        return env
    left = _left_of(value, test, outcome)
    return env if left is None else {**env, name: left}


def _is_open(value: Value | None) -> bool:
    return isinstance(value, Term) and value is not UNKNOWN and value.op != NO_TENSOR


def no_tensor(value: Value) -> Value:
    """What is left of a value behind `if not isinstance(x, torch.Tensor):`, when a caller has said what it may be."""
    if isinstance(value, OneOf):
        return one_of(
            [(guards, no_tensor(one)) for guards, one in value.options if not isinstance(one, Tensor)]
            or [(frozenset(), NOTHING)]
        )
    if isinstance(value, Tensor):
        return NOTHING
    return Term(NO_TENSOR, value) if _is_open(value) else value


def narrowed_by(ctx: Context, asked: Term, value: Value, here: Callable[[Value], Value], outcome: bool) -> Value | None:
    """What a condition of a summary, one of NARROWING, leaves of the value that it is about, which a caller gives; None where it leaves all. `here` reads terms of the
    summary as that caller does.
    """
    if not isinstance(value, OneOf):
        return None
    if asked.op == "isinstance":
        cls = here(asked.args[1])
        return _left_of(value, lambda one: conditions.is_instance(ctx, one, cls), outcome)
    if asked.op == "is_none":
        return _left_of(value, conditions.is_none, outcome)
    return _left_of(value, conditions.on_accelerator, outcome)


def _left_of(value: OneOf, test: Test, outcome: bool) -> Value | None:
    of_device = test is conditions.on_accelerator or isinstance(test, _OfDevice)
    fitting = tuple(_fitting(value, test, outcome, is_kept=of_device))
    if not fitting or fitting == value.options:
        return None
    return fitting[0][1] if len(fitting) == 1 and not fitting[0][0] else OneOf(fitting)


def _fitting(value: OneOf, test: Test, outcome: bool, *, is_kept: bool) -> Iterator[tuple[frozenset[Guard], Value]]:
    """The values of which the test may come out so. `is_kept`: that it does is a condition of those that nobody knows: `x` is on no GPU."""
    for guards, one in value.options:
        asked = test(one)
        known = conditions.truth(asked)
        if known in (outcome, None):
            yield (guards | conditions.guards_of(asked, outcome) if is_kept and known is None else guards), one


def _asked(
    ctx: Context, op: ir.Op | None, known: Lookup, registers: Mapping[ir.Register, Value]
) -> tuple[ir.Load | ir.Subscript, Test] | None:
    """What reads the name or the item that a test is about, and what it asks of each value that this may have."""
    if isinstance(op, ir.Call) and len(op.arguments) == 2 and registers.get(op.function) == Ext("builtins.isinstance"):
        read = known.definition(op.arguments[0].value)
        cls = registers.get(op.arguments[1].value, UNKNOWN)
        return (read, lambda one: conditions.is_instance(ctx, one, cls)) if isinstance(read, _READS) else None
    if isinstance(op, ir.Attribute) and op.name == "is_cuda":
        read = known.definition(op.object)
        return (read, conditions.on_accelerator) if isinstance(read, _READS) else None
    if isinstance(op, ir.Compare) and op.operators in _OF_NONE and registers.get(op.comparators[0]) == NONE:
        read = known.definition(op.left)
        if isinstance(read, _READS):
            return read, _OfNone(op.operators[0] in ("is", "=="))
    if isinstance(op, ir.Compare) and op.operators in _OF_VALUES:
        read, wanted = known.definition(op.left), registers.get(op.comparators[0], UNKNOWN)
        if isinstance(read, _READS) and isinstance(wanted, (Const, Tup)):
            return read, _OF_VALUES[op.operators](ctx, wanted)
        asked = read.object if isinstance(read, ir.Attribute) and read.name == "device" else None
        read = known.definition(asked) if asked is not None else None
        if isinstance(read, _READS) and op.operators in (("==",), ("!=",)):
            return read, _OfDevice(wanted, op.operators == ("==",))
    return None


@dataclass(frozen=True, slots=True)
class _OfNone:
    """`x is None`."""

    outcome: bool

    def __call__(self, value: Value) -> Value:
        found = conditions.is_none(value)
        return found if self.outcome else conditions.negated(found)


@dataclass(frozen=True, slots=True)
class _OfDevice:
    """`x.device == wanted`."""

    wanted: Value
    outcome: bool

    def __call__(self, value: Value) -> Value:
        if not isinstance(value, Tensor):
            return UNKNOWN
        found = conditions.equal(Device(value.device), self.wanted)
        return found if self.outcome else conditions.negated(found)


_READS = (ir.Load, ir.Subscript)


_OF_NONE = (("is",), ("is not",), ("==",), ("!=",))
_OF_VALUES: dict[tuple[str, ...], Callable[[Context, Value], Test]] = {
    ("==",): lambda ctx, wanted: lambda one: conditions.equal(one, wanted),
    ("!=",): lambda ctx, wanted: lambda one: conditions.negated(conditions.equal(one, wanted)),
    ("in",): lambda ctx, wanted: lambda one: conditions.contains(ctx, one, wanted),
    ("not in",): lambda ctx, wanted: lambda one: conditions.negated(conditions.contains(ctx, one, wanted)),
}
