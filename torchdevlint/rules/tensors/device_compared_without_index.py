"""TDL508."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.certainly import is_certainly_device
from torchdevlint.facts.devices import from_string
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.scopes import parameter_of, scopes_of
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, is_unconditional
from torchdevlint.rules.literals import spelled_accelerator
from torchdevlint.rules.rule import WARNING, NodeFix, Report, Rule, on_op
from torchdevlint.rules.structure import may_follow

_MANY = ("cuda", "xpu")  # types with several devices on one machine


class DeviceComparedWithoutIndex(Rule):
    """Finds comparisons of a tensor's device with a device that has no index.

    ## What it does
    Reports `x.device == device` and `!=` where `x` is a tensor and `device` is certainly `torch.device("cuda")` (or another
    accelerator) without an index, also by a choice such as `torch.device("cuda" if torch.cuda.is_available() else "cpu")`. Also a
    device that the caller gives (`device: torch.device`, or `torch.device(device)` of a parameter) compared with a literal
    `torch.device("cuda")`: it is another one as soon as the caller writes `cuda:0`.

    ## Why is this bad?
    A tensor on the accelerator always reports an index: `torch.device("cuda") == torch.device("cuda:0")` is False. The comparison
    is never true on a GPU, without an error; `assert x.device == device` fails there alone.

    ## Example
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if x.device != device:
            x = x.to(device)

    ## Use instead
        if x.device.type != device.type:
            x = x.to(device)

    ## When it stays silent
    `.type` on both sides, an index on the device, devices whose spelling is not known.

    ## Fix safety
    Unsafe: comparing types is wrong where the index matters, and the fix wakes a branch that never ran.

    ## Proof
    On an accelerator the comparison is False for a tensor that was moved to that very device; with `.type` it is True.

    ## References
    c10/core/Device.h (operator==).
    """

    code, name, severity = "TDL508", "device-compared-without-index", WARNING
    fixable = "unsafe"

    @on_op(ir.Compare)
    def check(self, op: ir.Compare, facts: Facts) -> Iterator[Report]:
        if len(op.comparators) != 1 or op.operators[0] not in ("==", "!="):
            return
        right = op.comparators[0]
        for tensor, device in ((op.left, right), (right, op.left)):
            if not _is_device_of_tensor(tensor, facts) or not is_certainly_device(device, facts):
                continue
            spelled = _spellings(device, facts)
            bare = next((text for text in spelled if from_string(text).is_accelerator and ":" not in text), None)
            if bare is None or any(":" in text for text in spelled):
                continue
            always = "False" if op.operators[0] == "==" else "True"
            yield self.report(
                op,
                f"on `{bare}` this is always {always}, as a tensor's device has an index; compare `.type`, or name the index",
                detail=f"A tensor on the accelerator reports `{bare}:0`, this device is `{bare}`: they differ, without an error.",
                fix=lambda: _fix(op, facts),
            )
            return
        for given, device in ((op.left, right), (right, op.left)):
            name, spelled_device = _given_by_caller(op, given, facts), spelled_accelerator(device, facts)
            if name and spelled_device is not None and spelled_device.name in _MANY:
                yield self._reported_given(op, name, spelled_device.name, facts)
                return

    def _reported_given(self, op: ir.Compare, name: str, bare: str, facts: Facts) -> Report:
        return self.report(
            op,
            f'`{name}` may be `{bare}:0`, which is not equal to `torch.device("{bare}")`; compare `.type`',
            detail=f'The caller chooses `{name}`: with an index, as in `torch.device("{bare}:1")`, it takes the other branch.',
            fix=lambda: _fix(op, facts),
        )


def _given_by_caller(op: ir.Compare, register: ir.Register, facts: Facts) -> str:
    """The name of a `torch.device` that a parameter is, or was made of on every way here; "" for anything else."""
    written = facts.definition(register)
    if not isinstance(written, ir.Load):
        return ""
    body = facts.body
    stores = [store for store in Lookup.of(body).stores(written.name) if may_follow(body, store, op)]
    if not stores:
        is_given = parameter_of(body, written.name) is not None
        return written.name if is_given and is_certainly_device(register, facts) else ""
    last = [one for one in stores if not any(may_follow(body, one, other) for other in stores if other is not one)]
    block = block_of(body, last[0]) if len(last) == 1 else None
    if block is None or not is_unconditional(block, body):
        return ""
    return written.name if _is_made_of_parameter(last[0].value, facts) else ""


def _is_made_of_parameter(register: ir.Register, facts: Facts) -> bool:
    made = facts.definition(register)
    if (
        not isinstance(made, ir.Call)
        or len(made.arguments) != 1
        or facts.analysis.spelled(made.function, facts.body) != "torch.device"
    ):
        return False
    given = facts.definition(made.arguments[0].value)
    return isinstance(given, ir.Load) and parameter_of(facts.body, given.name) is not None


def _is_device_of_tensor(register: ir.Register, facts: Facts) -> bool:
    written = facts.definition(register)
    if not isinstance(written, ir.Attribute) or written.name != "device":
        return False
    value = facts.value(written.object)
    return value.kind is Kind.TENSOR and value.evidence >= Evidence.USAGE


def _spellings(register: ir.Register, facts: Facts) -> list[str]:
    """The literals that a device is made of; empty when one of them is not known."""
    written = facts.definition(register)
    if isinstance(written, ir.Load):
        return _of_name(written.name, facts.body, facts)
    return list(_of(written, facts.body, facts, 0))


def _of_name(name: str, body: ir.Body, facts: Facts) -> list[str]:
    for scope in scopes_of(body):
        index = facts.analysis.index_of(scope)
        texts = [list(_of(index.definitions[value], scope, facts, 0)) for value in index.bound_to(name)]
        if texts or parameter_of(scope, name) is not None:
            is_known = parameter_of(scope, name) is None and all(texts)
            return [text for one in texts for text in one] if is_known else []
    return []


def _of(op: ir.Op | None, body: ir.Body, facts: Facts, depth: int) -> Iterator[str]:
    definitions = facts.analysis.index_of(body).definitions
    if depth > 6 or op is None:
        return
    if isinstance(op, ir.Constant) and isinstance(op.value, str):
        yield op.value
    elif isinstance(op, ir.Call) and len(op.arguments) == 1:
        yield from _of(definitions[op.arguments[0].value], body, facts, depth + 1)
    elif isinstance(op, ir.Choice) and op.shape == "if":
        for value in op.values:
            yield from _of(definitions[value], body, facts, depth + 1)


def _fix(op: ir.Compare, facts: Facts) -> NodeFix | None:
    edits = builders.combine(
        builders.append_attribute(facts.definition(op.left), "type"),
        builders.append_attribute(facts.definition(op.comparators[0]), "type"),
    )
    return NodeFix(Ground.CHANGES_A_RUN, "Compare the types", edits)
