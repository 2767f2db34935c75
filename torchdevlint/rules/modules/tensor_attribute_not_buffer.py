"""TDL603."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.findings import Applicability
from torchdevlint.flow.facts import AttributeStore, ClassSummary, Facts, Meeting
from torchdevlint.flow.values import Evidence, Kind
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, WARNING, Mention, NodeFix, Report, Rule, on_meet
from torchdevlint.rules.wording import MISMATCH, describe, is_data_code


class TensorAttributeNotBuffer(Rule):
    """Finds tensors kept as plain attributes of a module and used with tensors that follow the module.

    ## What it does
    Looks for `self.x = <tensor>` in an `nn.Module` where `x` is no parameter and no buffer, and where a method that `forward` reaches
    combines `self.x` with an argument, a parameter or a submodule's output.

    ## Why is this bad?
    `Module.to()` moves parameters and buffers only. The attribute stays on the CPU and the operation raises
    `RuntimeError: Expected all tensors to be on the same device` as soon as the module is on an accelerator. It is not in the state dict either.

    ## Example
        def __init__(self):
            super().__init__()
            self.scale = torch.ones(3)

    ## Use instead
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.ones(3), persistent=False)

    ## When it stays silent
    Attributes that are moved where they are read or in an overridden `to`, `cuda` or `_apply`; 0-dim tensors in pointwise operations; tensors that are only
    an index or a shape; attributes that are refilled from the inputs.

    ## Fix safety
    Safe never: a floating-point buffer is cast by `.half()` where the attribute was not, and an assignment of something else to the name
    raises. `persistent=False` keeps the keys of the state dict.

    ## Proof
    The module is moved to an accelerator and called: the plain attribute raises, the buffer gives the CPU run's values.

    ## References
    torch/nn/modules/module.py (_apply, register_buffer).
    """

    code, name, severity = "TDL603", "tensor-attribute-not-buffer", ERROR
    fixable = "unsafe"

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        name = meeting.cpu.attribute
        summary = facts.class_summary
        if not name or summary is None or facts.in_setup or facts.tracing:
            return
        if not summary.is_module:
            yield from self._of_a_plain_class(meeting, name, summary, facts)
            return
        if not facts.in_forward:
            return
        if (
            meeting.other.evidence < Evidence.USAGE
            or (meeting.cpu.rank is None and not meeting.strict)
            or meeting.other.attribute == name
        ):
            return
        stores = summary.stores_of(name)
        given = meeting.cpu.symbol == "argument"
        if given:
            faulty = [store for store in stores if store.value.parameter and store.value.evidence >= Evidence.STRONG]
        else:
            faulty = [store for store in stores if any(part.origin is meeting.cpu.origin for part in store.value.parts)]
        if not faulty or summary.is_registered(name):
            return
        if given and not meeting.other.device.name.endswith(".device") and meeting.other.device.name != "self":
            return
        store = faulty[0]
        left = "where the caller made it" if given else "on the CPU"
        use = f'use `self.register_buffer("{name}", ..., persistent=False)`'
        if store.value.symbol == "distribution":
            use = "register its parameters as buffers and build the distribution where it is used"
        yield self.report(
            store.op,
            f"`self.{name}` is a plain attribute, so `.to(device)` leaves it {left}; line {{0}} combines it with {describe(meeting.other)}: "
            f"on an accelerator that raises {MISMATCH}; {use}",
            severity=WARNING if given else ERROR,
            related=(Mention(meeting.op, f"here it meets {describe(meeting.other)}"),),
            fix=lambda: _fix(summary, name, store, stores, facts) if store.value.symbol != "distribution" else None,
        )

    def _of_a_plain_class(self, meeting: Meeting, name: str, summary: ClassSummary, facts: Facts) -> Iterator[Report]:
        """A helper that is no module: nothing moves its tensors unless it does so itself."""
        cpu, other = meeting.cpu, meeting.other
        if not cpu.is_fresh_cpu or cpu.rank is None or is_data_code(facts):
            return
        if other.evidence < Evidence.USAGE or not (other.device.name.endswith(".device") or other.moved is not None):
            return
        stores = summary.stores_of(name)
        faulty = [store for store in stores if store.value.origin is cpu.origin]
        # What the meeting method stores itself comes after the meeting: the first call of it fails.
        if not faulty or any(store not in faulty and store.body is not facts.body for store in stores):
            return
        yield self.report(
            faulty[0].op,
            f"`self.{name}` is made on the CPU and no method moves it; line {{0}} combines it with {describe(other)}: on an accelerator that raises "
            f"{MISMATCH}; create it on the device of what it meets, or move it there",
            severity=WARNING,
            related=(Mention(meeting.op, f"here it meets {describe(other)}"),),
        )


def _fix(
    summary: ClassSummary, name: str, store: AttributeStore, stores: list[AttributeStore], facts: Facts
) -> NodeFix | None:
    from torchdevlint.fixes import builders

    only = len(stores) == 1 and store.body.name == "__init__" and name not in summary.cls.body.local_names
    if not only or store.value.kind is not Kind.TENSOR or not isinstance(store.op, ir.StoreAttribute):
        return None
    edits = builders.register_buffer(facts.program, store.op)
    return NodeFix(Applicability.UNSAFE, f"Register `{name}` as a buffer", edits) if edits else None
