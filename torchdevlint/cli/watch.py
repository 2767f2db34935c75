"""`torchdevlint check --watch`: the report anew whenever a file has changed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from torchdevlint import cli
from torchdevlint.findings import Outcome
from torchdevlint.settings import Resolver
from torchdevlint.workspace.runner import Run
from torchdevlint.workspace.watch import Seen, Watch

_PAUSE = 0.5  # seconds between two looks
_SHARE = 5  # a look may take so much less time than what is between two of them
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def watch(
    paths: Sequence[str],
    resolver: Callable[[], Resolver],
    check: Callable[[Sequence[str]], Run],
    report: Callable[[Run], int],
) -> int:
    """Checks `paths`, then what changes in them, until Ctrl-C; the exit code. `report` tells of all files each time."""
    watched = Watch(paths, resolver)
    outcomes: dict[str, Outcome] = {}
    problems: dict[str, list[str]] = {}
    try:
        while True:
            begun = time.monotonic()
            seen = watched.look()
            took = time.monotonic() - begun
            if seen.is_news:
                run = check(seen.changed) if seen.changed else Run()
                for path in {*outcomes, *problems} - set(seen.files) | set(seen.changed):
                    outcomes.pop(path, None)
                    problems.pop(path, None)
                outcomes |= {outcome.filename: outcome for outcome in run.outcomes}
                for problem in run.problems:
                    path = next((path for path in seen.changed if problem.startswith(f"{path}:")), "")
                    problems.setdefault(path, []).append(problem)
                told = [*seen.problems, *(problem for of_file in problems.values() for problem in of_file)]
                _report(seen, outcomes, told, report)
                problems.pop("", None)
            time.sleep(max(_PAUSE, _SHARE * took))
    except KeyboardInterrupt:
        return cli.INTERRUPTED


def _report(seen: Seen, outcomes: dict[str, Outcome], problems: list[str], report: Callable[[Run], int]) -> None:
    """One report of all files, on an empty screen where there is one."""
    if sys.stdout.isatty():
        sys.stdout.write(_CLEAR)
    whole = Run(dict.fromkeys(problems))
    whole.notes += seen.notes
    whole.files = len(seen.files)
    whole.outcomes = [outcomes[path] for path in seen.files if path in outcomes]
    report(whole)
    sys.stdout.flush()
    cli.tell(f"watching {whole.files} file{'s'[: whole.files != 1]}; end with Ctrl-C")
