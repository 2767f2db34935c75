"""From a file to a `Checkpoint`: which format it has, and what its pickle and its records say."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from torchdevlint.checkpoints import tables
from torchdevlint.checkpoints.archive import Archive, Record, content, read_archive
from torchdevlint.checkpoints.contents import Checkpoint, CheckpointError, Storage, WeightsOnly
from torchdevlint.checkpoints.opcodes import Truncated
from torchdevlint.checkpoints.safetensors import looks_like_safetensors, read_safetensors
from torchdevlint.checkpoints.symbolic import Pickled, Stored, Text, Thing, interpret

LARGEST_PICKLE = 128 << 20
_WINDOWS = (1 << 20, 16 << 20, LARGEST_PICKLE)  # how much of a legacy file is read for its pickles
LEGACY_MAGIC = bytes.fromhex("6cfc9c46f9206aa85019")  # torch/serialization.py: MAGIC_NUMBER, as a pickle holds it
_MAGIC_WITHIN = 32

# What people give instead of a checkpoint, by the first bytes.
_OTHERS = (
    (b"version https://git-lfs", "is a Git LFS pointer, not the file itself; run `git lfs pull`"),
    (b"\x89HDF\r\n\x1a\n", "is an HDF5 file (Keras), which torch.load does not read"),
    (b"\x1f\x8b", "is compressed with gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; unpack it first"),
    (b"BZh", "is compressed with bzip2; unpack it first"),
    (b"\xfd7zXZ\0", "is compressed with xz; unpack it first"),
    (b"GGUF", "is a GGUF file (llama.cpp), which torch.load does not read"),
    (b"\x93NUMPY", "is a NumPy array, which torch.load does not read"),
    (b"<!DOCTYPE", "is a web page; the download went wrong"),
    (b"<!doctype", "is a web page; the download went wrong"),
    (b"<html", "is a web page; the download went wrong"),
)


@dataclass(frozen=True, slots=True)
class Legacy:
    """Where a legacy file's pickle of the object begins and ends."""

    begin: int
    end: int
    data_begin: int


@dataclass(frozen=True, slots=True)
class Opened:
    """A checkpoint, with what a copy needs to know of its file."""

    checkpoint: Checkpoint
    pickled: Pickled | None
    archive: Archive | None = None
    record: Record | None = None  # data.pkl
    legacy: Legacy | None = None


def read(path: str | os.PathLike[str]) -> Checkpoint:
    """What the file holds. Raises `CheckpointError`, and `OSError` where the file cannot be opened."""
    with opened(path) as file:
        return examine(file).checkpoint


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A regular file for reading; nothing else is opened for longer than it takes to see what it is."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise CheckpointError("is no regular file")
        yield file


def examine(file: BinaryIO) -> Opened:
    """Reads an open file. Raises `CheckpointError`."""
    size = os.fstat(file.fileno()).st_size
    beginning = file.read(512)
    if not size:
        raise CheckpointError("is empty")
    if beginning.startswith(b"PK\x03\x04"):
        return _examine_zip(file, size)
    for start, reason in _OTHERS:
        if beginning.startswith(start):
            raise CheckpointError(reason)
    if LEGACY_MAGIC in beginning[:_MAGIC_WITHIN] or _protocol_0_magic(beginning):
        return _examine_legacy(file, size)
    if looks_like_safetensors(beginning):
        return Opened(read_safetensors(file, size), None)
    if beginning[257:262] == b"ustar":
        raise CheckpointError("is a tar archive, as the first versions of torch wrote; this tool does not read them")
    if beginning[:1] == b"\x80" or beginning[:1] in (b"(", b"}", b"]"):
        raise CheckpointError("is a pickle that torch.save did not write; torch.load does not read it")
    raise CheckpointError("is no checkpoint: neither a zip archive, nor a stream of pickles, nor safetensors")


def _protocol_0_magic(beginning: bytes) -> bool:
    number = str(int.from_bytes(LEGACY_MAGIC, "little")).encode()
    return beginning.startswith((b"L" + number, b"I" + number))


