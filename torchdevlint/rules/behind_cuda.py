"""Lines that are never reached without CUDA, because something goes to a literal CUDA device before them on every path."""

from __future__ import annotations

import re

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.callers import Site, calls_of
from torchdevlint.rules.order import block_of, leads_through
from torchdevlint.rules.paths import last_name
from torchdevlint.rules.structure import literal_accelerator

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
    return bool(sites) and all(not site.facts.mentions(*unless) and _has_moved_to_cuda(site) for site in sites)


def _has_moved_to_cuda(site: Site) -> bool:
    """True where every path to a call has moved something to a literal CUDA device; a loss has nothing to move."""
    place = block_of(site.body, site.call)
    return place is not None and any(
        isinstance(op, ir.Call)
        and _moves_to_cuda(op, site)
        and leads_through(site.body, block, place)
        and (block is not place or block.ops.index(op) < block.ops.index(site.call))
        for block in site.body.blocks
        for op in block.ops
    )


def _moves_to_cuda(op: ir.Call, site: Site) -> bool:
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
