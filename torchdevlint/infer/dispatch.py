"""Functions of `functools.singledispatch`: which of the registered ones a call runs is told by the class of its first argument."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchdevlint.infer import conditions
from torchdevlint.infer.classes import defaults_of
from torchdevlint.infer.joins import join
from torchdevlint.infer.values import FALSE, TRUE, UNKNOWN, Cls, Ext, Func, Value, alternatives, waits
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.context import Context
    from torchdevlint.infer.units import Unit

_DECORATORS = frozenset({"singledispatch", "singledispatchmethod"})


def is_dispatched(body: ir.Body) -> bool:
    """True for a function that others are registered with."""
    return any(name.rpartition(".")[2] in _DECORATORS for name in body.decorators)


def waits_for_class(ctx: Context, args: Sequence[Value]) -> bool:
    """True where a caller tells what the first argument is."""
    return ctx.mode == "summary" and bool(args) and waits(args[0]) and ctx.rec(args[0]) is None


def chosen(ctx: Context, function: Func, args: Sequence[Value]) -> Value:
    """The function that runs: the one of the class of the first argument, or the function itself; several where it may be of several classes."""
    plain = Func(function.body, function.frame, function.receiver, function.defaults, DISPATCHED)
    rows = _registered(ctx.analysis, function.body)
    found: list[Value] = []
    for one in alternatives(args[0]) if args else (UNKNOWN,):
        told = [(conditions.is_instance(ctx, one, cls), body) for cls, body in rows]
        fitting = [body for answer, body in told if answer == TRUE][:1]
        possible = fitting or [body for answer, body in told if answer != FALSE]
        found += [Func(body, function.frame, function.receiver, defaults_of(body)) for body in possible]
        if not fitting:
            found.append(plain)
    return join(*found)


DISPATCHED = "dispatched"
"""The form of a function whose choice is made."""


def _registered(analysis: Analysis, function: ir.Body) -> list[tuple[Value, ir.Body]]:
    """Classes and the functions that are registered for them, the project's own classes first: they may derive from the others."""
    found: list[tuple[Value, ir.Body]] = []
    unit = analysis.unit_of(function)
    for body in function.parent.functions if function.parent is not None else ():
        for name, register in zip(body.decorators, body.decorator_registers, strict=False):
            if name.rpartition(".")[0].rpartition(".")[2] == function.name and name.endswith(".register"):
                found += [(_named(analysis, unit, cls), body) for cls in _classes(function, body, register)]
    return sorted(found, key=lambda row: not isinstance(row[0], Cls))


def _named(analysis: Analysis, unit: Unit, name: str) -> Value:
    found = analysis.named(unit, name)
    return Ext("builtins." + name) if found == Ext(name) and hasattr(builtins, name) else found


def _classes(function: ir.Body, body: ir.Body, register: ir.Register) -> list[str]:
    """The names of the classes that a function is registered for: `@f.register(int)`, or the annotation of its first argument."""
    written = Lookup.of(function.parent).definition(register) if function.parent is not None else None
    if isinstance(written, ir.Call) and function.parent is not None:
        return [Lookup.of(function.parent).path(argument.value) for argument in written.arguments[:1]]
    first = body.parameters[1 if body.owner is not None else 0 :][:1]
    told = first[0].annotation if first else None
    if told is None:
        return []
    return [one.name for one in told.arguments] if told.name in ("|", "Union", "typing.Union") else [told.name]
