"""The directory of a zip file, read so that a hostile one costs no more than its size, with the byte positions that a copy needs.

`zipfile` builds an object for every entry before anybody can count them, and does not tell where data lies. Records of
torch: stored, each padded by an extra field `FB` to a multiple of 64 (caffe2/serialize/inline_container.cc, `getPadding`).
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import BinaryIO

from torchdevlint.checkpoints.contents import CheckpointError

MOST_RECORDS = 500_000
LARGEST_DIRECTORY = 64 << 20
LOCAL_HEADER = 30
DIRECTORY_HEADER = 46
END = 22
UNKNOWN32 = 0xFFFFFFFF
_HAS_DESCRIPTOR = 8
_ENCRYPTED = 1
_FARTHEST = 1 << 43  # no file is so large, and file systems refuse to seek there


@dataclass(frozen=True, slots=True)
class Record:
    """An entry. Positions are bytes from the beginning of the file; `entry` is its place in the directory, `extra` the length of the local
    extra field; `wide` says that a field of it stands in a zip64 extra field."""

    name: str
    method: int
    packed: int
    size: int
    header: int
    data: int
    entry: int
    extra: int
    descriptor: bool
    wide: bool

    @property
    def end(self) -> int:
        """Behind the data, without a data descriptor."""
        return self.data + self.packed


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip file's records, in the order of the file, and where its directory and its end records stand."""

    records: tuple[Record, ...]
    directory: int
    directory_size: int
    end64: int | None
    locator: int | None
    end: int


def read_archive(file: BinaryIO, size: int) -> Archive:
    """Reads the directory and checks it: no overlapping or double records, none outside of the file. Raises `CheckpointError`."""
    end, tail_start, tail = _find_end(file, size)
    disk, start_disk, _, count, directory_size, directory = struct.unpack_from("<HHHHII", tail, end - tail_start + 4)
    locator = end64 = None
    if end >= 20 and _at(file, end - 20, 4) == b"PK\x06\x07":
        locator = end - 20
        (end64,) = struct.unpack("<Q", _at(file, locator + 8, 8))
        found = _at(file, end64, 56)
        if len(found) < 56 or found[:4] != b"PK\x06\x06":
            raise _damaged("its directory cannot be found")
        count, directory_size, directory = struct.unpack_from("<QQQ", found, 32)
    if disk != start_disk or disk not in (0, 0xFFFF):
        raise CheckpointError("is one part of a zip archive of several parts")
    if count > MOST_RECORDS or directory_size > LARGEST_DIRECTORY:
        raise CheckpointError(f"lists more than {MOST_RECORDS:,} records, more than this tool looks through")
    if directory + directory_size > (end if end64 is None else end64):
        raise _damaged("its directory reaches over its end")
    records = _records(file, _at(file, directory, directory_size), count, directory)
    _check(records, directory)
    return Archive(records, directory, directory_size, end64, locator, end)


def content(file: BinaryIO, record: Record, limit: int) -> bytes:
    """A record's bytes, at most `limit` of them. Raises `CheckpointError` where it holds more, or cannot be unpacked."""
    if record.size > limit:
        raise CheckpointError(f"has a record {record.name[:60]} of {record.size:,} bytes, more than this tool reads")
    if record.method == 0:
        if record.packed != record.size:
            raise _damaged(f"the sizes of {record.name[:60]} disagree")
        return _at(file, record.data, record.size)
    if record.method != 8:
        raise CheckpointError("is packed in a way that torch does not read")
    unpacked = zlib.decompressobj(-15)
    packed = _at(file, record.data, min(record.packed, limit))
    try:
        data = unpacked.decompress(packed, record.size + 1)
    except zlib.error:
        raise _damaged(f"{record.name[:60]} cannot be unpacked") from None
    if len(data) != record.size:
        raise _damaged(f"{record.name[:60]} does not have the size that it claims")
    return data


def _damaged(why: str) -> CheckpointError:
    return CheckpointError(f"is damaged: {why}")


def _at(file: BinaryIO, position: int, count: int) -> bytes:
    if position > _FARTHEST:
        return b""
    file.seek(position)
    return file.read(count)


def _find_end(file: BinaryIO, size: int) -> tuple[int, int, bytes]:
    start = max(0, size - END - 0xFFFF)
    tail = _at(file, start, END + 0xFFFF)
    found = tail.rfind(b"PK\x05\x06", 0, max(0, len(tail) - END + 4))
    if found < 0:
        raise CheckpointError("is truncated: the directory at the end of the zip archive is missing")
    return start + found, start, tail


def _records(file: BinaryIO, directory: bytes, count: int, start: int) -> tuple[Record, ...]:
    records = []
    position = 0
    for _ in range(count):
        if directory[position : position + 4] != b"PK\x01\x02" or position + DIRECTORY_HEADER > len(directory):
            raise _damaged("its directory lists fewer records than it claims")
        flags, method = struct.unpack_from("<HH", directory, position + 8)
        packed, size, name_size, extra_size, comment_size = struct.unpack_from("<IIHHH", directory, position + 20)
        (header,) = struct.unpack_from("<I", directory, position + 42)
        names = position + DIRECTORY_HEADER
        raw_name = directory[names : names + name_size]
        extra = directory[names + name_size : names + name_size + extra_size]
        wide = UNKNOWN32 in (packed, size, header)
        if wide:
            size, packed, header = _widened(extra, size, packed, header)
        if flags & _ENCRYPTED:
            raise CheckpointError("is an encrypted zip archive")
        local = _at(file, header, LOCAL_HEADER)
        if len(local) < LOCAL_HEADER or local[:4] != b"PK\x03\x04":
            raise _damaged("a record does not lie where its directory says")
        local_name, local_extra = struct.unpack_from("<HH", local, 26)
        if local_name != name_size or file.read(name_size) != raw_name:
            raise _damaged("a record has another name than in its directory")
        records.append(
            Record(
                name=raw_name.decode("utf-8", "replace"),
                method=method,
                packed=packed,
                size=size,
                header=header,
                data=header + LOCAL_HEADER + local_name + local_extra,
                entry=start + position,
                extra=local_extra,
                descriptor=bool(flags & _HAS_DESCRIPTOR),
                wide=wide,
            )
        )
        position = names + name_size + extra_size + comment_size
    return tuple(sorted(records, key=lambda record: record.header))


def _widened(extra: bytes, *fields: int) -> list[int]:
    """Size, packed size and offset, with those that do not fit in 32 bits from the zip64 extra field."""
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, position)
        if kind == 1:
            wide = extra[position + 4 : position + 4 + length]
            needed = fields.count(UNKNOWN32)
            if len(wide) < 8 * needed:
                break
            values = iter(struct.unpack_from(f"<{needed}Q", wide))
            return [next(values) if value == UNKNOWN32 else value for value in fields]
        position += 4 + length
    raise _damaged("a large record has no size")


def _check(records: tuple[Record, ...], directory: int) -> None:
    end = 0
    names: set[str] = set()
    for record in records:
        if record.header < end:
            raise _damaged("its records overlap")
        end = record.end
        if record.name in names:
            raise _damaged(f"it has two records {record.name[:60]}")
        names.add(record.name)
    if end > directory:
        raise _damaged("a record reaches over the directory")
