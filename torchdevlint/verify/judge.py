"""Fault by fault: run, apply one fix, run again, and say what each finding is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from torchdevlint.findings import Applicability, Finding, Fix, Position, Severity
from torchdevlint.fixes.text import apply_fixes, overlaps
from torchdevlint.linter import examine
from torchdevlint.settings import Resolver
from torchdevlint.source.reading import read_bytes
from torchdevlint.source.source import Source, SourceError
from torchdevlint.verify.program import Program
from torchdevlint.verify.proofs import Proof, all_proofs, how_to_install, shape_called
from torchdevlint.verify.telling import exit_text, shorten
from torchdevlint.verify.trial import Fault, Line, Machine, Mark, Runner, Trial
from torchdevlint.verify.workplace import Workplace

Verdict = Literal[
    "confirmed",
    "silent fault confirmed",
    "not on this machine",
    "not reached",
    "not judged",
    "refuted",
    "fix failed",
    "regression",
    "shown",
    "repaired with another",
]
GOOD: frozenset[Verdict] = frozenset(("confirmed", "silent fault confirmed"))
SHOWN: frozenset[Verdict] = frozenset(("shown",))
BAD: frozenset[Verdict] = frozenset(("refuted", "fix failed", "regression"))

_SILENT = {
    "TDL101": "other memory",
    "TDL102": "other memory",
    "TDL104": "other memory",
    "TDL105": "other memory",
    "TDL106": "other memory",
    "TDL507": "comparison",
    "TDL508": "comparison",
    "TDL601": "unregistered parameter",
    "TDL602": "unregistered modules",
}
"""Rules whose silent fault shows in the value of the finding's expression, and what such a difference means."""

_AT_THE_LINE = frozenset(("TDL302", "TDL401", "TDL505", "TDL506", "TDL509", "TDL514", "TDL518"))
"""Rules whose error is raised on the finding's own line, so that a clean run of it with accelerator operands refutes the finding."""

_MET, _BORN, _RELATED, _FRAME, _KIND = 8, 4, 3, 2, 1
"""How much a line that a fault names says about a finding: where it was met, where its tensors come from, ..."""
_MOST_RUNS = 200
_MOST_SECOND_LOOKS = 2
"""How many errors that another fix removed a finding is tried on before it is refuted."""
_APART = 1_000_000
"""Marks of a finding's other places are numbered this far from its own."""
_VALUES = frozenset(_SILENT.values())


@dataclass(slots=True)
class Case:
    """A finding, and what became of it. `finding` has the positions of the text as it is now, `first` those of the user's file."""

    number: int
    path: Path
    first: Finding
    finding: Finding
    verdict: Verdict | None = None
    reason: str = ""
    before: str = ""
    after: str = ""
    blamed: Fault | None = None
    barrier: str = ""
    unsafe: bool = False

    def settle(self, verdict: Verdict, reason: str = "", before: str = "", after: str = "") -> None:
        """Give the verdict, once."""
        self.verdict, self.reason, self.before, self.after = verdict, reason, before, after

    def wait_behind(self, verdict: Verdict, reason: str, ending: str) -> None:
        """It could not be judged as the program stops at an error in front of it."""
        self.settle(verdict, f"{reason}: {ending}")
        self.barrier = ending

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in the names of the linter's JSON."""
        span = self.first.span
        return {
            "code": self.first.code,
            "name": self.first.name,
            "severity": self.first.severity.label,
            "message": self.first.message,
            "filename": self.first.filename,
            "location": {"row": span.start.row, "column": span.start.column},
            "end_location": {"row": span.end.row, "column": span.end.column},
            "verdict": self.verdict,
            "reason": self.reason,
            "before": self.before,
            "after": self.after,
            "barrier": self.barrier or None,
            "needs_unsafe_fixes": self.unsafe,
        }


