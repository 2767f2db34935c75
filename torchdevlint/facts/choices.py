"""Whether the answer to "is CUDA there?" decides where something runs. It may also be printed, asserted, or asked for seeds and flags of CUDA alone."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.once import once_per_file
from torchdevlint.facts.stops import stops_where_it_fails
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import deciding_sides
from torchdevlint.program.roles import importers
from torchdevlint.stubs.knowledge.functions import ASKING

_TELLS = frozenset("print format str repr info debug warning error write log".split())
_OF_LOADERS = frozenset({"pin_memory", "non_blocking"})  # arguments that place nothing
_MOST_NAMES = 4  # that the answer is bound to, one after the other


@once_per_file
def asks_to_choose(analysis: FileFacts) -> bool:
    """True for a file in which such an answer decides where something runs, as far as one can tell."""
    return any(
        _decides(call.dst, body, analysis, _MOST_NAMES)
        for body in analysis.program.bodies
        for call in analysis.calls_to(ASKING, body)
        if not stops_where_it_fails(call, body, analysis)
    )


def _decides(answer: ir.Register, body: ir.Body, analysis: FileFacts, names: int) -> bool:
    lookup = Lookup.of(body)
    if any(block.test == answer and _branches_choose(answer, body, analysis) for block in body.blocks):
        return True
    for op in lookup.readers(answer):
        if isinstance(op, (ir.Unary, ir.Compare)) or (isinstance(op, ir.Choice) and op.test != answer):
            if _decides(op.dst, body, analysis, names):
                return True
        elif isinstance(op, ir.Store):
            if not names or _is_named_elsewhere(op.name, analysis):
                return True
            if any(_decides(load.dst, one, analysis, names - 1) for one, load in _loads(op.name, analysis)):
                return True
        elif isinstance(op, ir.Call):
            given = [argument.keyword for argument in op.arguments if argument.value == answer]
            if lookup.called(op) not in _TELLS and not _OF_LOADERS.issuperset(given):
                return True
        elif not isinstance(op, (ir.FormattedString, ir.Discard)):
            return True
    return False


def _loads(name: str, analysis: FileFacts) -> Iterator[tuple[ir.Body, ir.Load]]:
    return ((body, load) for body in analysis.program.bodies for load in Lookup.of(body).loads(name))


def _is_named_elsewhere(name: str, analysis: FileFacts) -> bool:
    """True where a file that imports this one may read the name: `from config import USE_CUDA`."""
    member = analysis.member
    return member is not None and any(member.project.says(path, name.encode()) for path in importers(member))


def _branches_choose(test: ir.Register, body: ir.Body, analysis: FileFacts) -> bool:
    """True where one of two branches moves something, names something, or comes back."""
    controlled = (block for block in body.blocks if any(asked == test for asked, _ in deciding_sides(body, block)))
    return any(_chooses(op, body, analysis) for block in controlled for op in block.ops)


def _chooses(op: ir.Op, body: ir.Body, analysis: FileFacts) -> bool:
    lookup = Lookup.of(body)
    if isinstance(op, (ir.Store, ir.StoreAttribute)):
        made = lookup.definition(op.value)
        is_of_cuda = isinstance(made, ir.Call) and analysis.spelled(made.function, body).startswith("torch.cuda.")
        is_setting = isinstance(op, ir.StoreAttribute) and analysis.spelled(op.object, body).startswith(
            "torch.backends"
        )
        return not (is_of_cuda or is_setting)
    if isinstance(op, ir.Call):
        is_placed = any(argument.keyword in ("device", "map_location") for argument in op.arguments)
        return is_placed or lookup.called(op) in ("cuda", "to")
    return isinstance(op, (ir.Return, ir.StoreSubscript))
