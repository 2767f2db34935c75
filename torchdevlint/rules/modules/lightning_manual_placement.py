"""TDL609."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import INFO, NodeFix, Report, Rule, on_any_call
from torchdevlint.rules.structure import literal_accelerator

_EARLY = frozenset({"__init__", "configure_model", "setup", "prepare_data"})


class LightningManualPlacement(Rule):
    """Finds literal devices in Lightning modules and behind `accelerator.prepare`.

    ## What it does
    Reports `.cuda()`, `.to("cuda")` and `device="cuda"` in a method of a `LightningModule`, and on what Accelerate's `prepare(...)` returned.

    ## Why is this bad?
    The Trainer (or Accelerate) places modules and batches. A literal device ties the module to CUDA: it raises on machines without it, and
    puts tensors on the wrong device in
    runs over several.

    ## Example
        def training_step(self, batch, index):
            noise = torch.randn(8).cuda()

    ## Use instead
        def training_step(self, batch, index):
            noise = torch.randn(8).to(self.device)

    ## When it stays silent
    Moves to `self.device`; `configure_model`; lines behind a test of the device.

    ## Fix safety
    Safe in hooks that run after the module was placed: there `self.device` is the device that `.cuda()` means. In `__init__` and `setup`
    nothing is offered.

    ## Proof
    Needs lightning, which is no dependency of this program: no proof is claimed.

    ## References
    lightning/fabric/utilities/device_dtype_mixin.py; accelerate/accelerator.py (prepare_model).
    """

    code, name, severity = "TDL609", "lightning-manual-placement", INFO
    fixable = "sometimes"

    @on_any_call
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        device = literal_accelerator(call, facts)
        name = facts.callee(call)
        if device is None or facts.guarded(device.type):
            return
        summary = facts.class_summary
        if summary is not None and summary.is_lightning and facts.body.name != "configure_model":
            own = facts.index.self_name
            late = bool(own) and facts.body.name not in _EARLY
            yield self.report(
                call,
                f"the Trainer places this module, and `{device.name}` ties it to one device; use `self.device`",
                detail=f"The line raises without `{device.name}`, and names the wrong device in runs over several.",
                fix=(lambda: _fix(call, name, own)) if late and ":" not in device.name else None,
            )
        elif name in (".to", ".cuda") and _is_prepared(facts.receiver(call), facts):
            yield self.report(
                call,
                f"`accelerator.prepare` has placed this, and `{device.name}` moves it; use `accelerator.device`, or leave it out",
                detail=f"The line raises without `{device.name}`, and names the wrong device in runs over several.",
            )


def _is_prepared(register: ir.Register | None, facts: Facts) -> bool:
    """True for what `accelerator.prepare(...)` returned in this function."""
    if not facts.imports("accelerate"):
        return False
    value, written = facts.value(register), facts.definition(register)
    made = value.group if value.group is not None else written
    return isinstance(made, ir.Call) and facts.callee(made) == ".prepare"


def _fix(call: ir.Call, name: str, own: str) -> NodeFix | None:
    if name in (".to", ".cuda"):
        edits = builders.replace_call_arguments(call, "to", f"{own}.device") if len(call.arguments) < 2 else None
    else:
        edits = builders.replace_keyword_value(call, "device", f"{own}.device")
    return NodeFix(Ground.SAME_OPERATION, f"Use `{own}.device`", edits)
