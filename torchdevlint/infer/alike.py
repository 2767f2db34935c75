"""Functions that give one other function other constants, as the factories of a model zoo do: a few of them show what all do."""

from __future__ import annotations

from torchdevlint.infer.devices import ACCELERATORS
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

MOST_ALIKE = 6
"""Factories of a file that hand the same functions nothing but constants, and of which somebody from outside is taken to call each."""

_BUILDS = frozenset({"dict", "list", "tuple", "set"})
_PLAIN = (
    ir.Constant,
    ir.Load,
    ir.Call,
    ir.Mapping,
    ir.Sequence,
    ir.Store,
    ir.Return,
    ir.Discard,
    ir.Attribute,
    ir.Unary,
)
_DEVICES = frozenset({*ACCELERATORS, "cpu", "meta", "auto"})

Alike = tuple[frozenset[str], frozenset[str]]


def alike(body: ir.Body) -> Alike | None:
    """What a factory calls, and the devices that it names: equal for those that differ in constants. None for any other function.

    A factory calls functions and classes by a plain name, gives them constants and what it was given, and returns what comes back.
    """
    if len(body.blocks) > 2 or any(block.test is not None for block in body.blocks):
        return None
    lookup, called, devices = Lookup.of(body), set[str](), set[str]()
    given = body.local_names.union(parameter.name for parameter in body.parameters)
    for op in lookup.all:
        if not isinstance(op, _PLAIN):
            return None
        if isinstance(op, ir.Call):
            name = lookup.definition(op.function)
            if not isinstance(name, ir.Load) or name.name in given:
                return None
            called.add(name.name)
        elif isinstance(op, ir.Constant) and isinstance(op.value, str):
            kind = op.value.partition(":")[0]
            if kind in _DEVICES:
                devices.add(kind)
    called -= _BUILDS
    return (frozenset(called), frozenset(devices)) if called else None
