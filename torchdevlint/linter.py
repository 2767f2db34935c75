"""One file, from its bytes to findings and repairs: decode, parse, lower, analyse, place, suppress, fix."""

from __future__ import annotations

import enum
import re
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple

from torchdevlint.findings import Applicability, Edit, Finding, Fix, Outcome, Position, Severity, Sightings
from torchdevlint.fixes.text import Taken, apply_fixes
from torchdevlint.program.bounds import ParseFailure
from torchdevlint.program.ir import forget_nodes
from torchdevlint.program.project import member
from torchdevlint.rules.files.unparsable_file import UnparsableFile
from torchdevlint.rules.files.unused_suppression import UnusedSuppression
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.message import bounded
from torchdevlint.rules.registry import all_rules
from torchdevlint.rules.rule import Report, Rule
from torchdevlint.settings import Settings
from torchdevlint.sieve import NO_SIGHTINGS, Document, Look, Questions, look
from torchdevlint.source import deadline
from torchdevlint.source.deep_stack import call_with_deep_stack, call_with_wide_frames
from torchdevlint.source.lines import Lines
from torchdevlint.source.notebook import SUFFIX as NOTEBOOK
from torchdevlint.source.notebook import Notebook, located
from torchdevlint.source.positions import LineIndex
from torchdevlint.source.sieve import may_have_findings, may_have_suppressions
from torchdevlint.source.source import Source, SourceError
from torchdevlint.source.suppression import Kind, Suppressions
from torchdevlint.stubs.loader import using

MOST_ROUNDS = 10
Text = Source | Notebook
ALL_KINDS: frozenset[Kind] = frozenset(("noqa", "ignore", "ignore-file"))


class Repair(enum.Enum):
    """Which fixes are applied."""

    NONE = frozenset[Applicability]()
    SAFE = frozenset((Applicability.SAFE,))
    UNSAFE = frozenset((Applicability.SAFE, Applicability.UNSAFE))


class Examination(NamedTuple):
    """What one look at a text gave. `problems` are rules that crashed."""

    findings: tuple[Finding, ...]
    parses: bool = True
    problems: tuple[str, ...] = ()
    hides_notes: bool = False


