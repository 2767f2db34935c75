"""What a run has found, kept on the disk for the next one.

A run is known by what it was asked (version, folder, paths, settings of the command line) and kept with every question that it asked the disk:
bytes of files, lists of folders, what was looked for and not found. Where each has the same answer, the next run would do the same work for
the same result, so that it is given at once. Where some have another one, the files are examined again whose findings rest on these (see
`answers`), which stands in a file beside the run's. Damage is a miss, and a cache that cannot be written is none.
"""

# Paths are strings here: see discovery.
# ruff: noqa: PTH100, PTH103, PTH105, PTH108, PTH109, PTH114, PTH116, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torchdevlint
from torchdevlint.source import disk, grounds
from torchdevlint.workspace.runner import Run

if TYPE_CHECKING:
    from torchdevlint.findings import Finding, Fix, Outcome, Span
    from torchdevlint.workspace.answers import Answers, Past

NAME = disk.CACHE_FOLDER
TAG = "CACHEDIR.TAG"
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
_TAG_TEXT = f"""{_SIGNATURE}
# This folder holds what torchdevlint remembers of its last runs. It can be removed at any time.
# For information about cache directory tags see https://bford.info/cachedir/
"""
_FORMAT = 2
_ANSWERS = ".answers"  # the end of the name of the file with what each file rests on
_MOST_RUNS = 20
_LARGEST = 200_000_000  # bytes of one run; a larger one is not kept
_INSTALLED = os.path.dirname(os.path.abspath(torchdevlint.__file__))


class Cache:
    """Where a run is kept. `asked` is what its result depends on beside the disk: whatever has a `repr` that tells it apart.

    `by_file`: also what each file rests on is kept.
    """

    def __init__(self, folder: str, asked: Mapping[str, Any], *, by_file: bool = False) -> None:
        about = (
            _FORMAT,
            torchdevlint.__version__,
            _INSTALLED,
            sys.version,
            sys.platform,
            os.getcwd(),
            sys.path,
        )
        key = disk.digest(repr((*about, sorted(asked.items()))).encode("utf-8", "surrogateescape"))
        self.folder, self._by_file = folder, by_file
        self._known: _Kept | None = None
        self._path = os.path.join(folder, torchdevlint.__version__, f"{key}.json")

    def recall(self) -> Run | None:
        """What was found when the same was asked and the disk had the same answers."""
        found = self._known = None if _leads_elsewhere(self._path) else _load(self._path)
        if found is None:
            return None
        seen = found.seen
        try:
            run = _run_of(found.run)
            before = {kind: dict(marks) for kind, marks in seen.marks.items()}
            if not seen.hold():
                return None
        except _NOT_OURS:
            self._known = None
            return None
        if seen.marks != before:
            _store(self, found)
        return run

    def keep(self, work: Callable[[Answers | None], Run]) -> Run:
        """Does the work, and keeps the result where it is complete and nothing was changed. What has changed is worked out, of what is kept."""
        _forget_what_was_read()
        with disk.observed() as own:
            is_ours_alone = _ask_of_ourselves()
        mine = disk.digest(json.dumps(own.answers, sort_keys=True).encode("ascii"))
        with disk.observed() as seen, _noted(is_ours_alone and self._by_file) as notes:
            answers, holding = (None, None) if notes is None else self._answers(mine, notes)
            run = work(answers)
            past = None if answers is None else answers.result(mine)
        seen.add(own)
        if holding is not None:
            seen.fill(holding)
        is_sound = seen.is_sound and (notes is None or notes.is_sound)
        if is_sound and is_ours_alone and not run.problems and not any(map(_is_repaired, run.outcomes)):
            document = _document_of(run)
            seal = disk.digest(json.dumps([seen.answers, document]).encode("ascii"))
            _store(self, _Kept(seen, document, seal), past)
        return run

    def _answers(self, mine: str, notes: grounds.Notes) -> tuple[Answers, disk.Observations | None]:
        """The answers that are kept, as far as they are the same now, and the answers of the disk that are."""
        from torchdevlint.workspace.answers import NO_PAST, Answers

        past = None if self._known is None else _load_answers(self._path, self._known.seal)
        if past is not None and past.own == mine and self._known is not None:
            seen = self._known.seen
            try:
                differing = seen.differing()
                outcomes = {outcome.filename: outcome for outcome in _run_of(self._known.run).outcomes}
                answers = Answers(past, outcomes, seen, differing)
                answers.begin(notes)
            except _NOT_OURS:
                pass
            else:
                return answers, seen.without(differing)
        answers = Answers(NO_PAST, {}, disk.Observations(), frozenset())
        answers.begin(notes)
        return answers, None


# What damage, and a file that a repository brings and that we have not written, may raise.
_NOT_OURS = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError, OverflowError)


