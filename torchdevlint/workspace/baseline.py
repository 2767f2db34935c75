"""`--baseline`: findings that are known are not reported. They are known by file, code and content, so that moved lines change nothing."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from torchdevlint.findings import Finding, Outcome
from torchdevlint.settings import DOES_NOT_PARSE
from torchdevlint.workspace.writer import put_atomically, write_atomically

_MARK = "torchdevlint-baseline"
_VERSION = 1
_LARGEST = 100_000_000  # bytes


class BaselineError(ValueError):
    """A baseline that cannot be used; the message is a sentence with its name."""


class Known(NamedTuple):
    """What a finding is known by: its file, from the folder of the baseline and with `/`, its code, and its line without extra blanks."""

    file: str
    code: str
    content: str


class Baseline(NamedTuple):
    """How often each finding is known. `raw` are the bytes that were read, None where no file is there yet."""

    path: str
    known: Counter[Known]
    raw: bytes | None = None


def read(path: str, *, may_be_new: bool = False) -> Baseline:
    """The baseline in a file; raises `BaselineError`. `may_be_new`: an empty one where there is no such file."""
    try:
        if not os.path.lexists(path) and may_be_new:
            return Baseline(path, Counter())
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise BaselineError(f"{path}: it is no regular file")
        with Path(path).open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror}") from None
    try:
        if len(raw) > _LARGEST:
            raise ValueError(raw[:20])
        known = _parsed(json.loads(raw))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BaselineError(f"{path}: not a baseline that --write-baseline has written") from None
    return Baseline(path, known, raw)


def _parsed(document: Any) -> Counter[Known]:
    if document[_MARK] != _VERSION:
        raise ValueError(document[_MARK])
    known: Counter[Known] = Counter()
    for item in document["findings"]:
        entry, count = Known(item["file"], item["code"], item["content"]), item["count"]
        if not all(isinstance(part, str) for part in entry) or not isinstance(count, int) or count < 1:
            raise ValueError(item)
        known[entry] += count
    return known


def without_known(outcomes: Sequence[Outcome], baseline: Baseline) -> tuple[list[Outcome], int]:
    """The outcomes without the findings that are known, and how many those are. Of equal findings so many stay as are new."""
    folder = _folder(baseline.path)
    left, hidden = baseline.known.copy(), 0
    result = []
    for outcome in outcomes:
        new = []
        for finding, known in _entries(outcome, folder):
            if known is not None and left[known] > 0:
                left[known] -= 1
                hidden += 1
            else:
                new.append(finding)
        result.append(outcome if len(new) == len(outcome.findings) else replace(outcome, findings=tuple(new)))
    return result, hidden


def write(baseline: Baseline, outcomes: Sequence[Outcome], checked: Sequence[str]) -> int:
    """Stores the findings of the files that were checked, and what is known of others that are still there; returns how many.

    Raises `OSError`, `ChangedMeanwhile` where the file does not hold what was read.
    """
    folder = _folder(baseline.path)
    names = {_name(path, folder) for path in checked}
    known = Counter(
        {
            entry: count
            for entry, count in baseline.known.items()
            if entry.file not in names and (Path(folder) / entry.file).is_file()
        }
    )
    known.update(entry for outcome in outcomes for _, entry in _entries(outcome, folder) if entry is not None)
    items = [json.dumps({**entry._asdict(), "count": count}) for entry, count in sorted(known.items())]
    body = "".join(f"\n    {item}{',' * (index < len(items) - 1)}" for index, item in enumerate(items))
    content = f'{{\n  "{_MARK}": {_VERSION},\n  "findings": [{body}\n  ]\n}}\n'.encode("ascii")
    if baseline.raw is None:
        put_atomically(baseline.path, content, new=True)
    else:
        write_atomically(baseline.path, content, expected=baseline.raw)
    return known.total()


def _entries(outcome: Outcome, folder: str) -> Iterator[tuple[Finding, Known | None]]:
    """The findings with what they are known by; None for a file that does not parse, which no baseline hides."""
    if not outcome.findings:
        return
    name, rows = _name(outcome.filename, folder), re.split("\r\n|\r|\n", outcome.text)
    for finding in outcome.findings:
        row = outcome.row(finding) - 1
        content = " ".join(rows[row].split()) if row < len(rows) else ""
        yield finding, None if finding.code == DOES_NOT_PARSE else Known(name, finding.code, content)


def _folder(path: str) -> str:
    return os.path.realpath(Path(path).absolute().parent)


def _name(path: str, folder: str) -> str:
    """A path from the baseline's folder; links of folders do not matter, a link to the file itself keeps its name."""
    absolute = Path(path).absolute()
    real = Path(os.path.realpath(absolute.parent)) / absolute.name
    try:
        return Path(os.path.relpath(real, folder)).as_posix()
    except ValueError:  # another drive
        return real.as_posix()
