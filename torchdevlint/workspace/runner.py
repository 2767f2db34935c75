"""A whole run: discover, sieve, lint (on several processes when it pays), write."""

# Paths are strings here: see discovery.

from __future__ import annotations

import errno
import gc
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from torchdevlint.settings import UNUSED_SUPPRESSION, Resolver
from torchdevlint.source import disk, grounds
from torchdevlint.source.reading import pieces_of, read_bytes
from torchdevlint.source.sieve import may_have_findings, may_have_suppressions
from torchdevlint.workspace.discovery import Discovery, Target

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path

    from torchdevlint.findings import Outcome
    from torchdevlint.linter import Repair
    from torchdevlint.workspace.answers import Answers

# Below this many bytes one process has the answer before others have started.
PARALLEL_BYTES = 60_000

# So many objects, about 100 MB, may be left by files before a process looks which of them are garbage, for which it looks at all that it has.
MOST_UNCOLLECTED = 1_000_000
_MOST_YOUNG = 7

Progress = Callable[[int, int], None]
_Result = TypeVar("_Result")


class Run:
    """What came out of all files. `outcomes` are those with something to say, in the order of discovery; `checked` are all names.

    `problems` and `notes` are sentences: what could not be done, and what the user may not expect.
    """

    def __init__(self, problems: Iterable[str] = ()) -> None:
        self.outcomes: list[Outcome] = []
        self.problems = list(problems)
        self.notes: list[str] = []
        self.files = 0
        self.checked: list[str] = []


class Job(NamedTuple):
    """One file for a worker."""

    target: Target
    repair: str


def check(
    paths: Sequence[str],
    resolver: Resolver,
    *,
    repair: str = "NONE",
    write: bool = False,
    processes: int | None = None,
    progress: Progress | None = None,
    inspect: Callable[[Sequence[str]], None] | None = None,
    executor: Executor | None = None,
    answers: Answers | None = None,
) -> Run:
    """Lints files and folders. `repair` is the name of a `linter.Repair`; `write` stores what was repaired.

    `inspect` is called with the names of the files before the first is read. `executor` examines them instead of processes of our own; its processes
    must see the same files. `answers` are those of an earlier run, for what need not be examined again, and get those of this one.

    Every file that can be checked is checked: what could not be read, parsed or written is told in `problems`.
    """
    run = Run()
    targets = list(Discovery(resolver, run.problems, run.notes).targets(paths))
    if not targets and not run.problems and any(map(os.path.isdir, paths)):
        run.notes.append(
            f"{', '.join(paths)}: no Python files and notebooks were found that are not excluded or ignored"
        )
    run.checked = [target.path for target in targets]
    if inspect is not None:
        inspect(run.checked)
    if executor is not None:
        run.problems += _failures_of_plugins()
        _check_elsewhere(targets, run, resolver, repair, folders_of(paths) if write else None, executor, progress)
        return run
    chosen = list(candidates(targets, run, answers))
    if chosen:
        run.problems += _failures_of_plugins()
        jobs = [Job(target, repair) for target, _ in chosen]
        within = folders_of(paths) if write else frozenset[Any]()
        with closing(_outcomes(jobs, [size for _, size in chosen], processes or cpus(), answers)) as outcomes:
            for done, outcome in enumerate(outcomes, start=1):
                if write and outcome.stored is not None:
                    outcome = _store(outcome, resolver, run, within)
                run.problems += outcome.problems
                run.outcomes.append(outcome)
                if progress is not None:
                    progress(done, len(jobs))
    order = {target.path: index for index, target in enumerate(targets)}
    run.outcomes.sort(key=lambda outcome: order[outcome.filename])
    return run


def _failures_of_plugins() -> tuple[str, ...]:
    from torchdevlint.rules import registry

    return registry.failures()


def _check_elsewhere(
    targets: Sequence[Target],
    run: Run,
    resolver: Resolver,
    repair: str,
    within: Set[Path] | None,
    executor: Executor,
    progress: Progress | None,
) -> None:
    """The same on an executor; what was repaired is written here."""
    from torchdevlint.workspace import remote

    done = 0
    problems: list[str] = []
    with closing(remote.run(targets, repair, executor)) as answers:
        for files, answer in answers:
            problems += answer.problems
            for outcome in answer.outcomes:
                if within is not None and outcome.stored is not None:
                    outcome = _store(outcome, resolver, run, within)
                problems += outcome.problems
                run.outcomes.append(outcome)
            done += files
            if progress is not None:
                progress(done, len(targets))
    run.problems += sorted(problems)  # they came in any order
    run.files = len(targets)
    order = {target.path: index for index, target in enumerate(targets)}
    run.outcomes.sort(key=lambda outcome: order[outcome.filename])


def folders_of(paths: Iterable[str]) -> frozenset[Path]:
    """The folders in which a run over these paths may write, without links: those that are given, and those of files that are given."""
    from pathlib import Path

    given = (Path(path) for path in paths)
    return frozenset(Path(os.path.realpath(path if path.is_dir() else path.parent)) for path in given)


