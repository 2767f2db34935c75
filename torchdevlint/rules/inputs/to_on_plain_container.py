"""TDL402."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_method

_NAMES = {
    Kind.LIST: "a list",
    Kind.TUPLE: "a tuple",
    Kind.DICT: "a dict",
    Kind.STATE_DICT: "a state dict",
    Kind.PARAMETERS: "the iterator that `parameters()` returns",
    Kind.OPTIMIZER: "an optimizer",
    Kind.LOADER: "a DataLoader",
    Kind.NDARRAY: "a NumPy array",
    Kind.SIZE: "a torch.Size",
}
_ADVICE = {
    Kind.PARAMETERS: "move the module",
    Kind.OPTIMIZER: "move the model before the optimizer is built",
    Kind.LOADER: "move each batch in the loop",
    Kind.NDARRAY: "make a tensor of it first, with `torch.from_numpy`",
    Kind.SIZE: "leave the call out",
}


class ToOnPlainContainer(Rule):
    """Finds `.to()`, `.cuda()` and `.cpu()` on values that have no such method.

    ## What it does
    Reports a device move of a list, tuple, dict, state dict, `parameters()`, optimizer, `DataLoader` or `torch.Size`.

    ## Why is this bad?
    The line raises `AttributeError: 'list' object has no attribute 'to'` on every machine.

    ## Example
        batch = [images, targets]
        batch = batch.to(device)

    ## Use instead
        batch = [item.to(device) for item in batch]

    ## When it stays silent
    Values of unknown type, and those that have `.to`: BatchEncoding, PackedSequence, PyG Data, TensorDict.

    ## Fix safety
    Unsafe: the elements may not all be tensors.

    ## Proof
    The call raises AttributeError; the comprehension moves the elements.

    ## References
    RULES: receivers without `.to`; torch/optim/optimizer.py, torch/utils/data/dataloader.py.
    """

    code, name, severity = "TDL402", "to-on-plain-container", ERROR
    fixable = "unsafe"

    @on_method("to", "cuda", "cpu")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = facts.receiver(call)
        value = facts.value(register)
        method = facts.callee(call).removeprefix(".")
        known = _NAMES.get(value.kind)
        # NumPy's own arrays are TDL510's when `.numpy()` stands before; elsewhere the array API gives some arrays `.to_device` only.
        if (
            known is None
            or value.definition is not None  # a dict of a class of its own, which may have one
            or (value.kind is Kind.NDARRAY and _from_tensor(register, facts))
            or facts.in_try_catching("AttributeError")
        ):
            return
        if value.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT) and not _is_certain(register, facts):
            return
        if (value.kind is Kind.OPTIMIZER and value.origin is None) or (
            value.kind is Kind.LOADER and value.symbol != "torch.utils.data.DataLoader"
        ):
            return
        yield self.report(
            call,
            f"{known} has no `.{method}()`; {_ADVICE.get(value.kind, 'move its elements one by one')}",
            detail="This raises AttributeError on every machine.",
            fix=lambda: _fix(call, register, value.kind, facts),
        )


def _from_tensor(register: ir.Register | None, facts: Facts) -> bool:
    """True for `x.numpy()` itself, which TDL510 reports, and for arrays that were not made in this body."""
    written = facts.definition(register)
    if isinstance(written, ir.Call):
        return True
    return not isinstance(written, ir.Load) or bool(facts.value(register).parameter)


def _is_certain(register: ir.Register | None, facts: Facts) -> bool:
    """True when the value is the display or comprehension itself, or was read from a name that holds it."""
    written = facts.definition(register)
    value = facts.value(register)
    if isinstance(written, (ir.Sequence, ir.Mapping, ir.Comprehension)):
        return True
    return (
        isinstance(written, ir.Load)
        and (value.items is not None or value.element is not None or bool(value.entries))
        and not value.parameter
    )


def _fix(call: ir.Call, register: ir.Register | None, kind: Kind, facts: Facts) -> NodeFix | None:
    written = facts.definition(register)
    place = facts.place(register)
    if kind not in (Kind.LIST, Kind.DICT, Kind.STATE_DICT) or not place or not isinstance(written, ir.Load):
        return None
    spelled = builders.source_of(call).strip()
    while spelled.startswith("("):  # a formatter puts a long line between parentheses
        spelled = spelled[1:-1].strip()
    if not spelled.startswith(place):
        return None
    move = spelled[len(place) :]
    text = (
        f"[item{move} for item in {place}]"
        if kind is Kind.LIST
        else f"{{key: value{move} for key, value in {place}.items()}}"
    )
    return NodeFix(Ground.UNKNOWN_KIND, "Move the elements", builders.replace_expression(call, text))
