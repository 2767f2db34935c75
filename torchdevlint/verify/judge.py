"""Fault by fault: run, apply one fix, run again, and say what each finding is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from torchdevlint.findings import Applicability, Finding, Fix, Position, Severity
from torchdevlint.fixes.text import apply_fixes
from torchdevlint.linter import examine
from torchdevlint.settings import Resolver
from torchdevlint.source.reading import read_bytes
from torchdevlint.source.source import Source, SourceError
from torchdevlint.verify.proofs import Proof, all_proofs, shape_called
from torchdevlint.verify.telling import exit_text
from torchdevlint.verify.trial import Fault, Line, Machine, Mark, Runner, Trial

Verdict = Literal[
    "confirmed",
    "silent fault confirmed",
    "not on this machine",
    "not reached",
    "not judged",
    "refuted",
    "fix failed",
    "regression",
]
GOOD: frozenset[Verdict] = frozenset(("confirmed", "silent fault confirmed"))
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

_MET, _BORN, _RELATED, _FRAME, _KIND = 8, 4, 3, 2, 1
"""How much a line that a fault names says about a finding: where it was met, where its tensors come from, ..."""
_MOST_RUNS = 200


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

    def settle(self, verdict: Verdict, reason: str = "", before: str = "", after: str = "") -> None:
        """Give the verdict, once."""
        self.verdict, self.reason, self.before, self.after = verdict, reason, before, after

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
        }


@dataclass(slots=True)
class Report:
    """The outcome of a verification on one machine. `trouble` says why the program could not be judged at all."""

    cases: list[Case]
    trouble: str = ""
    baseline: str = ""
    final: str = ""
    torch: str = ""
    runs: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0: something was confirmed and nothing went wrong; 1: something did; 3: nothing confirmed; 2: could not run."""
        if self.trouble:
            return 2
        verdicts = {case.verdict for case in self.cases}
        if verdicts & BAD:
            return 1
        return 0 if verdicts & GOOD else 3


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run with one more fix applied."""

    trial: Trial
    source: Source
    fix: Fix


@dataclass(slots=True)
class Judge:
    """Verifies the findings of some files of a program with a runner."""

    runner: Runner
    resolver: Resolver
    unsafe: bool
    say: Callable[[str], None]
    sources: dict[Path, Source] = field(default_factory=dict)
    read: dict[Path, bytes] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    runs: int = 0

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
            return report
        first = self._run()
        report.torch, report.baseline = first.torch, first.ending
        report.trouble = trouble_of(first)
        if not report.trouble:
            second = self._run()
            if (first.returncode, first.works or first.error) != (second.returncode, second.works or second.error):
                report.trouble = f"two runs of the unchanged program end differently: {first.ending}; {second.ending}"
        if report.trouble:
            report.runs = self.runs
            return report
        if first.left_behind:
            report.notes.append(f"the program left {first.left_behind} processes running; they were ended")
        current = self._follow_faults(first)
        if current is not first:
            second = self._run()  # what lies behind the first fault has run only once
        self._judge_the_rest(current, second)
        report.runs, report.final = self.runs, current.ending
        return report

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
            if _shows(fault, attempt.trial, case, attempt.fix):
                case.blamed = fault if _is_named(case, fault) else case.blamed
                continue
            broken = _broken_by(attempt, case, fault, current)
            if broken:
                case.settle("fix failed", broken, fault.describe(), attempt.trial.ending)
                continue
            if self._fix(case) is None:
                told = "its fix removes the error but is unsafe: --unsafe-fixes counts it; what lies behind was run with it"
                case.settle("not judged", told, fault.describe(), attempt.trial.ending)
            else:
                case.settle("confirmed", fault.story, fault.describe(), attempt.trial.ending)
                self.say(f"confirmed: {_where(case)}")
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
            return 3 if usable else 2, weight
        return 1 if usable and weight else 0, weight

    def _weight(self, case: Case, fault: Fault, current: Trial | None = None) -> int:
        """How well a finding explains an error: by the lines that the error names and by the words of the rule's proof."""
        weight = _weight_of_lines(case, fault)
        alike = _is_alike(case, fault)
        if not weight:
            return _KIND if alike and current is not None and case.number in current.reached else 0
        return weight + (_MET if alike else 0)

    # ---- everything else

    def _judge_the_rest(self, current: Trial, again: Trial) -> None:
        for case in self.cases:
            if case.verdict is None:
                self._judge_quiet(case, current, again)

    def _judge_quiet(self, case: Case, current: Trial, again: Trial) -> None:
        if case.blamed is not None:
            case.settle(
                "fix failed",
                "the same error shows with the fix applied",
                case.blamed.describe(),
                case.blamed.describe(),
            )
            return
        if case.number not in current.reached:
            case.settle("not reached", "" if current.works else f"the program stops before: {current.ending}")
            return
        judged = next((name for line, name in current.unjudged.items() if _at(case, line)), None)
        if judged is not None:
            case.settle("not judged", f"the machine cannot judge {judged}")
            return
        if self._fix(case) is None:
            shown = next((f for f in current.faults if _is_named(case, f)), None)
            case.settle("not judged", _no_fix(case), shown.describe() if shown else "")
            return
        if any(fault.uncaught for fault in current.faults) and not _may_be_silent(case, current):
            case.settle("not judged", f"the program stops at another error: {current.ending}")
            return
        attempt = self._attempt(case)
        silent = _silent_evidence(case, current, attempt)
        changed = _difference(current, again, attempt.trial, silent is not None, self.runner.program.pytest)
        if changed:
            case.settle("regression", changed, current.ending, attempt.trial.ending)
        elif silent is not None:
            case.settle("silent fault confirmed", *silent)
            self.say(f"silent fault confirmed: {_where(case)}")
        else:
            self._nothing_showed(case, current)

    def _nothing_showed(self, case: Case, current: Trial) -> None:
        proof = _proof(case)
        if any(fault.uncaught for fault in current.faults):
            case.settle("not judged", f"the program stops at another error: {current.ending}")
        elif proof is None:
            case.settle("not judged", "the rule has no proof, so nobody can say where its fault shows")
        elif case.first.severity is Severity.ERROR and shows_on(proof, self.runner.machine):
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

    # ---- runs

    def _findings(self, source: Source) -> Sequence[Finding]:
        return [f for f in examine(source, self.resolver.for_file(source.path)).findings if f.code != "TDL000"]

    def _open(self) -> list[Case]:
        return [case for case in self.cases if case.verdict is None and case.finding.fix is not None]

    def _fix(self, case: Case) -> Fix | None:
        fix = case.finding.fix
        return fix if fix is not None and (self.unsafe or fix.applicability is Applicability.SAFE) else None

    def _attempt(self, case: Case) -> Attempt:
        """Run with the fix of a finding; it has one."""
        fix = case.finding.fix
        assert fix is not None
        source = self.sources[case.path].with_text(apply_fixes(self.sources[case.path].text, [fix]))
        moved = {other.number: _moved_mark(other, fix) for other in self.cases if other.path == case.path}
        return Attempt(self._run({case.path: source}, moved), source, fix)

    def _run(self, changed: dict[Path, Source] | None = None, moved: dict[int, Mark] | None = None) -> Trial:
        self.runs += 1
        sources = self.sources | (changed or {})
        marks: dict[Path, list[Mark]] = {}
        for case in self.cases:
            mark = (moved or {}).get(case.number) or _mark(case)
            marks.setdefault(case.path, []).append(mark)
        return self.runner.run({path: source.to_bytes() for path, source in sources.items()}, marks)

    def _keep(self, case: Case, attempt: Attempt) -> None:
        """The fix stays: later faults are looked for in the repaired text."""
        self.sources[case.path] = attempt.source
        found = list(self._findings(attempt.source))
        for other in self.cases:
            if other.path != case.path or other is case:
                continue
            mark = _moved_mark(other, attempt.fix)
            alike = [f for f in found if f.code == other.finding.code]
            same = min(alike, key=lambda f: abs(f.span.start.row - mark.row), default=None)
            if same is not None and abs(same.span.start.row - mark.row) <= 1:
                found.remove(same)
                other.finding = same
            elif other.verdict is None:
                row = case.first.span.start.row
                other.settle("not judged", f"the fix of {case.first.code} on line {row} has repaired it as well")


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
    rows = {moved_row(edit.span.start.row, 0, attempt.fix) for edit in attempt.fix.edits} | set(_rows(case))
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