def cpus() -> int:
    """The processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def candidates(targets: Iterable[Target], run: Run, answers: Answers | None = None) -> Iterator[tuple[Target, int]]:
    """The targets that pass the byte test, with their sizes, but for those of which the outcome is known."""
    for target in targets:
        run.files += 1
        if answers is not None:
            is_known, outcome = answers.taken(target)
            if outcome is not None:
                run.outcomes.append(outcome)
            if is_known:
                continue
        try:
            raw = read_bytes(target.path)
        except OSError as error:
            if error.errno != errno.EFBIG or any(map(may_have_findings, pieces_of(target.path))):
                run.problems.append(f"{target.path}: {error.strerror}")
            continue
        if is_candidate(raw, target):
            yield target, len(raw)
        elif answers is not None:
            answers.pass_over(target)


def is_candidate(raw: bytes, target: Target) -> bool:
    """Whether a file must be parsed at all."""
    return (
        not target.settings.sieve
        or may_have_findings(raw)
        or any(library in raw for library in target.settings.libraries())
        or (target.settings.is_enabled(UNUSED_SUPPRESSION, default=False) and may_have_suppressions(raw))
    )


def is_excluded(path: str, resolver: Resolver) -> bool:
    """Whether force-exclude would skip a file of this name."""
    return Discovery(resolver).is_excluded_argument(path, resolver.for_file(path))


def _outcomes(
    jobs: list[Job], sizes: list[int], processes: int, answers: Answers | None
) -> Generator[Outcome, None, None]:
    """What the linter says, in any order: the largest files first, so that no process ends long after the others."""
    from torchdevlint.rules.registry import all_rules

    all_rules()
    jobs = [job for _, _, job in sorted(zip(sizes, range(len(jobs)), jobs, strict=True), reverse=True)]
    from torchdevlint import linter  # noqa: F401  (imported before the fork, so that the workers share it)

    processes = min(processes, len(jobs)) if sum(sizes) >= PARALLEL_BYTES else 1
    observer = disk.observer()
    if observer is None:
        yield from _on_processes(jobs, lint_job, _died, processes)
        return
    targets = {job.target.path: job.target for job in jobs}
    grounds.inherit()
    for outcome, seen, told in _on_processes(jobs, _observed_job, _died_unseen, processes):
        observer.add(seen)
        if answers is not None and told is not None:
            answers.keep(targets[outcome.filename], told)
        yield outcome


def _on_processes(
    jobs: Sequence[Job], work: Callable[[Job], _Result], died: Callable[[Job, str], _Result], processes: int
) -> Iterator[_Result]:
    from torchdevlint.workspace import pool

    # Also one process is one of its own where that costs nothing: a file on which it dies costs neither the run nor other findings.
    if processes < 2 and not pool.can_fork():
        return map(work, jobs)
    return pool.run(jobs, work, died, processes)


_Observed = tuple["Outcome", disk.Observations, grounds.Told | None]


def _observed_job(job: Job) -> _Observed:
    """The same, with what the process has asked the disk for it, and what the outcome rests on."""
    if not grounds.are_noted():
        grounds.start()
    with disk.observed() as seen, grounds.apart() as ground:
        outcome = lint_job(job)
    return outcome, seen, grounds.told(ground)


def _died_unseen(job: Job, how: str) -> _Observed:
    return _died(job, how), disk.Observations(), None


def lint_text(target: Target, raw: bytes, repair: str) -> Outcome:
    """Lints bytes that stand for a file."""
    from torchdevlint.linter import Repair, lint
    from torchdevlint.workspace import pool

    def work(job: Job) -> Outcome:
        return lint(job.target.path, raw, job.target.settings, Repair[job.repair])

    job = Job(target, repair)
    if not pool.can_fork():
        return work(job)
    [outcome] = pool.run([job], work, _died, 1)
    return outcome


def lint_job(job: Job) -> Outcome:
    """Lints one file of the disk."""
    from torchdevlint.linter import Repair

    with _garbage_collection_paused():
        return _lint(job.target, Repair[job.repair])


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """While a tree grows there is no garbage: looking for it costs a tenth of the time. What the file leaves is found behind it.

    A process that does not look for garbage at all does so here once much of it may have gathered.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
        elif gc.get_count()[0] > MOST_UNCOLLECTED:
            # What outlived one look, as all that is kept of a project does, is looked through again each eighth time.
            gc.collect(2 if gc.get_count()[2] >= _MOST_YOUNG else 1)


def _lint(target: Target, repair: Repair) -> Outcome:
    from torchdevlint.findings import Outcome
    from torchdevlint.linter import lint

    try:
        raw = read_bytes(target.path)
    except OSError as error:
        return Outcome(target.path, problems=(f"{target.path}: {error.strerror}",))
    return lint(target.path, raw, target.settings, repair)


def _died(job: Job, how: str) -> Outcome:
    from torchdevlint.findings import Outcome

    return Outcome(job.target.path, problems=(f"{job.target.path}: the process that checked this file {how}",))


def _store(outcome: Outcome, resolver: Resolver, run: Run, within: Set[Path]) -> Outcome:
    """Writes a repaired file. Where that fails, the file is as it was and its findings stand."""
    from dataclasses import replace

    from torchdevlint.linter import Repair
    from torchdevlint.workspace.writer import told, write_atomically

    assert outcome.stored is not None
    try:
        write_atomically(outcome.filename, outcome.stored, expected=outcome.read, within=within)
    except OSError as error:
        run.problems.append(f"{outcome.filename}: {told(error)}")
        before = _lint(Target(outcome.filename, resolver.for_file(outcome.filename)), Repair.NONE)
        return replace(before, problems=())
    return outcome
