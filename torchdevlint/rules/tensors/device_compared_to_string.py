"""TDL507."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from torchdevlint.facts.devices import from_string
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.scopes import parameter_of
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_op

_OPERATORS = frozenset({"==", "!=", "is", "is not", "in", "not in"})
_INDEX = re.compile(r":\d+\Z")


class DeviceComparedToString(Rule):
    """Finds comparisons of a `torch.device` with a string.

    ## What it does
    Reports `==`, `!=`, `is`, `in` and `not in` between a device (`x.device` of a tensor, `torch.device(...)` or a name that only ever holds one) and
    strings that name devices.

    ## Why is this bad?
    A `torch.device` never equals a string: `x.device == "cuda"` is False on every machine, and `!=` is True. The branch is never, or
    always, taken, without a word.

    ## Example
        if x.device == "cuda":
            torch.cuda.synchronize()

    ## Use instead
        if x.device.type == "cuda":
            torch.cuda.synchronize()

    ## When it stays silent
    Values that may be strings: parameters, `args.device`, names bound to a string or to a choice between strings. NumPy arrays (their `.device` is
    a string) and objects of unknown type. `.type`, `str(device)`, comparisons with `torch.device("cuda")`.

    ## Fix safety
    Unsafe: `.type` (or `torch.device("cuda:0")` for a string with an index) makes the comparison say what it seems to say, and so wakes code that has
    never run.

    ## Proof
    The comparison is False for a tensor on that very device; with `.type` it is True.

    ## References
    torch/csrc/Device.cpp (`THPDevice_rc`).
    """

    code, name, severity = "TDL507", "device-compared-to-string", ERROR
    fixable = "unsafe"

    @on_op(ir.Compare)
    def check(self, compare: ir.Compare, facts: Facts) -> Iterator[Report]:
        if len(compare.comparators) != 1 or compare.operators[0] not in _OPERATORS:
            return
        operator, right = compare.operators[0], compare.comparators[0]
        if "in" in operator.split():
            pairs = [(compare.left, right)]
        else:
            pairs = [(compare.left, right), (right, compare.left)]
        for device, text in pairs:
            texts = _texts(text, facts, several="in" in operator.split())
            if texts and _is_device(device, facts):
                always = "True" if operator in ("!=", "is not", "not in") else "False"
                spelled = facts.place(device)
                yield self.report(
                    compare,
                    f"{f'`{spelled}`' if spelled else 'a `torch.device`'} never equals a string, so this is always {always}; compare its `.type`",
                    detail="A `torch.device` equals another `torch.device` alone: for one with an index, compare with `torch.device(...)`.",
                    fix=_fix_for(operator, device, text, texts, facts),
                )
                return


def _texts(register: ir.Register, facts: Facts, *, several: bool) -> list[str]:
    """The device strings that stand on one side; empty when one of them is something else."""
    written = facts.definition(register)
    if several:
        if not isinstance(written, ir.Sequence):
            return []
        found = [_text(element.value, facts) for element in written.elements if not element.starred]
        return [text for text in found if text] if all(found) and len(found) == len(written.elements) else []
    text = _text(register, facts)
    return [text] if text else []


def _text(register: ir.Register, facts: Facts) -> str:
    written = facts.definition(register)
    value = written.value if isinstance(written, ir.Constant) else None
    return value if isinstance(value, str) and from_string(value).place != "top" else ""


def _is_device(register: ir.Register, facts: Facts) -> bool:
    """True for a value that is certainly a `torch.device`, never a string: by what made it, not by its name."""
    written = facts.definition(register)
    if isinstance(written, ir.Call):
        return facts.callee(written) == "torch.device"
    if isinstance(written, ir.Attribute) and written.name == "device":
        owner = facts.value(written.object)
        if owner.kind is Kind.TENSOR:
            return owner.evidence >= Evidence.USAGE
        summary = facts.class_summary
        return owner.ref == "self" and summary is not None and summary.is_lightning and not summary.stores_of("device")
    if isinstance(written, ir.Load):
        return _is_bound_to_devices(written.name, facts)
    return False


def _is_bound_to_devices(name: str, facts: Facts) -> bool:
    """True when every binding of the name, here or else in the module, is a device."""
    if parameter_of(facts.body, name) is not None:
        return False
    here = Lookup.of(facts.body).stores(name)
    if here:
        return all(store.annotation is None and _is_device(store.value, facts) for store in here)
    module = facts.program.module
    if facts.body is module or facts.body.parent is not module:
        return False
    lookup = Lookup.of(module)
    made = [lookup.definition(store.value) for store in lookup.stores(name)]
    spelled = [facts.analysis.spelled(op.function, module) if isinstance(op, ir.Call) else "" for op in made]
    return bool(spelled) and set(spelled) == {"torch.device"}


def _fix_for(
    operator: str, device: ir.Register, text: ir.Register, texts: list[str], facts: Facts
) -> Callable[[], NodeFix | None] | None:
    """The fix for one comparison, or None: identity has none, and a list with indices has none."""
    if operator in ("is", "is not"):
        return None
    indexed = [bool(_INDEX.search(one)) for one in texts]
    left, right = facts.definition(device), facts.definition(text)
    torch = facts.analysis.spelling_of("torch")

    def fix() -> NodeFix | None:
        if not any(indexed):
            edits = builders.append_attribute(left, "type")
        elif len(texts) == 1 and torch is not None and operator in ("==", "!="):
            edits = builders.replace_expression(right, f'{torch}.device("{texts[0]}")')
        else:
            return None
        return NodeFix(Ground.WAKES_CODE, "Compare devices by type", edits)

    return fix