def _silent_evidence(case: Case, current: Trial, attempt: Attempt) -> tuple[str, str, str] | None:
    """A silent fault that the repair removed: (what it is, before, after)."""
    trial = attempt.trial
    hazard = next((h for h in current.hazards if any(_at(case, line) for line in h.lines)), None)
    if hazard is not None and not any(
        h.message == hazard.message for h in trial.hazards if _near(case, attempt.fix, h.lines)
    ):
        return "hazard", hazard.message, "no hazard"
    before, after = current.seen.get(case.number, ""), trial.seen.get(case.number, "")
    if before and after and before != after:
        return _SILENT[case.first.code], before, after
    proof = _proof(case)
    if proof is None:
        return None
    gone = [text for text in current.warnings if text not in trial.warnings and re.search(proof.expect, text)]
    if gone:
        return "warning", gone[0], "no warning"
    if proof.ledger:
        rows = [(str(case.path), row) for row in _rows(case)]
        moved = [(file, moved_row(row, 1 << 30, attempt.fix)) for file, row in rows]
        counts = sum(current.copies.get(line, 0) for line in rows), sum(trial.copies.get(line, 0) for line in moved)
        if counts[1] < counts[0]:
            return "copies", f"{counts[0]} copies and synchronisations", f"{counts[1]}"
    return None


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


def trouble_of(trial: Trial) -> str:
    """Why nothing can be judged, from the first run of the unchanged program; empty when something can."""
    if trial.refused:
        return f"the machine did not start: {trial.refused}"
    if trial.returncode is None:
        where = f"; it was at {trial.running}" if trial.running else ""
        return f"the unchanged program did not end within {trial.seconds:.0f} s{where} (see --timeout)"
    if trial.returncode < 0:
        return f"the unchanged program was {exit_text(trial.returncode)}"
    return ""
