"""The header of a safetensors file: 8 bytes of length, JSON, then the data (https://github.com/huggingface/safetensors, README, "Format")."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from torchdevlint.checkpoints.contents import Checkpoint, CheckpointError, Storage

LARGEST_HEADER = 32 << 20  # the format's own limit is 100 MB; of a model with 100,000 tensors it has about 15

_BITS = {
    "BOOL": ("bool", 8),
    "U8": ("uint8", 8),
    "I8": ("int8", 8),
    "F8_E5M2": ("float8_e5m2", 8),
    "F8_E4M3": ("float8_e4m3fn", 8),
    "F8_E8M0": ("float8_e8m0fnu", 8),
    "F4": ("float4_e2m1fn_x2", 4),
    "I16": ("int16", 16),
    "U16": ("uint16", 16),
    "F16": ("float16", 16),
    "BF16": ("bfloat16", 16),
    "I32": ("int32", 32),
    "U32": ("uint32", 32),
    "F32": ("float32", 32),
    "C64": ("complex64", 64),
    "F64": ("float64", 64),
    "I64": ("int64", 64),
    "U64": ("uint64", 64),
}


def looks_like_safetensors(beginning: bytes) -> bool:
    """Whether a file that begins so may be one: a length, and a JSON object behind it."""
    return len(beginning) > 8 and beginning[8:9] == b"{" and beginning[6:8] == b"\0\0"


def read_safetensors(file: BinaryIO, size: int) -> Checkpoint:
    """Reads and checks the header. Raises `CheckpointError`."""
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if length > size - 8:
        raise CheckpointError("is truncated: its header is longer than the file")
    if length > LARGEST_HEADER:
        raise CheckpointError(f"has a header of {length:,} bytes, more than this tool reads")
    header = _parsed(file.read(length))
    storages = []
    spans = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        storage, begin, end = _storage(name, entry)
        storages.append(storage)
        spans.append((begin, end))
    at = 0
    for begin, end in sorted(spans):
        if begin != at:
            raise CheckpointError("is damaged: its tensors overlap or leave gaps")
        at = end
    if at != size - 8 - length:
        raise CheckpointError(
            f"is {'truncated' if at > size - 8 - length else 'damaged'}: its header describes {at:,} bytes of data, "
            f"the file has {size - 8 - length:,}"
        )
    return Checkpoint(
        format="safetensors",
        version=None,
        byteorder="little",
        pickle_protocol=None,
        size=size,
        storages=tuple(storages),
        weights_only=None,
    )


def _parsed(raw: bytes) -> dict[str, Any]:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            raise ValueError
        return found

    def integer(digits: str) -> int:
        if len(digits) > 20:
            raise ValueError
        return int(digits)

    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=pairs, parse_int=integer)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise CheckpointError("is damaged: its header is no JSON object, or names a tensor twice")
    return header


def _storage(name: str, entry: Any) -> tuple[Storage, int, int]:
    match entry:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if (
            dtype in _BITS
            and all(type(length) is int and 0 <= length < 1 << 63 for length in shape)
            and 0 <= begin <= end
        ):
            pass
        case _:
            raise CheckpointError(f"describes tensor {name[:60]} in a way that this tool does not know")
    torch_name, bits = _BITS[dtype]
    if 0 in shape:
        shape = [0]
    for length in shape:
        bits *= length
        if bits > 1 << 63:
            break
    if bits != 8 * (end - begin):
        raise CheckpointError(f"is damaged: tensor {name[:60]} does not have the size of its shape")
    return Storage(name, "", (torch_name,), end - begin, 1, (name,)), begin, end
