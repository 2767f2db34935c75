"""TDL702."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_call, on_method

_TEXT = "\"cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned\""


class PinMemoryOfAcceleratorTensor(Rule):
    """Finds tensors that are pinned after they were moved to an accelerator.

    ## What it does
    Reports `x.cuda().pin_memory()`, `x.to(device).pin_memory()`, `.pin_memory()` on a tensor that is certainly on an accelerator, and a
    `TensorDataset` of such tensors in a loader with
    `pin_memory=True`.

    ## Why is this bad?
    Pinned memory is host memory: `RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned`.

    ## Example
        batch = batch.to(device).pin_memory()

    ## Use instead
        batch = batch.pin_memory().to(device, non_blocking=True)

    ## When it stays silent
    Tensors whose device is unknown; loaders of other datasets.

    ## Fix safety
    Unsafe: on a machine without an accelerator `pin_memory()` raises, where a `device` of "cpu" had worked.

    ## Proof
    Pinning the moved tensor raises; pinned first and moved then it works.

    ## References
    aten/src/ATen/native/Memory.cpp (_pin_memory).
    """

    code, name, severity = "TDL702", "pin-memory-of-accelerator-tensor", ERROR
    fixable = "unsafe"

    @on_method("pin_memory")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = facts.receiver(call)
        value, written = facts.value(register), facts.definition(register)
        chained = isinstance(written, ir.Call) and facts.callee(written) in (".to", ".cuda")
        device = facts.target_of_move(written) if chained and isinstance(written, ir.Call) else None
        if device is None or not device.may_be_accelerator:
            if (
                value.kind is not Kind.TENSOR
                or not value.device.is_accelerator
                or value.others
                or value.evidence < Evidence.USAGE
            ):
                return
            device = value.device
        yield self.report(
            call,
            f"only host memory can be pinned, and this tensor is on `{device.name}`; pin it first, then move it",
            detail=f"On an accelerator this raises {_TEXT}. A pinned tensor can be moved with `non_blocking=True`.",
            case="" if device.is_accelerator else "the device is a variable",
            fix=lambda: (
                NodeFix(Ground.AWAITS_A_GPU, "Pin first, then move", builders.swap_chained_methods(call))
                if chained
                else None
            ),
        )

    @on_call("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
    def check_loader(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        pinned = call.argument("pin_memory", 7)
        data = facts.definition(call.argument("dataset", 0))
        if pinned is None or facts.constant(pinned) is not True or not isinstance(data, ir.Call):
            return
        if not facts.callee(data).endswith("TensorDataset"):
            return
        for argument in data.arguments:
            value = facts.value(argument.value)
            if value.kind is Kind.TENSOR and value.device.is_accelerator and not value.others:
                yield self.report(
                    call,
                    f"`pin_memory=True` pins host memory, and the dataset is on `{value.device.name}`; keep the dataset on the CPU",
                    detail=f"It raises {_TEXT}. Without `pin_memory` the dataset can stay where it is.",
                )
                return
