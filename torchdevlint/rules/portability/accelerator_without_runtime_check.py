"""TDL804."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.stops import stops_where_it_fails
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import deciding_tests
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_call, on_file
from torchdevlint.stubs.knowledge.functions import ASKING


class AcceleratorWithoutRuntimeCheck(Rule):
    """Finds `torch.accelerator.current_accelerator()` taken for a test of the machine.

    ## What it does
    Reports calls without `check_available=True` that no `torch.accelerator.is_available()` guards: an error where the program goes on
    without an accelerator (`or "cpu"`, a test for None), a warning where it has no other place to run.

    ## Why is this bad?
    The function tells which accelerator the build supports. A CUDA build on a machine without a GPU gives `device(type='cuda')`,
    and the next line raises `RuntimeError: Found no NVIDIA driver on your system`. A CPU build gives None: `.type` raises
    `AttributeError: 'NoneType' object has no attribute 'type'`, and `x.to(None)` leaves everything on the CPU without a word.

    ## Example
        device = torch.accelerator.current_accelerator() or torch.device("cpu")

    ## Use instead
        device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")

    ## When it stays silent
    Calls behind `torch.accelerator.is_available()` (or another availability test), with `check_available=True`, behind a flag that
    speaks of accelerators, or in a `try`; files that ask `torch.accelerator.is_available()` in another place.

    ## Fix safety
    Where an `or` or a None test follows, `check_available=True` is offered: safe where the project's
    oldest torch is known to be 2.7, else unsafe. Elsewhere there is no
    automatic fix: the program must say what it wants without an accelerator.

    ## Proof
    On a machine without an accelerator `.type` of the result raises; with the check the program runs on the CPU.

    ## References
    torch/accelerator/__init__.py (current_accelerator).
    """

    code, name, severity = "TDL804", "accelerator-without-runtime-check", ERROR
    fixable = "sometimes"

    def __init__(self) -> None:
        self._reports: list[Report] = []
        self._asks = False

    @on_call("torch.accelerator.is_available")
    def note_test(self, call: ir.Call, facts: Facts) -> None:
        self._asks = True

    @on_call(*ASKING)
    def note_demand(self, call: ir.Call, facts: Facts) -> None:
        self._asks = self._asks or stops_where_it_fails(call, facts.body, facts.analysis)

    @on_file
    def tell(self, facts: Facts) -> Iterator[Report]:
        if not self._asks:
            yield from self._reports

    @on_call("torch.accelerator.current_accelerator")
    def check(self, call: ir.Call, facts: Facts) -> None:
        asked = call.argument("check_available", 0)
        if (asked is not None and facts.constant(asked) is not False) or call.has_splat:
            return
        if facts.guarded("accelerator") or facts.guarded("cuda") or facts.guarded("xpu") or facts.guarded("mps"):
            return
        if facts.in_try_catching("AttributeError") or _behind_a_flag(facts):
            return
        falls_back = _falls_back(call, facts)
        advice = "pass `check_available=True`" if falls_back else "ask `torch.accelerator.is_available()` first"
        report = self.report(
            call,
            f"this tells what the build supports, not what the machine has; {advice}",
            detail='Without a GPU a CUDA build answers `cuda` ("Found no NVIDIA driver" follows), and a CPU build answers None.',
            case="" if falls_back else "no other device is tried",
            fix=lambda: _fix(call, facts) if falls_back else None,
        )
        self._reports.append(report)


def _behind_a_flag(facts: Facts) -> bool:
    """True behind `if args.accel:`, the programmer's own test."""
    return any("accel" in facts.place(test).lower() for test in deciding_tests(facts.body, facts.block))


def _falls_back(call: ir.Call, facts: Facts) -> bool:
    """True for `current_accelerator() or x` and for a result whose None is handled."""
    lookup = Lookup.of(facts.body)
    readers = lookup.readers(call.dst)
    names = {op.name for op in readers if isinstance(op, ir.Store)}
    return any(isinstance(op, ir.Choice) and op.shape == "or" and call.dst in op.values[:-1] for op in readers) or any(
        op.operators[0] in ("is", "is not")
        and facts.place(op.left) in names
        and isinstance(facts.definition(op.comparators[0]), ir.Constant)
        for op in lookup.kind(ir.Compare)
    )


def _fix(call: ir.Call, facts: Facts) -> NodeFix | None:
    edits = builders.add_keyword(call, "check_available", "True") if not call.arguments else None
    ground = Ground.OLD_LINE_RAISED if facts.may_use_torch(2, 7) else Ground.NEEDS_NEWER_TORCH
    return NodeFix(ground, "Ask for one that is there (torch 2.7)", edits)
