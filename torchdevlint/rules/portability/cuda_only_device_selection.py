"""TDL803."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import INFO, NodeFix, Report, Rule, on_call, on_method, on_op

_OTHER_ACCELERATORS = ("mps", "xpu", "accelerator", "npu", "hpu", "mtia", "xla")
_CUDA_ONLY = ("set_device", "nvtx", "CUDAGraph", "synchronize", "init_process_group", "get_device_properties", "Stream")


class CudaOnlyDeviceSelection(Rule):
    """Finds device choices that know CUDA and the CPU alone.

    ## What it does
    Reports `"cuda" if torch.cuda.is_available() else "cpu"`, also with `torch.device(...)` around or within.

    ## Why is this bad?
    It works, and runs on the CPU on machines whose accelerator is an Apple, Intel or other one. Off by default: many programs are meant
    for NVIDIA machines.

    ## Example
        device = "cuda" if torch.cuda.is_available() else "cpu"

    ## Use instead
        device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"

    ## When it stays silent
    Choices with a third branch; files that speak of another accelerator; files that use CUDA-only functions (`torch.cuda.synchronize`,
    `set_device`, `nvtx`, streams, process groups).

    ## Fix safety
    Unsafe: `torch.accelerator` needs torch 2.6, float64 and some operators are missing on MPS. The fix keeps the value a string.

    ## Proof
    None: nothing fails.

    ## References
    torch/accelerator/__init__.py (current_accelerator, is_available).
    """

    code, name, severity = "TDL803", "cuda-only-device-selection", INFO
    default = False
    fixable = "unsafe"

    @on_op(ir.Store, ir.StoreAttribute, ir.Return)
    def check_kept(self, op: ir.Store | ir.StoreAttribute | ir.Return, facts: Facts) -> Iterator[Report]:
        yield from self._told(op.value, facts)

    @on_call("torch.device")
    @on_method("to")
    def check_call(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        yield from self._told(call.argument("device", 0), facts)

    def _told(self, register: ir.Register | None, facts: Facts) -> Iterator[Report]:
        choice = facts.definition(register)
        if not isinstance(choice, ir.Choice) or choice.shape != "if" or choice.test is None:
            return
        test = facts.value(choice.test)
        spelled = [list(facts.devices_in(value)) for value in choice.values]
        if test.kind is not Kind.CONDITION or test.symbol != "cuda" or any(len(names) != 1 for names in spelled):
            return
        if isinstance(facts.definition(choice.test), ir.Compare):
            return  # `"cuda" in device`: chosen elsewhere
        places = (spelled[0][0].partition(":")[0], spelled[1][0])
        if places != (("cpu", "cuda") if test.negated else ("cuda", "cpu")):
            return
        if facts.mentions(*_OTHER_ACCELERATORS) or facts.mentions(*_CUDA_ONLY):
            return
        plain = all(isinstance(facts.definition(value), ir.Constant) for value in choice.values)
        yield self.report(
            choice,
            "this knows CUDA and the CPU alone; use `torch.accelerator` (torch 2.6) for whatever is there",
            detail="On a machine with an Apple, Intel or other accelerator the program runs on the CPU.",
            fix=(lambda: _fix(choice, facts)) if plain and ":" not in spelled[0][0] else None,
        )


def _fix(choice: ir.Choice, facts: Facts) -> NodeFix | None:
    written = facts.definition(choice.test)
    path = facts.place(written.function) if isinstance(written, ir.Call) else ""
    if path != "torch.cuda.is_available":
        return None
    edits = builders.replace_expression(
        choice, 'torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"'
    )
    return NodeFix(Ground.NEEDS_NEWER_TORCH, "Take the accelerator that is there", edits)
