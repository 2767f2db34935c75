"""Rules that listen to claims: what device inference finds broken, or open for others, in the words of the rule that tells of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.naming import as_written
from torchdevlint.findings import Severity
from torchdevlint.infer.claims import RETURNED
from torchdevlint.infer.summary import LEAF, Fault
from torchdevlint.infer.values import Site, Tensor, Term, index_of, said
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.program.project import Member
from torchdevlint.rules.policy import ATTRIBUTE, faults_to_tell, row_of, severity_of
from torchdevlint.rules.repairs import (
    There,
    buffer_instead,
    device_there,
    facts_at,
    is_moved_only,
    read_on_host,
    repair_of,
    store_of,
)
from torchdevlint.rules.rule import Elsewhere, Mention, NodeFix, Report, Rule, on_inferred
from torchdevlint.rules.ways import assigned, handed_on
from torchdevlint.rules.wording import MISMATCH

_MOST_CALLS_TOLD = 3
_PLACEMENT = ("TDL3", "TDL4", "TDL5", "TDL6")  # rules of where losses, inputs, tensors and parts of modules are
_PORTABILITY = "TDL8"  # on which machines a line runs, and not where its tensors are


class Inferred(Rule):
    """A rule that tells of claims that do not hold."""

    @on_inferred
    def check_claims(self, told: Sequence[Report], facts: Facts) -> Iterator[Report]:
        """The faults that fall to this rule; `told` is what other checks have said."""
        member = facts.analysis.member
        known = _Told(told)
        mine = [one for one in faults_to_tell(facts) if row_of(one).code == self.code]
        for fault in sorted(mine, key=lambda one: (one.verdict != "broken", -severity_of(one, facts))):
            if known.of(fault) is not None:
                continue
            if fault.kind == "host" and fault.verdict == "open" and facts.roles.is_test:
                continue  # reference values are computed by NumPy, from what the tests make
            store = store_of(fault, facts) if self.code == ATTRIBUTE.code else None
            place = store or fault.told_at
            there = device_there(fault, facts) if store is None else None
            related = tuple(_mentions(fault, place, member))
            message, detail = self.words(fault, place, related, there, facts)
            report = self.report(
                place.op,
                message,
                detail=detail,
                severity=severity_of(fault, facts),
                related=related,
                fix=lambda fault=fault, store=store, there=there: (  # type: ignore[misc]
                    buffer_instead(store, facts) if store is not None else self.repair(fault, there, facts)
                ),
                proven=fault.verdict == "broken",
            )
            known.add_place(report)
            yield report

    def words(
        self, fault: Fault, told_at: Site, related: tuple[Mention, ...], there: There | None, facts: Facts
    ) -> tuple[str, str]:
        """What is wrong and what to do, and what happens at run time: message and detail."""
        return _words(fault, told_at, related, there, facts)

    def repair(self, fault: Fault, there: There | None, facts: Facts) -> NodeFix | None:
        """The edits that repair a fault; None where nobody can be sure of them."""
        return repair_of(fault, there, facts)


class _Told:
    """What other findings speak of, to be asked about many faults."""

    def __init__(self, told: Sequence[Report]) -> None:
        self._attributes: dict[tuple[str, str], Report] = {}
        self._ops: dict[int, Report] = {}
        self._mentioned: dict[tuple[str, int], Report] = {}
        self._statements: dict[int, dict[int, list[ir.Op]]] = {}
        for report in told:
            if report.severity > Severity.INFO:
                self.add_place(report)
                for mention in report.related:
                    self._mentioned.setdefault((report.rule.code, id(mention.op)), report)
                for name in _ATTRIBUTE.findall(report.message):
                    self._attributes.setdefault((report.rule.code, name), report)

    def add_place(self, report: Report) -> None:
        """A statement that is spoken of: what else of it meets a tensor elsewhere is repaired with it."""
        self._ops.setdefault(id(report.op), report)

    def of(self, fault: Fault) -> Report | None:
        """The finding that speaks of the place or the meeting, or of an operand of it; None where there is none."""
        code = row_of(fault).code
        for site in (fault.place, fault.site):
            found = self._ops.get(id(site.op)) or self._mentioned.get((code, id(site.op)))
            if found is not None and not found.rule.code.startswith(_PORTABILITY):
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


def _words(
    fault: Fault, told_at: Site, related: tuple[Mention, ...], there: There | None, facts: Facts
) -> tuple[str, str]:
    where = where_is(fault, there)
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
    if fault.roles == RETURNED:
        advice = _advice(there, fault, facts) or "create it there, or move it"
        met = f"Whoever combines it with a tensor on {where}, on an accelerator, gets {MISMATCH}."
        return f"{_subject(told_at)} is returned with one on {where}; {advice}", met
    if fault.left is not None and told_at is fault.left:
        return (
            f"this leaves a module on the CPU, where it meets a tensor on {where} in the next turn; move it back",
            f"The next turn of the loop raises {MISMATCH}.",
        )
    if fault.host is not None and fault.host.kept and isinstance(told_at.op, ir.StoreAttribute):
        name, line = fault.host.kept, "Line {0}" if fault.site.unit is told_at.unit else "{0}"
        return (
            f"`self.{name}` stays on the CPU when the module moves; register it as a buffer",
            f"{line} combines it with a tensor on {where}: on an accelerator that raises {MISMATCH}. "
            f'`self.register_buffer("{name}", ..., persistent=False)` moves with the module.',
        )
    if fault.kind == "host" and fault.given is not None and told_at is fault.given.call and told_at is not fault.site:
        met = "at {0}" if related and related[0].op is fault.site.op else "in another file"
        what = f"{_handed_name(fault, facts) or 'what is given here'} {_is(fault)} on {where}"
        return (
            f"{what}, and NumPy reads it in host memory {met}; call `.cpu()` first",
            "On an accelerator that raises a TypeError.",
        )
    if fault.kind == "host":
        what = f"{_operand_name(fault, told_at, facts) or 'this tensor'} {_is(fault)} on {where}"
        if fault.roles[1] == "lengths":
            return f"{what}, and must be on the CPU here; pass it with `.cpu()`", "On an accelerator that raises."
        return f"{what}, and NumPy reads host memory; call `.cpu()` first", "On an accelerator that raises a TypeError."
    if fault.site.unit is not told_at.unit:
        met = "at {0}" if related and related[0].op is fault.site.op else "in another file"
        if fault.host is not None and told_at is fault.host.origin:
            return f"{_subject(told_at)} meets one on {where} {met}; create it there, or move it", raises
        if fault.is_of_module:
            return f"this call brings a module on the CPU to a tensor on {where} {met}; move the module there", raises
        if fault.given is not None and fault.given.call is told_at:
            what = "a model" if fault.roles == ("input", "module") else "a tensor"
            return _given_here(fault, there, f"{met} {what} on {where}", facts), raises
        return f"this call brings a CPU tensor to one on {where} {met}; move one of them", raises
    if fault.roles == ("input", "module"):
        if fault.given is not None and fault.given.call is told_at:
            return _given_here(fault, there, f"a model on {where} on line {{0}}", facts), raises
        if fault.site is not told_at:
            what = f"{_subject(told_at)} meets a model on {where} on line {{0}}"
            return f"{what}; {_advice(there, fault, facts) or 'create it there, or move it'}", raises
        what = f"{_operand_name(fault, told_at, facts) or 'this input'} is on the CPU and meets a model on {where}"
        return f"{what}; {f'move it with `.to({there.expression})`' if there else 'move it there'}", raises
    if fault.roles == ("module", "input"):
        is_here = fault.given is not None and fault.given.call is told_at
        model = (_handed_name(fault, facts) if is_here else "") or "this model"
        return f"{model} is on the CPU and its input on {where}; move the model to the input's device", raises
    if fault.is_of_module:
        return f"this module is on the CPU and meets a tensor on {where}; move the module there", raises
    if fault.kind == "index" and row_of(fault) is ATTRIBUTE and fault.site is not told_at:
        what = f"{_subject(told_at)} is indexed with a tensor on {where} on line {{0}}"
        return f"{what}; create it there, or move it", "On an accelerator that raises."
    if fault.kind == "index":
        indexed = f"a CPU tensor is indexed with a tensor on {where}; bring the index to the CPU with `.cpu()`"
        return indexed, "On an accelerator that raises."
    if fault.given is not None and fault.given.call is told_at:
        return _given_here(fault, there, f"a tensor on {where} on line {{0}}", facts), raises
    if fault.host is not None and fault.site is not told_at:
        advice = _advice(there, fault, facts) or "create it there, or move it"
        subject = "this CPU weight of a loss" if fault.roles[0] == "kept weight" else _subject(told_at)
        return f"{subject} meets a tensor on {where} on line {{0}}; {advice}", raises
    return f"a CPU tensor meets a tensor on {where}; move it to the other's device", raises


def where_is(fault: Fault, there: There | None) -> str:
    """The other tensor's device in words, by the variable that holds it where one does."""
    if there is None or not there.exact or isinstance(fault.other.device, Term) or there.expression.endswith(".device"):
        return said(fault.other.device)
    return f"`{there.expression}`"


