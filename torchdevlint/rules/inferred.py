"""Rules that listen to claims: what device inference finds broken, or open for others, in the words of the rule that tells of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from torchdevlint.findings import Severity
from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import Facts
from torchdevlint.infer.analysis import Analysis, analyse
from torchdevlint.infer.kept import kept_for
from torchdevlint.infer.summary import Fault
from torchdevlint.infer.values import Site, Tensor, Term, index_of, said
from torchdevlint.program import ir
from torchdevlint.program.lookup import reads
from torchdevlint.program.project import Member
from torchdevlint.rules.policy import is_worth_telling, row_of, severity_of
from torchdevlint.rules.rule import Elsewhere, Mention, NodeFix, Report, Rule, on_inferred
from torchdevlint.rules.wording import MISMATCH, give_device, variable_beside

_MOST_CALLS_TOLD = 3
_PLACEMENT = ("TDL3", "TDL4", "TDL5", "TDL6")  # rules of where losses, inputs, tensors and parts of modules are
# The file that was asked about last: several rules ask about it one after the other.
_LAST: list[tuple[ir.Program, int, Analysis]] = []


def inference_of(facts: Facts) -> Analysis:
    """What is inferred of a file and of its place in its project, once for all rules."""
    program, member = facts.analysis.program, facts.analysis.member
    if not _LAST or _LAST[0][0] is not program or _LAST[0][1] != program.revision:
        if member is None:
            found = analyse(program, kept=program.kept)
        else:
            found = analyse(program, member.path, member.project, kept_for(program, member.path, member.project))
        _LAST[:] = [(program, program.revision, found)]
    return _LAST[0][2]


class Inferred(Rule):
    """A rule that tells of claims that do not hold. What its own checks say is a note until a claim confirms it."""

    awaits_claims = True

    @on_inferred
    def check_claims(self, told: Sequence[Report], facts: Facts) -> Iterator[Report]:
        """The faults that fall to this rule; `told` is what other checks have said."""
        analysis, member = inference_of(facts), facts.analysis.member
        known = _Told(told)
        for fault in sorted(analysis.decided(), key=lambda fault: fault.verdict != "broken"):
            if known.teller_of(fault) != self.code or not is_worth_telling(fault):
                continue
            place = fault.told_at
            if known.of(fault) is not None:
                continue
            noted = known.note_of(fault)
            if noted is not None:
                known.add(noted)
                spoken = {id(noted.op), *(id(mention.op) for mention in noted.related)}
                calls = tuple(one for one in _mentions(fault, place, member) if id(one.op) not in spoken)
                yield noted._replace(
                    severity=severity_of(fault),
                    related=(*noted.related, *calls),
                    proven=fault.verdict == "broken",
                    instead_of=noted,
                    rests_on=None,
                )
            else:
                related = tuple(_mentions(fault, place, member))
                message, detail = _words(fault, place, related)
                yield self.report(
                    place.op,
                    message,
                    detail=detail,
                    severity=severity_of(fault),
                    related=related,
                    fix=lambda fault=fault: _fix(fault),  # type: ignore[misc]
                    proven=fault.verdict == "broken",
                )


class _Told:
    """What other findings speak of, to be asked about many faults."""

    def __init__(self, told: Sequence[Report]) -> None:
        self._attributes: dict[tuple[str, str], Report] = {}
        self._notes: dict[int, list[Report]] = defaultdict(list)
        self._noted_attributes: dict[str, list[Report]] = defaultdict(list)
        self._ops: dict[int, Report] = {}
        self._mentioned: dict[tuple[str, int], Report] = {}
        self._statements: dict[int, dict[int, list[ir.Op]]] = {}
        for report in told:
            if report.severity > Severity.INFO:
                self.add(report)
            elif issubclass(report.rule, Inferred):
                for op in (report.op, *(mention.op for mention in report.related)):
                    self._notes[id(op)].append(report)
                for name in _ATTRIBUTE.findall(report.message):
                    self._noted_attributes[name].append(report)

    def add(self, report: Report) -> None:
        """A finding that is told."""
        self._ops.setdefault(id(report.op), report)
        for mention in report.related:
            self._mentioned.setdefault((report.rule.code, id(mention.op)), report)
        for name in _ATTRIBUTE.findall(report.message):
            self._attributes.setdefault((report.rule.code, name), report)

    def teller_of(self, fault: Fault) -> str:
        """The rule that tells of a fault: the one whose own check has noted it, or else the one that the policy names."""
        noted = self.note_of(fault)
        return row_of(fault).code if noted is None else noted.rule.code

    def of(self, fault: Fault) -> Report | None:
        """The finding that speaks of the place or the meeting, or of an operand of it; None where there is none."""
        code = row_of(fault).code
        for site in (fault.place, fault.site):
            found = self._ops.get(id(site.op)) or self._mentioned.get((code, id(site.op)))
            if found is not None:
                return found
        if fault.host is not None and (code, fault.host.kept) in self._attributes:
            return self._attributes[code, fault.host.kept]
        for site in (fault.place, fault.site):
            for op in self._beside(site):
                report = self._ops.get(id(op))
                if report is None or not report.rule.code.startswith(_PLACEMENT):
                    continue
                # All of a statement makes the tensor; where it meets others, what is told may be about one of those.
                is_its_own = site is not fault.site or (fault.is_given and _is_operand(report.op, site.op))
                if report.rule.code == code or is_its_own:
                    return report
        return None

    def note_of(self, fault: Fault) -> Report | None:
        """What a rule's own check has noted of the tensor or the meeting: a claim makes more of it, and its words and its repair stay."""
        code, host = row_of(fault).code, fault.host
        ops = [site.op for site in (fault.told_at, fault.place, fault.site)]
        ops += [op for op in self._beside(fault.site) if _is_operand(op, fault.site.op)]
        found = [note for op in ops for note in self._notes.get(id(op), ())]
        if host is not None and host.kept:
            found += self._noted_attributes.get(host.kept, ())
        made = [note for op in self._beside(fault.place) for note in self._notes.get(id(op), ())]
        mine = (note for note in (*found, *made) if note.rule.code == code)
        return next(mine, found[0] if found else None)

    def _beside(self, site: Site) -> list[ir.Op]:
        """The operations of the statement that a site is in."""
        if site.body is None:
            return []
        statements = self._statements.get(id(site.body))
        if statements is None:
            statements = self._statements[id(site.body)] = _statements(site.body)
        return statements.get(id(site.op), [])