@dataclass(slots=True)
class Report:
    """The outcome of a verification on one machine. `trouble` says why the program could not be judged at all.

    `unexplained` are the errors and hazards of the last run that no finding explains; `wanted` the arguments that the program asks for, ""
    where it asks for none; `refused` those that it does not take; `in_place` whether it failed for want of a file that is missing in the temporary copy alone.
    """

    cases: list[Case]
    trouble: str = ""
    baseline: str = ""
    final: str = ""
    torch: str = ""
    runs: int = 0
    notes: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    wanted: str = ""
    refused: str = ""
    in_place: bool = False
    first: Trial | None = None
    last: Trial | None = None

    @property
    def exit_code(self) -> int:
        """0: something was confirmed and nothing went wrong; 1: something did; 3: nothing confirmed; 2: could not run."""
        if self.trouble:
            return 2
        verdicts = {case.verdict for case in self.cases}
        if verdicts & BAD:
            return 1
        return 0 if verdicts & (GOOD | SHOWN) else 3


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run with more fixes applied: the new texts, and all the edits of each file as one fix."""

    trial: Trial
    sources: dict[Path, Source]
    fixes: dict[Path, Fix]

    def fix(self, case: Case) -> Fix:
        """The edits of the file that a finding is in."""
        return self.fixes[case.path]


@dataclass(frozen=True, slots=True)
class _Passed:
    """An error that was repaired: the texts and findings of that time, and whose fix removed it."""

    fault: Fault
    by: Case
    sources: dict[Path, Source]
    findings: dict[int, Finding]
    reached: Set[int]
    trial: Trial


@dataclass(slots=True)
class Judge:
    """Verifies the findings of some files of a program with a runner."""

    runner: Runner
    resolver: Resolver
    unsafe: bool
    say: Callable[[str], None]
    progress: Callable[[int, int, float], None] = lambda run, about, seconds: None
    """Told before each run: its number, about how many there will be, seconds for one so far."""
    sources: dict[Path, Source] = field(default_factory=dict)
    read: dict[Path, bytes] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    runs: int = 0
    seconds: float = 0.0
    passed: list[_Passed] = field(default_factory=list)

    def load(self, files: Iterable[Path]) -> list[str]:
        """Lint the files; gives sentences about those that cannot be read."""
        problems = []
        for path in files:
            try:
                raw = read_bytes(str(path))
                source = Source.from_bytes(str(path), raw)
            except (OSError, SourceError) as error:
                problems.append(f"{path}: {error.strerror if isinstance(error, OSError) else error}")
                continue
            for finding in self._findings(source):
                self.cases.append(Case(len(self.cases), path, finding, finding))
                self.sources[path] = source
                self.read[path] = raw
        return problems

    def judge(self) -> Report:
        """Run the program until each finding has its verdict."""
        report = Report(self.cases)
        if not self.cases:
            report.notes.append("the linter finds nothing in this program")
        first = self._run()
        report.first = report.last = first
        report.torch, report.baseline = first.torch, first.ending
        report.wanted = arguments_wanted(first)
        report.refused = arguments_refused(first)
        asks = report.wanted and f"it asks for arguments: {report.wanted}"
        refuses = report.refused and f"it does not take its arguments: {report.refused}"
        report.trouble = trouble_of(first) or asks or refuses
        missing = missing_in_copy(first, self.runner.place, self.runner.program)
        if missing:
            report.in_place = True
            report.notes.append(f"{missing} is missing in the temporary copy, and not beside the program itself")
        if not report.trouble and self.cases:
            second = self._run()
            if (first.returncode, first.works or first.error) != (second.returncode, second.works or second.error):
                report.trouble = f"two runs of the unchanged program end differently: {first.ending}; {second.ending}"
        if report.trouble or not self.cases:
            report.runs, report.final = self.runs, first.ending
            report.unexplained = [] if report.trouble else _unexplained(first, [])
            return report
        if first.left_behind:
            report.notes.append(f"the program left {first.left_behind} processes running; they were ended")
        current = self._follow_faults(first)
        self._judge_the_rest(current, second if current is first else None)
        report.runs, report.final, report.last = self.runs, current.ending, current
        report.unexplained = _unexplained(current, self.cases)
        return report

    def ending_with(self, files: dict[Path, bytes]) -> str:
        """How the program ends with these files in the place of the user's, in one more run."""
        self.progress(self.runs + 1, self.runs + 1, self.seconds / max(self.runs, 1))
        self.runs += 1
        return self.runner.run(files, {}).ending

    def repaired(self) -> dict[Path, bytes]:
        """The files with the confirmed fixes, and those alone."""
        changed: dict[Path, bytes] = {}
        good = [case for case in self.cases if case.verdict in GOOD]
        for path in dict.fromkeys(case.path for case in good):
            source = Source.from_bytes(str(path), self.read[path])
            waiting = {case.number: case.first.span.start for case in good if case.path == path}
            for case in [case for case in good if case.path == path]:
                start = waiting.pop(case.number)
                alike = [f for f in self._findings(source) if f.code == case.first.code and f.fix is not None]
                same = min(alike, key=lambda f, row=start.row: abs(f.span.start.row - row), default=None)  # type: ignore[misc]
                if same is None or same.fix is None or abs(same.span.start.row - start.row) > 1:
                    continue  # the fix of another one has repaired it as well
                fix = same.fix
                source = source.with_text(apply_fixes(source.text, [fix]))
                waiting = {n: Position(moved_row(at.row, at.column, fix), at.column) for n, at in waiting.items()}
                changed[path] = source.to_bytes()
        return changed

    # ---- faults that show as errors

    def _follow_faults(self, current: Trial) -> Trial:
        """Repair one error after the other, each by the finding that explains it."""
        tried: set[tuple[int, str]] = set()
        while self.runs < _MOST_RUNS:
            step = self._next_step(current, tried)
            if step is None:
                return current
            fault, case = step
            tried.add((case.number, _key(fault)))
            attempt = self._attempt(case)
            if _shows(fault, attempt.trial, case, attempt.fix(case)):
                case.blamed = fault if _is_named(case, fault) else case.blamed
                continue
            broken = _broken_by(attempt, case, fault, current)
            if broken:
                case.settle("fix failed", broken, fault.describe(), attempt.trial.ending)
                continue
            if self._fix(case) is None:
                told = "its fix removes the error but is unsafe: --unsafe-fixes counts it; what lies behind was run with it"
                case.settle("not judged", told, fault.describe(), attempt.trial.ending)
                case.unsafe = True
            else:
                case.settle("confirmed", fault.story, fault.describe(), attempt.trial.ending)
                self.say(f"confirmed: {_where(case)}")
            findings = {other.number: other.finding for other in self.cases}
            self.passed.append(_Passed(fault, case, self.sources, findings, current.reached, current))
            self._keep(case, attempt)
            current = attempt.trial
        return current

    def _next_step(self, current: Trial, tried: set[tuple[int, str]]) -> tuple[Fault, Case] | None:
        """The next error and the finding that explains it best; errors that ended the program come first."""
        for fault in sorted(current.faults, key=lambda fault: not fault.uncaught):
            ranked = [(*self._rank(case, fault, current), -case.number, case) for case in self._open()]
            untried = [item for item in ranked if item[0] and (item[3].number, _key(fault)) not in tried]
            if untried:
                return fault, max(untried)[3]
        return None

    def _rank(self, case: Case, fault: Fault, current: Trial) -> tuple[int, int]:
        """When to try a finding for an error: (0: never, ...). An unsafe fix serves as a bridge: what lies behind is judged all the same."""
        weight = self._weight(case, fault, current)
        usable = self._fix(case) is not None
        if weight >= _RELATED:
            return 4 if usable else 3, weight
        if not weight:
            return 0, weight
        return 2 if usable else 1, weight

    def _weight(self, case: Case, fault: Fault, current: Trial | None = None) -> int:
        """How well a finding explains an error: by the lines that the error names and by the words of the rule's proof."""
        weight = _weight_of_lines(case, fault)
        alike = _is_alike(case, fault)
        if not weight:
            return _KIND if alike and current is not None and case.number in current.reached else 0
        return weight + (_MET if alike else 0)

    # ---- everything else

    def _judge_the_rest(self, current: Trial, again: Trial | None) -> None:
        """`again` is another run of the same text, None where there was none yet."""
        quiet = [case for case in self.cases if case.verdict is None and not self._settled_as_it_stands(case, current)]
        doubtful: list[Case] = []
        with_fix = [case for case in quiet if self._fix(case) is not None]
        if with_fix:  # what differs between two runs of one text is nothing that a fix changes
            self._try_together(with_fix, current, again or self._run(), doubtful)
        doubtful += [case for case in quiet if case.verdict is None and case not in doubtful]
        self._ask_operands(doubtful, current)

    def _settled_as_it_stands(self, case: Case, current: Trial) -> bool:
        """Give the verdict that needs no run of its own; False when there is none."""
        stops = next((fault for fault in current.faults if fault.uncaught), None)
        if case.blamed is not None:
            told = case.blamed.describe()
            case.settle("fix failed", "the same error shows with the fix applied", told, told)
        elif case.number not in current.reached and stops is None:
            case.settle("not reached")
        elif case.number not in current.reached:
            case.wait_behind("not reached", "the program stops before", current.ending)
        elif (judged := next((name for line, name in current.unjudged.items() if _at(case, line)), None)) is not None:
            case.settle("not judged", f"the machine cannot judge {judged}")
        elif (named := next((f for f in current.faults if _is_named(case, f)), None)) and self._fix(case) is None:
            case.unsafe = case.finding.fix is not None
            case.settle("not judged" if case.unsafe else "shown", _no_fix(case), named.describe())
        elif stops is not None and not (self._fix(case) is not None and _may_be_silent(case, current)):
            case.unsafe = case.finding.fix is not None and self._fix(case) is None
            case.wait_behind("not judged", "the program stops at another error", current.ending)
        return case.verdict is not None

    def _try_together(self, cases: list[Case], current: Trial, again: Trial, doubtful: list[Case]) -> None:
        """Apply the fixes of findings that show no error, all in one run; where that tells too little, half of them in each."""
        if not cases:
            return
        batch, later = _without_overlap(cases)
        attempt = self._attempt(*batch)
        pytest = self.runner.program.pytest
        codes = [case.first.code for case in batch]
        evidence = {
            case.number: _silent_evidence(case, current, attempt, alone=codes.count(case.first.code) == 1)
            for case in batch
        }
        silent = [case for case in batch if evidence[case.number] is not None]
        ending = _difference(current, again, attempt.trial, True, pytest)
        changed = _difference(current, again, attempt.trial, False, pytest)
        without = [case for case in batch if case not in silent]
        if len(batch) == 1:
            self._settle_quiet(batch[0], current, attempt, evidence[batch[0].number], ending, changed, doubtful)
        elif ending or (changed and not silent):
            for half in (batch[: len(batch) // 2], batch[len(batch) // 2 :]):
                self._try_together(half, current, again, doubtful)
        else:
            for case in silent:
                found = evidence[case.number]
                if found is not None and found[0] in _VALUES:  # another fix of the batch may have changed the value
                    self._try_together([case], current, again, doubtful)
                else:
                    self._settle_quiet(case, current, attempt, found, "", "", doubtful)
            if changed:
                self._try_together(without, current, again, doubtful)
            else:
                for case in without:
                    self._settle_quiet(case, current, attempt, None, "", "", doubtful)
        self._try_together(later, current, again, doubtful)

    def _settle_quiet(
        self,
        case: Case,
        current: Trial,
        attempt: Attempt,
        silent: tuple[str, str, str] | None,
        ending: str,
        changed: str,
        doubtful: list[Case],
    ) -> None:
        broken = ending or ("" if silent is not None else changed)
        if broken:
            case.settle("regression", broken, current.ending, attempt.trial.ending)
        elif silent is not None:
            case.settle("silent fault confirmed", *silent)
            self.say(f"silent fault confirmed: {_where(case)}")
        elif any(fault.uncaught for fault in current.faults):
            case.wait_behind("not judged", "the program stops at another error", current.ending)
        else:
            doubtful.append(case)

    def _ask_operands(self, cases: Sequence[Case], current: Trial) -> None:
        """Findings whose lines ran without an error: one more run tells where the operands were, if that decides anything."""
        asked = {case.number for case in cases if self._must_show(case) and case.first.code in _AT_THE_LINE}
        clean = not any(_at(case, f.met) for case in cases for f in current.faults if f.met is not None)
        trial = self._run(operands=asked) if asked and clean else None
        for case in cases:
            numbers = (case.number, *(mark.number for mark in _elsewhere(case)))
            held = [trial.operands[number] for number in numbers if trial is not None and number in trial.operands]
            self._nothing_showed(case, held)

    def _must_show(self, case: Case) -> bool:
        proof = _proof(case)
        return proof is not None and case.first.severity is Severity.ERROR and shows_on(proof, self.runner.machine)

    def _nothing_showed(self, case: Case, operands: Sequence[dict[str, set[str]]]) -> None:
        """`operands` are the tensors that the finding's statements read, by name, and where they lived."""
        proof = _proof(case)
        fewest = 1 if case.first.code == "TDL401" else 2  # there the other one is the model that is called
        clean = next(
            (held for held in operands if len(held) >= fewest and "cpu" not in set().union(*held.values())), None
        )
        if self._removes_what_another_did(case):
            return
        if clean is not None:
            case.settle("refuted", f"the line ran without an error, with {_devices(clean)}")
        elif operands and all(held == {"cpu"} for each in operands for held in each.values()):
            told = ", ".join(map(_devices, operands))
            case.settle("not on this machine", f"in this run the operands of the line were on the CPU: {told}")
        elif self._fix(case) is None:
            case.unsafe = case.finding.fix is not None
            case.settle("not judged", _no_fix(case))
        elif proof is None:
            case.settle("not judged", "the rule has no proof, so nobody can say where its fault shows")
        elif self._must_show(case):
            case.settle("refuted", "the line ran on a machine where the fault should show, and nothing was wrong")
        else:
            shapes = [
                shape_called(name).describe() for name in proof.shapes if not _is_shape(self.runner.machine, name)
            ]
            told = (
                f"the rule's fault shows on: {'; '.join(shapes)}"
                if shapes
                else "the fault needs other data than this run had"
            )
            case.settle("not on this machine", told)

    def _removes_what_another_did(self, case: Case) -> bool:
        """Whether its fix removes an error that the fix of a finding nearby has removed: then it is confirmed, and not refuted."""
        row = case.first.span.start.row
        near = [one for one in self.passed if one.by.path == case.path and case.number in one.reached]
        near.sort(key=lambda one: abs(one.by.first.span.start.row - row))
        if self._fix(case) is None or not self._must_show(case):
            return False
        for one in near[: _MOST_SECOND_LOOKS if self.runs < _MOST_RUNS else 0]:
            now, finding = self.sources, case.finding
            self.sources, case.finding = one.sources, one.findings[case.number]
            attempt = self._attempt(case)
            self.sources, case.finding = now, finding
            broken = _broken_by(attempt, case, one.fault, one.trial)
            if not _shows(one.fault, attempt.trial, case, attempt.fix(case)) and not broken:
                told = f"its fix removes the error as well, without that of {one.by.first.code} on line {one.by.first.span.start.row}"
                case.settle("confirmed", told, one.fault.describe(), attempt.trial.ending)
                self.say(f"confirmed: {_where(case)}")
                return True
        return False

    # ---- runs

    def _findings(self, source: Source) -> Sequence[Finding]:
        return [f for f in examine(source, self.resolver.for_file(source.path)).findings if f.code != "TDL000"]

    def _open(self) -> list[Case]:
        return [case for case in self.cases if case.verdict is None and case.finding.fix is not None]

    def _fix(self, case: Case) -> Fix | None:
        fix = case.finding.fix
        return fix if fix is not None and (self.unsafe or fix.applicability is Applicability.SAFE) else None

    def _attempt(self, *cases: Case) -> Attempt:
        """Run with the fixes of some findings; they have one each, and no two overlap."""
        fixes: dict[Path, Fix] = {}
        for case in cases:
            fix = case.finding.fix
            assert fix is not None
            before = fixes[case.path].edits if case.path in fixes else ()
            fixes[case.path] = Fix(fix.applicability, fix.message, (*before, *fix.edits))
        sources = {
            path: self.sources[path].with_text(apply_fixes(self.sources[path].text, [fix]))
            for path, fix in fixes.items()
        }
        moved = {case.number: _moved_mark(case, fixes[case.path]) for case in self.cases if case.path in fixes}
        return Attempt(self._run(sources, moved), sources, fixes)

    def _run(
        self,
        changed: dict[Path, Source] | None = None,
        moved: dict[int, Mark] | None = None,
        operands: Set[int] = frozenset(),
    ) -> Trial:
        self.progress(self.runs + 1, self.runs + 1 + self._left(), self.seconds / max(self.runs, 1))
        self.runs += 1
        sources = self.sources | (changed or {})
        marks: dict[Path, list[Mark]] = {}
        for case in self.cases:
            mark = (moved or {}).get(case.number) or _mark(case)
            listed = marks.setdefault(case.path, [])
            listed.append(replace(mark, operands=True) if case.number in operands else mark)
            if case.number in operands:
                listed += _elsewhere(case)
        trial = self.runner.run({path: source.to_bytes() for path, source in sources.items()}, marks)
        self.seconds += trial.seconds
        return trial

    def _left(self) -> int:
        """About how many runs follow: one for each error that may show, one for what shows none, the second look at the program."""
        return sum(case.first.severity is Severity.ERROR for case in self._open()) + 2

    def _keep(self, case: Case, attempt: Attempt) -> None:
        """The fix stays: later faults are looked for in the repaired text."""
        self.sources = self.sources | attempt.sources
        found = list(self._findings(attempt.sources[case.path]))
        for other in self.cases:
            if other.path != case.path or other is case:
                continue
            mark = _moved_mark(other, attempt.fix(case))
            alike = [f for f in found if f.code == other.finding.code]
            same = min(alike, key=lambda f: abs(f.span.start.row - mark.row), default=None)
            if same is not None and abs(same.span.start.row - mark.row) <= 1:
                found.remove(same)
                other.finding = same
            elif other.verdict is None:
                row = case.first.span.start.row
                other.settle("repaired with another", f"the fix of {case.first.code} on line {row} repairs it as well")


# ---------------------------------------------------------------------------------------------------- places


def _where(case: Case) -> str:
    return f"{case.path.name}:{case.first.span.start.row}: {case.first.code} {case.first.name}"


def _rows(case: Case) -> range:
    span = case.finding.span
    return range(span.start.row, span.end.row + 1)


def _related_rows(case: Case) -> set[int]:
    """The rows of a finding's other places, and of its edits: a repair may stand elsewhere than the fault."""
    finding = case.finding
    rows = {related.span.start.row for related in finding.related if Path(related.filename) == case.path}
    if finding.fix is not None:
        rows |= {edit.span.start.row for edit in finding.fix.edits}
    return rows - set(_rows(case))


def _at(case: Case, line: Line) -> bool:
    return Path(line[0]) == case.path and line[1] in _rows(case)


def _mark(case: Case) -> Mark:
    start = case.finding.span.start
    return Mark(case.number, start.row, start.column, case.first.code in _SILENT)


def _elsewhere(case: Case) -> list[Mark]:
    """Marks at a finding's other places in its file, such as where a tensor that it tells of is used."""
    places = [related.span.start for related in case.finding.related if Path(related.filename) == case.path]
    return [
        Mark((index + 1) * _APART + case.number, start.row, start.column, False, True)
        for index, start in enumerate(places)
    ]


def _devices(operands: dict[str, set[str]]) -> str:
    return ", ".join(f"`{name}` on {' and '.join(sorted(held))}" for name, held in operands.items())


def _moved_mark(case: Case, fix: Fix) -> Mark:
    """Where a finding's place stands once a fix is applied."""
    mark = _mark(case)
    column = mark.column
    for edit in fix.edits:
        before = edit.span.start.row == edit.span.end.row == mark.row and edit.span.end.column <= mark.column
        if before and "\n" not in edit.content:
            column += len(edit.content) - (edit.end - edit.start)
    return Mark(mark.number, moved_row(mark.row, mark.column, fix), column, mark.probe)


def moved_row(row: int, column: int, fix: Fix) -> int:
    """The row of a place once a fix is applied."""
    return row + sum(
        edit.content.count("\n") - (edit.span.end.row - edit.span.start.row)
        for edit in fix.edits
        if (edit.span.end.row, edit.span.end.column) <= (row, column)
    )


def _weight_of_lines(case: Case, fault: Fault) -> int:
    rows, related = _rows(case), _related_rows(case)
    weight = 0
    for role, file, line in fault.lines:
        if Path(file) != case.path:
            continue
        if line in rows:
            weight = max(weight, {"met": _MET, "created": _BORN, "moved": _BORN}.get(role, _FRAME))
        elif line in related and role != "frame":
            weight = max(weight, _RELATED)
    return weight


def _is_alike(case: Case, fault: Fault) -> bool:
    """Whether an error reads as the rule's proof says that its fault does."""
    proof = _proof(case)
    return proof is not None and re.search(proof.expect, f"{fault.kind}: {fault.message}") is not None


def _is_named(case: Case, fault: Fault) -> bool:
    """Whether an error names the very line of a finding, in the rule's own words."""
    return _weight_of_lines(case, fault) >= _BORN and _is_alike(case, fault)


# ---------------------------------------------------------------------------------------------------- comparisons


def _key(fault: Fault) -> str:
    return f"{fault.kind}|{fault.message}|{fault.met}"


def _proof(case: Case) -> Proof | None:
    return next((proof for proof in all_proofs() if proof.code == case.first.code), None)


def _is_shape(machine: Machine, name: str) -> bool:
    if machine.shape is not None and not machine.shape.gpus:
        return machine.shape.build == name
    return name.isdigit() and int(name) == (machine.shape.gpus if machine.shape else machine.gpus)


def shows_on(proof: Proof, machine: Machine) -> bool:
    """Whether the rule's fault shows on such a machine: a fault of one GPU shows on two as well."""
    if machine.shape is not None and not machine.shape.gpus:
        return machine.shape.build in proof.shapes
    gpus = machine.shape.gpus if machine.shape else machine.gpus
    return any(name.isdigit() and int(name) <= gpus for name in proof.shapes)


def _shows(fault: Fault, trial: Trial, case: Case, fix: Fix) -> bool:
    """Whether the same error shows in another run, at the place that its line has moved to."""
    met = fault.met
    if met is not None and Path(met[0]) == case.path:
        met = (met[0], moved_row(met[1], 1 << 30, fix))
    return any(
        (f.kind, f.message, f.met) in ((fault.kind, fault.message, met), (fault.kind, fault.message, fault.met))
        for f in trial.faults
    )


def _broken_by(attempt: Attempt, case: Case, before: Fault, current: Trial) -> str:
    """What a fix broke although the error that it was made for is gone; empty when nothing."""
    if current.works and not attempt.trial.works:
        return f"the program worked before: {attempt.trial.ending}"
    fix = attempt.fix(case)
    rows = {moved_row(edit.span.start.row, 0, fix) for edit in fix.edits} | set(_rows(case))
    for fault in attempt.trial.faults:
        own = fault.met is not None and Path(fault.met[0]) == case.path and fault.met[1] in rows
        if own and fault.uncaught and not fault.story and fault.kind != before.kind:
            return f"the edited line fails: {fault.describe()}"
    return ""


def _no_fix(case: Case) -> str:
    if case.finding.fix is None:
        return "the rule has no fix here, so there is nothing to confirm"
    return "its fix is unsafe: --unsafe-fixes tries it as well"


def _may_be_silent(case: Case, current: Trial) -> bool:
    """Whether a run holds anything that a repair of this finding could remove without an error having shown."""
    proof = _proof(case)
    warned = proof is not None and any(re.search(proof.expect, text) for text in current.warnings)
    hazard = any(_at(case, line) for hazard in current.hazards for line in hazard.lines)
    return warned or hazard or case.number in current.seen or (proof is not None and proof.ledger)


def _silent_evidence(case: Case, current: Trial, attempt: Attempt, alone: bool = True) -> tuple[str, str, str] | None:
    """A silent fault that the repair removed: (what it is, before, after).

    Where the fix is not `alone` with those of its rule, a warning must name what the finding names.
    """
    trial = attempt.trial
    hazard = next((h for h in current.hazards if any(_at(case, line) for line in h.lines)), None)
    if hazard is not None and not any(
        h.message == hazard.message for h in trial.hazards if _near(case, attempt.fix(case), h.lines)
    ):
        return "hazard", hazard.message, "no hazard"
    before, after = current.seen.get(case.number, ""), trial.seen.get(case.number, "")
    if before and after and before != after:
        return _SILENT[case.first.code], before, after
    proof = _proof(case)
    if proof is None:
        return None
    gone = [text for text in current.warnings if text not in trial.warnings and re.search(proof.expect, text)]
    named = [text for text in gone if any(name in case.first.message for name in re.findall(r"(\w+)\(", text))]
    told = named or (gone if alone else [])
    if told:
        return "warning", told[0], "no warning"
    if proof.ledger:
        rows = [(str(case.path), row) for row in _rows(case)]
        moved = [(file, moved_row(row, 1 << 30, attempt.fix(case))) for file, row in rows]
        counts = sum(current.copies.get(line, 0) for line in rows), sum(trial.copies.get(line, 0) for line in moved)
        if counts[1] < counts[0]:
            return "copies", f"{counts[0]} copies and synchronisations", f"{counts[1]}"
    return None


def _without_overlap(cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """The findings whose fixes can be applied together, and those that must wait as theirs touch another's."""
    batch: list[Case] = []
    later: list[Case] = []
    for case in cases:
        same = [one.finding.fix for one in batch if one.path == case.path and one.finding.fix is not None]
        fix = case.finding.fix
        (later if fix is not None and overlaps(fix, same) else batch).append(case)
    return batch, later


def _near(case: Case, fix: Fix, lines: Iterable[Line]) -> bool:
    rows = {moved_row(row, 1 << 30, fix) for row in _rows(case)} | set(_rows(case))
    return any(Path(line[0]) == case.path and line[1] in rows for line in lines)


_CLOCK = re.compile(r"\d+\.\d+ ?s\b|\d+:\d\d\b")


def _difference(current: Trial, again: Trial, trial: Trial, silent: bool, pytest: bool) -> str:
    """What a fix changed in a program that did not show the fault; empty when nothing that two unchanged runs agree on."""
    if (trial.returncode, trial.works or trial.error) != (current.returncode, current.works or current.error):
        return f"the program ends otherwise: {trial.ending}"
    if silent:
        return ""  # a repaired silent fault changes results: that was its point
    known = {_key(fault)[: _key(fault).rfind("|")] for fault in current.faults}
    new = next((f for f in trial.faults if _key(f)[: _key(f).rfind("|")] not in known), None)
    if new is not None:
        return f"a new error: {new.describe()}"
    outputs = [[_CLOCK.sub("", line) if pytest else line for line in t.output] for t in (current, again, trial)]
    if len(outputs[0]) == len(outputs[1]) != len(outputs[2]):
        return f"{len(outputs[2])} lines of output instead of {len(outputs[0])}"
    for first, second, third in zip(*outputs, strict=False):
        if first == second != third:
            return f"other output: {third!r} instead of {first!r}"
    for name, digest in current.written.items():
        if again.written.get(name) == digest != trial.written.get(name):
            return f"another content of {name}"
    return ""


_WANTED = (
    re.compile(r"error: the following arguments are required: (.+)"),  # argparse
    re.compile(r"error: (one of the arguments .+ is required)"),
    re.compile(r"Error: Missing (?:argument|option|parameter) (.+?)\.?$"),  # click, typer
)

_REFUSED = (
    re.compile(r"error: unrecognized arguments: (.+)"),  # argparse
    re.compile(r"error: (argument .+: (?:invalid|expected|ignored|not allowed) .+)"),
    re.compile(r"Error: (No such option:? .+?|Got unexpected extra arguments? .+?|Invalid value for .+?)\.?$"),  # click
)


def arguments_wanted(trial: Trial) -> str:
    """What a program's own usage message asks for, or "command-line arguments" where it reads past the end of `sys.argv`."""
    if trial.returncode == 2:
        return next((match[1].strip() for pattern in _WANTED if (match := pattern.search(trial.error))), "")
    fault = next((fault for fault in trial.faults if fault.uncaught), None)
    if fault is not None and fault.kind == "IndexError" and fault.met is not None:
        try:
            line = Path(fault.met[0]).read_text(encoding="utf-8", errors="replace").splitlines()[fault.met[1] - 1]
        except (OSError, IndexError):
            return ""
        return "command-line arguments (`sys.argv`)" if "argv" in line else ""
    return ""


def arguments_refused(trial: Trial) -> str:
    """What a program's own usage message says of arguments that it does not take; "" where it says nothing."""
    if trial.returncode != 2:
        return ""
    return next((match[1].strip() for pattern in _REFUSED if (match := pattern.search(trial.error))), "")


_MISSING = ("FileNotFoundError", "NotADirectoryError", "ModuleNotFoundError", "HFValidationError", "OSError")
_QUOTED = re.compile(r"'([^'\n]{1,400})'|\"([^\"\n]{1,400})\"")


def missing_in_copy(trial: Trial, place: Workplace | None, program: Program) -> str:
    """The file that a program asked for in vain and that lies beside the user's folder, or in it but not in the copy; "" for none."""
    fault = next((fault for fault in trial.faults if fault.uncaught), None)
    if place is None or place.in_place:
        return ""
    if "not a git repository" in trial.error:
        return ".git"
    if fault is None or fault.kind not in _MISSING:
        return ""
    for match in _QUOTED.finditer(fault.message):
        name = match[1] or match[2]
        if fault.kind == "ModuleNotFoundError":
            beside = program.folder.parent / name.split(".")[0]
            found = beside.is_dir() or beside.with_suffix(".py").is_file()
        else:
            path = program.cwd / name
            outside = place.here.parent
            if path.is_relative_to(outside):  # made from __file__: it led out of the copy
                path = place.original.parent / path.relative_to(outside)
            found = path.exists()
        if found:
            return name
    return ""


def _unexplained(trial: Trial, cases: Sequence[Case]) -> list[str]:
    """The device errors and hazards of a run that no finding's line explains: what the linter does not find."""
    told = []
    for fault in trial.faults:
        if fault.story and not any(_is_named(case, fault) for case in cases):
            told.append(f"{fault.describe()}; {fault.story}")
    for hazard in trial.hazards:
        if not any(_at(case, line) for case in cases for line in hazard.lines):
            where = ", ".join(f"{shorten(file)}:{line}" for file, line in hazard.lines)
            told.append(f"hazard: {hazard.message} ({where})")
    return list(dict.fromkeys(told))


def trouble_of(trial: Trial) -> str:
    """Why nothing can be judged, from the first run of the unchanged program; empty when something can."""
    if trial.refused:
        return f"the machine did not start: {trial.refused}"
    if trial.returncode and how_to_install(trial.error):
        return f"torch cannot be imported{how_to_install(trial.error)}"
    if trial.returncode is None:
        where = f"; it was at {trial.running}" if trial.running else ""
        return f"the unchanged program did not end within {trial.seconds:.0f} s{where} (see --timeout)"
    if trial.returncode < 0:
        return f"the unchanged program was {exit_text(trial.returncode)}"
    return ""