@contextlib.contextmanager
def _noted(is_wanted: bool) -> Iterator[grounds.Notes | None]:
    if not is_wanted:
        yield None
        return
    with grounds.noted() as notes:
        yield notes


def _is_repaired(outcome: Outcome) -> bool:
    return bool(outcome.fixed) or outcome.stored is not None


def _forget_what_was_read() -> None:
    """A process that has examined files before would not ask the disk again."""
    if "torchdevlint.program.project" in sys.modules:
        from torchdevlint.workspace.memory import forget_projects

        forget_projects()


def _ask_of_ourselves() -> bool:
    """Reads the program itself, so that another one does not take its results; False where packages of others bring rules, which may read anything."""
    from torchdevlint.rules.plugins import are_offered
    from torchdevlint.source.reading import read_bytes

    folders = [_INSTALLED]
    while folders:
        for entry in disk.entries(folders.pop()):
            if entry.name.endswith((".py", ".stub")):
                read_bytes(entry.path)
            elif entry.is_dir() and entry.name != "__pycache__":
                folders.append(entry.path)
    return not are_offered()


# ---------------------------------------------------------------------------------------------------- files


def is_ours(folder: str) -> bool:
    """Whether a folder is a cache that this program has made."""
    from torchdevlint.source.reading import read_bytes

    try:
        return read_bytes(os.path.join(folder, TAG), len(_TAG_TEXT)) == _TAG_TEXT.encode("ascii")
    except OSError:
        return False


def may_be_used(folder: str) -> bool:
    """Whether a folder is a cache, or can become one: what others have made is left alone, and so is where a link of a repository leads."""
    try:
        return not os.path.lexists(folder) or (
            not os.path.islink(folder) and (is_ours(folder) or not os.listdir(folder))
        )
    except OSError:
        return False


def _leads_elsewhere(path: str) -> bool:
    """Whether the folder of a run is a link, which a repository can bring."""
    return os.path.islink(os.path.dirname(path))


class _Kept(NamedTuple):
    """A run: what it asked the disk, what it has found, and what the file with its answers knows it by."""

    seen: disk.Observations
    run: Any
    seal: Any


def _load(path: str) -> _Kept | None:
    """What is kept in a file; None where it is damaged, or not there."""
    try:
        document = json.loads(_read(path))
        seen = disk.Observations()
        seen.answers, seen.marks = document["answers"], document["marks"]
        return _Kept(seen, document["run"], document["seal"])
    except (OSError, *_NOT_OURS):
        return None


