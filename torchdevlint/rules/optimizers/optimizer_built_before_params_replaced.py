"""TDL201."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.build_order import (
    built_again,
    moves_to_accelerator,
    optimizers_over,
    sink_below,
)
from torchdevlint.rules.replaced_leaves import Replaced, replaced, replaced_here
from torchdevlint.rules.rule import ERROR, Mention, Report, Rule, on_call, on_method, on_op
from torchdevlint.stubs.knowledge import modules

_REPLACERS = (
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_shard",
    "torch.distributed._composable.fsdp.fully_shard",
    "torch.distributed.tensor.parallel.parallelize_module",
)


class OptimizerBuiltBeforeParamsReplaced(Rule):
    """Finds optimizers whose parameters are replaced, or moved away from their state, after they were built.

    ## What it does
    (a) An optimizer that makes state at construction (`torch.optim.Adagrad`) before a device move; (b) any optimizer before the parameters are
    replaced: `fully_shard`, `FSDP(...)`, `parallelize_module`, `to_empty`, a move to or from `meta`, `load_state_dict(..., assign=True)`,
    a new module in the place of one (`model.fc = nn.Linear(...)`), a tensor that a class has given its optimizer in a list and that another method
    moves (`self.theta = self.theta.to(device)`), a tensor that a function has given its optimizer and moves afterwards, once.

    ## Why is this bad?
    (a) `step()` raises, because the state stayed on the CPU. (b) Silent: `step()` updates parameters that the model no longer has, and
    the model never trains.

    ## Example
        optimizer = torch.optim.Adagrad(model.parameters())
        model.to(device)

    ## Use instead
        model.to(device)
        optimizer = torch.optim.Adagrad(model.parameters())

    ## When it stays silent
    Adam, SGD and the others before a move to CUDA, MPS or XPU (they work: TDL203); DDP and DataParallel (same Parameter objects); an
    optimizer that is built again afterwards; tensors of a class that the method which builds the optimizer moves.

    ## Fix safety
    The construction goes below the move; safe when both stand in one block and nothing between them uses the optimizer.

    ## Proof
    Adagrad's `step()` raises on an accelerator; built after the move it trains like the CPU run.

    ## References
    torch/optim/adagrad.py (state at construction), torch/nn/modules/module.py (to_empty, load_state_dict).
    """

    code, name, severity = "TDL201", "optimizer-built-before-params-replaced", ERROR
    fixable = "sometimes"

    @on_method("to", "cuda", "xpu", "to_empty", "load_state_dict")
    def check_method(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        module = facts.value(facts.receiver(call))
        method = Lookup.of(facts.body).called(call)
        if method == "load_state_dict" and facts.constant(call.keyword("assign")) is not True:
            return
        replaces = (
            method in ("to_empty", "load_state_dict") or facts.device_of(call.positional(0)).place == "meta"
            if call.arguments
            else False
        )
        if not replaces and (not moves_to_accelerator(call, facts) or facts.frame.was_moved(module)):
            return
        for optimizer in optimizers_over(module, facts):
            if replaces or optimizer.symbol in modules.EAGER_OPTIMIZERS:
                yield from self._told(optimizer, call, facts, replaces)

    @on_call(*_REPLACERS)
    def check_call(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        for optimizer in optimizers_over(facts.value(call.argument("module", 0)), facts):
            yield from self._told(optimizer, call, facts, replaced=True)

    @on_op(ir.StoreSubscript, ir.StoreAttribute)
    def check_store(self, op: ir.StoreSubscript | ir.StoreAttribute, facts: Facts) -> Iterator[Report]:
        """`model[1] = nn.Linear(...)`: a new module in a model whose parameters an optimizer has."""
        made = facts.definition(op.value)
        is_layer = isinstance(made, ir.Call) and facts.callee(made) in modules.LEAF_MODULES_WITH_WEIGHTS
        if not is_layer or facts.mentions("add_param_group"):
            return
        if facts.value(op.value).kind is not Kind.MODULE:
            return
        for optimizer in optimizers_over(facts.value(op.object), facts):
            built = optimizer.origin
            if built is not None and not built_again(built, op, facts):
                yield self.report(
                    built,
                    "this optimizer never updates the module that line {0} puts into the model; build the optimizer afterwards",
                    detail="`step()` updates the parameters that it was given when it was built, and says nothing of the new ones.",
                    related=(Mention(op, "here the module is replaced"),),
                )

    @on_op(ir.StoreAttribute)
    def check_leaf(self, store: ir.StoreAttribute, facts: Facts) -> Iterator[Report]:
        """`self.theta = self.theta.to(device)` where an optimizer of the class has the old one."""
        found = replaced(store, facts)
        if found is not None:
            yield self._kept(found, store.name)

    @on_method("to", "cuda", "xpu")
    def check_moved_leaf(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        """`torch.optim.Adam([delta])` before `delta = delta.to(device)`."""
        for found in replaced_here(facts.body, facts.analysis):
            if found.move is call:
                yield self._kept(found, facts.text(facts.receiver(call)) or "tensor")

    def _kept(self, found: Replaced, name: str) -> Report:
        return self.report(
            found.move,
            f"the optimizer of line {{0}} keeps the old `{name}`; build the optimizer after the move",
            detail="Where the move gives another tensor, `step()` goes on with the old one: what is used is never trained, without an error.",
            case="it may be there already",
            related=(Mention(found.built, "here the optimizer is given the tensor"),),
        )

    def _told(self, optimizer: Value, call: ir.Call, facts: Facts, replaced: bool) -> Iterator[Report]:
        built = optimizer.origin
        if built is None or built_again(built, call, facts):
            return
        message, effect = (
            (
                "line {0} replaces the parameters that this optimizer holds; build the optimizer afterwards",
                "`step()` updates the old parameters: the model never trains, without an error.",
            )
            if replaced
            else (
                "this optimizer makes its state on the CPU, and line {0} moves the model; build the optimizer afterwards",
                "The state is made when the optimizer is built. On an accelerator `step()` raises "
                '"Expected all tensors to be on the same device".',
            )
        )
        yield self.report(
            built,
            message,
            detail=effect,
            related=(Mention(call, "here the parameters are replaced" if replaced else "here the model moves"),),
            fix=lambda: sink_below(built, call, facts),
        )
