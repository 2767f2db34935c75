"""A run on an executor: any `concurrent.futures.Executor`, whose processes may be on other machines that see the same files.

The unit of work is a batch of files; what comes back is plain data, merged in any order. Files go by their absolute names, as nobody
knows in which folder the other process stands, and come back under the names that the user gave.
"""

# Paths are strings here: see discovery.
# ruff: noqa: PTH100, PTH116

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import replace
from typing import NamedTuple
from uuid import uuid4

from torchdevlint.findings import Finding, Outcome
from torchdevlint.workspace.discovery import Target
from torchdevlint.workspace.memory import forget_many_projects, forget_projects

_MOST_FILES = 50
_MOST_BYTES = 200_000  # of a batch: about two seconds of work
_MOST_WAITING = 1_000  # batches: more are handed out as others come back
_last_run = ""  # the one that this process has examined files of


class Batch(NamedTuple):
    """Files for one call, with absolute names. `run` tells the runs apart: from one to the next, files may change."""

    targets: tuple[Target, ...]
    repair: str
    run: str


class Answer(NamedTuple):
    """What a batch gave: `problems` are sentences, `outcomes` those of the files that were looked at."""

    problems: tuple[str, ...]
    outcomes: tuple[Outcome, ...]


def examine(batch: Batch) -> Answer:
    """What the executor calls: reads the files and lints those that can have a finding."""
    from torchdevlint.workspace.runner import Job, Run, candidates, lint_job

    global _last_run
    if batch.run != _last_run:
        forget_projects()
        _last_run = batch.run
    run = Run()
    chosen = [target for target, _ in candidates(batch.targets, run)]
    outcomes = tuple(lint_job(Job(target, batch.repair)) for target in chosen)
    forget_many_projects()
    return Answer(tuple(run.problems), outcomes)


def run(targets: Sequence[Target], repair: str, executor: Executor) -> Generator[tuple[int, Answer], None, None]:
    """The answers as they come, each with the number of files that it is about. Stops what has not begun when the caller does."""
    names = {os.path.abspath(target.path): target.path for target in targets}
    batches = _batches(targets, repair, uuid4().hex)
    waiting: dict[Future[Answer], Batch] = {}
    try:
        for batch in batches:
            waiting[executor.submit(examine, batch)] = batch
            if len(waiting) >= _MOST_WAITING:
                yield from _done(waiting, names)
        while waiting:
            yield from _done(waiting, names)
    finally:
        for future in waiting:
            future.cancel()


def _batches(targets: Sequence[Target], repair: str, run: str) -> Iterator[Batch]:
    """Neighbours stay together: they are of one project, which the process that gets them reads once."""
    batch: list[Target] = []
    size = 0
    for target in targets:
        path = os.path.abspath(target.path)
        batch.append(target._replace(path=path))
        size += _size(path)
        if len(batch) >= _MOST_FILES or size >= _MOST_BYTES:
            yield Batch(tuple(batch), repair, run)
            batch, size = [], 0
    if batch:
        yield Batch(tuple(batch), repair, run)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _done(waiting: dict[Future[Answer], Batch], names: dict[str, str]) -> Iterator[tuple[int, Answer]]:
    """Takes out the batches that have come back, at least one."""
    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
        batch = waiting.pop(future)
        try:
            answer = future.result()
        except (Exception, CancelledError) as error:  # of the executor: a worker that died, a machine that is gone
            told = f"not checked: the executor failed: {type(error).__name__}: {' '.join(str(error).split())}"
            answer = Answer(tuple(f"{target.path}: {told}" for target in batch.targets), ())
        yield len(batch.targets), _named(answer, batch, names)


def _named(answer: Answer, batch: Batch, names: dict[str, str]) -> Answer:
    """The answer under the names that the user gave."""
    changed = {target.path: names[target.path] for target in batch.targets if names[target.path] != target.path}
    if not changed:
        return answer
    outcomes = (
        _renamed(outcome, changed[outcome.filename], changed) if outcome.filename in changed else outcome
        for outcome in answer.outcomes
    )
    return Answer(tuple(_spelled(text, changed) for text in answer.problems), tuple(outcomes))


def _renamed(outcome: Outcome, name: str, names: dict[str, str]) -> Outcome:
    def finding(one: Finding) -> Finding:
        related = tuple(replace(other, filename=names.get(other.filename, other.filename)) for other in one.related)
        return replace(one, filename=name, related=related)

    return replace(
        outcome,
        filename=name,
        findings=tuple(map(finding, outcome.findings)),
        fixed=tuple(map(finding, outcome.fixed)),
        problems=tuple(_spelled(text, names) for text in outcome.problems),
        notes=tuple(_spelled(text, names) for text in outcome.notes),
    )


def _spelled(sentence: str, names: dict[str, str]) -> str:
    """A sentence that begins with a file's name."""
    path = next((path for path in names if sentence.startswith(f"{path}:")), None)
    return sentence if path is None else names[path] + sentence[len(path) :]
