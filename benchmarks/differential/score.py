"""Where the machine and the linter stand to each other, program by program, and what repairs do."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from differential.draw import TABLES, Drawn, side
from differential.judges import Answer, Line, Linter, Machine, Said, Verdict
from differential.programs import Program

NEAR = 3
"""A finding tells a fault within so many lines of where a tensor was made, moved or met."""
SPEAKS_OF_DEVICES = re.compile(r"TDL(?:3|4|5|6|70[1-4])\d*")
"""The rules that say that values on different devices meet, or that a value is where its use does not take it."""
APART = frozenset("TDL503 TDL508 TDL511 TDL521 TDL523 TDL605 TDL606 TDL608 TDL609 TDL610".split())
"""Rules of those groups that speak of portability or style: true of programs that run."""
IGNORED_DEVICE = "TDL517"
DOES_NOTHING = "TDL501"
"""Says that a statement `x.to(device)` has no effect, which it has in no program: one that runs places the tensor elsewhere as well."""
_NAME_THE_DEVICE = ("factory", "inline", "after-make")
"""The ways to place a tensor that use a parameter `device`."""
FIXES = ("safe", "unsafe")

FOUND = "found"
NOTE = "note"
ELSEWHERE = "elsewhere"
MISSED = "missed"
SILENT = "silent"
FALSE_ERROR = "false error"
FALSE_WARNING = "false warning"
FALSE_NOTE = "false note"
DROPPED = "dropped"
CRASH = "crash"


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a kind of repair ("safe", "unsafe") did to a program.

    `outcome`: "good", "wrong" (it broke what ran, or failed otherwise than before), "left" (the fault that its finding told is still there),
    "differs" (it runs and prints something else), "beside" (it repaired something else, and the fault is still there), or "unknown" (a run did not end, or the
    program fails otherwise once its tensor is placed right: the generator's fault).
    """

    fix: str
    outcome: str
    why: str = ""
    codes: tuple[str, ...] = ()
    program: Program | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One program, the two verdicts, and what repairs did."""

    drawn: Drawn
    right: bool
    program: Program
    verdict: Verdict
    answer: Answer
    outcome: str
    repairs: tuple[Repaired, ...] = ()

    @property
    def side(self) -> str:
        return side(self.drawn.spec)


def heard(answer: Answer) -> list[Said]:
    """The findings that speak of devices that differ."""
    return [said for said in answer.findings if SPEAKS_OF_DEVICES.fullmatch(said.code) and said.code not in APART]


def tells(said: Said, story: Iterable[Line]) -> bool:
    """Whether a finding or one of its related places is in the story of a fault."""
    spans = [(said.file, said.first, said.last), *((file, row, row) for file, row in said.related)]
    return any(
        file == name and first - NEAR <= row <= last + NEAR for file, row in story for name, first, last in spans
    )


def outcome_of(verdict: Verdict, answer: Answer, shown: Iterable[str], right: bool = True) -> str:
    """How the linter's answer stands to the machine's verdict. Lines of hidden files are no part of a story.

    In a program that runs and is not `right`, a parameter `device` may be ignored: that is said with good reason.
    In any program that runs, a statement may do nothing.
    """
    if answer.crash:
        return CRASH
    if verdict.kind not in ("ok", "fault"):
        return DROPPED
    findings = heard(answer)
    loud = [said for said in findings if said.level != "info"]
    if verdict.kind == "fault":
        story = _story(verdict, shown)
        if not story:
            return DROPPED
        if any(tells(said, story) for said in loud):
            return FOUND
        if any(tells(said, story) for said in findings):
            return NOTE
        return ELSEWHERE if loud else MISSED
    said_with_reason = {DOES_NOTHING} if right else {DOES_NOTHING, IGNORED_DEVICE}
    findings = [said for said in findings if said.code not in said_with_reason]
    loud = [said for said in findings if said.level != "info"]
    if any(said.level == "error" for said in loud):
        return FALSE_ERROR
    if loud:
        return FALSE_WARNING
    return FALSE_NOTE if findings else SILENT


def _story(verdict: Verdict, shown: Iterable[str]) -> frozenset[Line]:
    files = set(shown)
    return frozenset(line for line in verdict.story | verdict.calls if line[0] in files)


def measure(
    drawn: Sequence[Drawn], machine: Machine, plain: Machine, linter: Linter, repairs: bool = True
) -> list[Case]:
    """Both programs of each pair."""
    both = [(one, right, one.program(right)) for one in drawn for right in (False, True)]
    both = [item for at, item in enumerate(both) if not (item[1] and item[2] == both[at - 1][2])]
    programs = [program for _, _, program in both]
    cases = [
        Case(
            one,
            right,
            program,
            verdict,
            answer,
            outcome_of(verdict, answer, program.shown, right and one.spec.fix in _NAME_THE_DEVICE),
        )
        for (one, right, program), verdict, answer in zip(
            both, machine.run(programs), linter.ask(programs), strict=True
        )
    ]
    return with_repairs(cases, machine, plain, linter) if repairs else cases


# ----------------------------------------------------------------------------------------------------------- repairs


def with_repairs(cases: list[Case], machine: Machine, plain: Machine, linter: Linter) -> list[Case]:
    """The cases, with what their repairs did on the machine and on the CPU."""
    found: dict[int, list[Repaired]] = collections.defaultdict(list)
    for fix in FIXES:
        offered = [
            at
            for at, case in enumerate(cases)
            if case.outcome not in (DROPPED, CRASH)
            and any(said.fix in FIXES[: FIXES.index(fix) + 1] and said.level != "info" for said in case.answer.findings)
            and (fix == "safe" or any(said.fix == fix for said in case.answer.findings))
        ]
        answers = linter.ask([cases[at].program for at in offered], fix)
        changed = [(at, answer.files) for at, answer in zip(offered, answers, strict=True) if answer.files]
        after = [cases[at].program.with_shown(files) for at, files in changed]
        befores = [cases[at].program for at, _ in changed]
        placed = machine.run([cases[at].drawn.program(True) for at, _ in changed])
        rows = zip(changed, after, machine.run(after), plain.run(befores), plain.run(after), placed, strict=True)
        for (at, _), program, *verdicts in rows:
            found[at].append(replace(judge_repair(cases[at], fix, *verdicts), program=program))
    return [replace(case, repairs=tuple(found[at])) for at, case in enumerate(cases)]


def judge_repair(
    case: Case, fix: str, on_machine: Verdict, before: Verdict, on_cpu: Verdict, placed: Verdict | None = None
) -> Repaired:
    """The verdict on a repair: the runs on the machine and on the CPU, on the CPU before it, and that of the pair's right program on the machine."""
    offered = [
        said for said in case.answer.findings if said.fix in FIXES[: FIXES.index(fix) + 1] and said.level != "info"
    ]
    codes = tuple(sorted({said.code for said in offered}))

    def told(outcome: str, why: str = "") -> Repaired:
        return Repaired(fix, outcome, why, codes)

    if {before.kind, on_machine.kind, on_cpu.kind} & {"late", "died"}:
        return told("unknown", "a run did not end")
    if before.kind == "ok" and on_cpu.kind != "ok":
        return told("wrong", f"fails on the CPU: {on_cpu.text or on_cpu.kind}")
    if case.verdict.kind == "ok" and on_machine.kind != "ok":
        return told("wrong", f"fails on the machine: {on_machine.text or on_machine.kind}")
    if on_machine.kind not in ("ok", "fault"):
        if placed is not None and on_machine.text == placed.text:
            return told("unknown", on_machine.text)
        return told("wrong", f"fails otherwise: {on_machine.text or on_machine.kind}")
    if on_machine.kind == "fault":
        story = _story(case.verdict, case.program.shown)
        mine = any(tells(said, story) for said in offered if said in heard(case.answer))
        return told("left" if mine else "beside", on_machine.told)
    if (before.kind == "ok" and on_cpu.printed != before.printed) or (
        case.verdict.kind == "ok" and on_machine.printed != case.verdict.printed
    ):
        return told("differs", "it prints something else")
    return told("good")