def _is(fault: Fault) -> str:
    return "is" if fault.verdict == "broken" and not fault.sometimes else "may be"


def _subject(made: Site) -> str:
    """The tensor that is made at a place, by the one name that it is bound to."""
    names = set()
    if made.body is not None and isinstance(made.op, ir.ValueOp):
        names = {op.name for op in Lookup.of(made.body).readers(made.op.dst) if isinstance(op, ir.Store)}
    return f"the CPU tensor `{as_written(names.pop())}`" if len(names) == 1 else "this CPU tensor"


def _operand_name(fault: Fault, told_at: Site, facts: Facts) -> str:
    """What the call that a finding stands at reads, as it is written there; "" where that has no name."""
    inside, call = facts_at(told_at, facts), told_at.op
    if inside is None or not isinstance(call, ir.Call) or told_at is not fault.site:
        return ""
    if fault.kind == "host":
        register = read_on_host(call, fault.roles[1], inside)
    else:
        given = [argument.value for argument in call.arguments]
        register = given[0] if len(given) == 1 else None
    spelled = inside.text(register)
    return f"`{spelled}`" if spelled else ""


def _given_here(fault: Fault, there: There | None, met: str, facts: Facts) -> str:
    """What a call hands on, and what it meets behind that."""
    name = _handed_name(fault, facts) or "what is given here"
    advice = f"move it with `.to({there.expression})`" if there else "move it there"
    return f"{name} is on the CPU and meets {met}; {advice}"


