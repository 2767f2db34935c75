"""TDL401."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.findings import Applicability
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.values import Evidence, Kind
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, WARNING, Mention, NodeFix, Report, Rule, on_meet
from torchdevlint.rules.wording import MISMATCH, owns


class ModelInputLeftOnCpu(Rule):
    """Finds inputs that stay on the CPU while the model they are given to was moved.

    ## What it does
    Knows where a model was moved (`model.to(device)`, `model.cuda()`) and what it is called with: the output of a tokenizer or processor,
    an element of a `DataLoader`, a tensor made here. Likewise a loss that gets the model's output and a target that was never moved.

    ## Why is this bad?
    `model(**inputs)` raises `RuntimeError: Expected all tensors to be on the same device` on every machine with an accelerator.

    ## Example
        model = AutoModel.from_pretrained(name).to(device)
        inputs = tokenizer(text, return_tensors="pt")
        outputs = model(**inputs)

    ## Use instead
        inputs = tokenizer(text, return_tensors="pt").to(device)

    ## When it stays silent
    Models whose device is unknown, `DataParallel` and the other wrappers that move inputs, models loaded with `device_map` or
    quantized, values from functions that were not followed, default devices.

    ## Fix safety
    `.to(device)` on a tokenizer's output or a tensor is safe: on a CPU run it does nothing.

    ## Proof
    A module on an accelerator is called with a CPU tensor and raises; with the moved input it gives the CPU run's values.

    ## References
    aten/src/ATen/core/op_registration/adaption.h; transformers `BatchEncoding.to`.
    """

    code, name, severity = "TDL401", "model-input-left-on-cpu", ERROR
    fixable = "sometimes"

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        if meeting.role != "input" or meeting.module is None:
            return
        made, cpu = meeting.cpu.origin, meeting.cpu
        module = meeting.module
        if made is None or not owns(facts, made) or facts.in_forward or cpu.attribute:
            return
        is_loss = module.symbol.endswith("Loss")
        device = meeting.other.device
        moved_here = module.ref and "@" + module.ref in (facts.frame.env if facts.frame else {})
        if not is_loss and (not moved_here or module.evidence < Evidence.USAGE):
            return
        if is_loss and (meeting.other.moved is None or isinstance(made, ir.Unpack)):
            return  # a target from the same batch as the moved input is TDL518's
        register = _argument(meeting, facts)
        place = facts.place(register)
        written = facts.definition(register)
        at = made if isinstance(made, (ir.Call, ir.Subscript)) or written is None else written
        certain = cpu.evidence >= Evidence.USAGE and module.evidence >= Evidence.USAGE
        what = f"`{place}`" if place else "this input"
        where = device.describe()
        moved = _where_moved(meeting, facts)
        yield self.report(
            at,
            f"{what} is still on the CPU when it meets {'the output of a model' if is_loss else 'a model'} on {where}"
            f"{' (moved on line {0})' if moved else ''}: on an accelerator that raises {MISMATCH}; move it first, for example "
            f"`.to({_spelled(device.name)})`",
            severity=ERROR if certain else WARNING,
            related=(Mention(moved, "here the model moved"),) if moved is not None else (),
            fix=lambda: _fix(at, meeting, facts),
        )


def _spelled(name: str) -> str:
    return name if name and not name.startswith(("cuda", "mps", "xpu")) else f'"{name}"'


def _where_moved(meeting: Meeting, facts: Facts) -> ir.Op | None:
    if meeting.module is None or facts.frame is None:
        return None
    state = facts.frame.env.get("@" + meeting.module.ref)
    return state.moved if state is not None else None


def _arguments(meeting: Meeting) -> tuple[ir.Argument, ...]:
    return meeting.op.arguments if isinstance(meeting.op, ir.Call) else ()


def _argument(meeting: Meeting, facts: Facts) -> ir.Register | None:
    """The argument that is still on the CPU."""
    for argument in _arguments(meeting):
        if any(part.origin is meeting.cpu.origin for part in facts.value(argument.value).parts):
            return argument.value
    return None


def _fix(made: ir.Op, meeting: Meeting, facts: Facts) -> NodeFix | None:
    from torchdevlint.fixes import builders

    name = meeting.other.device.name
    if meeting.other.device.place not in ("sym", "acc"):
        return None
    expression = _spelled(name)
    if meeting.other.device.place == "sym" and not all(part.isidentifier() for part in name.split(".")):
        return None
    if (
        meeting.other.device.place == "sym"
        and facts.frame is not None
        and name.partition(".")[0] not in facts.frame.env
    ):
        outside = facts.analysis.lookup_outside(facts.body, name.partition(".")[0])
        if outside.kind is Kind.UNKNOWN:
            return None
    edits = builders.wrap_method(made, "to", expression)
    return NodeFix(Applicability.SAFE, f"Move it with `.to({expression})`", edits) if edits else None
