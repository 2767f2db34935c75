"""What a run asks the disk, and the answers, so that a later run can ask the same again: where every answer is what it was, so is the result.

An answer of which the file or folder has kept its time, size and number need not be asked for again (`Mark`). A change in the same tick of
the clock would keep them too: what was young when it was asked for has no mark, and is read again.
"""

# Paths are strings here: a Path object for each file of a large repository costs more than the question.
# ruff: noqa: PTH100, PTH114, PTH116, PTH118

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager

from torchdevlint.source import grounds

CACHE_FOLDER = ".torchdevlint_cache"
CACHE_VARIABLE = "TORCHDEVLINT_CACHE_DIR"  # of the environment: another folder for the cache; /dev/null for none
_UNSEEN = (CACHE_FOLDER, "__pycache__")  # what runs leave in folders changes nothing for others
PACKAGES = (".dist-info", ".egg-info")

_MOST = 1 << 40
_LINKS = "FDL?"
_WITH_LINKS = " with links"
_YOUNG = 3_000_000_000  # nanoseconds; the clock of a FAT file system ticks every two seconds

Answer = str | int | bool | None
Mark = list[int]  # size, times of content and status, number: a list, as JSON gives it back


class Observations:
    """Answers by the kind of question (a key of `_ASK`) and the absolute path, and the marks of those that have one.

    `is_sound` is False where two answers to one question differed.
    """

    __slots__ = ("answers", "is_sound", "marks")

    def __init__(self) -> None:
        self.answers: dict[str, dict[str, Answer]] = {}
        self.marks: dict[str, dict[str, Mark]] = {}
        self.is_sound = True

    def note(self, kind: str, path: str, answer: Answer, mark: Mark | None = None) -> None:
        """Adds an answer."""
        known = self.answers.setdefault(kind, {})
        if path not in known:
            known[path] = answer
            self._mark(kind, path, mark)
        elif known[path] != answer:
            self.is_sound = False
        elif self.marks.get(kind, {}).get(path) != mark:  # touched meanwhile
            self._mark(kind, path, None)

    def add(self, other: Observations) -> None:
        """Adds what another process has observed."""
        self.is_sound = self.is_sound and other.is_sound
        for kind, answers in other.answers.items():
            marks = other.marks.get(kind, {})
            for path, answer in answers.items():
                self.note(kind, path, answer, marks.get(path))

    def hold(self) -> bool:
        """Whether every answer is the same now. Marks are brought up to date where they are."""
        renewed: list[tuple[str, str, Mark | None]] = []
        if any(True for _ in self._differing(renewed)):
            return False
        for kind, path, mark in renewed:
            self._mark(kind, path, mark)
        return True

    def differing(self) -> set[tuple[str, str]]:
        """The questions, by kind and path, that have another answer now."""
        return set(self._differing([]))

    def _differing(self, renewed: list[tuple[str, str, Mark | None]]) -> Iterator[tuple[str, str]]:
        now = time.time_ns()
        statuses: dict[str, os.stat_result | None] = {}
        for kind, answers in self.answers.items():
            if kind not in _BY_STATUS:
                yield from ((kind, path) for path, answer in answers.items() if ask(kind, path) != answer)
                continue
            marks = self.marks.get(kind, {})
            for path, answer in answers.items():
                if path in statuses:
                    status = statuses[path]
                else:
                    status = statuses[path] = _status(path)
                if kind == "kind":
                    if _kind_of(status) != answer:
                        yield kind, path
                    continue
                mark = marks.get(path)
                if mark is not None and status is not None and mark == _signature(status):
                    continue
                if ask(kind, path) != answer:
                    yield kind, path
                else:
                    renewed.append((kind, path, _mark(status, now, str(answer))))

    def without(self, questions: Set[tuple[str, str]]) -> Observations:
        """The others."""
        found = Observations()
        for kind, answers in self.answers.items():
            marks = self.marks.get(kind, {})
            for path, answer in answers.items():
                if (kind, path) not in questions:
                    found.note(kind, path, answer, marks.get(path))
        return found

    def fill(self, other: Observations) -> None:
        """Adds what has not been asked here."""
        for kind, answers in other.answers.items():
            marks, known = other.marks.get(kind, {}), self.answers.get(kind, {})
            for path, answer in answers.items():
                if path not in known:
                    self.note(kind, path, answer, marks.get(path))
                elif known[path] != answer:
                    self.is_sound = False

    def _mark(self, kind: str, path: str, mark: Mark | None) -> None:
        marks = self.marks.setdefault(kind, {})
        if mark is None:
            marks.pop(path, None)
        else:
            marks[path] = mark


_recorder: Observations | None = None


@contextmanager
def observed() -> Iterator[Observations]:
    """What is asked within. Not for several threads."""
    global _recorder
    before, _recorder = _recorder, Observations()
    try:
        yield _recorder
    finally:
        _recorder = before


def observer() -> Observations | None:
    """Who takes notes, if anybody does."""
    return _recorder


# ---------------------------------------------------------------------------------------------------- questions


def exists(path: str) -> bool:
    """As `os.path.exists`."""
    return _kind(path) is not None


def is_folder(path: str) -> bool:
    """As `os.path.isdir`."""
    return _kind(path) == "folder"


def is_regular(path: str) -> bool:
    """True for a regular file, or a link to one."""
    return isinstance(_kind(path), int)


def size(path: str) -> int | None:
    """The bytes of a regular file; None for anything else, such as a pipe, which a read would wait for."""
    found = _kind(path)
    return found if isinstance(found, int) else None


