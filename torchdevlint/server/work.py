"""What is asked of the examining process, and what it answers: plain data on both sides."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from torchdevlint.findings import Finding, Outcome
from torchdevlint.settings import Resolver, Selection, Settings, SettingsError, from_table

if TYPE_CHECKING:
    from torchdevlint.infer.document import Document

_MOST_DOCUMENTS = 3  # of which what is inferred is kept, with what that needs of their projects
_DOCUMENTS: dict[str, Document] = {}

Kind = Literal["examine", "fix", "suppress", "forget"]


class Buffer(NamedTuple):
    """An open document. `cells` are the texts of a notebook's cells, None for those that hold no Python; then `text` is empty.

    `on_disk`: the editor shows a file, whose project can be asked, and nothing that has no name yet.
    """

    path: str
    text: str
    cells: tuple[str | None, ...] | None = None
    on_disk: bool = True


class Job(NamedTuple):
    """One question. `options` are the editor's settings, spelled as in pyproject.toml; `silence` the findings for "suppress"."""

    kind: Kind
    buffer: Buffer
    options: Mapping[str, Any]
    silence: Sequence[Finding] = ()


class Insertion(NamedTuple):
    """What a suppression comment adds, at a row and column of the buffer, or of a cell of it."""

    cell: int | None
    row: int
    column: int
    text: str


class Answer(NamedTuple):
    """`findings` are those of the buffer ("examine"); `texts` its new text, or those of all its cells ("fix"); `insertions` for "suppress".

    `problems` are sentences: what could not be done. `refused`: the settings cannot be used.
    """

    findings: tuple[Finding, ...] = ()
    texts: tuple[str | None, ...] | None = None
    insertions: tuple[Insertion, ...] = ()
    problems: tuple[str, ...] = ()
    refused: bool = False


def options_of(table: Mapping[str, Any], root: str) -> tuple[Selection, dict[str, Any]]:
    """The editor's settings as those of a command line; raises `SettingsError` naming the key."""
    settings = from_table(table, root, "the editor's settings")
    given = {
        "exclude": "exclude",
        "extend-exclude": "extend_exclude",
        "level": "level",
        "target-torch": "target_torch",
    }
    overrides = {field: getattr(settings, field) for key, field in given.items() if key in table}
    if "stubs" in table:
        overrides["stubs"] = tuple(os.path.join(root, path) for path in table["stubs"])  # noqa: PTH118
    if "python" in table:
        overrides["python"] = os.path.join(root, table["python"])  # noqa: PTH118
    if settings.per_file_ignores:
        raise SettingsError("the editor's settings: per-file-ignores belongs in pyproject.toml")
    return settings.selections[0], overrides


def do(job: Job) -> Answer:
    """Answers a question. Never raises for what a buffer or a settings file holds. "forget": the other files of projects have changed."""
    if job.kind == "forget":
        from torchdevlint.workspace.memory import forget_projects

        forget_projects()
        return Answer()
    try:
        settings = _settings(job)
    except SettingsError as error:
        return Answer(problems=(str(error),), refused=True)
    if settings is None:
        return Answer()
    if job.kind == "suppress":
        return Answer(insertions=tuple(_insertions(job)))
    from torchdevlint.rules import registry

    outcome = _outcome(job, settings)
    problems = (*registry.failures(), *outcome.problems)
    if job.kind == "examine":
        return Answer(outcome.findings, problems=problems)
    return Answer(texts=_texts(job.buffer, outcome), problems=problems)


def _settings(job: Job) -> Settings | None:
    """The settings of the buffer, read anew each time; None where it is excluded."""
    from torchdevlint.workspace.runner import is_excluded

    selection, overrides = options_of({k: v for k, v in job.options.items() if k != "config"}, os.getcwd())  # noqa: PTH109
    resolver = Resolver(selection, overrides, config=job.options.get("config"))
    settings = resolver.for_file(job.buffer.path)
    if is_excluded(job.buffer.path, resolver):
        return None
    return settings if job.buffer.on_disk else settings._replace(project=False)


def _outcome(job: Job, settings: Settings) -> Outcome:
    """What the linter says of the buffer, in its place of the file."""
    from torchdevlint.linter import Repair, lint_source
    from torchdevlint.source.deadline import OutOfTime, limited
    from torchdevlint.source.source import SourceError
    from torchdevlint.workspace.discovery import Target
    from torchdevlint.workspace.runner import is_candidate

    buffer = job.buffer
    raw = _stored(buffer)
    if not is_candidate(raw, Target(buffer.path, settings)):
        return Outcome(buffer.path)
    try:
        with limited():
            if job.kind == "fix":
                return lint_source(_source(buffer, raw), settings, Repair.SAFE)
            return lint_source(_source(buffer, raw), settings, document=_document(buffer.path))
    except OutOfTime as error:
        return Outcome(buffer.path, problems=(f"{buffer.path}: {error.message}",))
    except SourceError as error:
        return Outcome(buffer.path, problems=(f"{buffer.path}: {error.message}",))
    except Exception as error:
        told = f"{buffer.path}: torchdevlint failed on this file: {type(error).__name__}: {error}"
        return Outcome(buffer.path, problems=(told,))


def _document(path: str) -> Document:
    """What is kept of a document; of those that were examined last."""
    from torchdevlint.infer.document import Document
    from torchdevlint.workspace.memory import forget_answers

    forget_answers()  # some of rules are of Programs, which change from version to version
    found = _DOCUMENTS.pop(path, None) or Document()
    _DOCUMENTS[path] = found
    if len(_DOCUMENTS) > _MOST_DOCUMENTS:
        del _DOCUMENTS[next(iter(_DOCUMENTS))]
    return found


def _stored(buffer: Buffer) -> bytes:
    """The bytes that stand for a buffer: a notebook's as a notebook file."""
    if buffer.cells is None:
        return buffer.text.encode("utf-8", "replace")
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown" if text is None else "code", "source": text or "", "metadata": {}}
        for text in buffer.cells
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _source(buffer: Buffer, raw: bytes) -> Any:
    from torchdevlint.source.notebook import Notebook
    from torchdevlint.source.source import Source, SourceError

    if buffer.cells is not None:
        return Notebook.from_bytes(buffer.path, raw)
    if "\0" in buffer.text:
        raise SourceError("the text holds a NUL byte, which no Python source may")
    return Source(buffer.path, buffer.text)  # a coding line speaks of the file: an editor has decoded it


def _texts(buffer: Buffer, outcome: Outcome) -> tuple[str | None, ...] | None:
    """The repaired texts, None where nothing was repaired."""
    if not outcome.fixed or outcome.stored is None:
        return None
    if buffer.cells is None:
        return (outcome.text,)
    cells = json.loads(outcome.stored)["cells"]
    return tuple(None if old is None else cell["source"] for old, cell in zip(buffer.cells, cells, strict=True))


def _insertions(job: Job) -> list[Insertion]:
    """The suppression comments for the findings, each for itself, as `--add-noqa` writes them."""
    from pathlib import Path

    from torchdevlint.source.positions import LineIndex
    from torchdevlint.workspace.suppress import kind_for, suppression

    kind = kind_for(Path(job.buffer.path).absolute().parent)
    found = []
    for finding in job.silence:
        text = job.buffer.text if job.buffer.cells is None else (job.buffer.cells[(finding.cell or 1) - 1] or "")
        at, addition = suppression(text, replace(finding, cell=None), kind)
        place = LineIndex(text).position(at)
        found.append(Insertion(finding.cell, place.row, place.column, addition))
    return found
