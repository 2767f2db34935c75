"""Devices that stand in an expression as literals: "cuda:1", `torch.device("cuda", 1)`, and a choice between such."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchdevlint.facts.devices import Device, from_string
from torchdevlint.program import ir

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
