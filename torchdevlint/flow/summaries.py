"""What a call of a function of this file gives, told once for the function and again in the terms of each caller."""

from __future__ import annotations

from dataclasses import dataclass

from torchdevlint.flow import values
from torchdevlint.flow.devices import TOP, Device
from torchdevlint.flow.values import UNKNOWN, Kind, Value, replace


@dataclass(slots=True)
class Summary:
    """What a body returns; `running`: it is not known yet."""

    returned: Value
    running: bool = False


def substitute(value: Value, bindings: dict[str, Value], own: Device, depth: int) -> Value:
    """A returned value in terms of the caller: devices and parameters replaced by what was given."""
    if depth > 3:
        return UNKNOWN
    if value.device is TOP and not (value.parameter or value.items or value.element or value.entries or value.others):
        return value
    if (
        value.parameter
        and value.moved is None
        and value.parameter in bindings
        and value.kind in (Kind.UNKNOWN, Kind.TENSOR)
    ):
        given = bindings[value.parameter]
        if value.symbol != "computed":
            return given
        return replace(given, group=None, needs_grad=False) if given.kind is Kind.TENSOR else UNKNOWN
    if value.kind is Kind.MODULE and value.moved is None and value.parameter in bindings:
        given = bindings[value.parameter]
        return given if given.kind is Kind.MODULE else replace(value, device=TOP, parameter="", ref="", group=None)
    if value.others:
        parts = [substitute(replace(part, others=()), bindings, own, depth) for part in value.parts]
        result = parts[0]
        for part in parts[1:]:
            result = values.join(result, part)
        return result
    device = _substituted_device(value.device, bindings, own)
    result = value
    if value.moved is not None and value.parameter in bindings and bindings[value.parameter].kind is not Kind.UNKNOWN:
        result = replace(bindings[value.parameter], moved=value.moved, others=())
    result = replace(result, device=device, parameter="", group=result.group if value.parameter else None)
    if value.element is not None and value.kind in (Kind.LIST, Kind.DICT, Kind.TUPLE):
        result = replace(result, element=substitute(value.element, bindings, own, depth + 1))
    if value.items:
        result = replace(result, items=tuple(substitute(item, bindings, own, depth + 1) for item in value.items))
    if value.entries:
        result = replace(
            result,
            entries=tuple((key, substitute(item, bindings, own, depth + 1)) for key, item in value.entries),
        )
    return result


def _substituted_device(device: Device, bindings: dict[str, Value], own: Device) -> Device:
    if device.place != "sym":
        return device
    name = device.name
    if name.startswith("next(self."):
        return device if own.name == "self" else TOP
    if name.startswith("next("):
        return _place_of_module(device, bindings)
    root = name.partition(".")[0]
    if root == "self":
        return device if own.name == "self" else own if name == "self" else TOP
    given = bindings.get(root)
    if given is None:
        return device if root == "the default device" else TOP
    if name == root or name == f"{root}.device":
        return given.device
    return TOP


def _place_of_module(device: Device, bindings: dict[str, Value]) -> Device:
    """`next(model.parameters()).device` of an argument is where the module that was given lives."""
    name = device.name.removeprefix("next(").partition(".")[0]
    given = bindings.get(name)
    if given is not None:
        return given.device if given.kind is Kind.MODULE else TOP
    return device if name == "model" else TOP
