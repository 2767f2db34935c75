"""TDL606."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, deciding_sides
from torchdevlint.rules.rule import WARNING, Report, Rule, on_method
from torchdevlint.rules.structure import operations

_SETUP = frozenset({"__init__", "__post_init__", "setup", "build", "_build", "reset_parameters"})


class WeightsMovedInForward(Rule):
    """Finds submodules that are moved to a device inside `forward`.

    ## What it does
    Reports `self.layer.to(x.device)` and `self.layer.cuda()` in `forward` or a method that it calls, where `self.layer` is a submodule
    made in the constructor.

    ## Why is this bad?
    It hides a missing `model.to(device)`: the first call copies the weights, every call walks over all parameters, and whoever placed the
    module on purpose finds it
    somewhere else afterwards. Under `nn.DataParallel` the move happens on a replica and is lost, so that it is repeated, and copied, in every step.

    ## Example
        def forward(self, x):
            self.head.to(x.device)
            return self.head(x)

    ## Use instead
        model.to(device)  # once, where the model is built

    ## When it stays silent
    Submodules that are created lazily outside of the constructor; a move under `if not self.prepared:`, where
    `self.prepared` is set; casts to a dtype; classes that are no modules.

    ## Proof
    After a call with an input on another device the submodule's parameters have left the module's device.

    ## References
    torch/nn/modules/module.py (_apply works in place); torch/nn/parallel/replicate.py.
    """

    code, name, severity = "TDL606", "weights-moved-in-forward", WARNING

    @on_method("to", "cuda")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        summary = facts.class_summary
        if summary is None or not facts.in_forward or facts.body.name in _SETUP:
            return
        register = facts.receiver(call)
        module = facts.value(register)
        attribute = _attribute_of_self(register, facts)
        if module.kind is not Kind.MODULE or not attribute or facts.target_of_move(call) is None:
            return
        stores = summary.stores_of(attribute)
        if _is_once(call, facts):
            return
        if not stores or any(store.body.name not in _SETUP or not _is_module(store.value) for store in stores):
            return
        method = facts.callee(call)
        yield self.report(
            call,
            f"`self.{attribute}{method}(...)` moves weights on every call of `{facts.body.name}`; move the module once, outside",
            detail="It hides a missing `model.to(device)` and takes the weights away from where the module was placed. Under "
            "`nn.DataParallel` the move is lost, and repeated in each step.",
            case="it is moved back behind the call" if _is_moved_back(call, attribute, facts) else "",
        )


def _is_moved_back(call: ir.Call, attribute: str, facts: Facts) -> bool:
    """True where the body moves the module to the CPU behind the call: it is there to save memory. Behind `forward` there is a backward pass to come."""
    if facts.body.name == "forward":
        return False
    lookup = Lookup.of(facts.body)
    number = lookup.number(call)
    return any(
        lookup.number(back) > number and _attribute_of_self(facts.receiver(back), facts) == attribute
        for back in lookup.kind(ir.Call)
        if lookup.called(back) == "cpu"
        or (lookup.called(back) == "to" and facts.device_of(back.argument("device", 0)).place == "cpu")
    )


def _is_once(call: ir.Call, facts: Facts) -> bool:
    """True behind a test of an attribute that the body sets: `if not self.prepared: self.layer.to(x.device); self.prepared = True`."""
    block = block_of(facts.body, call)
    if block is None:
        return False
    tested = {
        facts.place(test.operand if isinstance(test := facts.definition(register), ir.Unary) else register)
        for register, _ in deciding_sides(facts.body, block)
    }
    return any(
        isinstance(op, ir.StoreAttribute) and f"{facts.place(op.object)}.{op.name}" in tested
        for op in operations(facts.body)
    )


def _is_module(value: Value) -> bool:
    """True for submodules; the items of a ParameterList or ParameterDict are tensors."""
    return value.kind is Kind.MODULE and not value.symbol.startswith("torch.nn.Parameter")


def _attribute_of_self(register: ir.Register | None, facts: Facts) -> str:
    """The attribute of `self` that the register was read from, directly or by an index."""
    while isinstance(written := facts.definition(register), ir.Subscript):
        register = written.object
    return facts.own_attribute(register)