def _is_operand(told: ir.Op, met: ir.Op) -> bool:
    """True for an operand of a meeting, and for the meeting."""
    return told is met or getattr(told, "dst", None) in reads(met)


_ATTRIBUTE = re.compile(r"self\.([\w.]+)`")


def _statements(body: ir.Body) -> dict[int, list[ir.Op]]:
    """By the identity of each operation of a body, the operations of its statement."""
    found: dict[int, list[ir.Op]] = {}
    for block in body.blocks:
        statement: list[ir.Op] = []
        for op in block.ops:
            statement.append(op)
            found[id(op)] = statement
            if not isinstance(op, ir.ValueOp):
                statement = []
    return found


def _words(fault: Fault, told_at: Site, related: tuple[Mention, ...]) -> tuple[str, str]:
    """What is wrong and what to do, and what happens at run time: message and detail."""
    where = said(fault.other.device)
    raises = f"On an accelerator that raises {MISMATCH}."
    if fault.beside is not None:
        what = (
            "operands on two accelerators"
            if fault.site is told_at
            else "tensors on two accelerators are brought together"
        )
        return (
            f"{what}: {_index(fault.beside)} and {_index(fault.other)}; move one to the other's device",
            f"That raises {MISMATCH}.",
        )
    if fault.kind == "host":
        if fault.roles[1] == "lengths":
            return (
                f"this argument must be on the CPU and may be on {where}; add `.cpu()`",
                "On an accelerator that raises.",
            )
        return f"NumPy is given a tensor on {where}; call `.cpu()` first", "On an accelerator that raises a TypeError."
    if fault.site.unit is not told_at.unit:
        met = "at {0}" if related and related[0].op is fault.site.op else "in another file"
        if fault.host is not None and told_at is fault.host.origin:
            return f"this CPU tensor meets one on {where} {met}; create it there, or move it", raises
        return f"this call brings a CPU tensor to one on {where} {met}; move one of them", raises
    if fault.roles == ("input", "module"):
        return f"this model is on {where} and its input on the CPU; move the input to the model's device", raises
    if fault.roles == ("module", "input"):
        return f"this model is on the CPU and its input on {where}; move the model to the input's device", raises
    if fault.kind == "index":
        indexed = f"a CPU tensor is indexed with a tensor on {where}; move one of them to the other's device"
        return indexed, "On an accelerator that raises."
    if fault.host is not None and fault.site is not told_at:
        return f"this CPU tensor meets one on {where} on line {{0}}; create it there, or move it", raises
    return f"a CPU tensor meets one on {where}; move it to the other's device", raises


def _index(tensor: Tensor) -> str:
    index = index_of(tensor.device)
    return f"one of index {index}" if index else "the current one"


def _mentions(fault: Fault, told_at: Site, member: Member | None) -> Iterator[Mention]:
    """The meeting, where the tensor was made, and the calls that lead there."""
    other = said(fault.other.device)
    made = fault.host.origin if fault.host is not None else None
    several = [(fault.site, f"here it meets a tensor on {other}"), (made, "this tensor is made on the CPU")]
    for at, call in enumerate(fault.chain[:_MOST_CALLS_TOLD]):
        is_giver = at == len(fault.chain) - 1 and told_at in (made, fault.site)
        several.append((call, f"this call gives it a tensor on {other}" if is_giver else "this call leads there"))
    seen: set[int] = {id(told_at.op)}
    for site, told in several:
        if site is None or id(site.op) in seen:
            continue
        seen.add(id(site.op))
        if site.unit is told_at.unit:
            yield Mention(site.op, told)
        elif member is not None:
            span = member.project.span_of(site.unit.path, site.op)
            if span is not None:
                yield Mention(site.op, told, Elsewhere(site.unit.path, span))


def _fix(fault: Fault) -> NodeFix | None:
    """`device=` where the other tensor is a parameter of the function that makes this one, or a variable beside it."""
    place = fault.place
    if place.unit is not fault.site.unit or not isinstance(place.op, ir.Call) or place.body is None:
        return None
    if row_of(fault).code != "TDL504" or place.op.keyword("device") is not None or not _takes_device(fault):
        return None
    name = _parameter_met(fault)
    if name is None and fault.site.body is place.body:
        name = variable_beside(place.op, fault.site.op, place.body)
    return None if name is None else give_device(place.op, f"{name}.device", Ground.UNSEEN_CODE)


def _parameter_met(fault: Fault) -> str | None:
    """The parameter, never bound anew, on whose device the other tensor is."""
    place, other = fault.place, (fault.seen_inside or fault.other).device
    if place.body is None or not isinstance(other, Term) or other.op != "own":
        return None
    parameter = other.args[0]
    if not isinstance(parameter, Term) or parameter.op != "parameter" or parameter.args[0] is not place.body:
        return None
    name: str = parameter.args[1]
    if any(isinstance(op, ir.Store) and op.name == name for block in place.body.blocks for op in block.ops):
        return None
    return name


def _takes_device(fault: Fault) -> bool:
    return fault.host is not None and fault.host.implicit == "default"
