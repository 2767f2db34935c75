"""Tensors as operands: what an argument holds, what an operation on several gives, what a factory makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torchdevlint.flow.devices import CPU, TOP, Device
from torchdevlint.flow.knowledge.tensor_attributes import TENSOR_ATTRIBUTES
from torchdevlint.flow.values import (
    AT_LEAST_ONE,
    NDARRAY,
    SCALAR,
    UNKNOWN,
    Evidence,
    Kind,
    Value,
    element_of,
    replace,
    tensor,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.flow.frame import Frame

ELEMENT = (
    "element"  # of an iteration over a tensor of unknown rank: as an index it is a number as a rule, wherever it is
)
Handler = Callable[["Frame", ir.Call, str], Value]


def as_operand(value: Value, evidence: Evidence = Evidence.NAME) -> Value | None:
    """The value as a tensor operand, or None when it is none (a number, a string, nothing known).

    `evidence` is for a value of unknown kind that was moved: in arithmetic it can be nothing but a tensor.
    """
    if value.kind is Kind.TENSOR:
        return value
    if value.kind is Kind.UNKNOWN and value.device.may_be_accelerator and value.moved is not None:
        return tensor(value.device, moved=value.moved, evidence=evidence)
    return None


def unknown_like(value: Value) -> Value:
    """What is computed from a value of unknown kind: nothing is known but the device."""
    return Value(device=value.device, moved=value.moved) if value.device is not TOP else UNKNOWN


def combine(operands: list[Value]) -> Value:
    """The result of an operation on tensors: on the accelerator operand, of the highest rank; fresh only when all are."""
    if not operands:
        return UNKNOWN
    if len(operands) == 1:
        return (
            replace(operands[0], group=None, attribute=operands[0].attribute)
            if operands[0].group is not None
            else operands[0]
        )
    best = operands[0]
    for value in operands[1:]:
        if _precedence(value) > _precedence(best):
            best = value
    rank = _broadcast([value.rank for value in operands])
    evidence = min((v.evidence for v in operands if v.kind is Kind.TENSOR), default=Evidence.NONE)
    fresh = all(part.is_fresh_cpu or part.rank == 0 for value in operands for part in value.parts)
    if best.is_fresh_cpu and not fresh:
        # An operand of unknown place: where the result lives is unknown.
        return tensor(TOP, rank=rank, evidence=evidence)
    return replace(
        best,
        rank=rank,
        group=None,
        parameter="",
        others=(),
        # The operand that decides the device decides how sure it is.
        evidence=best.evidence if best.device.may_be_accelerator else evidence,
    )


def _precedence(value: Value) -> int:
    if value.device.may_be_accelerator:
        return 4 if not value.attribute or value.device.name != f"self.{value.attribute}.device" else 3
    if value.device is TOP:
        return 2
    return 1 if value.rank != 0 else 0


def _broadcast(ranks: list[int | None]) -> int | None:
    if any(rank is None for rank in ranks):
        return AT_LEAST_ONE if any(rank is not None and rank != 0 for rank in ranks) else None
    known = [rank for rank in ranks if rank is not None]
    if AT_LEAST_ONE in known:
        return AT_LEAST_ONE
    return max(known)


def reranked(value: Value, rank: int | None) -> Value:
    others = tuple(replace(part, rank=None) for part in value.others)
    return replace(value, rank=rank, group=None, parameter="", others=others)


def tensors_in(frame: Frame, register: ir.Register) -> list[Value]:
    """The tensors given by an argument: itself, or the elements of a list or tuple."""
    value = frame.values[register]
    if value.kind in (Kind.LIST, Kind.TUPLE):
        found = []
        for item in value.items if value.items is not None else ([value.element] if value.element is not None else []):
            operand = as_operand(item)
            if operand is not None and value.items is None:
                found += [replace(part, others=()) for part in operand.parts]  # elements, not alternatives
            elif operand is not None:
                found.append(operand)
        return found
    operand = as_operand(value)
    return [operand] if operand is not None else []


def given_device(frame: Frame, op: ir.Call, default: Device = CPU) -> Device:
    """The device of a factory call: its `device=`, or the default device."""
    register = op.keyword("device")
    if register is None:
        if any(argument.star == "**" for argument in op.arguments):
            return TOP
        return frame.analysis.default_device(frame) or default
    if frame.values[register].kind is Kind.NONE:
        return frame.analysis.default_device(frame) or default
    return frame.device_argument(register)


def made(frame: Frame, op: ir.Call, device: Device, rank: int | None) -> Value:
    """A tensor that this call creates."""
    out = op.keyword("out")
    if out is not None:
        # No new tensor: the result is where `out` is.
        return frame.values[out] if frame.values[out].kind is Kind.TENSOR else tensor(TOP, evidence=Evidence.STRONG)
    register = op.keyword("device")
    if register is not None and device is CPU and frame.values[register].attribute:
        left = frame.values[register]  # `device=self.anchors.device`, where that attribute was left
        return tensor(device, rank=rank, origin=left.origin, attribute=left.attribute, evidence=Evidence.STRONG)
    origin = op if device is CPU and register is None and not frame.is_absent else None
    grad = op.keyword("requires_grad")
    return tensor(
        device,
        rank=rank,
        origin=origin,
        evidence=Evidence.STRONG,
        needs_grad=grad is not None and frame.values[grad].constant is True,
    )


def iterate(frame: Frame, op: ir.Iterate) -> Value:
    """What a loop variable holds."""
    value = frame.values[op.iterable]
    kind = value.kind
    if kind is Kind.LOADER:
        # torch_geometric's Data moves in place and returns itself, as a BatchEncoding does (torch_geometric/data/data.py, `BaseData.to`).
        in_place = value.symbol.startswith("torch_geometric.") or _is_object(frame, op)
        batch = Kind.BATCH_ENCODING if in_place else Kind.BATCH
        return Value(batch, CPU, origin=op, evidence=value.evidence)
    if kind is Kind.SYMBOL or kind is Kind.SIZE:
        return SCALAR if kind is Kind.SIZE else UNKNOWN
    if kind is Kind.TENSOR:
        rank = value.rank - 1 if value.rank is not None and value.rank > 0 else None
        return replace(value, rank=rank, group=None, symbol=ELEMENT if rank is None else value.symbol)
    if kind in (Kind.LIST, Kind.TUPLE):
        return element_of(value)
    if kind is Kind.DICT:
        return UNKNOWN
    if kind is Kind.PARAMETERS:
        return tensor(TOP, evidence=Evidence.STRONG)
    if kind is Kind.MODULE:
        return Value(Kind.MODULE, value.device, ref=f"{value.ref}[]" if value.ref else "", evidence=Evidence.USAGE)
    if kind is Kind.NDARRAY:
        return SCALAR if value.rank == 1 else NDARRAY
    if kind is Kind.UNKNOWN and value.device is not TOP:
        return replace(value, origin=None, group=None)
    return UNKNOWN


def _is_object(frame: Frame, op: ir.Iterate) -> bool:
    """True for a batch of which something is read that no tensor has (`batch.y`): it may be one that moves in place."""
    index = frame.index
    return any(not index.use(name).attributes <= TENSOR_ATTRIBUTES for name in index.names_of(op.dst))


def element(frame: Frame, op: ir.Call, register: ir.Register) -> Value:
    probe = ir.Iterate(op.node, register, register)
    value = iterate(frame, probe)
    return replace(value, origin=op) if value.kind is Kind.BATCH else value


def reference(frame: Frame, op: ir.Op) -> str:
    return f"{frame.body.qualname}#{getattr(op, 'dst', 0)}"
