"""TDL905."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import INFO, Report, Rule, on_call, on_method


class NeedlessDeviceRoundTrip(Rule):
    """Finds tensors that are moved twice in one expression.

    ## What it does
    Reports `.cpu().to(device)`, `.cuda().cpu()`, `.to(a).to(b)` and `torch.tensor(x.cpu().numpy())` that is moved again.

    ## Why is this bad?
    The data is copied twice, and a copy to the host waits for the accelerator. The way through NumPy also cuts the gradient. Off by
    default: some authors detour on purpose.

    ## Example
        y = x.cpu().to(device)

    ## Use instead
        y = x.to(device)

    ## When it stays silent
    `.to(dtype)` in the chain; one move alone.

    ## Fix safety
    There is no automatic fix.

    ## Proof
    None: nothing fails.

    ## References
    torch.Tensor.to, docstring.
    """

    code, name, severity = "TDL905", "needless-device-round-trip", INFO
    default = False

    @on_method("to", "cuda", "cpu")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        inner = facts.definition(facts.receiver(call))
        if not isinstance(inner, ir.Call) or facts.callee(inner) not in (".to", ".cuda", ".cpu"):
            return
        first, second = facts.target_of_move(inner), facts.target_of_move(call)
        if first is None or second is None or "top" in (first.place, second.place):
            return
        yield self.report(call, "this copies the data twice; move it once, to where it is wanted")

    @on_call("torch.tensor", "torch.from_numpy", "torch.as_tensor")
    def check_numpy(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        array = facts.definition(call.positional(0))
        host = (
            facts.definition(facts.receiver(array))
            if isinstance(array, ir.Call) and facts.callee(array) == ".numpy"
            else None
        )
        if not isinstance(host, ir.Call) or facts.callee(host) != ".cpu":
            return
        if call.keyword("device") is not None or Lookup.of(facts.body).attributes_of(call.dst) & {"to", "cuda"}:
            yield self.report(
                call,
                "this brings a tensor to the host and back, which cuts the gradient; use `.detach().clone()`",
                detail="It copies the data twice, through NumPy.",
            )
