"""Tables of a module that other files fill by its decorators when they are imported: `@BACKBONES.register("vgg")`, `@register_model(name="unet")`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from torchdevlint.infer.values import Rec, Ref, Value, alternatives
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context
    from torchdevlint.infer.units import Unit

MOST_REGISTERING = 24  # files that are run for what they put into the tables of one module; where there are more, nothing is known of them
_MOST_DEEP = 2  # objects between a name of the module and its table


def registers(program: ir.Program, unit: Unit) -> bool:
    """True for a file with a decorator that is, or is of, a name at the top of a module."""
    names = bound_at_top(unit.program)
    decorators = {name for body in program.bodies for name in body.decorators}
    decorators |= {name for cls in program.classes for name in cls.body.decorators}
    return any(not names.isdisjoint(decorator.split(".")) for decorator in decorators)


def bound_at_top(program: ir.Program) -> set[str]:
    """The names that a module binds to something of its own: `torch` of `@torch.no_grad()` is none."""
    lookup = Lookup.of(program.module)
    stores = [op for block in program.module.blocks for op in block.ops if isinstance(op, ir.Store)]
    return {op.name for op in stores if not isinstance(lookup.definition(op.value), ir.Import)}


def take(ctx: Context, unit: Unit, value: Value) -> None:
    """Adds what other files have put into the tables that a global of a module leads to. A file that registers sees what it has put there itself."""
    tables = _tables(ctx, value)
    if not tables:
        return
    others = ctx.analysis.kept.imports.registering(unit)
    if ctx.unit in others:
        return
    runs = [run for run in map(ctx.analysis.module_of, others) if run is not None]
    for run, table in itertools.product(runs, tables):
        mine, theirs = ctx.heap[table], run.heap.get(table)
        items = theirs.items if theirs is not None else {}
        new = {key: one for key, one in items.items() if key not in mine.fields}
        if new:
            ctx.heap[table] = Rec(mine.kind, mine.cls, {**mine.fields, **new})
            run.lend(new.values(), ctx.heap)


def _tables(ctx: Context, value: Value) -> list[Ref]:
    found: list[Ref] = []
    stage = [one for one in alternatives(value) if isinstance(one, Ref)]
    for _ in range(_MOST_DEEP + 1):
        held = [(one, ctx.heap[one]) for one in stage if one in ctx.heap and one not in found]
        found += [one for one, rec in held if rec.kind == "dict"]
        stage = [
            part for _, rec in held if rec.kind == "object" for part in rec.fields.values() if isinstance(part, Ref)
        ]
    return found
