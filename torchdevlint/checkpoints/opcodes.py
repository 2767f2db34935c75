"""The instructions of a pickle, cut out of its bytes by the table of `pickletools`; arguments stay bytes until somebody needs them.

`pickletools.genops` itself turns every argument into an object, at a cost that the file decides (an integer of a million digits).
"""

from __future__ import annotations

import pickletools
from collections.abc import Iterator

from torchdevlint.checkpoints.contents import CheckpointError

MAXIMUM = 4_000_000  # instructions in a pickle: a state dict has about 40 for each tensor

_LENGTH_BYTES = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}
_LINES = -1
_TWO_LINES = -2


class Truncated(CheckpointError):
    """The bytes end inside of an instruction, or before STOP."""

    def __init__(self) -> None:
        super().__init__("is truncated: its pickle ends in the middle")


def _shape(opcode: pickletools.OpcodeInfo) -> tuple[str, int, int]:
    """Name, number of argument bytes (negative: lines), and bytes of a length that stands before the argument."""
    if opcode.arg is None:
        return opcode.name, 0, 0
    if opcode.arg.n == pickletools.UP_TO_NEWLINE:
        return opcode.name, _TWO_LINES if opcode.name in ("GLOBAL", "INST") else _LINES, 0
    if opcode.arg.n in _LENGTH_BYTES:
        return opcode.name, 0, _LENGTH_BYTES[opcode.arg.n]
    return opcode.name, opcode.arg.n, 0


_SHAPES = {ord(opcode.code): _shape(opcode) for opcode in pickletools.opcodes}


def operations(data: bytes, start: int = 0) -> Iterator[tuple[str, int, int, int]]:
    """Yields name, position, and beginning and end of the argument (newlines included), up to STOP.

    The instruction ends where its argument does. Raises `Truncated` and `CheckpointError`.
    """
    position, size = start, len(data)
    for _ in range(MAXIMUM):
        if position >= size:
            raise Truncated
        shape = _SHAPES.get(data[position])
        if shape is None:
            raise CheckpointError(f"is damaged: no pickle has the instruction {data[position]:#04x}")
        name, fixed, length_bytes = shape
        begin = position + 1
        if length_bytes:
            end = begin + length_bytes
            if end > size:
                raise Truncated
            length = int.from_bytes(data[begin:end], "little")
            begin, end = end, end + length
        elif fixed >= 0:
            end = begin + fixed
        else:
            end = begin
            for _ in range(-fixed):
                end = data.find(b"\n", end) + 1
                if not end:
                    raise Truncated
        if end > size:
            raise Truncated
        yield name, position, begin, end
        if name == "STOP":
            return
        position = end
    raise CheckpointError(f"holds a pickle of more than {MAXIMUM:,} instructions, more than this tool looks through")
