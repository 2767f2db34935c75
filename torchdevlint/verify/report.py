"""What a verification found, for a person: a table, what waits behind one error as one group, and what to do next."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchdevlint.reporting.plain import shown
from torchdevlint.verify.judge import GOOD, Case, Report
from torchdevlint.verify.telling import shorten

_WIDTH = 120
_LONGEST_CELL = 220
_IN_TABLE = GOOD | {"refuted", "fix failed", "regression", "shown"}
_GROUPED = ("not on this machine", "not judged", "not reached", "repaired with another")


@dataclass(frozen=True, slots=True)
class Commands:
    """What the last line may advise: the command as it was given, made longer; `moved` has the options of ours in front of the program
    that stood behind it, "" where none did."""

    write: str
    unsafe: str
    in_place: str
    arguments: str
    written: bool = False
    moved: str = ""


def place_of(case: Case) -> str:
    """Such as `train.py:20:9`."""
    start = case.first.span.start
    return f"{shorten(str(case.path))}:{start.row}:{start.column}"


def rows_of(cases: Sequence[Case]) -> list[tuple[Case, str, str, str]]:
    """The findings with evidence: (finding, before, after, evidence), the confirmed ones first."""
    judged = [case for case in cases if case.verdict in _IN_TABLE or (case.before and case.verdict == "not judged")]
    order = {verdict: number for number, verdict in enumerate(("regression", "fix failed", "refuted"))}
    judged.sort(key=lambda case: order.get(str(case.verdict), 9))
    rows = []
    for case in judged:
        removed = case.before and case.after and case.after != case.before
        error = case.verdict == "confirmed" or (case.verdict == "not judged" and removed)
        after = "the error is gone" if error else case.after
        reason = f": {case.reason}" if case.reason else ""
        rows.append((case, case.before, after, f"{case.verdict}{reason}"))
    return rows


def groups_of(cases: Sequence[Case]) -> list[tuple[str, list[Case]]]:
    """The findings without evidence, those with one reason together: what stops in front of them is told once."""
    told = {id(case) for case, *_ in rows_of(cases)}
    groups: dict[tuple[int, str], list[Case]] = {}
    for case in cases:
        if case.verdict is None or id(case) in told:
            continue
        number = _GROUPED.index(case.verdict) if case.verdict in _GROUPED else len(_GROUPED)
        if case.barrier:
            head = f"wait behind an error that stops the program: {case.barrier}"
            groups.setdefault((len(_GROUPED) + 1, head), []).append(case)
        else:
            groups.setdefault((number, f"{case.verdict}{': ' * bool(case.reason)}{case.reason}"), []).append(case)
    return [(head, found) for (_, head), found in sorted(groups.items(), key=lambda item: item[0])]


def counts_of(cases: Sequence[Case]) -> str:
    """Such as "8 confirmed, 1 not reached"."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[str(case.verdict)] = counts.get(str(case.verdict), 0) + 1
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items(), key=lambda item: -item[1]))


def as_lines(
    name: str, machine: str, version: str, report: Report, commands: Commands, width: int = 0
) -> Iterator[str]:
    """The report for a person; `width` is that of the terminal, 0 for none."""
    rows = rows_of(report.cases)
    if rows and not report.trouble:
        yield from _table(rows, width or _WIDTH)
    for head, cases in groups_of(report.cases) if not report.trouble else ():
        yield shown(f"{len(cases)} {head}")
        for case in cases:
            yield shown(f"    {place_of(case)}: {case.first.code} {case.first.name}")
    for note in report.notes:
        yield shown(f"note: {note}")
    for fault in report.unexplained:
        yield shown(f"the run shows what no finding explains: {fault}")
    if report.trouble:
        yield shown(f"{name} could not be judged: {report.trouble}")
        if report.cases:
            one = len(report.cases) == 1
            yield f"{len(report.cases)} finding{'' if one else 's'} stay{'s' if one else ''} unverified"
    else:
        runs = f"{report.runs} run{'s'[: report.runs != 1]} on {machine}, torch {report.torch or version or 'not imported'}"
        yield shown(f"{counts_of(report.cases)}; {runs}" if report.cases else runs)
        yield shown(
            f"before: {report.baseline}; {_final(report)}" if report.cases else f"the program: {report.baseline}"
        )
    yield shown(f"next: {next_step(report, commands)}")


def _final(report: Report) -> str:
    bridges = sum(case.unsafe and bool(case.after) for case in report.cases)
    also = f" and {bridges} unsafe one{'s'[: bridges != 1]} to get on" if bridges else ""
    return f"with the confirmed fixes{also}: {report.final}"


def next_step(report: Report, commands: Commands) -> str:
    """The one thing to do now."""
    confirmed = sum(case.verdict in GOOD for case in report.cases)
    unsafe = sum(case.unsafe for case in report.cases)
    if report.wanted:
        return f"give the program its arguments: {commands.arguments}"
    if report.refused and commands.moved:
        return f"put the options of torchdevlint in front of the program: {commands.moved}"
    if report.refused:
        return "give the program arguments that it takes, behind `--`; then verify it again"
    if report.in_place:
        return f"run it where its files are: {commands.in_place}"
    if "--timeout" in report.trouble:
        return "give it more time with --timeout, or less to do with arguments of its own"
    if report.trouble:
        return "make the program run by itself, twice with the same ending; then verify it again"
    advice = []
    if confirmed and not commands.written:
        advice.append(f"keep the {confirmed} confirmed fix{'es' if confirmed > 1 else ''}: {commands.write}")
    if unsafe:
        them = "1 finding needs an unsafe fix" if unsafe == 1 else f"{unsafe} findings need unsafe fixes"
        advice.append(f"{them}, which this counts too: {commands.unsafe}")
    if advice:
        return "; ".join(advice)
    if any(case.verdict in ("fix failed", "regression") for case in report.cases):
        return "repair by hand what a fix did not mend; the table says what happened"
    if any(case.barrier for case in report.cases):
        return "repair the error that stops the program by hand, then verify again"
    if any(case.verdict == "refuted" for case in report.cases):
        return "silence what is refuted with `# noqa: CODE` on its line, and please report it"
    if any(case.verdict == "not on this machine" for case in report.cases):
        return "try other machines with --matrix, or name one with --gpus or --build"
    if any(case.verdict == "not reached" for case in report.cases):
        return "verify a program that runs the lines which this one did not reach, such as the tests: torchdevlint verify --pytest"
    return "nothing: commit it" if confirmed else "nothing"


def _table(rows: Sequence[tuple[Case, str, str, str]], width: int) -> Iterator[str]:
    """Four columns, wrapped at words."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_lines=True, pad_edge=False, expand=False, width=max(width, 60))
    for name, ratio in (("finding", 4), ("before", 8), ("after", 4), ("evidence", 8)):
        table.add_column(name, ratio=ratio, overflow="fold")
    for case, *cells in rows:
        first = f"{shown(place_of(case))}\n{case.first.code}"
        table.add_row(Text(first), *(Text(shown(_bearable(cell))) for cell in cells))
    out = io.StringIO()
    Console(file=out, width=max(width, 60), color_system=None, legacy_windows=False).print(table)
    yield from (line.rstrip() for line in out.getvalue().rstrip("\n").splitlines())


_WRAPPER = re.compile(r" \(when checking argument in method \w+\)")


def _bearable(text: str) -> str:
    text = _WRAPPER.sub("", text)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 3] + "..."
