"""TDL604."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.rule import WARNING, Report, Rule, on_op

_VIEWS = frozenset(".view .reshape .detach .transpose .permute .t .squeeze .unsqueeze .narrow .expand .view_as".split())


class BufferReferenceGoesStale(Rule):
    """Finds second references to a buffer, and views of it, that are kept as attributes.

    ## What it does
    Reports `self.first = self.table[:1]` and `self.alias = self.table` in the constructor of a module where `table` is a registered buffer.

    ## Why is this bad?
    `Module.to()` puts new tensors in the place of buffers (parameters keep their identity). The attribute stays on the old device and no
    longer shares memory with the buffer:
    silently different values, or `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        self.register_buffer("table", torch.zeros(8, 4))
        self.first = self.table[:1]

    ## Use instead
        def forward(self, x):
            return x + self.table[:1]

    ## When it stays silent
    Parameters; values that are computed from a buffer and share no memory with it; references taken in `forward`. Off by default: few
    modules do this, and most that do are not moved.

    ## Proof
    After the module was moved the view is on the old device while the buffer is on the new one.

    ## References
    torch/nn/modules/module.py (_apply).
    """

    code, name, severity = "TDL604", "buffer-reference-goes-stale", WARNING
    default = False

    @on_op(ir.StoreAttribute)
    def check(self, op: ir.StoreAttribute, facts: Facts) -> Iterator[Report]:
        summary = facts.class_summary
        if (
            summary is None
            or not summary.is_module
            or facts.body.name != "__init__"
            or facts.value(op.object).ref != "self"
        ):
            return
        buffer = _viewed(op.value, facts)
        if buffer not in summary.buffers or buffer == op.name or op.name in summary.buffers:
            return
        yield self.report(
            op,
            f"`self.{op.name}` keeps the old `{buffer}` when the module moves; take it from `self.{buffer}` where it is used",
            detail="`.to(device)` replaces a buffer by a new tensor: the attribute stays on the old device, with the old values.",
        )


def _viewed(register: ir.Register | None, facts: Facts) -> str:
    """The attribute of self that an expression is, or is a view of; "" for anything else."""
    for _ in range(6):
        written = facts.definition(register)
        if isinstance(written, ir.Subscript) and isinstance(facts.definition(written.index), (ir.Slice, ir.Constant)):
            register = written.object
        elif isinstance(written, ir.Call) and facts.callee(written) in _VIEWS:
            register = facts.receiver(written)
        else:
            break
    return facts.own_attribute(register)