def lexists(path: str) -> bool:
    """As `os.path.lexists`."""
    return bool(_asked("entry", path))


def real(path: str) -> str:
    """As `os.path.realpath`; what is no link is not looked up."""
    return str(_asked("real", path))


def entries(path: str) -> list[os.DirEntry[str]]:
    """What a folder holds, in no order; raises `OSError`."""
    if _recorder is None:
        with os.scandir(path) as found:
            return list(found)
    return _listed("folder", path)


def packages(path: str) -> list[str]:
    """The paths of the installed packages in a folder of `sys.path`; raises `OSError`."""
    found = entries(path) if _recorder is None else _listed("packages", path)
    return [entry.path for entry in found if entry.name.endswith(PACKAGES)]


def _listed(kind: str, path: str) -> list[os.DirEntry[str]]:
    assert _recorder is not None
    now, status, place = time.time_ns(), _status(path), absolute(path)
    try:
        with os.scandir(path) as items:
            found = list(items)
    except OSError as error:
        _note(kind, place, _failed(error))
        raise
    answer = _digest_of(kind, found)
    _note(kind, place, answer, _mark(status, now, answer))
    return found


def note_bytes(path: str, status: os.stat_result, raw: bytes) -> None:
    """Notes what was read of a file; `status` is that of the open file before the first byte was read."""
    if _recorder is not None:
        answer = digest(raw)
        _note("bytes", absolute(path), answer, _mark(status, time.time_ns(), answer))


def note_failure(path: str, most: int, error: OSError) -> None:
    """Notes that a file could not be read with a limit of bytes."""
    if _recorder is not None:
        _note(f"bytes {most}", absolute(path), _failed(error))


def note_pieces(path: str) -> None:
    """Notes that a file was read that is too large to be read again: it counts as changed unless it is old, and has the same time."""
    if _recorder is not None:
        _note("pieces", absolute(path), "", _mark(_status(path), time.time_ns(), ""))


def digest(raw: bytes) -> str:
    """What bytes are known by."""
    import hashlib

    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def _note(kind: str, path: str, answer: Answer, mark: Mark | None = None) -> None:
    """Notes an answer for the run, and for what is being worked out."""
    assert _recorder is not None
    _recorder.note(kind, path, answer, mark)
    grounds.note(("disk", kind, path), answer)


# ---------------------------------------------------------------------------------------------------- answers


def _asked(kind: str, path: str) -> Answer:
    answer = _ASK[kind](path)
    if _recorder is not None:
        _note(kind, absolute(path), answer)
    return answer


def _kind(path: str) -> Answer:
    return _asked("kind", path)


def ask(kind: str, path: str) -> Answer:
    """The answer to a question, as it is noted; raises `KeyError` for a kind that there is not."""
    if kind.startswith("bytes "):
        return _bytes(path, int(kind[6:]))
    return _ASK[kind](path)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _signature(status: os.stat_result) -> Mark:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _mark(status: os.stat_result | None, now: int, answer: str) -> Mark | None:
    """The mark of what has not changed for a while; None for what is young. A folder's time says nothing of where the links in it lead."""
    if status is None or answer.endswith(_WITH_LINKS):
        return None
    is_old = max(status.st_mtime_ns, status.st_ctime_ns) + _YOUNG < now
    return _signature(status) if is_old else None


def _kind_of(status: os.stat_result | None) -> Answer:
    """The size of a regular file, what else is there, None where nothing is."""
    if status is None:
        return None
    if stat.S_ISREG(status.st_mode):
        return status.st_size
    return "folder" if stat.S_ISDIR(status.st_mode) else "other"


def _real(path: str) -> str:
    return os.path.realpath(path) if os.path.islink(path) else os.path.abspath(path)


def _bytes(path: str, most: int = _MOST) -> str:
    from torchdevlint.source.reading import read_bytes

    try:
        return digest(read_bytes(path, most))
    except (OSError, ValueError) as error:
        return _failed(error)


def _listing(kind: str) -> Callable[[str], Answer]:
    def ask(path: str) -> Answer:
        try:
            with os.scandir(path) as found:
                return _digest_of(kind, list(found))
        except OSError as error:
            return _failed(error)

    return ask


def _digest_of(kind: str, found: list[os.DirEntry[str]]) -> str:
    """The names in a folder and what they are, links by where they lead."""
    names = sorted(
        f"{_letter(entry)}{entry.name}"
        for entry in found
        if (entry.name.endswith(PACKAGES) if kind == "packages" else entry.name not in _UNSEEN)
    )
    has_links = any(name[0] in _LINKS for name in names)
    return digest("\0".join(names).encode("utf-8", "surrogateescape")) + _WITH_LINKS * has_links


def _letter(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_symlink():
            return "F" if entry.is_file() else "D" if entry.is_dir() else "L"
        return "d" if entry.is_dir(follow_symlinks=False) else "f" if entry.is_file() else "o"
    except OSError:
        return "?"


def _failed(error: OSError | ValueError) -> str:
    return f"error {getattr(error, 'errno', None)}"


def absolute(path: str) -> str:
    """How a path is noted."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH117


_ASK: dict[str, Callable[[str], Answer]] = {
    "kind": lambda path: _kind_of(_status(path)),
    "entry": os.path.lexists,
    "real": _real,
    "bytes": _bytes,
    "pieces": lambda path: None,
    "folder": _listing("folder"),
    "packages": _listing("packages"),
}
_BY_STATUS = frozenset(("kind", "bytes", "pieces", "folder", "packages"))
