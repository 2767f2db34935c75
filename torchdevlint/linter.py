"""One file, from its bytes to findings and repairs: decode, parse, lower, analyse, place, suppress, fix."""

from __future__ import annotations

import enum
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import libcst as cst

from torchdevlint.findings import Applicability, Edit, Finding, Fix, Outcome, Related, Severity, Sightings, Span
from torchdevlint.fixes.apply import Splicer, apply_fixes, overlaps
from torchdevlint.flow.engine import analyse
from torchdevlint.flow.observed import Observed
from torchdevlint.program import ir
from torchdevlint.program.bounds import ParseFailure, parse
from torchdevlint.program.from_libcst import lower
from torchdevlint.program.ir import forget_nodes
from torchdevlint.rules.files.unparsable_file import UnparsableFile
from torchdevlint.rules.files.unused_suppression import UnusedSuppression
from torchdevlint.rules.registry import all_rules
from torchdevlint.rules.rule import NodeFix, Report, Rule
from torchdevlint.settings import Settings
from torchdevlint.source.deep_stack import call_with_deep_stack
from torchdevlint.source.lines import Lines
from torchdevlint.source.positions import LineIndex, spans
from torchdevlint.source.sieve import may_have_suppressions
from torchdevlint.source.source import Source, SourceError
from torchdevlint.source.suppression import Kind, Suppressions

MOST_ROUNDS = 10
ALL_KINDS: frozenset[Kind] = frozenset(("noqa", "ignore", "ignore-file"))


class Repair(enum.Enum):
    """Which fixes are applied."""

    NONE = frozenset[Applicability]()
    SAFE = frozenset((Applicability.SAFE,))
    UNSAFE = frozenset((Applicability.SAFE, Applicability.UNSAFE))


@dataclass(frozen=True, slots=True)
class Examination:
    """What one look at a text gave. `problems` are rules that crashed."""

    findings: tuple[Finding, ...]
    parses: bool = True
    problems: tuple[str, ...] = ()


