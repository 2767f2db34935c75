"""Devices that stand in an expression as literals: "cuda:1", `torch.device("cuda", 1)`, and a choice between such."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchdevlint.facts.devices import Device, from_string
from torchdevlint.facts.once import once_per_file
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts


def accelerator_in(register: ir.Register | None, body: ir.Body, analysis: FileFacts) -> Device | None:
    """The accelerator that stands in place as "cuda:0" or `torch.device("cuda", 1)`; None for anything else, names included."""
    definitions = analysis.index_of(body).definitions
    written = None if register is None else definitions[register]
    given = [written]
    if isinstance(written, ir.Call) and _makes_device(written, body, analysis):
        given = [definitions[argument.value] for argument in written.arguments]
    literals = [op.value for op in given if isinstance(op, ir.Constant)]
    if len(literals) != len(given) or not literals or not isinstance(literals[0], str):
        return None
    device = from_string(literals[0])
    if not device.is_accelerator or len(literals) == 1:
        return device if device.is_accelerator else None
    return Device("acc", f"{device.name}:{literals[1]}") if isinstance(literals[1], int) else None


def literals_of_own(read: ir.Op | None, body: ir.Body, analysis: FileFacts) -> list[tuple[ir.Register, ir.Body]]:
    """What the methods of a class store in an attribute of `self` that a method reads; nothing where others than its own methods set it in the file."""
    index = analysis.index_of(body)
    if not isinstance(read, ir.Attribute) or body.owner is None or index.dotted(read.object) != index.self_name:
        return []
    own = analysis.summary_of(body.owner).stores_of(read.name)
    return [(store.op.value, store.body) for store in own] if read.name not in _set_from_outside(analysis) else []


@once_per_file
def _set_from_outside(analysis: FileFacts) -> frozenset[str]:
    """The attributes that a file sets of anything but `self`."""
    found: set[str] = set()
    for body in analysis.program.bodies:
        index = analysis.index_of(body)
        stores = Lookup.of(body).kind(ir.StoreAttribute)
        found |= {op.name for op in stores if not index.self_name or index.dotted(op.object) != index.self_name}
    return frozenset(found)


def texts_in(register: ir.Register | None, body: ir.Body, analysis: FileFacts) -> Iterator[str]:
    """The device strings that an expression picks from, through `torch.device(...)` and conditional expressions; "?" for anything else."""
    written = None if register is None else analysis.index_of(body).definitions[register]
    if isinstance(written, ir.Constant) and isinstance(written.value, str):
        yield written.value
    elif isinstance(written, ir.Call) and len(written.arguments) == 1 and _makes_device(written, body, analysis):
        yield from texts_in(written.arguments[0].value, body, analysis)
    elif isinstance(written, ir.Choice):
        for value in written.values:
            yield from texts_in(value, body, analysis)
    else:
        yield "?"


def _makes_device(call: ir.Call, body: ir.Body, analysis: FileFacts) -> bool:
    return analysis.spelled(call.function, body) == "torch.device"
