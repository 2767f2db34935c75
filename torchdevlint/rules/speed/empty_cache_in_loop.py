"""TDL904."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import reachable
from torchdevlint.rules.rule import INFO, Report, Rule, on_call

_WORK = ("backward", "step", "forward", "zero_grad")


class EmptyCacheInLoop(Rule):
    """Finds `torch.cuda.empty_cache()` in every turn of a training loop.

    ## What it does
    Reports the call in the innermost loop that also holds a `backward()`, a `step()` or a `zero_grad()`, where nothing decides
    whether it runs.

    ## Why is this bad?
    PyTorch reuses the memory that it has cached; giving it back does not make more of it available to PyTorch. Each call waits for
    the GPU, and the next turn must ask the driver for the memory anew. (It can help against fragmentation, now and then.)

    ## Example
        for batch in loader:
            loss(model(batch)).backward()
            optimizer.step()
            torch.cuda.empty_cache()

    ## Use instead
        for batch in loader:
            loss(model(batch)).backward()
            optimizer.step()

    ## When it stays silent
    In `except` (after an out-of-memory error), behind a condition, between epochs (a loop around the training loop).

    ## Fix safety
    There is no automatic fix: whoever is short of memory should decide.

    ## Proof
    None: nothing fails.

    ## References
    torch/cuda/memory.py (empty_cache, docstring).
    """

    code, name, severity = "TDL904", "empty-cache-in-loop", INFO

    @on_call(
        "torch.cuda.empty_cache", "torch.cuda.memory.empty_cache", "torch.mps.empty_cache", "torch.xpu.empty_cache"
    )
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        block = facts.block
        if block is None or not block.loops or any(context.part == "handler" for context in block.tries):
            return
        loop = block.loops[-1]
        if not _works(loop, facts) or _is_decided(block, loop, facts):
            return
        yield self.report(
            call,
            "this gives PyTorch no more memory and waits for the GPU in every turn; drop it, or call it between phases",
            detail="The next turn must ask the driver for the same memory again.",
        )


def _works(loop: int, facts: Facts) -> bool:
    """True when the loop's own turn trains."""
    lookup = Lookup.of(facts.body)
    reads = (read for name in _WORK for read in lookup.attributes(name))
    return any((block := lookup.block(read)) is not None and block.loops[-1:] == (loop,) for read in reads)


def _is_decided(block: ir.Block, loop: int, facts: Facts) -> bool:
    """True when a condition inside the loop decides whether the call runs."""
    for other in facts.body.blocks:
        if other.test is None or loop not in other.loops or other.index == loop or len(other.successors) != 2:
            continue
        for edge in other.successors:
            if block.index not in reachable(facts.body, loop, without=(other.index, edge)):
                return True
    return False
