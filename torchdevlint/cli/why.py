"""The answer of `torchdevlint debug why`: the claims at a line, who decided them, and what hides a finding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from torchdevlint.cli.debug import Place, bounds_of, inferred, shortened, source_of, where
from torchdevlint.cli.stored import of_files
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.observed import NOTHING_OBSERVED
from torchdevlint.findings import Severity
from torchdevlint.infer.analysis import Analysis
from torchdevlint.infer.printing import row_of
from torchdevlint.infer.recorder import Recorder, Seen
from torchdevlint.infer.relevance import is_worth_telling
from torchdevlint.infer.summary import Fault
from torchdevlint.infer.values import Site
from torchdevlint.program import ir
from torchdevlint.program.project import member
from torchdevlint.rules.engine import analyse as ask
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.policy import ASKED, is_for_others, places_of, severity_in, severity_of
from torchdevlint.rules.policy import row_of as policy_row
from torchdevlint.rules.rule import Report, Rule
from torchdevlint.settings import Resolver, Settings
from torchdevlint.source.lines import Lines
from torchdevlint.source.suppression import Suppressions
from torchdevlint.stubs.loader import using

if TYPE_CHECKING:
    from torchdevlint.rules.engine import Result

_KINDS = {"same": "one device for all", "index": "an index on the device of what it indexes", "host": "on the CPU"}
_MOST_CALLERS = 5
_BEST = ("broken", "open", "undecided", "met", "only on the CPU", "left to the callers")


class _Asked(NamedTuple):
    """One question and what there is to answer it with."""

    rule: type[Rule]
    place: Place
    settings: Settings
    result: Result
    analysis: Analysis
    recorder: Recorder


def explain(rule: type[Rule], place: Place) -> Iterator[str]:
    """The lines of the answer; raises `SettingsError`."""
    settings = Resolver().for_file(place.path)
    rules = sorted({*settings.rules(place.path), rule}, key=lambda one: one.code)
    project = member(place.path, settings.environment) if settings.project else None
    with using(settings.device_stubs()):
        result = ask(place.program, rules, NOTHING_OBSERVED, settings.target_torch, project)
    recorder = Recorder(place.program, set(place.ops))
    asked = _Asked(rule, place, settings, result, inferred(place, recorder), recorder)
    reports = [report for report in result.reports if _row(report.op) == place.row]
    mine = [report for report in reports if report.rule is rule]
    faults = _faults(asked)
    yield f"{place.path}:{place.row}: {shortened(place.line, 90)}"
    yield f"answer: {_answer(asked, mine, reports, faults)}"
    if reports:
        yield "findings on the line"
        for report in reports:
            yield from _of_report(asked, report)
    yield from _of_claims(asked)
    if faults:
        yield "policy"
        for fault in faults:
            yield from _of_fault(asked, fault)
    yield from of_files(place, asked.analysis)
    yield from bounds_of(asked.analysis) or ()
    if not asked.analysis.bounds:
        yield "bounds: none was hit"


def _row(op: ir.Op) -> int:
    return getattr(op.node, "lineno", 0)


def _faults(asked: _Asked) -> list[Fault]:
    """The faults whose place, meeting or way stands on the line."""
    ops = set(asked.place.ops)
    return [
        fault
        for fault in asked.analysis.faults.values()
        if fault.place.op in ops or fault.site.op in ops or any(site.op in ops for site in fault.chain)
    ]


# ---------------------------------------------------------------------------------------------------- the answer


def _answer(asked: _Asked, mine: list[Report], all_here: list[Report], faults: list[Fault]) -> str:
    rule, code = asked.rule, asked.rule.code
    if mine:
        report = max(mine, key=lambda one: one.severity)
        hidden = _hidden_by(asked, report)
        by = "a claim" if _is_of_claim(asked, report) else "the rule's own check"
        told = f"{code} is told as {_article(report.severity)}, by {by}"
        return f"{code} is found by {by} and hidden: {hidden}" if hidden else told
    elsewhere = _told_elsewhere(asked, faults)
    if elsewhere:
        return elsewhere
    if all_here:
        return f"not {code}: {', '.join(sorted({report.rule.code for report in all_here}))} speaks of this line"
    if faults:
        return f"not told: {_why_not(asked, faults[0])}"
    outcomes = {seen.outcome for seen in asked.recorder.claims}
    for outcome, told in _SILENCES.items():
        if outcome in outcomes:
            return told
    for report in asked.result.reports:
        if any(_row(mention.op) == asked.place.row for mention in report.related):
            return f"not {code}: {report.rule.code} on line {_row(report.op)} speaks of this line"
    told = "nothing is claimed here" if issubclass(rule, Inferred) else f"the checks of {code} say nothing of this line"
    return f"{told}: see what is believed of it with `torchdevlint debug facts {asked.place.path}:{asked.place.row}`"


_SILENCES = {
    "undecided": "a claim stands here that nobody decides: too little is known of an operand, or it may be on the CPU",
    "met": "the claims here are met",
    "only on the CPU": "the claims here are reached without an accelerator alone",
    "left to the callers": "a claim stands here that is left to the callers, and none is seen",
}


def _told_elsewhere(asked: _Asked, faults: list[Fault]) -> str:
    """A finding of the same fault on another line, rather of the rule that is asked."""
    codes = {policy_row(fault).code for fault in faults}
    for is_own in (True, False):
        for report in (one for one in asked.result.reports if (one.rule is asked.rule) is is_own):
            spoken_of = {id(report.op), *(id(mention.op) for mention in report.related if report.rule.code in codes)}
            if any(id(op) in spoken_of for fault in faults for op in (fault.place.op, fault.site.op)):
                told = f"{report.rule.code} speaks of this on line {_row(report.op)}"
                hidden = _hidden_by(asked, report)
                told += f", hidden: {hidden}" if hidden else ""
                return told if is_own else f"not {asked.rule.code}: {told}"
    return ""


def _article(severity: Severity) -> str:
    return {"info": "a note (info)", "warning": "a warning", "error": "an error"}[severity.label]


def _is_of_claim(asked: _Asked, report: Report) -> bool:
    """True for a report that a claim made, and no check of the rule's own."""
    if not issubclass(report.rule, Inferred):
        return False
    made = report.rule().check_claims((), Facts(asked.result.analysis))
    return any(other.op is report.op and other.message == report.message for other in made)