# ------------------------------------------------------------------------------------------------------------- tally


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a sample: programs with a fault, and programs that run."""

    faults: int = 0
    found: int = 0
    notes: int = 0
    clean: int = 0
    false: int = 0
    false_errors: int = 0
    false_notes: int = 0
    repairs: int = 0
    wrong: int = 0
    left: int = 0
    differs: int = 0
    dropped: int = 0
    crashes: int = 0

    @property
    def recall(self) -> float:
        """The share of faults that an error or a warning tells; 1 for no faults."""
        return self.found / self.faults if self.faults else 1.0


def tally(cases: Iterable[Case]) -> Tally:
    """The counts of cases."""
    counts: collections.Counter[str] = collections.Counter()
    for case in cases:
        counts[case.outcome] += 1
        if case.outcome in (DROPPED, CRASH):
            continue
        counts["faults" if case.verdict.kind == "fault" else "clean"] += 1
        for repaired in case.repairs:
            counts["repairs"] += 1
            counts[repaired.outcome] += 1
    return Tally(
        counts["faults"],
        counts[FOUND],
        counts[NOTE],
        counts["clean"],
        counts[FALSE_ERROR] + counts[FALSE_WARNING],
        counts[FALSE_ERROR],
        counts[FALSE_NOTE],
        counts["repairs"],
        counts["wrong"],
        counts["left"],
        counts["differs"],
        counts[DROPPED],
        counts[CRASH],
    )


def by_construct(cases: Sequence[Case], alone: bool) -> Iterator[tuple[str, str, Tally]]:
    """Table, entry and tally, the lowest recall first. `alone`: cases count for the entry that they were drawn for, and no other."""
    groups: dict[tuple[str, str], list[Case]] = collections.defaultdict(list)
    for case in cases:
        labels = case.drawn.spec.labels()
        for table in (case.drawn.table,) if alone else (*TABLES, "family"):
            for label in dict.fromkeys(labels[table]):
                groups[table, label].append(case)
    rows = [(table, label, tally(group)) for (table, label), group in groups.items()]
    order = {table: at for at, table in enumerate((*TABLES, "family"))}
    return iter(sorted(rows, key=lambda row: (order[row[0]], row[2].recall, -row[2].faults, row[1])))
