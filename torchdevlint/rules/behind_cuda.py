"""Lines that are never reached without CUDA, because what needs it comes before them on every path: in their function, or in all that call it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from torchdevlint.flow.facts import Facts
from torchdevlint.flow.knowledge import functions
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Project
from torchdevlint.rules.callers import Site, calls_of
from torchdevlint.rules.neighbours import calls_imported, demanding, functions_that
from torchdevlint.rules.order import block_of, deciding_sides, is_unconditional, leads_through
from torchdevlint.rules.paths import last_name
from torchdevlint.rules.structure import literal_accelerator, once_per_body

_STARTS = re.compile(rb"cuda\.set_device\(|nccl")
_DEPTH = 3  # callers of callers
_LOSS = re.compile(r"loss|criteri", re.IGNORECASE)


def is_behind_cuda(call: ir.Call, facts: Facts) -> bool:
    """True where the function has moved something to a literal CUDA device on every path before the call."""
    if facts.block is None:
        return False
    for op in _movers(facts.body, facts):
        block = block_of(facts.body, op)
        if block is None or block.index > facts.block.index:
            return False
        if block is facts.block and block.ops.index(op) >= block.ops.index(call):
            return False
        if (
            leads_through(facts.body, block, facts.block)
            and facts.callee(op) in (".cuda", ".to")
            and literal_accelerator(op, facts) is not None
        ):
            return True
    return False


@once_per_body
def _movers(body: ir.Body, facts: Facts) -> list[ir.Call]:
    """The calls of methods `cuda` and `to`, in the order of the body."""
    definitions = facts.analysis.index_of(body).definitions
    methods = ((call, definitions[call.function]) for call in Lookup.of(body).kind(ir.Call))
    return [call for call, method in methods if isinstance(method, ir.Attribute) and method.name in ("cuda", "to")]


def is_called_behind_cuda(body: ir.Body, facts: Facts, *unless: str) -> bool:
    """True in a function each of whose calls comes, on every path, behind a move to a literal CUDA device, in files that say none of these words."""
    sites = list(calls_of(body, facts))
    return bool(sites) and all(not site.facts.mentions(*unless) and _is_behind(site, _moving) for site in sites)


def is_called_where_cuda_works(body: ir.Body, facts: Facts, depth: int = _DEPTH) -> bool:
    """True in a function of a project each of whose calls comes, on every path, behind what works with CUDA alone: `torch.cuda.set_device`, the
    start of NCCL, a function that does one of these in any case or stops without CUDA, or a test for CUDA; or in a function of which the same is true.
    """
    if facts.analysis.member is None or depth == 0:
        return False
    sites = list(calls_of(body, facts))
    return bool(sites) and all(
        _is_behind(site, _needing)
        or _is_behind_test(site)
        or is_called_where_cuda_works(site.body, site.facts, depth - 1)
        for site in sites
    )


def _is_behind_test(site: Site) -> bool:
    """True where a test for CUDA has said yes: `if not torch.cuda.is_available(): return`."""
    place = block_of(site.body, site.call)
    return place is not None and any(
        _asks_for_cuda(test, side, site) for test, side in deciding_sides(site.body, place)
    )


def _asks_for_cuda(test: ir.Register, side: bool, site: Site) -> bool:
    index = site.facts.analysis.index_of(site.body)
    written = index.definitions[test]
    if isinstance(written, ir.Unary) and written.operator == "not":
        return _asks_for_cuda(written.operand, not side, site)
    if isinstance(written, ir.Choice) and written.shape == ("and" if side else "or"):
        return any(_asks_for_cuda(value, side, site) for value in written.values)
    callee = site.facts.analysis.resolve_text(index.dotted(written.function)) if isinstance(written, ir.Call) else ""
    return side and functions.AVAILABILITY.get(callee) == "cuda"


def is_where_cuda_works(op: ir.Op, body: ir.Body, facts: Facts) -> bool:
    """True behind a call of a function of the project that sets CUDA's device or starts NCCL in any case, or stops without CUDA."""
    return isinstance(op, ir.Call) and _is_behind(Site(op, body, facts), _calling_what_needs_cuda)


