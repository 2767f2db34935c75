"""TDL518."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.findings import Applicability
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.values import Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, WARNING, Mention, NodeFix, Report, Rule, on_any_call, on_meet
from torchdevlint.rules.wording import MISMATCH

_HOST_WORDS = (
    "len",
    "length",
    "idx",
    "index",
    "id",
    "name",
    "path",
    "file",
    "meta",
    "size",
    "shape",
    "info",
    "text",
    "word",
    "caption",
    "step",
    "epoch",
)


class OneSiblingLeftBehind(Rule):
    """Finds a value that stays on the CPU while its sibling from the same batch was moved.

    ## What it does
    Values that come from the same batch, loop target or call (`x` and `y`, `batch["a"]` and `batch["b"]`) belong together. Where one is moved to a
    device and another meets it, or the same model or loss, unmoved, the move was forgotten.

    ## Why is this bad?
    The model or the loss gets tensors on two devices and raises `RuntimeError: Expected all tensors to be on the same device`. The training
    loop often moves both and the evaluation loop only one.

    ## Example
        for images, labels in loader:
            images = images.to(device)
            loss = criterion(model(images), labels)

    ## Use instead
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)

    ## When it stays silent
    The sibling is a length, an index, a name; it goes through `.item()` or stays in host code; wrappers that move inputs.

    ## Fix safety
    The same move on the sibling is safe when both are known to be tensors.

    ## Proof
    A loss on an accelerator's output and a CPU target raises; with the moved target it gives the CPU run's value.

    ## References
    aten/src/ATen/core/op_registration/adaption.h.
    """

    code, name, severity = "TDL518", "one-sibling-left-behind", ERROR
    fixable = "sometimes"
    yields_to = ("TDL401",)

    @on_any_call
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        callee = facts.value(call.function)
        is_module = callee.kind is Kind.MODULE and callee.symbol not in ("wrapper", "dispatched")
        is_torch = callee.kind is Kind.SYMBOL and callee.symbol.startswith("torch.nn.functional.")
        if not (is_module or is_torch) or facts.frame is None:
            return
        given = [(argument.value, facts.value(argument.value)) for argument in call.arguments if not argument.star]
        moved = {
            value.group: value
            for _, value in given
            if value.group is not None and value.moved is not None and value.device.may_be_accelerator
        }
        for register, value in given:
            sibling = moved.get(value.group) if value.group is not None else None
            if sibling is None or value.moved is not None:
                continue
            if value.kind is not Kind.TENSOR and not isinstance(value.group, str):
                continue  # what a call returns beside a tensor may be anything
            yield from self._told(call, register, value, sibling, facts)

    @on_meet
    def check_meeting(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        """A loss that gets the output of a model whose input was moved, and a target that was not."""
        cpu = meeting.cpu
        if (
            not isinstance(meeting.op, ir.Call)
            or cpu.group is None
            or not isinstance(cpu.origin, (ir.Unpack, ir.Iterate))
            or facts.frame is None
        ):
            return
        if meeting.other.moved is None:
            return
        for argument in meeting.op.arguments:
            if facts.value(argument.value).origin is cpu.origin:
                yield from self._told(meeting.op, argument.value, cpu, meeting.other, facts, output=True)

    def _told(
        self, call: ir.Call, register: ir.Register, value: Value, sibling: Value, facts: Facts, *, output: bool = False
    ) -> Iterator[Report]:
        place = facts.place(register)
        last = place.rpartition(".")[2].lower()
        if not place or any(word in last for word in _HOST_WORDS) or sibling.moved is None:
            return
        certain = value.kind is Kind.TENSOR and value.evidence >= 2
        device = sibling.device
        expression = device.name if device.place == "sym" else f'"{device.name}"'
        written = facts.definition(register)
        beside = (
            f"meets a model's output on {device.describe()} (line {{0}})"
            if output
            else f"has a sibling that was moved to {device.describe()} on line {{0}}"
        )
        yield self.report(
            written if written is not None else call,
            f"`{place}` comes from a batch, stays on the CPU and {beside}: on an accelerator this call raises {MISMATCH}; move `{place}` too",
            severity=ERROR if certain else WARNING,
            related=(Mention(sibling.moved, "here the output is made" if output else "here its sibling moved"),),
            fix=lambda: _fix(written, expression, certain),
        )


def _fix(written: ir.Op | None, expression: str, certain: bool) -> NodeFix | None:
    from torchdevlint.fixes import builders

    if written is None or not expression or not all(part.isidentifier() for part in expression.strip('"').split(".")):
        return None
    edits = builders.wrap_method(written, "to", expression)
    return (
        NodeFix(Applicability.SAFE if certain else Applicability.UNSAFE, f"Move it with `.to({expression})`", edits)
        if edits
        else None
    )
