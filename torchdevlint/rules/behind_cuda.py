"""Lines that are never reached without CUDA, because what needs it comes before them on every path: in their function, or in all that call it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from torchdevlint.flow.facts import Facts
from torchdevlint.flow.knowledge import functions
from torchdevlint.program import ir
from torchdevlint.program.project import Project
from torchdevlint.rules.callers import Site, calls_of
from torchdevlint.rules.neighbours import calls_imported, demanding, functions_that
from torchdevlint.rules.order import block_of, deciding_sides, is_unconditional, leads_through
from torchdevlint.rules.paths import last_name
from torchdevlint.rules.structure import literal_accelerator

_STARTS = re.compile(rb"cuda\.set_device\(|nccl")
_DEPTH = 3  # callers of callers
_LOSS = re.compile(r"loss|criteri", re.IGNORECASE)


def is_behind_cuda(call: ir.Call, facts: Facts) -> bool:
    """True where the function has moved something to a literal CUDA device on every path before the call."""
    if facts.block is None:
        return False
    for block in facts.body.blocks:
        for op in block.ops:
            if op is call:
                return False
            if (
                isinstance(op, ir.Call)
                and facts.callee(op) in (".cuda", ".to")
                and literal_accelerator(op, facts) is not None
                and leads_through(facts.body, block, facts.block)
            ):
                return True
    return False


def is_called_behind_cuda(body: ir.Body, facts: Facts, *unless: str) -> bool:
    """True in a function each of whose calls comes, on every path, behind a move to a literal CUDA device, in files that say none of these words."""
    sites = list(calls_of(body, facts))
    return bool(sites) and all(not site.facts.mentions(*unless) and _is_behind(site, _moves_to_cuda) for site in sites)


def is_called_where_cuda_works(body: ir.Body, facts: Facts, depth: int = _DEPTH) -> bool:
    """True in a function of a project each of whose calls comes, on every path, behind what works with CUDA alone: `torch.cuda.set_device`, the
    start of NCCL, a function that does one of these in any case or stops without CUDA, or a test for CUDA; or in a function of which the same is true.
    """
    if facts.analysis.member is None or depth == 0:
        return False
    sites = list(calls_of(body, facts))
    return bool(sites) and all(
        _is_behind(site, _needs_cuda)
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
    return isinstance(op, ir.Call) and _is_behind(Site(op, body, facts), _calls_what_needs_cuda)


def _is_behind(site: Site, is_wanted: Callable[[ir.Call, Site], bool]) -> bool:
    """True where every path to a call has come through an operation that is wanted."""
    place = block_of(site.body, site.call)
    return place is not None and any(
        isinstance(op, ir.Call)
        and is_wanted(op, site)
        and leads_through(site.body, block, place)
        and (block is not place or block.ops.index(op) < block.ops.index(site.call))
        for block in site.body.blocks
        for op in block.ops
    )


def _needs_cuda(op: ir.Call, site: Site) -> bool:
    return _starts_cuda(op, site.body, site.facts) or _calls_what_needs_cuda(op, site)


def _calls_what_needs_cuda(op: ir.Call, site: Site) -> bool:
    member = site.facts.analysis.member
    if member is None:
        return False
    called = site.facts.analysis.index_of(site.body).dotted(op.function)
    return any(
        called in table.get(member.path, ()) or calls_imported(table, op, site.body, site.facts)
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
