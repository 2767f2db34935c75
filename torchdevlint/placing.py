"""Where reports stand in the text, and their fixes as text: the part of a file's path that needs LibCST's tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath

import libcst as cst

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.observed import Observed
from torchdevlint.findings import Applicability, Finding, Fix, Related, Sightings, Span
from torchdevlint.fixes.apply import Splicer
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.scope import Scope, Verdict
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.message import bounded
from torchdevlint.rules.rule import NodeFix, Report
from torchdevlint.source.lines import Lines
from torchdevlint.source.positions import LineIndex, spans


def place(
    path: str,
    text: str,
    analysis: FileFacts,
    lines: Lines,
    reports: Sequence[Report],
    problems: list[str],
    row_name: Callable[[int], object] = int,
) -> Iterator[Finding]:
    """Gives reports their positions and their fixes as text; what a rule's fix or message fails on goes to `problems`.

    `row_name` says how a message calls a row (in a notebook, with its cell).
    """
    ops = [
        op
        for report in reports
        for op in (report.op, *(mention.op for mention in report.related if mention.elsewhere is None))
    ]
    scope: Scope | None = None
    fixes: list[NodeFix | None] = []
    for report in reports:
        made = _node_fixes(path, report, problems)
        if made:
            scope = scope or Scope(analysis)
        fixes.append(_first_admitted(made, scope) if scope is not None else None)
    splicer = Splicer(
        analysis.program.node, text, lines, [edit for fix in fixes if fix is not None for edit in fix.edits or ()]
    )
    places = splicer.locate(op.node for op in ops)

    def span_of(op: ir.Op) -> Span:
        found = places[id(op.node)]
        return lines.span(found.start, found.end)

    for report, fix in zip(reports, fixes, strict=True):
        span = span_of(report.op)
        related = tuple(
            Related(path, span_of(mention.op), mention.message)
            if mention.elsewhere is None
            else Related(mention.elsewhere.path, mention.elsewhere.span, mention.message)
            for mention in report.related
        )
        message, detail = report.message, report.detail
        names = [
            row_name(other.span.start.row)
            if other.filename == path
            else f"{PurePath(other.filename).name}:{other.span.start.row}"
            for other in related
        ]
        try:
            message, detail = message.format(*names), detail.format(*names)
        except (IndexError, KeyError, ValueError) as error:
            problems.append(f"{path}: {report.rule.code}: message {report.message!r}: {error!r}")
        yield Finding(
            code=report.rule.code,
            name=report.rule.name,
            severity=report.severity,
            message=bounded(message),
            filename=path,
            span=span,
            noqa_row=lines.logical(span.start.row)[1],
            related=related,
            fix=_text_fix(fix, splicer),
            detail=detail,
        )


def _node_fixes(path: str, report: Report, problems: list[str]) -> list[NodeFix]:
    """What the rule proposes, the best first."""
    try:
        made = report.fix() if report.fix is not None else None
    except Exception as error:
        problems.append(f"{path}: {report.rule.code}: building the fix: {type(error).__name__}: {error}")
        return []
    return [fix for fix in ([made] if isinstance(made, NodeFix) else made or []) if fix.edits]


def _first_admitted(fixes: Sequence[NodeFix], scope: Scope) -> NodeFix | None:
    """The first fix whose edits name what is bound where they put it; unsafe where nothing tells that it is of the kind that they need."""
    for fix in fixes:
        verdict = scope.judge(fix.edits or (), fix.proven)
        if verdict is not Verdict.REFUSED:
            return (
                fix
                if verdict is Verdict.FITS or fix.ground.applicability is Applicability.UNSAFE
                else fix._replace(ground=Ground.UNKNOWN_KIND)
            )
    return None


def _text_fix(fix: NodeFix | None, splicer: Splicer) -> Fix | None:
    edits = splicer.edits(fix.edits or ()) if fix is not None else None
    return Fix(fix.ground.applicability, fix.message, edits) if fix is not None and edits else None


def observed_in(program: ir.Program, text: str, sightings: Sightings) -> Observed:
    """Sightings by row and name, as those of the parameters and assignments that stand there."""
    observed = Observed()
    if not sightings:
        return observed
    names = {name for _, name in sightings}
    stores = [
        op
        for body in program.bodies
        for op in Lookup.of(body).kind(ir.Store)
        if op.name in names and isinstance(op.node, cst.Name)
    ]
    functions = [body for body in program.bodies if body.kind == "function"]
    places = spans(program.node, [*(store.node for store in stores), *(body.node for body in functions)], text)
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
