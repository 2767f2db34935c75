"""What is done with a value: the operations that take it or a part of it, also behind the names that it is bound to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge import methods

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts

Role = Literal[
    "argument", "receiver", "attribute", "subscript", "compared", "iterated", "named", "stored", "returned", "item"
]
_BY_KEY = frozenset({"get", "pop"})
_HANDS_ON = methods.MOVES | methods.CASTS | _BY_KEY | {"items", "values", "copy", "detach"}


class Use(NamedTuple):
    """An operation that took a value, and how. `is_whole`: the very value or what a move of it gave, and not a part of it."""

    op: ir.Op
    role: Role
    callee: str = ""  # of an argument and a receiver: the dotted name of the function, or ".method"
    is_whole: bool = True


def uses_of(
    made: ir.ValueOp,
    body: ir.Body,
    analysis: FileFacts,
    leaves: Callable[[ir.Subscript], bool] = lambda _: False,
) -> Iterator[Use]:
    """Every use of what an operation of a body made, and of its parts, but for the parts that it `leaves`."""
    lookup, cfg, index = Lookup.of(body), Cfg.of(body), analysis.index_of(body)
    pending, seen = [(made.dst, True)], set[tuple[ir.Register, bool]]()
    while pending:
        register, whole = pending.pop()
        if (register, whole) in seen or (register, True) in seen:
            continue
        seen.add((register, whole))
        for op in lookup.readers(register):
            if isinstance(op, ir.Store):
                yield Use(op, "named", is_whole=whole)
                reads = (load for load in lookup.loads(op.name) if op in cfg.bindings(op.name, load).stores)
                pending += [(load.dst, whole) for load in reads]
            elif isinstance(op, ir.Subscript) and op.object == register:
                yield Use(op, "subscript", is_whole=whole)
                pending += [] if leaves(op) else [(op.dst, False)]
            elif isinstance(op, ir.Call):
                if any(argument.value == register for argument in op.arguments):
                    yield Use(op, "argument", _callee(op, index.dotted(op.function), analysis), whole)
            elif isinstance(op, ir.Attribute):
                calls = [one for one in lookup.readers(op.dst) if isinstance(one, ir.Call) and one.function == op.dst]
                for call in calls:
                    yield Use(call, "receiver", f".{op.name}", whole)
                    if op.name in _HANDS_ON:
                        pending.append((call.dst, whole and op.name in methods.MOVES))
                if not calls:
                    yield Use(op, "attribute", is_whole=whole)
            elif isinstance(op, (ir.StoreAttribute, ir.StoreSubscript)) and op.value == register:
                yield Use(op, "stored", is_whole=whole)
            elif isinstance(op, (ir.Return, ir.Yield)):
                yield Use(op, "returned", is_whole=whole)
            elif isinstance(op, (ir.Sequence, ir.Mapping, ir.Choice)):
                yield Use(op, "item", is_whole=whole)
                pending += [(op.dst, whole)] if isinstance(op, ir.Choice) and op.test != register else []
            elif isinstance(op, ir.Compare):
                yield Use(op, "compared", is_whole=whole)
            elif isinstance(op, ir.Iterate):
                yield Use(op, "iterated", is_whole=whole)
                pending.append((op.dst, False))
            elif isinstance(op, ir.Unpack):
                pending.append((op.dst, whole))
            elif isinstance(op, (ir.Comprehension, ir.Enter)):
                pending.append((op.dst, False))


def _callee(call: ir.Call, dotted: str, analysis: FileFacts) -> str:
    """The dotted name of an imported function, ".method" for a method of anything else."""
    callee = analysis.resolve_text(dotted)
    is_imported = dotted.partition(".")[0] in analysis.aliases
    return callee if is_imported or "." not in callee else f".{callee.rpartition('.')[2]}"