def _handed_name(fault: Fault, facts: Facts) -> str:
    """How the call that hands on what is to be moved spells it; "" where that has no name."""
    handed = handed_on(fault)
    inside = facts_at(handed[0], facts) if handed is not None else None
    spelled = inside.text(handed[1]) if handed is not None and inside is not None else ""
    return f"`{spelled}`" if spelled else ""


def _advice(there: There | None, fault: Fault, facts: Facts) -> str:
    """How to make the tensor where the other one is, in the repair's own words."""
    if there is None:
        return ""
    is_moved = is_moved_only(fault, facts)
    return f"move it with `.to({there.expression})`" if is_moved else f"create it with `device={there.expression}`"


def _index(tensor: Tensor) -> str:
    index = index_of(tensor.device)
    return f"one of index {index}" if index else "the current one"


def _mentions(fault: Fault, told_at: Site, member: Member | None) -> Iterator[Mention]:
    """The meeting, where the tensor was made, and the calls that lead there."""
    other = said(fault.other.device)
    made = fault.host.origin if fault.host is not None else None
    reads = "here it is read in host memory" if fault.kind == "host" else f"here it meets a tensor on {other}"
    reads = "here an optimizer is given it" if fault.roles[1] == LEAF else reads
    meets = "here it is returned" if fault.roles == RETURNED else reads
    several = [(fault.site, meets), (made, "this tensor is made on the CPU")]
    if fault.holder is not None and fault.holder is not made:
        several.append((fault.holder, "the module is made here"))
    shown = [site.op for site in (told_at, made) if site is not None]
    several += [(at, f"`{as_written(store.name)}` is assigned here") for at, store in assigned(fault, but=shown)]
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