def _is_behind(site: Site, wanted: Callable[[ir.Body, Facts], dict[int, list[ir.Call]]]) -> bool:
    """True where every path to a call has come through an operation that is wanted; these by the index of their block."""
    place = block_of(site.body, site.call)
    if place is None:
        return False
    found = wanted(site.body, site.facts)
    inside = found.get(place.index, [])
    return any(
        number != place.index and leads_through(site.body, site.body.blocks[number], place) for number in found
    ) or (bool(inside) and place.ops.index(inside[0]) < place.ops.index(site.call))


def _by_block(body: ir.Body, is_wanted: Callable[[ir.Call], bool]) -> dict[int, list[ir.Call]]:
    """The calls of a body that are wanted, by the index of their block."""
    found: dict[int, list[ir.Call]] = {}
    for call in Lookup.of(body).kind(ir.Call):
        block = block_of(body, call) if is_wanted(call) else None
        if block is not None:
            found.setdefault(block.index, []).append(call)
    return found


@once_per_body
def _needing(body: ir.Body, facts: Facts) -> dict[int, list[ir.Call]]:
    return _by_block(body, lambda op: _starts_cuda(op, body, facts) or _calls_what_needs_cuda(op, body, facts))


@once_per_body
def _calling_what_needs_cuda(body: ir.Body, facts: Facts) -> dict[int, list[ir.Call]]:
    if facts.analysis.member is None:
        return {}
    return _by_block(body, lambda op: _calls_what_needs_cuda(op, body, facts))


@once_per_body
def _moving(body: ir.Body, facts: Facts) -> dict[int, list[ir.Call]]:
    return _by_block(body, lambda op: _moves_to_cuda(op, Site(op, body, facts)))


def _calls_what_needs_cuda(op: ir.Call, body: ir.Body, facts: Facts) -> bool:
    member = facts.analysis.member
    if member is None:
        return False
    called = facts.analysis.index_of(body).dotted(op.function)
    return any(
        called in table.get(member.path, ()) or calls_imported(table, op, body, facts)
        for table in (_starting(member.project), demanding(member.project))
    )


def _starts_cuda(op: ir.Call, body: ir.Body, facts: Facts) -> bool:
    """True for `torch.cuda.set_device(...)` and `init_process_group("nccl")`."""
    index = facts.analysis.index_of(body)
    if facts.analysis.resolve_text(index.dotted(op.function)) == "torch.cuda.set_device":
        return True
    return last_name(op, body, facts) == "init_process_group" and any(
        isinstance(given := index.definitions[argument.value], ir.Constant) and given.value == "nccl"
        for argument in op.arguments
    )


@lru_cache(maxsize=64)
def _starting(project: Project) -> dict[str, frozenset[str]]:
    """The functions of a project that set CUDA's device or start NCCL in any case, by their files."""
    holding = project.holding((b"set_device(", b"init_process_group("), _STARTS)
    return functions_that(_always_starts, holding, project)


def _always_starts(body: ir.Body, facts: Facts) -> bool:
    return any(
        isinstance(op, ir.Call) and _starts_cuda(op, body, facts) and is_unconditional(block, body)
        for block in body.blocks
        for op in block.ops
    )


def _moves_to_cuda(op: ir.Call, site: Site) -> bool:
    """True for a move to a literal CUDA device; a loss has nothing to move."""
    index = site.facts.analysis.index_of(site.body)
    method = index.definitions[op.function]
    moved = index.definitions[method.object] if isinstance(method, ir.Attribute) else None
    if not isinstance(method, ir.Attribute) or index.dotted(op.function) == "torch.cuda":
        return False
    name = last_name(moved, site.body, site.facts) if isinstance(moved, ir.Call) else getattr(moved, "name", "loss")
    if _LOSS.search(name):
        return False
    if method.name == "cuda":
        return not op.arguments
    given = index.definitions[op.arguments[0].value] if method.name == "to" and op.arguments else None
    return isinstance(given, ir.Constant) and str(given.value).startswith("cuda")
