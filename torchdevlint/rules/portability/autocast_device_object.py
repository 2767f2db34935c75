"""TDL806."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.certainly import is_certainly_device
from torchdevlint.facts.facts import Facts
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_call


class AutocastDeviceObject(Rule):
    """Finds `torch.autocast` given a `torch.device` instead of a string.

    ## What it does
    Reports `torch.autocast(device)` and `device_type=device` where the value is certainly a `torch.device` object.

    ## Why is this bad?
    It raises ``ValueError: Expected `device_type` of type `str`, got: `<class 'torch.device'>` `` on every machine.

    ## Example
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        with torch.autocast(device):
            loss = model(x)

    ## Use instead
        with torch.autocast(device.type):
            loss = model(x)

    ## When it stays silent
    Strings ("cuda:0" is accepted), `device.type`, and names that may hold either.

    ## Fix safety
    `.type` is safe: the old line raised.

    ## Proof
    The call raises ValueError on every machine; with `.type` the block runs.

    ## References
    torch/amp/autocast_mode.py (autocast.__init__).
    """

    code, name, severity = "TDL806", "autocast-device-object", ERROR
    fixable = "safe"

    @on_call("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("device_type", 0)
        if register is None or not is_certainly_device(register, facts) or facts.in_try_catching("ValueError"):
            return
        place = facts.place(register)
        yield self.report(
            call,
            f"`torch.autocast` wants a string, not a `torch.device`; pass `{place or 'device'}.type`",
            detail="It raises \"Expected `device_type` of type `str`, got: `<class 'torch.device'>`\".",
            fix=lambda: _fix(register, facts),
        )


def _fix(register: ir.Register, facts: Facts) -> NodeFix | None:
    edits = builders.append_attribute(facts.definition(register), "type")
    return NodeFix(Ground.OLD_LINE_RAISED, "Pass the device's type", edits)
