"""A copy of a checkpoint with another location tag on its storages; the data is copied, never loaded."""

from __future__ import annotations

import os
import re
import struct
import tempfile
import zlib
from pathlib import Path
from typing import BinaryIO

from torchdevlint.checkpoints.archive import UNKNOWN32, Archive, Record, content
from torchdevlint.checkpoints.contents import Checkpoint, CheckpointError
from torchdevlint.checkpoints.reading import LARGEST_PICKLE, Opened, examine, opened
from torchdevlint.checkpoints.rewriting import rewritten
from torchdevlint.checkpoints.symbolic import interpret

TAG = re.compile(r"cpu|cuda:(?:0|[1-9][0-9]{0,2})")
_ALIGNMENT = 64
_MOST_PADDING = 0xFFFF - 64
_CHUNK = 1 << 20


def retagged(source: str | os.PathLike[str], target: str | os.PathLike[str], tag: str) -> Checkpoint:
    """Writes `target`, a copy of `source` whose storages carry `tag` (`cpu` or `cuda:N`); what the copy holds.

    `target` must not exist; it appears whole or not at all. Storages tagged `meta` keep their tag. Raises `CheckpointError` and `OSError`.
    """
    if not TAG.fullmatch(tag):
        raise CheckpointError(f"cannot be tagged {tag!r}: give cpu or cuda:N")
    path = Path(target)
    if os.path.lexists(path):
        raise CheckpointError(f"is not copied: {path} exists already")
    with opened(source) as file:
        before = os.fstat(file.fileno())
        found = examine(file)
        number, name = tempfile.mkstemp(prefix=".torchdevlint-", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(number, "w+b") as copy:
                _copy(file, copy, found, tag)
                copy.flush()
                os.fsync(copy.fileno())
                copy.seek(0)
                written = examine(copy).checkpoint
            after = os.fstat(file.fileno())
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise CheckpointError("changed while it was copied; no copy was kept")
            _compare(found.checkpoint, written, tag)
            temporary.chmod(before.st_mode & 0o666)
            _publish(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    return written


def _publish(temporary: Path, path: Path) -> None:
    """Gives the copy its name, unless another process took it meanwhile; file systems without hard links are asked first."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise CheckpointError(f"is not copied: {path} exists already") from None
    except OSError:
        if os.path.lexists(path):
            raise CheckpointError(f"is not copied: {path} exists already") from None
        temporary.replace(path)


def _compare(old: Checkpoint, new: Checkpoint, tag: str) -> None:
    expected = [
        (storage.key, "meta" if storage.location == "meta" else tag, storage.dtypes, storage.bytes, storage.names)
        for storage in old.storages
    ]
    found = [(storage.key, storage.location, storage.dtypes, storage.bytes, storage.names) for storage in new.storages]
    if expected != found:
        raise CheckpointError("could not be copied faithfully; no copy was kept")


def _copy(file: BinaryIO, copy: BinaryIO, found: Opened, tag: str) -> None:
    if found.checkpoint.format == "safetensors":
        raise CheckpointError("is a safetensors file, which carries no devices: there is nothing to retag")
    if found.checkpoint.format == "torchscript":
        raise CheckpointError(
            "is a TorchScript program, whose code may name devices; use torch.jit.load with map_location"
        )
    assert found.pickled is not None
    if found.legacy is not None:
        _span(file, copy, 0, found.legacy.begin)
        file.seek(found.legacy.begin)
        data = file.read(found.legacy.end - found.legacy.begin)
        copy.write(_shifted(data, found, tag))
        _span(file, copy, found.legacy.end, found.checkpoint.size)
        return
    assert found.archive is not None and found.record is not None
    record = found.record
    if record.method or record.wide:
        raise CheckpointError("has a packed data.pkl, which torch.save does not write; it is not rewritten")
    data = rewritten(content(file, record, LARGEST_PICKLE), 0, found.pickled, tag)
    _copy_archive(file, copy, found.archive, record, data)


def _shifted(data: bytes, found: Opened, tag: str) -> bytes:
    return rewritten(data, 0, interpret(data), tag)


def _span(file: BinaryIO, copy: BinaryIO, begin: int, end: int) -> None:
    """Copies bytes of the file, a chunk at a time."""
    file.seek(begin)
    left = end - begin
    while left > 0:
        chunk = file.read(min(left, _CHUNK))
        if not chunk:
            raise CheckpointError("changed while it was copied; no copy was kept")
        copy.write(chunk)
        left -= len(chunk)


def _copy_archive(file: BinaryIO, copy: BinaryIO, archive: Archive, changed: Record, data: bytes) -> None:
    """Copies the records with `data` in the place of one. The next record's padding takes up the difference, so that all others stay where
    they are; where it cannot (the pickle has grown), they move by a multiple of the alignment."""
    records = archive.records
    index = records.index(changed)
    crc = zlib.crc32(data)
    _span(file, copy, 0, changed.header)
    _head(file, copy, changed, crc, len(data))
    copy.write(data)
    behind = changed.end
    if changed.descriptor:
        file.seek(behind)
        mark = file.read(4) == b"PK\x07\x08"
        behind += 16 if mark else 12
        copy.write(b"PK\x07\x08" * mark + struct.pack("<III", crc, len(data), len(data)))
    headers: dict[int, int] = {}
    moved = len(data) - changed.size
    for record in records[index + 1 :]:
        _span(file, copy, behind, record.header)
        headers[record.entry] = copy.tell()
        if moved:
            moved = _padded(file, copy, record, moved)
        else:
            _span(file, copy, record.header, record.data)
        behind = record.data
    _span(file, copy, behind, archive.directory)
    directory = copy.tell()
    _span(file, copy, archive.directory, os.fstat(file.fileno()).st_size)
    _mend_directory(copy, archive, changed, crc, len(data), headers, directory - archive.directory)


def _head(file: BinaryIO, copy: BinaryIO, record: Record, crc: int, size: int) -> None:
    """The local header of the changed record; its sizes stand there, or are zero and follow in the descriptor."""
    file.seek(record.header)
    head = bytearray(file.read(record.data - record.header))
    if not record.descriptor or any(head[14:26]):
        struct.pack_into("<III", head, 14, crc, size, size)
    copy.write(head)


def _padded(file: BinaryIO, copy: BinaryIO, record: Record, moved: int) -> int:
    """Copies a local header with another padding; by how much what follows has moved now."""
    file.seek(record.header)
    head = bytearray(file.read(record.data - record.header))
    at = len(head) - record.extra
    while at + 4 <= len(head):
        kind, length = head[at : at + 2], int.from_bytes(head[at + 2 : at + 4], "little")
        if kind == b"FB" and at + 4 + length == len(head):
            break
        at += 4 + length
    else:
        copy.write(head)  # nothing is aligned here
        return _movable(record, moved)
    wanted = length - moved
    if not 0 <= wanted <= _MOST_PADDING:
        wanted %= _ALIGNMENT
    result = moved + wanted - length
    head[at + 2 : at + 4] = wanted.to_bytes(2, "little")
    head[26 + 2 : 26 + 4] = (record.extra + wanted - length).to_bytes(2, "little")
    copy.write(head[: at + 4] + b"Z" * wanted)
    return _movable(record, result)


def _movable(record: Record, moved: int) -> int:
    if moved and (record.wide or record.data + moved >= UNKNOWN32):
        raise CheckpointError("is larger than 4 GiB and its tags would become longer; that is not supported")
    return moved


def _mend_directory(
    copy: BinaryIO, archive: Archive, changed: Record, crc: int, size: int, headers: dict[int, int], moved: int
) -> None:
    """Puts the new sum, size and positions where the directory and its end records tell them."""

    def put(position: int, form: str, *values: int) -> None:
        copy.seek(position + moved)
        copy.write(struct.pack(form, *values))

    put(changed.entry + 16, "<III", crc, size, size)
    wide = {record.entry: record for record in archive.records if record.wide}
    for entry, header in headers.items():
        if entry not in wide:
            put(entry + 42, "<I", header)
        elif header != wide[entry].header:
            raise CheckpointError("is larger than 4 GiB, and the record behind its pickle too; that is not supported")
    if moved:
        if archive.end64 is not None and archive.locator is not None:
            put(archive.end64 + 48, "<Q", archive.directory + moved)
            put(archive.locator + 8, "<Q", archive.end64 + moved)
        copy.seek(archive.end + moved + 16)
        if copy.read(4) != b"\xff\xff\xff\xff":
            put(archive.end + 16, "<I", archive.directory + moved)
