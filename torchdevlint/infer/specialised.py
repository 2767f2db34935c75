"""Functions that take each item of a container for itself: where a caller knows the items, it runs the body and not its summary.

`{k: v if k in keep else v.to(device) for k, v in batch.items()}` says nothing of one key as long as nobody knows which keys there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchdevlint.infer import reading
from torchdevlint.infer.summary import Summary
from torchdevlint.infer.values import UNKNOWN, Cls, Const, Ref, Term, Tup, Value
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_MOST_ATTRIBUTES = 8  # of an object that is gone over
_MOST_OPERATIONS = 80  # of a body that is run for a call
_MOST_TIMES = 4  # calls of such bodies in each other
_VIEWS = frozenset({"items", "keys", "values", "enumerate", "zip", "sorted", "reversed", "list", "tuple"})
_GLOBALS = "@globals"  # what stands for the module, as a parameter
_OF_OBJECT = frozenset({"fields", "vars"})  # what lists the attributes of an object


def goes_over_known(ctx: Context, summary: Summary, body: ir.Body, parameters: dict[str, Value]) -> bool:
    """True for a call of a small function that goes over a container, of which the caller knows the items.

    One item may stand for others of its kind, so several are asked for, but in a call that such a function makes of itself.
    """
    depth = ctx.stack.count(body)
    return depth < _MOST_TIMES and any(
        _has_known_items(ctx, value, 1 if depth else 2) for value in _gone_over(ctx, summary, body, parameters)
    )


def waits_for_globals(ctx: Context, summary: Summary, body: ir.Body, parameters: dict[str, Value]) -> bool:
    """True for a call of a function that goes over what a module or class keeps: in a summary nobody knows that yet."""
    return ctx.mode == "summary" and any(map(_is_kept, _gone_over(ctx, summary, body, parameters)))


def _is_kept(value: Value) -> bool:
    while isinstance(value, Term) and value.op == "attribute":
        value = value.args[0]
        if isinstance(value, (Ref, Cls)):
            return True
    return False


def _gone_over(ctx: Context, summary: Summary, body: ir.Body, parameters: dict[str, Value]) -> Iterator[Value]:
    given = {_GLOBALS: ctx.analysis.unit_of(body).globals, **parameters}
    return (_attribute(ctx, given.get(path[0], UNKNOWN), path[1:]) for path in summary.goes_over)


def _attribute(ctx: Context, value: Value, names: tuple[str, ...]) -> Value:
    for name in names:
        value = reading.attribute(ctx, value, name)
    return value


def _has_known_items(ctx: Context, value: Value, least: int) -> bool:
    """True for a container with few items, of which some are no numbers, and for an object with few attributes."""
    if isinstance(value, Const):  # of a `range`
        return isinstance(value.value, int) and least <= value.value <= reading.MOST_NUMBERED
    if not isinstance(value, (Ref, Tup)):
        return False
    rec = ctx.rec(value)
    if rec is not None and rec.kind == "object":
        return 0 < len(rec.attributes) <= _MOST_ATTRIBUTES
    known = reading.one_by_one(ctx, value)
    return known is not None and len(known) >= least


def gone_over(body: ir.Body) -> tuple[tuple[str, ...], ...]:
    """The parameters, and attributes of them, that a small body goes over: `("self", "names")`; containers of its module. None of a generator."""
    is_plain = body.kind == "function" and not (body.is_generator or body.is_async)
    if not is_plain or sum(len(block.ops) for block in body.blocks) > _MOST_OPERATIONS:
        return ()
    return tuple(dict.fromkeys(_paths(body)))


def _paths(body: ir.Body) -> Iterator[tuple[str, ...]]:
    lookup, names = Lookup.of(body), {one.name for one in body.parameters}
    unpacked = [op.source for op in lookup.kind(ir.Unpack) if op.starred]  # `first, *rest = batch`
    for taken in (*(turn.iterable for turn in Cfg.of(body).iterations.values()), *unpacked):
        pending = [taken]
        while pending:
            op = lookup.definition(pending.pop())
            if isinstance(op, ir.Call) and lookup.called(op) in _VIEWS | _OF_OBJECT | {"range"}:
                method = lookup.definition(op.function)
                pending += [one.value for one in op.arguments]
                pending += [method.object] if isinstance(method, ir.Attribute) else []
                continue
            path: list[str] = []
            while isinstance(op, ir.Attribute):
                path.insert(0, op.name)
                op = lookup.definition(op.object)
            if isinstance(op, ir.Load) and op.name in names and not any(lookup.stores(op.name)):
                yield (op.name, *path)
            elif (
                isinstance(op, ir.Load)
                and op.name not in body.local_names
                and _is_of_module(body, op.name, is_class=bool(path))
            ):
                yield (_GLOBALS, op.name, *path)


def _is_of_module(body: ir.Body, name: str, *, is_class: bool) -> bool:
    """True for a name at the top of the file that is bound once, to a display (`HOOKS = []`) or to a class."""
    while body.parent is not None:
        body = body.parent
    lookup = Lookup.of(body)
    stores = list(lookup.stores(name)) if body.kind == "module" else []
    wanted = ir.MakeClass if is_class else (ir.Sequence, ir.Mapping)
    return len(stores) == 1 and isinstance(lookup.definition(stores[0].value), wanted)
