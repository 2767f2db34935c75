"""Writes a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: str, content: bytes) -> None:
    """Replaces a file's bytes: a temporary file in the same folder, flushed to the disk, then renamed over it.

    The mode is kept, and a link stays a link: its target is written. Raises `OSError`; the file is then as it was.
    """
    target = Path(path).resolve(strict=True)
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "the file is read-only", path)
    with _signals_held():
        _replace(target, content)


def _replace(target: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".torchdevlint", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        status = target.stat()
        Path(temporary).chmod(stat.S_IMODE(status.st_mode))
        if hasattr(os, "chown"):
            with contextlib.suppress(PermissionError):
                os.chown(temporary, status.st_uid, status.st_gid)
        Path(temporary).replace(target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Let Ctrl-C and a parent's SIGTERM wait until the temporary file is renamed or gone."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