def _hidden_by(asked: _Asked, report: Report) -> str:
    """What keeps a finding from being shown; empty where nothing does."""
    from torchdevlint.workspace import runner

    rule, settings, path = report.rule, asked.settings, asked.place.path
    if rule not in settings.rules(path):
        if any(rule.code.startswith(code) for code in settings.ignored_in(path)):
            return f"{rule.code} is ignored in this file by per-file-ignores"
        return f"{rule.code} is not among the rules that the settings turn on"
    if runner.is_excluded(path, Resolver()):
        return "the file is excluded by the settings when a folder is checked"
    suppressions = Suppressions.read(asked.place.text, Lines(asked.place.text))
    if suppressions.silences(rule.code, _row(report.op)):
        first, last = suppressions.lines.logical(_row(report.op))
        rows = [
            one.comment.row
            for one in suppressions.directives
            if one.covers(rule.code) and (one.kind == "ignore-file" or first <= one.comment.row <= last)
        ]
        return f"a suppression comment on line {rows[0]}"
    if not settings.shows(rule.code, report.severity):
        return f"it is {_article(report.severity)}, and the level shows {settings.level.label} and above (--level {report.severity.label})"
    return ""


# ---------------------------------------------------------------------------------------------------- findings


def _of_report(asked: _Asked, report: Report) -> Iterator[str]:
    rows = [
        _row(mention.op)
        if mention.elsewhere is None
        else f"{PurePath(mention.elsewhere.path).name}:{mention.elsewhere.span.start.row}"
        for mention in report.related
    ]
    by = "by a claim" if _is_of_claim(asked, report) else "by the rule's own check"
    yield f"  {report.rule.code} {report.severity.label}, {by}: {shortened(report.message.format(*rows), 140)}"
    hidden = _hidden_by(asked, report)
    if hidden:
        yield f"    hidden: {hidden}"
    yield from (f"    {told}" for told in _rows(asked, report))


def _rows(asked: _Asked, report: Report) -> Iterator[str]:
    """The rows of the policy that made a finding as severe as it is; those of claims are told with their faults."""
    code, facts = report.rule.code, Facts(asked.result.analysis)
    if not _is_of_claim(asked, report):
        case = report.case or "what the rule finds"
        yield f"row: {code}, {case}: {severity_in(report.case, code, report.rule.severity).label}"
    for place in places_of(code) if not report.proven else ():
        if place.most is report.severity and place.question(report.op, facts):
            yield f"row: {code}, at this place {_article(place.most)} and no more: {place.told}"


