"""Where a verified program runs: in a fresh copy of its folder each time, or in place."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LARGEST_COPY = 2 << 30
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", "*.pyc", ".mypy_cache", ".tox"
)


class WorkplaceError(Exception):
    """The folder cannot be copied; the message says what to do."""


@dataclass(slots=True)
class Workplace:
    """`original` is the user's folder, `here` the one that is run in (the same with --in-place), `notes` holds our own files."""

    original: Path
    here: Path
    notes: Path

    @property
    def in_place(self) -> bool:
        """Whether the program runs in the user's own folder."""
        return self.here == self.original

    def refresh(self) -> dict[str, str]:
        """A new copy, always at the same path (programs print it); gives the digests of its files."""
        if self.in_place:
            return {}
        shutil.rmtree(self.here, ignore_errors=True)
        try:
            shutil.copytree(self.original, self.here, symlinks=True, ignore=_LEFT_OUT, ignore_dangling_symlinks=True)
        except (shutil.Error, OSError) as error:
            raise WorkplaceError(f"{self.original} cannot be copied ({_first(error)}): use --in-place") from error
        self._mend_links()
        return self.digests()

    def digests(self) -> dict[str, str]:
        """A digest of each file of the copy, by relative path; empty in place, where others may write as well."""
        if self.in_place:
            return {}
        found = {}
        for folder, folders, files in os.walk(self.here):
            folders[:] = [name for name in folders if name not in ("__pycache__", ".pytest_cache")]
            for name in files:
                path = Path(folder) / name
                if path.is_file() and not path.is_symlink():
                    with path.open("rb") as file:
                        found[str(path.relative_to(self.here))] = (
                            hashlib.file_digest(file, "sha256").hexdigest()
                            if hasattr(hashlib, "file_digest")
                            else hashlib.sha256(file.read()).hexdigest()
                        )
        return found

    def to_work(self, path: Path) -> Path:
        """A path of the user's folder, in the copy."""
        return self.here / path.relative_to(self.original) if path.is_relative_to(self.original) else path

    def to_original(self, path: str) -> str:
        """A path that the program reported, as the user knows it."""
        here = str(self.here)
        if path == here or path.startswith(here + os.sep):
            return str(self.original) + path[len(here) :]
        return path

    def _mend_links(self) -> None:
        """A relative link that led out of the folder still leads there."""
        for folder, folders, files in os.walk(self.here):
            for name in (*folders, *files):
                link = Path(folder) / name
                if link.is_symlink() and not link.exists():
                    target = (self.original / link.relative_to(self.here)).resolve()
                    link.unlink()
                    link.symlink_to(target)


def _first(error: Exception) -> str:
    """`shutil.Error` holds a list of all that went wrong."""
    return str(error.args[0][0][2]) if isinstance(error, shutil.Error) else str(error)


@contextmanager
def workplace(folder: Path, in_place: bool) -> Iterator[Workplace]:
    """A place for all runs of one verification; nothing of it is left afterwards. Raises WorkplaceError for a folder too large to copy."""
    size = 0 if in_place else _size(folder)
    if size > LARGEST_COPY:
        raise WorkplaceError(f"{folder} holds {size >> 30} GiB, too much to copy for every run: use --in-place")
    root = Path(tempfile.mkdtemp(prefix="torchdevlint-")).resolve()
    try:
        (root / "notes").mkdir()
        yield Workplace(folder, folder if in_place else root / folder.name, root / "notes")
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _size(folder: Path) -> int:
    total = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", ".venv", "venv", "node_modules", "__pycache__")]
        for name in files:
            try:
                total += os.lstat(Path(parent) / name).st_size
            except OSError:
                continue
        if total > LARGEST_COPY:
            break
    return total
