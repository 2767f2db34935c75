"""The device lattice: where a value lives, as far as the program's text says.

    CPU, META        the host; no storage
    ACC              an accelerator by its type ("cuda", "mps", ...) and index (None: the current device)
    SYM              a device that the program names by an expression: `device`, `x.device`, `self.device`
    SAVED            "the device it was saved from": what `torch.load` gives without map_location
    TOP              unknown

A SYM may be an accelerator unless it is known to be the CPU; two different SYMs may or may not be equal. See RULES.md, Appendix B.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Place = Literal["cpu", "meta", "acc", "sym", "saved", "top"]

# torch/_C device types that stand for an accelerator; c10/core/DeviceType.h
ACCELERATORS = frozenset(
    {"cuda", "mps", "xpu", "hpu", "mtia", "xla", "ipu", "hip", "npu", "mlu", "musa", "privateuseone"}
)

_DEVICE_STRING = re.compile(r"([a-z]+)(?::(\d+))?\Z")


class Device(NamedTuple):
    """A point of the lattice. `name` is the type and index of an ACC ("cuda:1") or the expression of a SYM ("x.device").

    `chosen` marks a SYM that an availability test picked (`"cuda" if torch.cuda.is_available() else "cpu"`).
    """

    place: Place
    name: str = ""
    chosen: bool = False

    @property
    def may_be_accelerator(self) -> bool:
        """True for an ACC and for a SYM: a device that may be another one than the CPU."""
        return self.place in ("acc", "sym")

    @property
    def is_accelerator(self) -> bool:
        """True when it is certainly not the host."""
        return self.place == "acc"

    @property
    def type(self) -> str:
        """The device type of an ACC or of the host ("cuda", "cpu"), else an empty string."""
        if self.place in ("cpu", "meta"):
            return self.place
        return self.name.partition(":")[0] if self.place == "acc" else ""

    def describe(self) -> str:
        """How a message names it."""
        return {"cpu": "the CPU", "meta": "meta", "saved": "the device it was saved from"}.get(
            self.place, f"`{self.name}`"
        )


CPU = Device("cpu")
META = Device("meta")
SAVED = Device("saved")
TOP = Device("top")


def symbolic(expression: str, *, chosen: bool = False) -> Device:
    """The device that the program calls `expression`."""
    return Device("sym", expression, chosen)


def from_string(text: str) -> Device:
    """The device of a literal such as "cuda:1"; TOP for a text that names none."""
    match = _DEVICE_STRING.match(text)
    if match is None:
        return TOP
    kind = match.group(1)
    if kind == "cpu":
        return CPU
    if kind == "meta":
        return META
    return Device("acc", text) if kind in ACCELERATORS else TOP
