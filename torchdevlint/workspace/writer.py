"""Writes a file whole or not at all, and never over what somebody else has written meanwhile."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Set
from pathlib import Path

from torchdevlint.workspace.signals import held


class NotWritten(OSError):
    """Writing was refused; `strerror` is the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EPERM, reason)


class ChangedMeanwhile(NotWritten):
    """The file does not hold what was read any more."""

    def __init__(self) -> None:
        super().__init__("changed meanwhile")


def told(error: OSError) -> str:
    """What to say of a file that could not be written."""
    return "changed meanwhile, not written" if isinstance(error, ChangedMeanwhile) else f"not written: {error.strerror}"


def write_atomically(
    path: str, content: bytes, *, expected: bytes | None = None, within: Set[Path] | None = None
) -> None:
    """Replaces a file's bytes: a temporary file in the same folder, flushed to the disk, then renamed over it.

    `expected` are the bytes that the new ones were made from: where the file holds others directly before the rename, they stay. A
    link stays a link and its target is written, unless that lies outside the real folders `within`. Mode, owner and extended attributes are
    kept. A file with several names (hard links), or one whose owner or attributes this user cannot give to a new file, is written in
    place, beside a copy of the old bytes that is removed behind it. Raises `OSError`; the file is then as it was.
    """
    target = Path(os.path.realpath(path, strict=True))
    if within is not None and not within & set(target.parents):
        raise NotWritten("the link leads out of the paths that were given")
    if not target.is_file():
        raise NotWritten("it is no regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", path)
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "its folder is read-only", path)
    with held():
        _replace(target, content, expected)


def put_atomically(path: str, content: bytes, *, new: bool = False) -> None:
    """Writes a file that may be there or not, and under its name alone (a hard link is split). Raises `OSError`.

    `new`: raises `ChangedMeanwhile` where one has come into being.
    """
    target = Path(path)
    with held():
        temporary = _stored_beside(target, content)
        try:
            temporary.chmod(stat.S_IMODE(target.stat().st_mode) if target.is_file() else 0o666 & ~_umask())
            if new and os.path.lexists(target):
                raise ChangedMeanwhile
            temporary.replace(target)
        except BaseException:
            _remove(temporary)
            raise


def _replace(target: Path, content: bytes, expected: bytes | None) -> None:
    if _is_written_already(target, content, expected):
        return
    temporary = _stored_beside(target, content)
    try:
        status = target.stat()
        if status.st_nlink > 1 or not _made_alike(temporary, target, status):
            _write_in_place(target, content, expected)
            _remove(temporary)
        elif _is_written_already(target, content, expected):
            _remove(temporary)
        else:
            temporary.replace(target)
    except BaseException:
        _remove(temporary)
        raise


def _is_written_already(target: Path, content: bytes, expected: bytes | None) -> bool:
    """Whether another run has done the same; raises `ChangedMeanwhile` where the file is not as expected."""
    if expected is None:
        return False
    found = target.read_bytes()
    if found not in (expected, content):
        raise ChangedMeanwhile
    return found == content


def _stored_beside(target: Path, content: bytes) -> Path:
    """A new file in the target's folder, on the disk. Its name is short (that of the target may have all 255 bytes) and no module's."""
    descriptor, name = tempfile.mkstemp(prefix=".torchdevlint-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        _remove(Path(name))
        raise
    return Path(name)


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


# ---------------------------------------------------------------------------------------------------- what is kept


def _made_alike(new: Path, old: Path, status: os.stat_result) -> bool:
    """Gives a new file the owner, mode and extended attributes of an old one; False where this user may not."""
    mode = stat.S_IMODE(status.st_mode)
    try:
        made = new.stat()
        if hasattr(os, "chown") and (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
            os.chown(new, status.st_uid, status.st_gid)
        new.chmod(mode)  # behind chown, which takes the setuid bit away
        if hasattr(os, "listxattr"):
            _copy_attributes(new, old)
        return stat.S_IMODE(new.stat().st_mode) == mode
    except OSError:
        return False


def _copy_attributes(new: Path, old: Path) -> None:
    """Extended attributes, among them access control lists and capabilities."""
    try:
        wanted = {name: os.getxattr(old, name) for name in os.listxattr(old)}
        found = {name: os.getxattr(new, name) for name in os.listxattr(new)}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return  # a file system without them
        raise
    for name in found.keys() - wanted.keys():
        os.removexattr(new, name)
    for name, value in wanted.items():
        if found.get(name) != value:
            os.setxattr(new, name, value)


def _write_in_place(target: Path, content: bytes, expected: bytes | None) -> None:
    """Overwrites a file that has to stay the same file. What fails is undone; the old bytes lie beside it until all is done."""
    with target.open("r+b") as file:
        before = file.read()
        if before == content:
            return
        if expected is not None and before != expected:
            raise ChangedMeanwhile
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        rescue = _stored_beside(target, before)
        try:
            _overwrite(file.fileno(), content)
        except BaseException:
            _overwrite(file.fileno(), before)
            raise
        finally:
            _remove(rescue)
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) != mode:  # writing takes the setuid bit away
            with contextlib.suppress(PermissionError):
                target.chmod(mode)


def _overwrite(descriptor: int, content: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
    os.ftruncate(descriptor, len(content))
    os.fsync(descriptor)
