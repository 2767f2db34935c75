"""TDL902."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import INFO, NodeFix, Report, Rule, on_method

_WORKERS = ("Thread", "ThreadPoolExecutor", "threading")


class PinThenMoveInline(Rule):
    """Finds tensors that are pinned only to be moved in the same breath.

    ## What it does
    Reports `x.pin_memory().to(device, non_blocking=True)` and `x.pin_memory().cuda(...)`.

    ## Why is this bad?
    Pinning is a blocking copy on the host. In the thread that then moves the tensor it costs more than it saves: the plain move can
    be twice as fast.

    ## Example
        x = x.pin_memory().to(device, non_blocking=True)

    ## Use instead
        x = x.to(device, non_blocking=True)

    ## When it stays silent
    Files that pin in a thread of their own; tensors that are pinned once and moved later.

    ## Fix safety
    Unsafe until it was measured on a GPU for this rule; the values are the same.

    ## Proof
    None: nothing fails.

    ## References
    PyTorch tutorial "A guide on good usage of non_blocking and pin_memory()".
    """

    code, name, severity = "TDL902", "pin-then-move-inline", INFO
    fixable = "unsafe"

    @on_method("to", "cuda")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        pinned = facts.definition(facts.receiver(call))
        if (
            not isinstance(pinned, ir.Call)
            or facts.callee(pinned) != ".pin_memory"
            or pinned.arguments
            or facts.mentions(*_WORKERS)
        ):
            return
        yield self.report(
            call,
            "pinning here costs more than the move gains by it; drop `.pin_memory()`, or let the DataLoader pin",
            detail="It blocks this thread for a copy on the host. A DataLoader with `pin_memory=True` pins in a thread of its own.",
            fix=lambda: NodeFix(Ground.CHANGES_A_RUN, "Move without pinning", builders.remove_method(pinned)),
        )
