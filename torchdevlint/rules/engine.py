"""The rules and the facts of a file together: a Program in, reports out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.frame import Frame
from torchdevlint.facts.imported import named
from torchdevlint.facts.observed import NOTHING_OBSERVED, Observed
from torchdevlint.facts.values import Kind
from torchdevlint.findings import Severity
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Member
from torchdevlint.rules.policy import deciding_place
from torchdevlint.rules.rule import Report, Rule
from torchdevlint.source import deadline
from torchdevlint.source.deep_stack import may_go_deeper
from torchdevlint.stubs.knowledge.methods import CASTS, MOVES


class RuleCrash(Exception):
    """A rule raised; the other rules' reports are still there."""

    def __init__(self, code: str, original: Exception) -> None:
        super().__init__(f"{code}: {type(original).__name__}: {original}")
        self.code = code
        self.original = original


@dataclass(slots=True)
class Result:
    """What the rules said of one file, and the analysis that they asked."""

    analysis: FileFacts
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

    def _names(self, event: str) -> Iterator[str]:
        """The names that select a check."""
        for name, hooks in self._hooks.get(event, {}).items():
            if name is not None and any(rule in self._rules for rule, _ in hooks):
                yield name

    @cached_property
    def _attributes(self) -> frozenset[str]:
        return frozenset(self._names("attribute"))

    @cached_property
    def _ops(self) -> frozenset[str]:
        return frozenset(self._names("op"))

    def wants(self, op: ir.Op) -> bool:
        """True for an operation that a check may ask about."""
        kind = type(op)
        if kind is ir.Call or kind.__name__ in self._ops:
            return True
        return isinstance(op, ir.Attribute) and op.name in self._attributes

    def of(self, op: ir.Op, frame: Frame) -> list[_Asked]:
        """The checks that ask about an operation. They see the facts before it takes effect."""
        found = list(self.checks("op", type(op).__name__))
        if isinstance(op, ir.Attribute):
            found += self.checks("attribute", op.name)
        elif isinstance(op, ir.Call):
            found += self._of_call(op, frame)
        return found

    def _of_call(self, op: ir.Call, frame: Frame) -> Iterator[_Asked]:
        name, written = named(frame.analysis, frame.body, op.function), frame.definitions[op.function]
        if name is None:
            callee = frame.values[op.function]
            name = callee.symbol if callee.kind is Kind.SYMBOL else ""
        if not name.startswith("builtins."):  # `len`, `range` and their like have no device
            yield from self.checks("call")
            method = written.name if isinstance(written, ir.Attribute) and not name else ""
            if name.startswith("torch.") or method in MOVES or method in CASTS or op.keyword("device") is not None:
                yield from self.checks("device-call")
            if method:
                yield from self.checks("method", method)
        if name:
            yield from self.checks("call", name)


def analyse(
    program: ir.Program,
    rules: Sequence[type[Rule]],
    observed: Observed = NOTHING_OBSERVED,
    target_torch: tuple[int, int] | None = None,
    member: Member | None = None,
) -> Result:
    """Ask the rules about a Program, with what a run of it saw.

    `target_torch` is the oldest torch that the file must run on, `member` its place in a project.
    """
    dispatch = _Dispatch(rules, program.words)
    seen: set[tuple[str, int, int]] = set()
    analysis = FileFacts(program, observed, target_torch, member, dispatch.wants)
    result = Result(analysis)

    def ask(asked: Sequence[_Asked], *given: Any) -> None:
        for rule, check in asked:
            deadline.check()
            try:
                for report in check(*given) or ():
                    key = (rule.code, id(report.op), report.proven)
                    facts: Facts = given[-1]
                    if key not in seen and not facts.expects_error and facts.is_reached:
                        seen.add(key)
                        result.reports.append(report)
            except Exception as error:
                if may_go_deeper(error):
                    raise
                if not any(crash.code == rule.code for crash in result.crashes):
                    result.crashes.append(RuleCrash(rule.code, error))

    checks = dispatch.checks
    for body in program.bodies:
        for number in _live(body):
            block = body.blocks[number]
            for op in block.ops:
                if dispatch.wants(op):
                    frame = Frame(analysis, body, op, block)
                    found = dispatch.of(op, frame)
                    if found:
                        ask(found, op, Facts(analysis, frame, block))
    for cls in program.classes:
        ask(checks("class"), analysis.summary_of(cls), Facts(analysis))
    ask(checks("file"), Facts(analysis))
    result.reports = [_toned_down(report, Facts(analysis)) for report in result.reports]
    asked = checks("inferred")
    if asked:
        known = len(result.reports)
        ask(asked, tuple(result.reports), Facts(analysis))
        added = [_toned_down(report, Facts(analysis)) for report in result.reports[known:]]
        added = _one_each(added)
        louder = {id(report.op) for report in added if report.severity > Severity.INFO}
        result.reports = [
            r for r in result.reports[:known] if r.severity > Severity.INFO or id(r.op) not in louder
        ] + added
    return result


def _one_each(reports: Sequence[Report]) -> list[Report]:
    """One report for each operation, of what claims have told: it meets tensors in several ways, and is repaired once.

    What is proven comes first, then what is severe, and last what gives way.
    """
    best: dict[int, Report] = {}
    for report in sorted(reports, key=lambda one: (not one.proven, -one.severity, one.rule.gives_way)):
        best.setdefault(id(report.op), report)
    return [report for report in reports if best[id(report.op)] is report]


def _live(body: ir.Body) -> Iterator[int]:
    """The blocks that control may come to, but those under `if False:`."""
    cfg, dead = Cfg.of(body), set[int]()
    for number in cfg.order:
        above = cfg.decider(number)
        if above is not None and (above[0] in dead or (above[2] and _is_never(above[1], body))):
            dead.add(number)
        else:
            yield number


def _is_never(test: ir.Register, body: ir.Body) -> bool:
    """True for `False`, and for what begins with it: `False and ready()`."""
    written = Lookup.of(body).definition(test)
    if isinstance(written, ir.Choice) and written.shape == "and":
        return _is_never(written.values[0], body)
    return isinstance(written, ir.Constant) and written.value is False


def _toned_down(report: Report, facts: Facts) -> Report:
    """The report, as severe as the policy lets it be at its place. The facts are of the file as a whole."""
    if report.severity <= Severity.INFO:
        return report
    place = deciding_place(report.rule.code, report.severity, report.op, facts, proven=report.proven)
    return report if place is None else report._replace(severity=place.most)