def _examine_zip(file: BinaryIO, size: int) -> Opened:
    archive = read_archive(file, size)
    by_name = {record.name: record for record in archive.records}
    found = [name for name in by_name if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(found) != 1:
        if any(name.endswith(("archive_format", "archive_version")) for name in by_name):
            raise CheckpointError("is a PT2 archive (torch.export.save); its devices belong to the exported program")
        raise CheckpointError("is a zip archive without a data.pkl: torch.save did not write it")
    folder = found[0].removesuffix("data.pkl")
    if any(name.startswith(folder + "tensors/") for name in by_name):
        reason = "is in the zip format of torch 1.4, which no newer version reads; load it there and save it without _use_new_zipfile_serialization"
        raise CheckpointError(reason)
    record = by_name[found[0]]
    script = folder + "constants.pkl" in by_name
    pickled = interpret(content(file, record, LARGEST_PICKLE))
    parts = [(pickled, folder + "data/")]
    if script:
        constants = content(file, by_name[folder + "constants.pkl"], LARGEST_PICKLE)
        parts.append((interpret(constants), folder + "constants/"))
    for part, data in parts:
        for stored in part.storages.values():
            _check_record(stored, by_name.get(data + stored.key))

    def small(name: str) -> str | None:
        return (
            content(file, by_name[folder + name], 64).decode("utf-8", "replace").strip()
            if folder + name in by_name
            else None
        )

    checkpoint = Checkpoint(
        format="torchscript" if script else "zip",
        version=small("version"),
        byteorder=small("byteorder"),
        pickle_protocol=pickled.protocol,
        size=size,
        storages=tuple(_storage(stored) for part, _ in parts for stored in part.storages.values()),
        weights_only=None if script else _weights_only(pickled),  # torch.load gives TorchScript to torch.jit.load
        other_locations=tuple(sorted({tag for part, _ in parts for tag in part.restored_on})),
        devices_in_objects=tuple(sorted({device for part, _ in parts for device in part.devices})),
    )
    return Opened(checkpoint, pickled, archive=archive, record=record)


def _bytes(stored: Stored) -> int:
    return stored.numel * tables.STORAGES[stored.type_name][1]


def _check_record(stored: Stored, record: Record | None) -> None:
    if record is None:
        raise CheckpointError(f"is damaged: the data of storage {stored.key[:20]} is missing")
    if _bytes(stored) > record.size:
        raise CheckpointError(
            f"is damaged: storage {stored.key[:20]} should have {_bytes(stored):,} bytes, its record has {record.size:,}"
        )


def _storage(stored: Stored) -> Storage:
    dtypes = tuple(sorted(stored.dtypes)) or (tables.STORAGES[stored.type_name][0],)
    return Storage(stored.key, stored.location, dtypes, _bytes(stored), stored.tensors, tuple(stored.names))


def _weights_only(pickled: Pickled) -> WeightsOnly:
    blocked = [name for name in pickled.globals if name.rpartition(".")[0] in tables.BLOCKED_MODULES]
    refused = [name for name in pickled.globals if name not in tables.ALLOWED and name not in blocked]
    opcodes = sorted(pickled.opcodes - tables.UNPICKLED)
    if pickled.module_ids:
        opcodes.append("a module's source code")
    return WeightsOnly(tuple(sorted(refused)), tuple(sorted(blocked)), tuple(opcodes))


def _examine_legacy(file: BinaryIO, size: int) -> Opened:
    for window in _WINDOWS:
        file.seek(0)
        data = file.read(window)
        try:
            return _legacy(file, data, size)
        except Truncated:
            if len(data) == size:
                raise
    raise CheckpointError(f"holds a pickle of more than {LARGEST_PICKLE:,} bytes, more than this tool reads")


def _legacy(file: BinaryIO, data: bytes, size: int) -> Opened:
    magic = interpret(data)
    version = interpret(data, magic.end)
    system = interpret(data, version.end)
    pickled = interpret(data, system.end)
    keys = interpret(data, pickled.end)
    if not (isinstance(version.result, int) and isinstance(system.result, Thing)):
        raise CheckpointError("is damaged: its first pickles are not those that torch.save writes")
    _check_data(file, _keys(keys), pickled, keys.end, size)
    facts = _dictionary(system.result)
    little = facts.get("little_endian")
    checkpoint = Checkpoint(
        format="legacy",
        version=str(version.result),
        byteorder={True: "little", False: "big"}[little] if isinstance(little, bool) else None,
        pickle_protocol=pickled.protocol,
        size=size,
        storages=tuple(_storage(stored) for stored in pickled.storages.values()),
        weights_only=_weights_only(pickled),
        other_locations=tuple(sorted(pickled.restored_on)),
        devices_in_objects=tuple(sorted(pickled.devices)),
    )
    return Opened(checkpoint, pickled, legacy=Legacy(system.end, pickled.end, keys.end))


def _dictionary(thing: Thing) -> dict[str, object]:
    held = thing.held or []
    return {
        key.value: value
        for key, value in zip(held[::2], held[1::2], strict=False)
        if isinstance(key, Text) and key.value is not None
    }


def _keys(pickled: Pickled) -> list[str]:
    result = pickled.result
    if not (isinstance(result, Thing) and result.kind == "list"):
        raise CheckpointError("is damaged: the list of its storages is missing")
    return [item.value for item in result.held or [] if isinstance(item, Text) and item.value is not None]


def _check_data(file: BinaryIO, keys: list[str], pickled: Pickled, position: int, size: int) -> None:
    """Each storage's data begins with its number of elements in 8 bytes (torch/csrc/generic/serialization.cpp)."""
    if set(keys) != set(pickled.storages) or len(keys) != len(pickled.storages):
        raise CheckpointError("is damaged: the list of its storages is not that of its tensors")
    for key in keys:
        file.seek(position)
        stored = pickled.storages[key]
        numel = int.from_bytes(file.read(8), "little")
        position += 8 + _bytes(stored)
        if position > size:
            raise CheckpointError(f"is truncated: the data of storage {key[:20]} is incomplete")
        if numel != stored.numel:
            raise CheckpointError(
                f"is damaged: storage {key[:20]} has {numel:,} elements, its pickle says {stored.numel:,}"
            )
