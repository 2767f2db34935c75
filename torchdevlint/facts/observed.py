"""What a run of the program saw, as values: it fills in what the text leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field

from torchdevlint.facts.devices import TOP, from_string
from torchdevlint.facts.values import Evidence, Kind, Value, replace, tensor
from torchdevlint.findings import Sighting
from torchdevlint.program import ir


@dataclass(slots=True)
class Observed:
    """Sightings by the operations of a Program: parameters by (`id` of their body, name), assignments by the `id` of their Store."""

    parameters: dict[tuple[int, str], Sighting] = field(default_factory=dict)
    stores: dict[int, Sighting] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether a run saw anything."""
        return bool(self.parameters or self.stores)

    def tensors(self) -> dict[tuple[int, str], str]:
        """The devices of the tensors that functions were given, where they did not differ."""
        return {key: seen.device for key, seen in self.parameters.items() if seen.kind == "tensor" and seen.device}

    def parameter(self, body: ir.Body, name: str, value: Value) -> Value:
        """A parameter's value, with what was seen."""
        seen = self.parameters.get((id(body), name))
        if seen is None:
            return value
        # `x.device`, the caller's choice, is what was seen; any other expression says more than one run.
        if value.kind is Kind.TENSOR and value.device.place == "sym" and value.device.name == f"{name}.device":
            value = replace(value, device=TOP)
        return _filled(value, seen, name)

    def store(self, op: ir.Store, value: Value) -> Value:
        """An assigned value, with what was seen."""
        seen = self.stores.get(id(op))
        return value if seen is None else _filled(value, seen, op.name)


def _filled(value: Value, seen: Sighting, name: str) -> Value:
    device = from_string(seen.device)
    if seen.kind == "tensor":
        if value.kind is Kind.UNKNOWN:
            return tensor(device, evidence=Evidence.STRONG, parameter=value.parameter)
        if value.kind is Kind.TENSOR and value.device is TOP and not value.others and value.origin is None:
            return replace(value, device=device, evidence=Evidence.STRONG)
    elif value.kind is Kind.UNKNOWN:
        return Value(Kind.MODULE, device, ref=name, evidence=Evidence.STRONG, parameter=value.parameter)
    elif value.kind is Kind.MODULE and value.device is TOP:
        return replace(value, device=device, evidence=Evidence.STRONG)
    return value


NOTHING_OBSERVED = Observed()
