"""Where a method moves what it is called on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.facts.devices import CPU, TOP, Device
from torchdevlint.facts.values import Kind
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.facts.frame import Frame


def move_target(frame: Frame, op: ir.Call, name: str) -> Device | None:
    """The device that `.to(...)`, `.cuda(...)`, `.cpu()` moves to; None when the call moves nothing (a dtype, `.to(None)`); TOP when unknown."""
    if name == "cpu":
        return CPU
    if name in ("cuda", "xpu", "mps", "npu", "hpu"):
        register = op.argument("device", 0)
        if register is None:
            return Device("acc", name)
        device = frame.device_argument(register)
        value = frame.values[register]
        if device.place == "acc" and isinstance(value.constant, int):
            return Device("acc", f"{name}:{value.constant}")
        return device if device is not TOP else Device("acc", name)
    if name != "to":
        return None
    register = op.keyword("device")
    if register is not None:
        return frame.device_argument(register)
    register = op.keyword("other")
    if register is None:
        register = op.positional(0)
    if register is None:
        return None if not op.has_splat else TOP
    if frame.is_dtype(register) or frame.values[register].kind is Kind.NONE:
        return None
    return frame.device_argument(register)
