"""Is a value certainly a `torch.device` object, and never a string? By what was assigned and annotated."""

from __future__ import annotations

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.scopes import parameter_of, scopes_of
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.program import ir


def is_certainly_device(register: ir.Register | None, facts: Facts) -> bool:
    """True when a value can be nothing but a `torch.device` object."""
    return _is_device(facts.definition(register), facts.body, facts, 0)


def _is_device(op: ir.Op | None, body: ir.Body, facts: Facts, depth: int) -> bool:
    if op is None or depth > 6:
        return False
    analysis = facts.analysis
    definitions = analysis.index_of(body).definitions
    if isinstance(op, ir.Call):
        return analysis.spelled(op.function, body) == "torch.device"
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
    for scope in scopes_of(body):
        index = facts.analysis.index_of(scope)
        parameter, bound = parameter_of(scope, name), index.bound_to(name)
        if parameter is not None:
            annotation = parameter.annotation
            annotated = annotation is not None and facts.analysis.resolve_text(annotation.name) == "torch.device"
            return annotated and not bound
        if bound:
            return all(_is_device(index.definitions[value], scope, facts, depth + 1) for value in bound)
    return False