def _read(path: str) -> bytes:
    """What was written with `_sealed`; raises `OSError`, and `ValueError` for what is damaged."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise ValueError(path)
    with open(path, "rb") as file:
        raw = file.read(_LARGEST)
    head, _, body = raw.partition(b"\n")
    if head.decode("ascii") != disk.digest(body):
        raise ValueError(path)
    return body


def _sealed(body: bytes) -> bytes:
    return disk.digest(body).encode("ascii") + b"\n" + body


def _load_answers(path: str, seal: Any) -> Past | None:
    """The answers that belong to a run."""
    from torchdevlint.workspace.answers_json import from_json

    try:
        document = json.loads(_read(path + _ANSWERS))
        return from_json(document) if document["seal"] == seal else None
    except (OSError, *_NOT_OURS):
        return None


def _store(cache: Cache, kept: _Kept, past: Past | None = None) -> None:
    """Keeps a run, if that can be done. Another run of the same may do so at the same time: the last one stays."""
    told = {"answers": kept.seen.answers, "marks": kept.seen.marks, "run": kept.run, "seal": kept.seal}
    body = json.dumps(told, separators=(",", ":")).encode("ascii")
    if len(body) > _LARGEST:
        return
    with contextlib.suppress(OSError, ValueError):
        if _leads_elsewhere(cache._path):
            return
        _make(cache.folder)
        os.makedirs(os.path.dirname(cache._path), exist_ok=True)
        if past is not None:
            from torchdevlint.workspace.answers_json import to_json

            document = {"seal": kept.seal, **to_json(past)}
            behind = json.dumps(document, separators=(",", ":")).encode("ascii")
            if len(behind) <= _LARGEST:
                _write(cache._path + _ANSWERS, _sealed(behind))
        _write(cache._path, _sealed(body))
        _remove_the_oldest(cache)


def _make(folder: str) -> None:
    """The folder with what tells others to leave it alone. Raises `OSError` for one that is not ours."""
    if not may_be_used(folder):
        raise FileExistsError(folder)
    os.makedirs(folder, exist_ok=True)
    for name, text in ((TAG, _TAG_TEXT), (".gitignore", "# Written by torchdevlint.\n*\n")):
        path = os.path.join(folder, name)
        if not os.path.lexists(path):
            _write(path, text.encode("ascii"))


def _write(path: str, content: bytes) -> None:
    import tempfile

    descriptor, name = tempfile.mkstemp(prefix=".torchdevlint-", suffix=".tmp", dir=os.path.dirname(path))
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _remove_the_oldest(cache: Cache) -> None:
    """Keeps as many runs as are useful, those of this version first."""
    present = os.path.dirname(cache._path)
    kept = sorted(
        _runs_in(cache.folder), key=lambda path: (os.path.dirname(path) == present, os.stat(path).st_mtime_ns)
    )
    for path in kept[:-_MOST_RUNS]:
        os.unlink(path)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + _ANSWERS)


def _runs_in(folder: str) -> Iterator[str]:
    """The files of runs in a cache, and what an interrupted run has left."""
    for version in os.scandir(folder):
        if version.is_dir(follow_symlinks=False):
            for entry in os.scandir(version.path):
                if entry.name.endswith((".json", ".tmp")) and entry.is_file(follow_symlinks=False):
                    yield entry.path


# ---------------------------------------------------------------------------------------------------- as JSON


def _document_of(run: Run) -> dict[str, Any]:
    return {
        "notes": run.notes,
        "files": run.files,
        "checked": run.checked,
        "outcomes": [
            _outcome_to(outcome) for outcome in run.outcomes if outcome.findings or outcome.notes or outcome.hides_notes
        ],
    }


def _run_of(document: Any) -> Run:
    """The run; raises `KeyError`, `TypeError` or `ValueError` for what `_document_of` has not made."""
    run = Run()
    run.notes, run.files, run.checked = document["notes"], document["files"], document["checked"]
    _want(list, run.notes, run.checked)
    _want(str, *run.notes, *run.checked)
    _want(int, run.files)
    run.outcomes = [_outcome_from(item) for item in document["outcomes"]]
    return run


def _want(kind: type, *values: object) -> None:
    if not all(type(value) is kind for value in values):
        raise TypeError(f"{kind.__name__} is wanted")


def _outcome_to(outcome: Outcome) -> list[Any]:
    """What a report wants of an outcome that changes nothing."""
    cells = list(outcome.cells.items())
    findings = [_finding_to(one) for one in outcome.findings]
    return [outcome.filename, outcome.text, outcome.notes, cells, findings, outcome.hides_notes]


def _outcome_from(item: Any) -> Outcome:
    from torchdevlint.findings import Outcome

    filename, text, notes, cells, findings, hides_notes = item
    _want(str, filename, text, *notes)
    _want(bool, hides_notes)
    _want(int, *(number for cell in cells for number in cell))
    return Outcome(
        filename,
        tuple(_finding_from(one) for one in findings),
        text=text,
        notes=tuple(notes),
        cells=dict(cells),
        hides_notes=hides_notes,
    )


def _finding_to(finding: Finding) -> list[Any]:
    return [
        finding.code,
        finding.name,
        finding.severity.value,
        finding.message,
        finding.filename,
        _span_to(finding.span),
        finding.noqa_row,
        [[other.filename, _span_to(other.span), other.message, other.cell] for other in finding.related],
        None if finding.fix is None else _fix_to(finding.fix),
        finding.cell,
        finding.detail,
    ]


def _finding_from(item: Any) -> Finding:
    from torchdevlint.findings import Finding, Related, Severity

    code, name, severity, message, filename, span, noqa_row, related, fix, cell, detail = item
    _want(str, code, name, message, filename, "" if detail is None else detail)
    _want(int, noqa_row, 0 if cell is None else cell)
    for where, _, told, number in related:
        _want(str, where, told)
        _want(int, 0 if number is None else number)
    return Finding(
        code,
        name,
        Severity(severity),
        message,
        filename,
        _span_from(span),
        noqa_row,
        tuple(Related(where, _span_from(place), told, number) for where, place, told, number in related),
        None if fix is None else _fix_from(fix),
        cell,
        detail,
    )


def _fix_to(fix: Fix) -> list[Any]:
    edits = [[edit.start, edit.end, edit.content, _span_to(edit.span), edit.cell] for edit in fix.edits]
    return [fix.applicability.value, fix.message, edits]


def _fix_from(item: Any) -> Fix:
    from torchdevlint.findings import Applicability, Edit, Fix

    applicability, message, edits = item
    _want(str, message, *(edit[2] for edit in edits))
    _want(int, *(number for edit in edits for number in edit[:2]), *(edit[4] for edit in edits if edit[4] is not None))
    return Fix(
        Applicability(applicability),
        message,
        tuple(Edit(start, end, content, _span_from(span), cell) for start, end, content, span, cell in edits),
    )


def _span_to(span: Span) -> list[int]:
    return [span.start.row, span.start.column, span.end.row, span.end.column]


def _span_from(item: Any) -> Span:
    from torchdevlint.findings import Position, Span

    row, column, end_row, end_column = item
    _want(int, *item)
    return Span(Position(row, column), Position(end_row, end_column))
