"""The functions of the public API; import them from `torchdevlint`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from torchdevlint.findings import Finding
from torchdevlint.settings import Resolver, Selection, Settings, check_codes, parse_level

if TYPE_CHECKING:
    from concurrent.futures import Executor


class CheckError(Exception):
    """Something could not be checked. `problems` are sentences; `findings` is what was found in spite of it."""

    def __init__(self, problems: Sequence[str], findings: Sequence[Finding]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)
        self.findings = tuple(findings)


def _selection(select: Iterable[str] | None, extend_select: Iterable[str], ignore: Iterable[str]) -> Selection:
    return Selection(
        None if select is None else check_codes(list(select)),
        check_codes(list(extend_select)),
        check_codes(list(ignore)),
    )


def check_source(
    text: str,
    filename: str = "<text>",
    *,
    select: Iterable[str] | None = None,
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    level: str = "warning",
    target_torch: tuple[int, int] | None = None,
    sieve: bool = True,
) -> tuple[Finding, ...]:
    """The findings of a text, sorted by place. No settings file is read; the arguments are those of the command line.

    `sieve=False` reads the text in full; the findings are the same.
    Raises `ValueError` for a code or level that does not exist and `CheckError` where a rule crashed or the time was over. A text that does not parse
    gives TDL000.
    """
    from torchdevlint.linter import lint_source
    from torchdevlint.rules import registry
    from torchdevlint.source.deadline import OutOfTime
    from torchdevlint.source.source import Source

    settings = _settings(select, extend_select, ignore, level, target_torch, sieve)
    try:
        outcome = lint_source(Source(filename, text), settings)
    except OutOfTime as error:
        raise CheckError((f"{filename}: {error.message}",), ()) from None
    problems = (*registry.failures(), *outcome.problems)
    if problems:
        raise CheckError(problems, outcome.findings)
    return outcome.findings


def fix_source(
    text: str,
    filename: str = "<text>",
    *,
    unsafe: bool = False,
    select: Iterable[str] | None = None,
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    level: str = "warning",
    target_torch: tuple[int, int] | None = None,
    sieve: bool = True,
) -> tuple[str, tuple[Finding, ...]]:
    """The text with the safe fixes applied (`unsafe`: all), and the findings that remain in it. Arguments as in `check_source`."""
    from torchdevlint.linter import Repair, lint_source
    from torchdevlint.rules import registry
    from torchdevlint.source.deadline import OutOfTime, limited
    from torchdevlint.source.source import Source

    settings = _settings(select, extend_select, ignore, level, target_torch, sieve)
    try:
        with limited():
            outcome = lint_source(Source(filename, text), settings, Repair.UNSAFE if unsafe else Repair.SAFE)
    except OutOfTime as error:
        raise CheckError((f"{filename}: {error.message}",), ()) from None
    problems = (*registry.failures(), *outcome.problems)
    if problems:
        raise CheckError(problems, outcome.findings)
    return (outcome.text if outcome.fixed else text), outcome.findings


def _settings(
    select: Iterable[str] | None,
    extend_select: Iterable[str],
    ignore: Iterable[str],
    level: str,
    target_torch: tuple[int, int] | None,
    sieve: bool,
) -> Settings:
    selection = _selection(select, extend_select, ignore)
    return Settings(selections=(selection,), level=parse_level(level), target_torch=target_torch, sieve=sieve)


def check_paths(
    paths: Iterable[str | os.PathLike[str]],
    *,
    select: Iterable[str] | None = None,
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    isolated: bool = False,
    processes: int | None = None,
    sieve: bool = True,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Finding, ...]:
    """The findings of files and folders, with the settings of their pyproject.toml (`isolated`: without; `sieve` as in `check_source`).

    `executor` does the work instead of `processes` of this machine: any `concurrent.futures.Executor` whose workers see the same
    files and have torchdevlint installed, such as `dask.distributed.Client(...).get_executor()`. The findings are the same. `progress(done, total)` is
    called with numbers of files as answers come.

    Raises `CheckError` when something could not be read or checked; it holds the findings of everything else.
    """
    from torchdevlint.workspace import runner

    resolver = Resolver(_selection(select, extend_select, ignore), overrides={"sieve": sieve}, isolated=isolated)
    run = runner.check(
        [os.fspath(path) for path in paths], resolver, processes=processes, executor=executor, progress=progress
    )
    findings = tuple(finding for outcome in run.outcomes for finding in outcome.findings)
    if run.problems:
        raise CheckError(run.problems, findings)
    return findings