def lint(path: str, raw: bytes, settings: Settings, repair: Repair = Repair.NONE) -> Outcome:
    """What there is to say of one file, and its new bytes where fixes were asked for. Never raises for what the file holds."""
    try:
        with deadline.limited():
            return _lint(path, raw, settings, repair)
    except deadline.OutOfTime as error:
        return Outcome(path, problems=(f"{path}: {error.message}",))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{path}: torchdevlint failed on this file: {type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        return Outcome(path, problems=(told,))


def _lint(path: str, raw: bytes, settings: Settings, repair: Repair) -> Outcome:
    try:
        source = read(path, raw)
    except SourceError as error:
        if not may_have_findings(raw):
            return Outcome(path)
        text = raw.decode("latin-1")
        return Outcome(path, (unparsable(path, error.message, LineIndex(text), error.row, 1),), text=text)
    notes: tuple[str, ...] = ()
    if repair is not Repair.NONE and not _is_stored_as(source, raw):
        repair, notes = Repair.NONE, (f"{path}: not repaired: {source.encoding} does not give the same bytes back",)
    outcome = lint_source(source, settings, repair)
    if any(finding.code == UnparsableFile.code for finding in outcome.findings) and not may_have_findings(raw):
        return Outcome(path)
    return replace(outcome, notes=outcome.notes + notes) if notes else outcome


def read(path: str, raw: bytes) -> Text:
    """A file's text by its suffix; raises `SourceError`."""
    return Notebook.from_bytes(path, raw) if path.endswith(NOTEBOOK) else Source.from_bytes(path, raw)


def _is_stored_as(source: Text, raw: bytes) -> bool:
    try:
        return source.to_bytes() == raw
    except UnicodeError:
        return False


def lint_source(
    source: Text, settings: Settings, repair: Repair = Repair.NONE, document: Document | None = None
) -> Outcome:
    """Looks at a text, then applies fixes in rounds until nothing changes. `document` keeps what is inferred for the next version of the text."""
    first = last = examine(source, settings, document=document)
    result = source
    fixed: list[Finding] = []
    notes: list[str] = []
    if repair is not Repair.NONE:
        result, last, fixed, notes = repair_text(source, first, settings, repair)
    outcome = Outcome(
        filename=source.path,
        findings=last.findings,
        fixed=tuple(fixed),
        original=source.text if fixed else "",
        text=result.text if last.findings or fixed else "",
        stored=result.to_bytes() if fixed else None,
        read=source.to_bytes() if fixed else None,
        problems=first.problems,
        notes=tuple(notes),
        hides_notes=last.hides_notes,
    )
    if isinstance(source, Notebook) and isinstance(result, Notebook):
        return located(outcome, source, result)
    return outcome


def examine(
    source: Text,
    settings: Settings,
    kinds: frozenset[Kind] = ALL_KINDS,
    sightings: Sightings = NO_SIGHTINGS,
    document: Document | None = None,
) -> Examination:
    """The findings that the settings show; `kinds` are the suppression comments to honour, `sightings` what a run of the file saw.

    A text that nests deeper than the usual stack takes is examined once more with a big one. Raises `OutOfTime`.
    """
    work = partial(_examine, source, settings, kinds, sightings, document)
    with deadline.limited():
        try:
            return call_with_wide_frames(work)
        except RecursionError:
            pass
        try:
            return call_with_deep_stack(work)
        except RecursionError:
            return Examination((), problems=(f"{source.path}: not checked: it nests too deeply",))


def _examine(
    source: Text, settings: Settings, kinds: frozenset[Kind], sightings: Sightings, document: Document | None
) -> Examination:
    with using(settings.device_stubs()):
        return _asked(source, settings, kinds, sightings, document)


def _asked(
    source: Text, settings: Settings, kinds: frozenset[Kind], sightings: Sightings, document: Document | None
) -> Examination:
    text = source.text
    rules = settings.rules(source.path)
    judged = UnusedSuppression in rules  # then findings that the level hides count as uses
    wanted = [rule for rule in rules if judged or settings.shows(rule.code, rule.severity)]

    def is_shown(report: Report) -> bool:
        return judged or settings.shows(report.rule.code, report.severity)

    place = member(source.path, settings.environment) if settings.project else None
    if place is not None:  # an editor, standard input and a repair give a text that the disk does not hold
        place = place._replace(project=place.project.showing(place.path, text, apart=document is not None))
    try:
        questions = Questions(wanted, is_shown, settings.target_torch, place, document)
        seen = look(text, questions, sightings, sieve=settings.sieve)
    except ParseFailure as failure:
        severity = Severity.INFO if failure.is_python_2 else Severity.ERROR
        told = unparsable(source.path, failure.message, LineIndex(text), failure.row, failure.column, severity)
        is_hidden = severity is Severity.INFO and not settings.shows(told.code, severity)
        return Examination(() if is_hidden else (told,), parses=False, hides_notes=is_hidden)
    problems = [f"{source.path}: {crash}" for crash in seen.result.crashes]
    if document is not None and not problems:
        document.settle(seen.program)
    if not seen.reports and not (judged and may_have_suppressions(text.encode("utf-8", "replace"))):
        forget_nodes(seen.program)
        return Examination((), problems=tuple(problems), hides_notes=seen.hides_notes)
    lines = Lines(text)
    suppressions = Suppressions.read(text, lines, kinds)
    placed = _placed(source, seen, lines, problems)
    forget_nodes(seen.program)
    heard = [finding for finding in placed if not suppressions.silences(finding.code, finding.span.start.row)]
    found = [finding for finding in heard if settings.shows(finding.code, finding.severity)]
    hides_notes = seen.hides_notes or len(found) < len(heard)
    if judged:
        found += unused(source.path, suppressions, rules)
    ordered = tuple(sorted(found, key=lambda finding: finding.sort_key))
    return Examination(ordered, problems=tuple(problems), hides_notes=hides_notes)


def _placed(source: Text, seen: Look, lines: Lines, problems: list[str]) -> list[Finding]:
    """The reports as findings; LibCST is imported where there are any."""
    if not seen.reports:
        return []
    from torchdevlint.placing import place

    row_name = source.row_name() if isinstance(source, Notebook) else int
    return list(place(source.path, source.text, seen.result.analysis, lines, seen.reports, problems, row_name))


def unparsable(
    path: str, message: str, lines: LineIndex, row: int, column: int, severity: Severity = Severity.ERROR
) -> Finding:
    """TDL000, which no setting hides where it is an error."""
    rule = UnparsableFile
    row = min(row, lines.rows)  # a parser may count the end of the text as a line of its own
    start = lines.offset(Position(row, column))
    span = lines.span(start, start)
    return Finding(rule.code, rule.name, severity, bounded(message), path, span, noqa_row=row)


def unused(path: str, suppressions: Suppressions, rules: Sequence[type[Rule]]) -> Iterator[Finding]:
    """TDL001 for each comment with codes that silence nothing."""
    rule, lines = UnusedSuppression, suppressions.lines
    for item in suppressions.unused((rule.code for rule in rules), (rule.code for rule in all_rules())):
        codes = ", ".join(item.codes)
        message = (
            f"nothing is suppressed by {codes}; remove it" if codes else "this comment suppresses nothing; remove it"
        )
        edit = Edit(item.start, item.end, item.content, lines.span(item.start, item.end))
        fix = Fix(Applicability.SAFE, "remove what suppresses nothing", (edit,))
        span = lines.span(item.directive.start, item.directive.end)
        yield Finding(rule.code, rule.name, Severity.WARNING, bounded(message), path, span, span.start.row, fix=fix)


# ---------------------------------------------------------------------------------------------------- repairs

_ROW = re.compile(r"(?<=line )\d+|(?<=\.py:)\d+")  # an edit above may move it
_Key = tuple[str, str, tuple[str, ...]]


def _key(finding: Finding) -> _Key:
    """Knows a fix again in a later round, when its place has moved."""
    edits = finding.fix.edits if finding.fix is not None else ()
    return finding.code, finding.message, tuple(edit.content for edit in edits)


def repair_text(
    source: Text, examination: Examination, settings: Settings, repair: Repair
) -> tuple[Text, Examination, list[Finding], list[str]]:
    """The repaired source, what is left to say of it, the findings that were repaired, and what was dropped, as sentences."""
    fixed: list[Finding] = []
    dropped: dict[_Key, str] = {}
    for _ in range(MOST_ROUNDS):
        chosen = _choose(examination.findings, repair, dropped)
        attempt = _Attempt(source, examination, settings, dropped)
        kept = attempt.best(chosen)
        if not kept:
            break
        source, examination = attempt.result(kept)
        fixed += kept
    return source, examination, fixed, list(dropped.values())


def _choose(findings: Sequence[Finding], repair: Repair, dropped: dict[_Key, str]) -> list[Finding]:
    """The fixes of one round: those that overlap an earlier one wait."""
    chosen: list[Finding] = []
    taken = Taken()
    for finding in findings:
        fix = finding.fix
        if fix is None or fix.applicability not in repair.value or _key(finding) in dropped or taken.overlap(fix):
            continue
        chosen.append(finding)
        taken.add(fix)
    return chosen


def _left_by(before: Sequence[Finding], after: Sequence[Finding], repaired: Sequence[Finding]) -> str | None:
    """Why a repair mends nothing: a finding that it was to repair stays, be it as a note, or tensors meet elsewhere."""
    was, left = Counter(map(_told, before)), Counter(map(_told, after))
    stays = [finding.code for finding in repaired if left[_told(finding)] >= was[_told(finding)]]
    if stays:
        return f"{stays[0]} would still be found"
    meetings = {rule.code for rule in all_rules() if issubclass(rule, Inferred)}
    came = [code for code, _ in left - was if code in meetings]
    return f"{came[0]} would be found instead" if came else None


def _told(finding: Finding) -> tuple[str, str]:
    return finding.code, _ROW.sub("", finding.message)


class _Attempt:
    """One round of fixes on one text: finds the largest part of them that makes nothing worse."""

    def __init__(self, source: Text, before: Examination, settings: Settings, dropped: dict[_Key, str]) -> None:
        self._source, self._before, self._settings, self._dropped = source, before, settings, dropped
        self._results: dict[tuple[int, ...], tuple[Text, Examination]] = {}
        self._wide = settings._replace(level=Severity.INFO)

    @cached_property
    def _all_before(self) -> tuple[Finding, ...]:
        """What there is to say of the text, also the notes that the level hides."""
        return examine(self._source, self._wide).findings

    def result(self, findings: Sequence[Finding]) -> tuple[Text, Examination]:
        """The text with these fixes, and what there is to say of it."""
        key = tuple(id(finding) for finding in findings)
        if key not in self._results:
            fixes = [finding.fix for finding in findings if finding.fix is not None]
            source = self._source.with_text(apply_fixes(self._source.text, fixes))
            self._results[key] = source, examine(source, self._settings)
        return self._results[key]

    def best(self, findings: list[Finding]) -> list[Finding]:
        """The fixes that may stay together; halves are tried where the whole is refused, and a single refused one is dropped."""
        if not findings:
            return []
        refusal = self._refusal(findings)
        if refusal is None:
            return findings
        if len(findings) == 1:
            finding = findings[0]
            self._dropped[_key(finding)] = (
                f"{finding.filename}:{finding.span.start.row}: the fix of {finding.code} was not applied: {refusal}"
            )
            return []
        middle = len(findings) // 2
        first, second = self.best(findings[:middle]), self.best(findings[middle:])
        both = first + second
        return both if not (first and second) or self._refusal(both) is None else first

    def _refusal(self, findings: Sequence[Finding]) -> str | None:
        """Why a text with these fixes is refused, None when it is good."""
        try:
            source, after = self.result(findings)
        except ValueError as error:  # a notebook's program that does not fall into its cells
            return str(error)
        if not after.parses:
            return "the result would not parse"
        if len(after.problems) > len(self._before.problems):
            return "the result cannot be checked"
        if len(after.findings) > len(self._before.findings):
            return "the result would have more findings than before"
        if (left := _left_by(self._all_before, examine(source, self._wide).findings, findings)) is not None:
            return left
        try:
            source.to_bytes()
        except UnicodeError:
            return f"the result cannot be written as {source.encoding}"
        return "it changes nothing" if source.text == self._source.text else None