def lint(path: str, raw: bytes, settings: Settings, repair: Repair = Repair.NONE) -> Outcome:
    """What there is to say of one file, and its new bytes where fixes were asked for. Never raises for what the file holds."""
    try:
        source = Source.from_bytes(path, raw)
    except SourceError as error:
        text = raw.decode("latin-1")
        return Outcome(path, (unparsable(path, error.message, Lines(text), error.row, 1),), text=text)
    notes: tuple[str, ...] = ()
    if repair is not Repair.NONE and source.to_bytes() != raw:
        repair, notes = Repair.NONE, (f"{path}: not repaired: {source.encoding} does not give the same bytes back",)
    try:
        outcome = _lint_deep(source, settings, repair)
        return replace(outcome, notes=outcome.notes + notes) if notes else outcome
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{path}: torchdevlint failed on this file: {type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        return Outcome(path, problems=(told,))


def _lint_deep(source: Source, settings: Settings, repair: Repair) -> Outcome:
    """`lint_source`, once more with a big stack for a text that nests deeper than the usual one takes."""
    try:
        return lint_source(source, settings, repair)
    except RecursionError:
        return call_with_deep_stack(lambda: lint_source(source, settings, repair))


def lint_source(source: Source, settings: Settings, repair: Repair = Repair.NONE) -> Outcome:
    """Looks at a text, then applies fixes in rounds until nothing changes."""
    first = last = examine(source, settings)
    result = source
    fixed: list[Finding] = []
    notes: list[str] = []
    if repair is not Repair.NONE:
        result, last, fixed, notes = repair_text(source, first, settings, repair)
    return Outcome(
        filename=source.path,
        findings=last.findings,
        fixed=tuple(fixed),
        original=source.text if fixed else "",
        text=result.text if last.findings or fixed else "",
        stored=result.to_bytes() if fixed else None,
        problems=first.problems,
        notes=tuple(notes),
    )


def examine(
    source: Source,
    settings: Settings,
    kinds: frozenset[Kind] = ALL_KINDS,
    sightings: Sightings = MappingProxyType({}),
) -> Examination:
    """The findings that the settings show; `kinds` are the suppression comments to honour, `sightings` what a run of the file saw."""
    text = source.text
    try:
        module = parse(text)
    except ParseFailure as failure:
        return Examination(
            (unparsable(source.path, failure.message, Lines(text), failure.row, failure.column),), parses=False
        )
    rules = settings.rules(source.path)
    judged = UnusedSuppression in rules  # then findings that the level hides count as uses
    program = lower(module)
    wanted = [rule for rule in rules if judged or settings.shows(rule.code, rule.severity)]
    result = analyse(program, wanted, observed_in(program, module, text, sightings), settings.target_torch)
    problems = [f"{source.path}: {crash}" for crash in result.crashes]
    if not result.reports and not may_have_suppressions(text.encode("utf-8", "replace")):
        forget_nodes(program)
        return Examination((), problems=tuple(problems))
    lines = Lines(text)
    suppressions = Suppressions.read(text, lines, kinds)
    reports = [report for report in result.reports if judged or settings.shows(report.rule.code, report.severity)]
    placed = list(place(source.path, text, module, lines, reports, problems))
    forget_nodes(program)
    heard = [finding for finding in placed if not suppressions.silences(finding.code, finding.span.start.row)]
    found = [finding for finding in heard if settings.shows(finding.code, finding.severity)]
    if judged:
        found += unused(source.path, suppressions, rules)
    return Examination(tuple(sorted(found, key=lambda finding: finding.sort_key)), problems=tuple(problems))


def observed_in(program: ir.Program, module: cst.Module, text: str, sightings: Sightings) -> Observed:
    """Sightings by row and name, as those of the parameters and assignments that stand there."""
    observed = Observed()
    if not sightings:
        return observed
    names = {name for _, name in sightings}
    stores = [
        op
        for body in program.bodies
        for block in body.blocks
        for op in block.ops
        if isinstance(op, ir.Store) and op.name in names and isinstance(op.node, cst.Name)
    ]
    functions = [body for body in program.bodies if body.kind == "function"]
    places = spans(module, [*(store.node for store in stores), *(body.node for body in functions)], text)
    index = LineIndex(text)
    rows = {key: index.position(place.start).row for key, place in places.items()}
    for store in stores:
        seen = sightings.get((rows[id(store.node)], store.name))
        if seen is not None:
            observed.stores[id(store)] = seen
    for body in functions:
        for parameter in body.parameters:
            seen = sightings.get((rows[id(body.node)], parameter.name))
            if seen is not None:
                observed.parameters[id(body), parameter.name] = seen
    return observed


# ---------------------------------------------------------------------------------------------------- reports to findings


def place(
    path: str, text: str, module: cst.Module, lines: Lines, reports: Sequence[Report], problems: list[str]
) -> Iterator[Finding]:
    """Gives reports their positions and their fixes as text; what a rule's fix or message fails on goes to `problems`."""
    ops = [op for report in reports for op in (report.op, *(mention.op for mention in report.related))]
    places = spans(module, [op.node for op in ops], text)
    fixes = [_node_fix(path, report, problems) for report in reports]
    edits = [edit for fix in fixes if fix is not None for edit in fix.edits]
    splicer = Splicer(module, text, lines, edits) if edits else None

    def span_of(op: ir.Op) -> Span:
        found = places[id(op.node)]
        return lines.span(found.start, found.end)

    for report, fix in zip(reports, fixes, strict=True):
        span = span_of(report.op)
        related = tuple(Related(path, span_of(mention.op), mention.message) for mention in report.related)
        try:
            message = report.message.format(*(other.span.start.row for other in related))
        except (IndexError, KeyError, ValueError) as error:
            problems.append(f"{path}: {report.rule.code}: message {report.message!r}: {error!r}")
            message = report.message
        yield Finding(
            code=report.rule.code,
            name=report.rule.name,
            severity=report.severity,
            message=message,
            filename=path,
            span=span,
            noqa_row=lines.logical(span.start.row)[1],
            related=related,
            fix=_text_fix(fix, splicer),
        )


def _node_fix(path: str, report: Report, problems: list[str]) -> NodeFix | None:
    try:
        return report.fix() if report.fix is not None else None
    except Exception as error:
        problems.append(f"{path}: {report.rule.code}: building the fix: {type(error).__name__}: {error}")
        return None


def _text_fix(fix: NodeFix | None, splicer: Splicer | None) -> Fix | None:
    edits = splicer.edits(fix.edits) if fix is not None and splicer is not None else None
    return Fix(fix.applicability, fix.message, edits) if fix is not None and edits else None


def unparsable(path: str, message: str, lines: Lines, row: int, column: int) -> Finding:
    """TDL000, which no setting hides."""
    rule = UnparsableFile
    start = lines.start_of(row) + column - 1
    span = lines.span(start, start)
    return Finding(rule.code, rule.name, rule.severity, message, path, span, noqa_row=row)


def unused(path: str, suppressions: Suppressions, rules: Sequence[type[Rule]]) -> Iterator[Finding]:
    """TDL001 for each comment with codes that silence nothing."""
    rule, lines = UnusedSuppression, suppressions.lines
    for item in suppressions.unused((rule.code for rule in rules), (rule.code for rule in all_rules())):
        codes = ", ".join(item.codes)
        message = f"nothing is suppressed by {codes}" if codes else "this comment suppresses nothing"
        edit = Edit(item.start, item.end, item.content, lines.span(item.start, item.end))
        fix = Fix(Applicability.SAFE, "remove what suppresses nothing", (edit,))
        span = lines.span(item.directive.start, item.directive.end)
        yield Finding(rule.code, rule.name, Severity.WARNING, message, path, span, span.start.row, fix=fix)


# ---------------------------------------------------------------------------------------------------- repairs

_Key = tuple[str, str, tuple[str, ...]]


def _key(finding: Finding) -> _Key:
    """Knows a fix again in a later round, when its place has moved."""
    edits = finding.fix.edits if finding.fix is not None else ()
    return finding.code, finding.message, tuple(edit.content for edit in edits)


def repair_text(
    source: Source, examination: Examination, settings: Settings, repair: Repair
) -> tuple[Source, Examination, list[Finding], list[str]]:
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
    taken: list[Fix] = []
    for finding in findings:
        fix = finding.fix
        if fix is None or fix.applicability not in repair.value or _key(finding) in dropped or overlaps(fix, taken):
            continue
        chosen.append(finding)
        taken.append(fix)
    return chosen


class _Attempt:
    """One round of fixes on one text: finds the largest part of them that makes nothing worse."""

    def __init__(self, source: Source, before: Examination, settings: Settings, dropped: dict[_Key, str]) -> None:
        self._source, self._before, self._settings, self._dropped = source, before, settings, dropped
        self._results: dict[tuple[int, ...], tuple[Source, Examination]] = {}

    def result(self, findings: Sequence[Finding]) -> tuple[Source, Examination]:
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
        source, after = self.result(findings)
        if not after.parses:
            return "the result would not parse"
        if len(after.findings) > len(self._before.findings):
            return "the result would have more findings than before"
        try:
            source.to_bytes()
        except UnicodeEncodeError:
            return f"the result cannot be written as {source.encoding}"
        return "it changes nothing" if source.text == self._source.text else None
