"""Flow and rules together: a Program in, reports out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from torchdevlint.findings import Severity
from torchdevlint.flow.analysis import Analysis
from torchdevlint.flow.facts import Facts
from torchdevlint.flow.frame import Frame
from torchdevlint.flow.knowledge.methods import CASTS, MOVES
from torchdevlint.flow.observed import NOTHING_OBSERVED, Observed
from torchdevlint.flow.values import Kind
from torchdevlint.program import ir
from torchdevlint.program.project import Member
from torchdevlint.rules.policy import deciding_place
from torchdevlint.rules.rule import Report, Rule
from torchdevlint.source import deadline
from torchdevlint.source.deep_stack import may_go_deeper


class RuleCrash(Exception):
    """A rule raised; the other rules' reports are still there."""

    def __init__(self, code: str, original: Exception) -> None:
        super().__init__(f"{code}: {type(original).__name__}: {original}")
        self.code = code
        self.original = original


@dataclass(slots=True)
class Result:
    """What the rules said of one file, and the analysis that they asked."""

    analysis: Analysis
    reports: list[Report] = field(default_factory=list)
    crashes: list[RuleCrash] = field(default_factory=list)


Check = Callable[..., Any]


_Asked = tuple[Rule, Check]
_Hooks = dict[str, dict[str | None, list[tuple[type[Rule], str]]]]


@cache
def _hooks(rules: tuple[type[Rule], ...]) -> _Hooks:
    """The check methods of rules by event and by the name that selects them, None where they ask for every event of the kind."""
    found: _Hooks = defaultdict(lambda: defaultdict(list))
    for rule in rules:
        for hook, method in rule.hooks():
            for name in hook.names or (None,):
                found[hook.event][name].append((rule, method))
    return {event: dict(by_name) for event, by_name in found.items()}


class _Dispatch:
    """Event to checks, by the names that select them, of the rules that a file with these words is asked about."""

    def __init__(self, rules: Sequence[type[Rule]], words: frozenset[str]) -> None:
        self._hooks = _hooks(tuple(rules))
        self._rules = {rule: rule() for rule in rules if not rule.needs or not words.isdisjoint(rule.needs)}
        self._checks: dict[tuple[str, str | None], list[_Asked]] = {}

    def checks(self, event: str, name: str | None = None) -> list[_Asked]:
        """The checks that this name selects; without a name, those that ask for every event of the kind."""
        key = event, name
        found = self._checks.get(key)
        if found is None:
            hooks, rules = self._hooks.get(event, {}).get(name, ()), self._rules
            found = self._checks[key] = [
                (rules[rule], getattr(rules[rule], method)) for rule, method in hooks if rule in rules
            ]
        return found

    def names(self, event: str) -> Iterator[str]:
        """The names that select a check."""
        for name, hooks in self._hooks.get(event, {}).items():
            if name is not None and any(rule in self._rules for rule, _ in hooks):
                yield name


def analyse(
    program: ir.Program,
    rules: Sequence[type[Rule]],
    observed: Observed = NOTHING_OBSERVED,
    target_torch: tuple[int, int] | None = None,
    member: Member | None = None,
) -> Result:
    """Run the flow analysis over a Program, with what a run of it saw, and ask the rules.

    `target_torch` is the oldest torch that the file must run on, `member` its place in a project.
    """
    dispatch = _Dispatch(rules, program.words)
    seen: set[tuple[str, int, int]] = set()
    analysis = Analysis(
        program, frozenset((*dispatch.names("attribute"), *dispatch.names("op"))), observed, target_torch, member
    )
    result = Result(analysis)

    def ask(asked: Sequence[_Asked], *given: Any) -> None:
        for rule, check in asked:
            deadline.check()
            try:
                for report in check(*given) or ():
                    key = (rule.code, id(report.op), report.proven)
                    if key not in seen and not given[-1].expects_error:
                        seen.add(key)
                        result.reports.append(report)
            except Exception as error:
                if may_go_deeper(error):
                    raise
                if not any(crash.code == rule.code for crash in result.crashes):
                    result.crashes.append(RuleCrash(rule.code, error))

    checks = dispatch.checks
    every_call, device_calls = checks("call"), checks("device-call")

    def sink_for(frame: Frame) -> Callable[[str, ir.Op, Any], None]:
        def sink(event: str, op: ir.Op, extra: Any) -> None:
            if event == "before-call":
                # Rules see the facts before the call takes effect.
                assert isinstance(op, ir.Call)
                callee = frame.values[op.function]
                written = frame.definitions[op.function]
                wanted = [*every_call]
                if callee.kind is Kind.SYMBOL:
                    # `len`, `range` and their like have no device: only who names them hears of them.
                    if callee.symbol.startswith("builtins."):
                        wanted.clear()
                    elif callee.symbol.startswith("torch.") or op.keyword("device") is not None:
                        wanted += device_calls
                    wanted += checks("call", callee.symbol)
                elif isinstance(written, ir.Attribute):
                    if written.name in MOVES or written.name in CASTS or op.keyword("device") is not None:
                        wanted += device_calls
                    wanted += checks("method", written.name)
                elif op.keyword("device") is not None:
                    wanted += device_calls
                if wanted:
                    ask(wanted, op, frame.facts())
            elif event == "attribute":
                found = checks("attribute", op.name)  # type: ignore[attr-defined]
                if found:
                    ask(found, op, frame.facts())
            elif event == "op":
                found = checks("op", type(op).__name__)
                if found:
                    ask(found, op, frame.facts())

        return sink

    analysis.run(sink_for)
    for cls in program.classes:
        ask(checks("class"), analysis.summary_of(cls), Facts(analysis, None, None))
    ask(checks("file"), Facts(analysis, None, None))
    result.reports = [_toned_down(report, Facts(analysis, None, None)) for report in result.reports]
    asked = checks("inferred")
    if asked:
        known = len(result.reports)
        ask(asked, tuple(result.reports), Facts(analysis, None, None))
        added = [_toned_down(report, Facts(analysis, None, None)) for report in result.reports[known:]]
        proven = {(report.rule.code, id(report.op)) for report in added if report.proven}
        added = [report for report in added if report.proven or (report.rule.code, id(report.op)) not in proven]
        louder = {id(report.op) for report in added if report.severity > Severity.INFO}
        result.reports = [
            r for r in result.reports[:known] if r.severity > Severity.INFO or id(r.op) not in louder
        ] + added
    return result


def _toned_down(report: Report, facts: Facts) -> Report:
    """The report, as severe as the policy lets it be at its place. The facts are of the file as a whole."""
    if report.severity <= Severity.INFO or report.proven:
        return report
    place = deciding_place(report.rule.code, report.severity, report.op, facts)
    return report if place is None else report._replace(severity=place.most)
