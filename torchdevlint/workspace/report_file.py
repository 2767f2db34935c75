"""The file that a report is written to: never one that is linted, and never Python source."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from torchdevlint.workspace.writer import put_atomically

_SOURCES = (".py", ".pyi", ".pyw", ".pyx", ".ipynb")
_DEVICES = ("/dev/", "/proc/")  # such as /dev/stdout, a link to whatever that is
_SHEBANG = re.compile(rb"#!.*python")


def refusal(name: str) -> str | None:
    """Why no report may be written to a path, as a sentence; None when it may."""
    path = Path(name)
    if _is_device(path):
        return None
    real = Path(os.path.realpath(path))
    if any(each.name.casefold().endswith(_SOURCES) for each in (path, real)):
        return f"{name}: a report is not written over Python source"
    if path.is_symlink() and not real.is_file():
        return f"{name}: a link to no file"
    if path.is_symlink() and not real.is_relative_to(os.path.realpath(os.curdir)):
        return f"{name}: a link that leads out of the current folder"
    if real.is_file():
        try:
            with real.open("rb") as file:
                if _SHEBANG.match(file.readline(200)):
                    return f"{name}: a report is not written over Python source"
        except OSError:
            pass  # what cannot be read can still be replaced
    return None


def is_one_of(name: str, others: Iterable[str]) -> bool:
    """Whether a path is one of other files, by whatever name: a link, a hard link, other letter cases."""
    if _is_device(Path(name)):
        return False
    try:
        status = Path(name).stat()
    except OSError:
        return False
    for other in others:
        try:
            if os.path.samestat(status, os.stat(other)):  # noqa: PTH116
                return True
        except OSError:
            continue
    return False


def write(name: str, content: bytes) -> None:
    """Writes a report whole or not at all; a device or a pipe gets it as it comes. Raises `OSError`."""
    path = Path(name)
    if _is_device(path):
        with path.open("wb") as file:
            file.write(content)
    else:
        put_atomically(os.path.realpath(path), content)


def _is_device(path: Path) -> bool:
    if str(path.absolute()).startswith(_DEVICES):
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
