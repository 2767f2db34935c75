"""What a loop takes out of a loader: a part that nobody moved, while another part of the batch was moved, is on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer import devices
from torchdevlint.infer.values import Site, Tensor, Term, Value
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context


def sample(ctx: Context, argument: Value, site: Site) -> Value:
    """An operand: one that nobody moved, while what its loader gives elsewhere is moved, is on the CPU."""
    if not isinstance(argument, Term) or argument.op not in ("item", "element", "unpack"):
        return argument
    whole = devices.whole(argument)
    rec = None if _is_held_by_module(whole) else ctx.heap.get(whole)
    if rec is None or devices.PARTS_MOVED not in rec.fields or _is_moved_by_statement(site):
        return argument
    return argument if ctx.mode != "summary" and is_input(ctx, argument) else Term("sample", argument, site)


_HELD = frozenset({"parameters", "buffers", "named_parameters", "named_buffers", "state_dict"})


def _is_held_by_module(whole: Value) -> bool:
    """True for `model.parameters()` and `model.state_dict().values()`: they are where the module is, and a copy of one tells nothing of the others."""
    while isinstance(whole, Term) and whole.op in ("call", "attribute"):
        if whole.op == "attribute" and whole.args[1] in _HELD:
            return True
        whole = whole.args[0]
    return False


def is_input(ctx: Context, argument: Term) -> bool:
    """True for a part of what a module's `forward` is given: it may be where the module is, and a move of another part only makes sure."""
    batch = devices.whole(argument)
    return batch.op == "parameter" and ctx.analysis.is_forward(batch.args[0])


def part(ctx: Context, operand: Value, site: Site) -> Value:
    """The same for what is computed from a part, such as `labels.view_as(scores)`, in the function that takes the batch apart."""
    if isinstance(operand, Tensor) and isinstance(operand.device, Term) and operand.device.op == "own":
        found = sample(ctx, operand.device.args[0], site)
        return found if found is not operand.device.args[0] else operand
    return sample(ctx, operand, site)


def _is_moved_by_statement(site: Site) -> bool:
    """True where a statement such as `graphs.to(device)` moves an argument of a call: it may go itself, as a batch of graphs does."""
    if site.body is None or not isinstance(site.op, ir.Call):
        return False
    lookup = Lookup.of(site.body)
    given = [lookup.definition(argument.value) for argument in site.op.arguments]
    names = {op.name for op in given if isinstance(op, ir.Load)}
    for statement in lookup.kind(ir.Discard):
        move = lookup.definition(statement.value)
        method = lookup.definition(move.function) if isinstance(move, ir.Call) else None
        moved = lookup.definition(method.object) if isinstance(method, ir.Attribute) else None
        is_move = isinstance(method, ir.Attribute) and method.name in devices.MOVES
        if is_move and isinstance(moved, ir.Load) and moved.name in names:
            return True
    return False
