"""TDL514."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import Facts
from torchdevlint.flow.values import Evidence, Kind
from torchdevlint.program import ir
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR, WARNING, Mention, NodeFix, Report, on_call, on_method, on_op

_LENGTHS = "\"'lengths' argument should be a 1D CPU int64 tensor\""


class ArgumentMustBeOnCpu(Inferred):
    """Finds accelerator tensors given for arguments that must be on the CPU.

    ## What it does
    Follows tensors that were moved to a device, or computed from an argument that may be on one, to `lengths` of `pack_padded_sequence`
    and to the tensor of indices of
    `tensor_split`.

    ## Why is this bad?
    These values are read by the host: `RuntimeError: 'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor`.
    Moving the whole batch to the
    device breaks the call.

    ## Example
        lengths = (tokens != 0).sum(dim=1)
        packed = pack_padded_sequence(embedded, lengths)

    ## Use instead
        packed = pack_padded_sequence(embedded, lengths.cpu())

    ## When it stays silent
    Lists of integers, `.cpu()`, `.tolist()`; a tensor that is the caller's argument as it came (whoever passes it may keep it on the CPU);
    what a model gives beside other things (it may be a list); unknown values.

    ## Fix safety
    Safe: `.cpu()` returns the tensor itself on the CPU, and elsewhere the old line failed.

    ## Proof
    Packing with lengths on an accelerator raises; with `lengths.cpu()` it gives the CPU run's values.

    ## References
    torch/nn/utils/rnn.py; aten/src/ATen/native/PackedSequence.cpp; aten/src/ATen/native/TensorShape.cpp (tensor_split).
    """

    code, name, severity = "TDL514", "argument-must-be-on-cpu", ERROR
    needs = ("pack_padded_sequence", "tensor_split")
    fixable = "safe"

    def __init__(self) -> None:
        # Names of the lengths that `pad_packed_sequence` gives, on the CPU always, and that a model gives, perhaps as a list.
        self._unpacked: set[tuple[int, str]] = set()

    @on_op(ir.Store)
    def note_lengths(self, op: ir.Store, facts: Facts) -> None:
        """`x, lengths = pad_packed_sequence(...)`, `scores, lengths = model(...)`."""
        written = facts.definition(op.value)
        made = facts.definition(written.source) if isinstance(written, ir.Unpack) else None
        key = (id(facts.body), op.name)
        if isinstance(made, ir.Call) and (
            facts.callee(made) == "torch.nn.utils.rnn.pad_packed_sequence"
            or facts.value(made.function).kind is Kind.MODULE
        ):
            self._unpacked.add(key)
        else:
            self._unpacked.discard(key)

    @on_call("torch.nn.utils.rnn.pack_padded_sequence")
    def check_lengths(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        yield from self._check(call.argument("lengths", 1), "lengths", "`pack_padded_sequence`", _LENGTHS, facts)

    @on_call("torch.tensor_split")
    def check_split(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        yield from self._check(
            call.argument("tensor_indices_or_sections", 1) if call.positional(1) is None else call.positional(1),
            "indices",
            "`tensor_split`",
            '"tensor_indices_or_sections must be on cpu"',
            facts,
        )

    @on_method("tensor_split")
    def check_split_method(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        yield from self._check(
            call.positional(0), "indices", "`tensor_split`", '"tensor_indices_or_sections must be on cpu"', facts
        )

    def _check(self, register: ir.Register | None, what: str, callee: str, text: str, facts: Facts) -> Iterator[Report]:
        value, written = facts.value(register), facts.definition(register)
        moved = value.moved is not None
        # An integer or a list cannot be moved.
        is_tensor = value.kind is Kind.TENSOR or (value.kind is Kind.UNKNOWN and moved)
        if not is_tensor or value.others or not value.device.may_be_accelerator or written is None:
            return
        if (id(facts.body), facts.place(register)) in self._unpacked:
            return
        # An argument as it came may be on the CPU on purpose; what is computed from one beside a device tensor is not.
        given = "len" in value.device.name.partition(".")[0]
        if not moved and (value.parameter or given or value.evidence < Evidence.USAGE or not facts.in_forward):
            return
        spelled = facts.place(register)
        where = (
            f"on `{value.device.name}`" if moved and value.device.name not in ("", "self") else "where the inputs are"
        )
        yield self.report(
            written,
            f"{f'`{spelled}`' if spelled else f'this tensor of {what}'} is {where}, and {callee} reads it on the host; "
            "pass it with `.cpu()`",
            detail=f"On an accelerator that raises {text}.",
            severity=ERROR if moved else WARNING,
            related=(Mention(value.moved, "here it was moved"),) if value.moved is not None else (),
            fix=lambda: _on_cpu(written),
        )


def _on_cpu(written: ir.Op) -> NodeFix | None:
    from torchdevlint.fixes import builders

    edits = builders.wrap_method(written, "cpu")
    return NodeFix(Ground.MOVE_DOES_NOTHING, "Bring it to the CPU", edits) if edits else None
