"""TDL501."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.findings import Applicability
from torchdevlint.flow.facts import Facts
from torchdevlint.flow.values import Evidence, Kind
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_op

_MOVES = frozenset({"to", "cuda", "cpu", "xpu", "mps", "npu", "hpu", "pin_memory"})
_CASTS = frozenset({"float", "double", "half", "bfloat16", "type"})
_SENDERS = frozenset({"accelerate.utils.send_to_device", "accelerate.utils.operations.send_to_device"})


class DiscardedDeviceMove(Rule):
    """Finds moves of tensors whose result is thrown away.

    ## What it does
    Reports an expression statement `x.to(...)`, `x.cuda()`, `x.cpu()`, `x.pin_memory()` (and `.half()`, `.float()`, ...) where `x` is a tensor.

    ## Why is this bad?
    These methods return a new tensor and leave `x` where it is. The statement has no effect: the program goes on with the CPU
    tensor, and fails later on, or computes on the CPU without a word.

    ## Example
        for images, labels in loader:
            images.to(device)

    ## Use instead
        for images, labels in loader:
            images = images.to(device)

    ## When it stays silent
    Modules, metrics, BatchEncoding and BatchFeature, PyG data: they move in place. Receivers whose type is not known. The result of
    a call that has no name (`torch.zeros(1).cuda()` wakes the GPU up on purpose). `apply_chat_template`, which gives a tensor or a
    BatchEncoding by the version of transformers.

    ## Fix safety
    `x = x.to(...)` is safe: the old line did nothing. None is made where the receiver is no name, attribute or plain subscript.

    ## Proof
    After the statement the tensor is still in host memory; after the assignment it is on the accelerator.

    ## References
    torch/_tensor_docs.py (`to`), torch/nn/modules/module.py (`Module.to` works in place), torch/nn/utils/rnn.py (PackedSequence).
    """

    code, name, severity = "TDL501", "discarded-device-move", ERROR
    fixable = "safe"

    @on_op(ir.Discard)
    def check(self, statement: ir.Discard, facts: Facts) -> Iterator[Report]:
        call = facts.definition(statement.value)
        if not isinstance(call, ir.Call):
            return
        if facts.qualified(call.function) in _SENDERS:
            yield from self._check_sender(call, facts)
            return
        method = facts.definition(call.function)
        if not isinstance(method, ir.Attribute) or method.name not in _MOVES | _CASTS:
            return
        if method.name == "to" and not call.arguments:
            return
        place = facts.place(method.object)
        if not place or not _is_tensor(method.object, facts):
            return
        does = "moves" if method.name in _MOVES else "converts"
        yield self.report(
            call,
            f"`{place}.{method.name}(...)` {does} nothing in place: it returns a new tensor, which is thrown away here, and `{place}` stays "
            f"as it is; write `{place} = {place}.{method.name}(...)`".replace("{", "{{").replace("}", "}}"),
            fix=lambda: _assign(call),
        )

    def _check_sender(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        first = call.argument("tensor", 0)
        if facts.value(first).kind in (Kind.TENSOR, Kind.DICT, Kind.LIST, Kind.TUPLE):
            target = facts.definition(first)
            yield self.report(
                call,
                "`send_to_device` returns what it moved: thrown away here, the old value stays where it is; assign the result",
                fix=lambda: _assign(call, target),
            )


def _is_tensor(register: ir.Register, facts: Facts) -> bool:
    """True for values that are known to be tensors, and for the members of a loader's batch that are used as such."""
    value = facts.value(register)
    if value.kind is not Kind.TENSOR:
        return False
    if value.evidence >= Evidence.USAGE:
        return not (value.group is not None and _is_used_as_mapping(facts.place(register), facts))
    return (
        value.group is not None and value.origin is not None and not _is_used_as_mapping(facts.place(register), facts)
    )


def _is_used_as_mapping(place: str, facts: Facts) -> bool:
    """True when the value is given as `**x` or asked for a key: a BatchEncoding, which moves in place."""
    for block in facts.body.blocks:
        for op in block.ops:
            if isinstance(op, ir.Call) and any(a.star == "**" and facts.place(a.value) == place for a in op.arguments):
                return True
            if (
                isinstance(op, ir.Subscript)
                and facts.place(op.object) == place
                and isinstance(facts.constant(op.index), str)
            ):
                return True
    return False


def _assign(call: ir.Call, target: ir.Op | None = None) -> NodeFix | None:
    from torchdevlint.fixes import builders

    edits = builders.assign_statement(call, target)
    return NodeFix(Applicability.SAFE, "Assign the result", edits) if edits else None
