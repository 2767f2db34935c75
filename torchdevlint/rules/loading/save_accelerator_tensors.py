"""TDL110."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Evidence, Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.rule import INFO, Report, Rule, on_call


class SaveAcceleratorTensors(Rule):
    """Finds checkpoints that carry the tag of an accelerator.

    ## What it does
    Reports `torch.save` of a state dict, a module or tensors that are known to be on an accelerator.

    ## Why is this bad?
    Nothing fails here. Every storage in the file carries the device it was on, so that each reader must pass `map_location`. Off by
    default.

    ## Example
        torch.save(model.state_dict(), path)

    ## Use instead
        state = model.state_dict()
        for key in state:
            state[key] = state[key].cpu()
        torch.save(state, path)

    ## When it stays silent
    Everything that is not known to be on an accelerator.

    ## Fix safety
    There is no automatic fix: the copy to the host costs time and memory.

    ## Proof
    The location tags in the file name the accelerator; after the repair they name the CPU.

    ## References
    torch/serialization.py (location_tag).
    """

    code, name, severity = "TDL110", "save-accelerator-tensors", INFO
    default = False

    @on_call("torch.save")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        value = facts.value(call.argument("obj", 0))
        found = (value, *(item for _, item in value.entries)) if value.kind is Kind.DICT else (value,)
        device = next((name for part in found if (name := _device(part, facts))), "")
        if not device:
            return
        yield self.report(
            call,
            f"the file will carry the tag of `{device}`, which its readers need or must map; save CPU copies",
            detail=f"Each tensor in it carries the tag of `{device}`: every reader without that device must pass `map_location`.",
        )


def _device(value: Value, facts: Facts) -> str:
    """The accelerator that a state dict, module or tensor is on, or ""."""
    if value.kind not in (Kind.STATE_DICT, Kind.MODULE, Kind.TENSOR) or value.ref == "self":
        return ""
    if value.kind is Kind.TENSOR and value.evidence < Evidence.STRONG:
        return ""
    device = facts.frame.module_device(value) if value.kind is Kind.MODULE else value.device
    return device.name if device.may_be_accelerator else ""
