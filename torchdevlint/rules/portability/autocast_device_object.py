"""TDL806."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_call


class AutocastDeviceObject(Rule):
    """Finds `torch.autocast` given a `torch.device` instead of a string.

    ## What it does
    Reports `torch.autocast(device)` and `device_type=device` where the value is certainly a `torch.device` object.

    ## Why is this bad?
    It raises ``ValueError: Expected `device_type` of type `str`, got: `<class 'torch.device'>` `` on every machine.

    ## Example
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        with torch.autocast(device):
            loss = model(x)

    ## Use instead
        with torch.autocast(device.type):
            loss = model(x)

    ## When it stays silent
    Strings ("cuda:0" is accepted), `device.type`, and names that may hold either.

    ## Fix safety
    `.type` is safe: the old line raised.

    ## Proof
    The call raises ValueError on every machine; with `.type` the block runs.

    ## References
    torch/amp/autocast_mode.py (autocast.__init__).
    """

    code, name, severity = "TDL806", "autocast-device-object", ERROR
    fixable = "safe"

    @on_call("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("device_type", 0)
        if register is None or not certainly_device(register, facts) or facts.in_try_catching("ValueError"):
            return
        place = facts.place(register)
        yield self.report(
            call,
            f"`torch.autocast` wants a string, not a `torch.device`; pass `{place or 'device'}.type`",
            detail="It raises \"Expected `device_type` of type `str`, got: `<class 'torch.device'>`\".",
            fix=lambda: _fix(register, facts),
        )


def certainly_device(register: ir.Register | None, facts: Facts, depth: int = 0) -> bool:
    """True when a value can be nothing but a `torch.device` object, by what was assigned and annotated."""
    if register is None or facts.frame is None:
        return False
    return _is_device(facts.definition(register), facts.frame.body, facts, depth)


def _is_device(op: ir.Op | None, body: ir.Body, facts: Facts, depth: int) -> bool:
    if op is None or depth > 6:
        return False
    analysis = facts.analysis
    definitions = analysis.index_of(body).definitions
    if isinstance(op, ir.Call):
        return analysis.resolve_text(Lookup.of(body).path(op.function)) == "torch.device"
    if isinstance(op, ir.Choice):
        return op.shape == "if" and all(_is_device(definitions[value], body, facts, depth + 1) for value in op.values)
    if isinstance(op, ir.Attribute) and op.name == "device":
        return _device_attribute(op, body, facts, depth)
    if isinstance(op, ir.Load):
        return _named(op.name, body, facts, depth)
    return False


def _device_attribute(op: ir.Attribute, body: ir.Body, facts: Facts, depth: int) -> bool:
    """`x.device` of a tensor, or `self.device` where every assignment in the class stores a device."""
    if body is not facts.body:
        return False
    value = facts.value(op.object)
    if value.kind is Kind.TENSOR:
        return value.evidence >= Evidence.USAGE
    summary = facts.class_summary
    if value.ref != "self" or summary is None:
        return False
    if summary.is_lightning:
        return True
    stores = summary.stores_of("device")
    return bool(stores) and all(
        _is_device(facts.analysis.index_of(store.body).definitions[store.op.value], store.body, facts, depth + 1)
        for store in stores
    )


def _named(name: str, body: ir.Body, facts: Facts, depth: int) -> bool:
    scope: ir.Body | None = body
    while scope is not None:
        index = facts.analysis.index_of(scope)
        for parameter in scope.parameters:
            if parameter.name == name:
                annotation = parameter.annotation
                annotated = annotation is not None and facts.analysis.resolve_text(annotation.name) == "torch.device"
                return annotated and not index.bound_to(name)
        if index.bound_to(name):
            return all(_is_device(index.definitions[value], scope, facts, depth + 1) for value in index.bound_to(name))
        scope = scope.parent
    return False


def _fix(register: ir.Register, facts: Facts) -> NodeFix | None:
    edits = builders.append_attribute(facts.definition(register), "type")
    return NodeFix(Ground.OLD_LINE_RAISED, "Pass the device's type", edits)
