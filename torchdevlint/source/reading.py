"""The bytes of a file of the disk: regular files alone, and no more than is worth reading.

A repository may hold a pipe, a socket, a device, or a link to one, under any name: opening it waits for ever, or never ends.
"""

# Paths are strings here: a Path object for each file of a large repository costs more than the read.
# ruff: noqa: PTH116, PTH123

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

from torchdevlint.source import disk

LARGEST_SOURCE = 10_000_000  # bytes of a file that is checked
LARGEST_SETTINGS = 1_000_000  # bytes of a pyproject.toml, a ruff.toml, a .gitignore

_PIECE = 1 << 20
_MOST_PIECES = 256
_OVERLAP = 64

# Without O_NONBLOCK, a pipe that takes a file's place after it was looked at would wait for its writer.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


def read_bytes(path: str, most: int = LARGEST_SOURCE) -> bytes:
    """The bytes of a regular file.

    Raises `OSError`, whose `strerror` is a phrase for the user, for what cannot be read, is no regular file, or holds more than
    `most` bytes.
    """
    try:
        status, raw = _read(path, most)
    except OSError as error:
        disk.note_failure(path, most, error)
        raise
    disk.note_bytes(path, status, raw)
    return raw


def _read(path: str, most: int) -> tuple[os.stat_result, bytes]:
    """The status of the open file before it was read, and its bytes."""
    _check(os.stat(path), path, most)  # opening a device may already do something
    descriptor = os.open(path, _FLAGS)
    with open(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        _check(status, path, most)
        pieces = []
        left = most + 1
        while left > 0 and (piece := file.read(min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
    if left <= 0:
        raise _too_large(path, most)
    return status, b"".join(pieces)


def pieces_of(path: str) -> Iterator[bytes]:
    """The bytes of a large regular file in pieces that overlap by some, as far as one may be asked to look."""
    disk.note_pieces(path)
    end = b""
    try:
        with open(path, "rb", buffering=0) as file:
            for _ in range(_MOST_PIECES):
                piece = file.read(_PIECE)
                if not piece:
                    return
                yield end + piece
                end = piece[-_OVERLAP:]
    except OSError:
        return


def _check(status: os.stat_result, path: str, most: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not read, as it is no regular file", path)
    if status.st_size > most:
        raise _too_large(path, most)


def _too_large(path: str, most: int) -> OSError:
    return OSError(errno.EFBIG, f"not read, as it is larger than {most // 1000:,} kB", path)