# ---------------------------------------------------------------------------------------------------- claims


def _of_claims(asked: _Asked) -> Iterator[str]:
    """Each claim, and how each way to it decides it."""
    by_site: dict[tuple[Site, str], list[Seen]] = {}
    for seen in asked.recorder.claims:
        by_site.setdefault((seen.claim.site, seen.claim.kind), []).append(seen)
    if not by_site:
        yield "claims: none on this line, and none about a tensor that is made on it"
        return
    yield "claims"
    for (site, kind), several in by_site.items():
        written = f", `{source_of(site.op, asked.place.text)}`" if row_of(site) is not None else ""
        yield f"  {where((site,), asked.place.path)}{written}: {_KINDS[kind]}"
        several = sorted(dict.fromkeys(several), key=lambda seen: _BEST.index(seen.outcome))
        for seen in several[:_MOST_CALLERS]:
            yield f"    {seen.outcome}: {_way(asked, seen)}"
            yield from (f"      {told}" for told in seen.operands)
            if seen.outcome == "undecided":
                yield f"      because {_doubt(seen)}"
        if len(several) > _MOST_CALLERS:
            yield f"    and {len(several) - _MOST_CALLERS} more ways"


def _way(asked: _Asked, seen: Seen) -> str:
    if seen.chain:
        return f"called from {where(seen.chain, asked.place.path)}" + (
            " (of a function that others may call)" if seen.mode == "root" else ""
        )
    return {
        "summary": "in the function itself",
        "module": "at the top of the file",
        "root": "called from outside of the file",
    }[seen.mode]


def _doubt(seen: Seen) -> str:
    """Why values that are shown decide nothing."""
    if any(" | " in told for told in seen.operands):
        return "an operand may be one of several"
    if not all("tensor @" in told or "module" in told for told in seen.operands):
        return "of an operand it is not known that it is a tensor, or where"
    if any("unknown device" in told for told in seen.operands):
        return "the device of an operand is not known"
    if any(operand.tolerant for operand in seen.claim.operands) and any("rank 0" in told for told in seen.operands):
        return "a zero-dimensional CPU tensor is let through here"
    if seen.claim.kind == "index":
        return "an index may stay on the CPU"
    return "none of its operands is surely on the CPU while another is surely elsewhere"


# ---------------------------------------------------------------------------------------------------- policy


def _of_fault(asked: _Asked, fault: Fault) -> Iterator[str]:
    row = policy_row(fault)
    roles = ", ".join(role or "operand" for role in fault.roles)
    path = asked.place.path
    meets = f" (met on {where((fault.site,), path)})" if fault.place is not fault.site else ""
    yield f"  {where((fault.place,), path)}{meets}: {fault.verdict}, claim {fault.kind!r}, roles {roles}"
    ways = [one for one in asked.analysis.decided() if one.key == fault.key] or [fault]
    here = max(severity_of(one, Facts(asked.result.analysis, None, None)) for one in ways)
    yield f"    row: {row.code}, broken {row.broken.label}, open {row.open.label}; here {here.label}"
    if here is Severity.INFO and row.open is not here:
        yield f"    a note: {ASKED[:1].lower()}{ASKED[1:]}"
    told = _why_not(asked, fault)
    if told:
        yield f"    not told: {told}"


def _why_not(asked: _Asked, fault: Fault) -> str:
    """What keeps a fault from becoming a finding; empty where nothing does."""
    code = policy_row(fault).code
    ways = [one for one in asked.analysis.decided() if one.key == fault.key]
    if not ways:
        return "a caller meets this claim, so that it is not open to others"
    if not any(map(is_worth_telling, ways)):
        return "the function shows that it is not meant for tensors anywhere (data code, tests, probes, exports, moved at once)"
    if not any(is_for_others(one, Facts(asked.result.analysis)) for one in ways):
        return "the calls that are known meet it, or are asked in its place, and nothing offers it to others"
    for report in asked.result.reports:
        if report.op in (fault.place.op, fault.site.op) or any(
            mention.op in (fault.place.op, fault.site.op) for mention in report.related
        ):
            by = "" if report.rule.code != code else " by its own check" * (not _is_of_claim(asked, report))
            is_this = report.rule.code == code and not by
            return "" if is_this else f"{report.rule.code} speaks of it{by}, on line {_row(report.op)}"
    if code != asked.rule.code:
        return f"{code} tells of it, where that rule is on"
    return f"another finding of {code} speaks of the same statement, or the code around it expects the error"
