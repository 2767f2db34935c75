"""What is done with a value: the operations that take it, also behind the names that it is bound to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts


class Use(NamedTuple):
    """An operation that took a value: `role` says how ("argument 0", "keyword x", "receiver", "subscript", "stored", "returned", ...)."""

    op: ir.Op
    role: str
    callee: str = ""  # dotted name of the function, or ".method"
    body: ir.Body | None = None


def uses_of(made: ir.ValueOp, body: ir.Body, analysis: FileFacts) -> Iterator[Use]:
    """Every use of what an operation of a body made, and of its items."""
    lookup, cfg, index = Lookup.of(body), Cfg.of(body), analysis.index_of(body)
    pending, seen = [made.dst], {made.dst}

    def follow(register: ir.Register) -> None:
        if register not in seen:
            seen.add(register)
            pending.append(register)

    while pending:
        register = pending.pop()
        for op in lookup.readers(register):
            if isinstance(op, ir.Store):
                for load in lookup.loads(op.name):
                    if op in cfg.bindings(op.name, load).stores:
                        follow(load.dst)
            elif isinstance(op, ir.Subscript) and op.object == register:
                yield Use(op, "subscript", body=body)
                follow(op.dst)
            elif isinstance(op, ir.Call):
                callee = analysis.resolve_text(index.dotted(op.function))
                written = index.definitions[op.function]
                is_method = (
                    isinstance(written, ir.Attribute) and callee.partition(".")[0] not in analysis.aliases.values()
                )
                name = f".{written.name}" if is_method and isinstance(written, ir.Attribute) else callee
                for at, argument in enumerate(op.arguments):
                    if argument.value == register:
                        yield Use(
                            op, f"keyword {argument.keyword}" if argument.keyword else f"argument {at}", name, body
                        )
            elif isinstance(op, ir.Attribute):
                for call in lookup.readers(op.dst):
                    if isinstance(call, ir.Call) and call.function == op.dst:
                        yield Use(call, "receiver", f".{op.name}", body)
                        if op.name in ("get", "pop"):
                            follow(call.dst)
            elif isinstance(op, (ir.StoreAttribute, ir.StoreSubscript)) and op.value == register:
                yield Use(op, "stored", body=body)
            elif isinstance(op, (ir.Return, ir.Yield)):
                yield Use(op, "returned", body=body)
            elif isinstance(op, (ir.Sequence, ir.Mapping, ir.Choice)):
                yield Use(op, "item", body=body)
