"""TDL607."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.facts.facts import ClassSummary, Facts
from torchdevlint.facts.naming import MODEL_NAME
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_attribute, on_file, on_op
from torchdevlint.rules.structure import only_plain_bases

_NAMES = ("device", "is_cuda")


class ModuleHasNoDeviceAttribute(Rule):
    """Finds reads of `.device` on modules that have no such attribute.

    ## What it does
    Reports `self.device` and `self.is_cuda` in a class that derives from `nn.Module` alone and never defines them, and `model.device` on
    an object of such a class or of
    `torch.nn`.

    ## Why is this bad?
    A module may have parameters on several devices, so `nn.Module` has no `device`: the line raises `AttributeError: 'Net' object has no
    attribute 'device'` on every
    machine. (Hugging Face's `PreTrainedModel`, `LightningModule`, `torchmetrics.Metric` and diffusers' `ModelMixin` do have one.)

    ## Example
        class Net(nn.Module):
            def forward(self, x):
                return self.head(x.to(self.device))

    ## Use instead
        class Net(nn.Module):
            def forward(self, x):
                return self.head(x.to(next(self.parameters()).device))

    ## When it stays silent
    A base class of another file; `__getattr__`; the attribute is set anywhere in the file, also from outside (`model.device = ...`,
    `setattr`), by a subclass, or from outside in a file of the project that names the class or a model; `try` around the line or `hasattr`.

    ## Fix safety
    Unsafe: `next(self.parameters())` raises StopIteration for a module without parameters, and a sharded module has several devices.

    ## Proof
    The read raises AttributeError; with the parameters' device the call gives its result.

    ## References
    torch/nn/modules/module.py (__getattr__).
    """

    code, name, severity = "TDL607", "module-has-no-device-attribute", ERROR
    fixable = "unsafe"

    def __init__(self) -> None:
        self._reads: list[tuple[ir.Attribute, ClassSummary | None, str, str]] = []
        self._set_from_outside: set[str] = set()

    @on_op(ir.StoreAttribute)
    def note_store(self, op: ir.StoreAttribute, facts: Facts) -> None:
        """`model.device = ...` gives the module one."""
        if op.name in _NAMES and facts.value(op.object).ref != "self":
            self._set_from_outside.add(op.name)

    @on_attribute(*_NAMES)
    def note_read(self, op: ir.Attribute, facts: Facts) -> None:
        """Reads on modules; judged when all stores of the file are known."""
        value = facts.value(op.object)
        if facts.in_try_catching("AttributeError", "Exception", "BaseException"):
            return
        if value.ref == "self":
            summary = facts.class_summary
            if summary is not None and summary.is_module:
                self._reads.append((op, summary, facts.place(op.object), summary.cls.name))
        elif value.kind is Kind.MODULE and value.evidence >= Evidence.STRONG and not value.attribute:
            if isinstance(value.definition, ir.Class):
                summary = facts.analysis.summary_of(value.definition)
                self._reads.append((op, summary, facts.place(op.object), summary.cls.name))
            elif value.symbol.startswith("torch.nn.") and value.origin is not None:
                self._reads.append((op, None, facts.place(op.object), value.symbol.rpartition(".")[2]))

    @on_file
    def check(self, facts: Facts) -> Iterator[Report]:
        if not self._reads or facts.mentions("setattr", "__dict__"):
            return
        spelled = _texts(facts)
        for op, summary, place, name in self._reads:
            if op.name in self._set_from_outside or op.name in spelled:
                continue
            if summary is not None and (
                _defines(summary, op.name, facts)
                or not only_plain_bases(summary, facts.analysis)
                or _has_heirs_with_other_bases(summary, facts)
                or _is_given_by_heirs(summary, op.name, facts)
                or _is_given_by_others(summary, op.name, facts)
            ):
                continue
            yield self.report(
                op,
                f"`{name}` has no attribute `{op.name}`; use `next({place or 'model'}.parameters()).{op.name}`",
                detail=f"`nn.Module` defines none: this raises \"'{name}' object has no attribute '{op.name}'\" on every machine.",
                fix=lambda op=op, place=place: _fix(op, place),  # type: ignore[misc]
            )


def _texts(facts: Facts) -> frozenset[str]:
    """The attribute names that the file spells as strings, as `hasattr(m, "device")` does."""
    found = {op.value for body in facts.program.bodies for op in Lookup.of(body).kind(ir.Constant)}
    return frozenset(name for name in _NAMES if name in found)


def _defines(summary: ClassSummary, name: str, facts: Facts) -> bool:
    """True when the class, a base or a subclass of the file gives its objects the attribute."""
    family = [summary, *_heirs(summary, facts)]
    return any(_gives(member, name) for member in family)


def _gives(summary: ClassSummary, name: str) -> bool:
    if summary.stores_of(name) or summary.is_registered(name) or summary.method(name) is not None:
        return True
    bodies = [one.cls.body for one in (summary, *summary.ancestors)]
    return any(name in body.local_names or _declares(body, name) for body in bodies)


def _declares(body: ir.Body, name: str) -> bool:
    return any(op.name == name for op in Lookup.of(body).kind(ir.Declare))


def _has_heirs_with_other_bases(summary: ClassSummary, facts: Facts) -> bool:
    """True for a mixin: a class that derives from it has another base too, which may give the attribute (`class Model(Heads, PreTrainedModel)`)."""
    return any(not only_plain_bases(heir, facts.analysis) for heir in _heirs(summary, facts))


def _is_given_by_heirs(summary: ClassSummary, name: str, facts: Facts) -> bool:
    """True where a class of another file of the project derives from this one, in a file that stores the attribute."""
    member = facts.analysis.member
    if member is None:
        return False
    heir = re.compile(rf"(?m)^[ \t]*class \w+\([^)]{{0,500}}\b{re.escape(summary.cls.name)}\b".encode())
    stores = re.compile(rf"\bself\.{name}\s*=[^=]|\bdef {name}\b".encode())
    return any(
        member.project.matches(path, stores)
        for path in member.project.holding((summary.cls.name.encode(),), heir)
        if path != member.path
    )


def _is_given_by_others(summary: ClassSummary, name: str, facts: Facts) -> bool:
    """True where another file of the project sets the attribute of an object from outside, and names the class, or a model: `self.model.device = device`."""
    member = facts.analysis.member
    if member is None:
        return False
    stores = re.compile(rf"(?m)^[ \t]*(?!self\.{name}\b)(\w[\w.\[\]]*)\.{name}[ \t]*=[^=]".encode())
    return any(
        member.project.says(path, summary.cls.name.encode())
        or any(MODEL_NAME.search(holder.decode()) for holder in stores.findall(member.project.read(path)))
        for path in member.project.holding((f".{name}".encode(),), stores)
        if path != member.path
    )


def _fix(op: ir.Attribute, place: str) -> NodeFix | None:
    if not place or not place.replace(".", "").isidentifier():
        return None
    edits = builders.replace_expression(op, f"next({place}.parameters()).{op.name}")
    return NodeFix(Ground.UNKNOWN_KIND, f"Ask a parameter of `{place}`", edits)


def _heirs(summary: ClassSummary, facts: Facts) -> list[ClassSummary]:
    """The classes of the file that derive from a class."""
    others = map(facts.analysis.summary_of, facts.program.classes)
    return [other for other in others if other is not summary and summary in other.ancestors]
