"""TDL202."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.devices import Device
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.infer.summary import Fault
from torchdevlint.infer.values import Site
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.build_order import built_again, moved_below, moves_in, optimizers_over, statement_of
from torchdevlint.rules.inferred import Inferred, where_is
from torchdevlint.rules.repairs import There
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, on_method
from torchdevlint.stubs.knowledge import modules


class OptimizerStateLeftBehind(Inferred):
    """Finds moves of a model after its optimizer got state, which stays where it was.

    ## What it does
    Reports `model.to(device)` after `optimizer.load_state_dict(...)` of an optimizer that was built over the model's parameters, where the model had not
    been moved before; also where the optimizer, the load, the move and the next `step()` are in different functions or methods.

    ## Why is this bad?
    `Module.to` moves parameters and gradients and never the optimizer's state. The next `step()` raises `Tensors of the same index must be on
    the same device and the same dtype except step tensors...` or `Expected all tensors to be on the same device`.

    ## Example
        optimizer.load_state_dict(checkpoint["optimizer"])
        model.to(device)

    ## Use instead
        model.to(device)
        optimizer.load_state_dict(checkpoint["optimizer"])

    ## When it stays silent
    The model was moved before the load; the state is loaded again or the optimizer built anew after the move; plain SGD without momentum,
    which has no state; loops that Lightning, accelerate or the Hugging Face Trainer own.

    ## Fix safety
    Moving the load below the model's move is safe when nothing between them uses the optimizer: `load_state_dict` casts the state to the
    device that the parameters have then, whatever device it was saved from.

    ## Proof
    Resumed training raises in `step()` on an accelerator; with the load after the move it goes on like the CPU run.

    ## References
    torch/optim/optimizer.py (_process_value_according_to_param_policy).
    """

    code, name, severity = "TDL202", "optimizer-state-left-behind", ERROR
    fixable = "sometimes"

    @on_method("to", "cuda", "xpu", "cpu")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        module = facts.value(facts.receiver(call))
        if module.kind is not Kind.MODULE or not module.ref:
            return
        target = facts.target_of_move(call)
        if target is None or target.place == "top" or facts.imports("accelerate", "lightning", "pytorch_lightning"):
            return
        now = facts.frame.module_device(module)
        before = now if now.place == "cpu" or facts.frame.was_moved(module) else None
        for optimizer in optimizers_over(module, facts):
            state = facts.frame.state_given(optimizer)
            if state is None or _is_stateless(optimizer):
                continue
            if built_again(optimizer.origin or call, call, facts) or _is_moved_by_hand(optimizer, facts):
                continue
            filled, loaded = state
            if not _leaves_state(before, target, loaded):
                continue
            if not loaded and not _steps_there(optimizer, filled, call, facts):
                continue
            yield self._told(call, filled, loaded, facts)

    def words(
        self, fault: Fault, told_at: Site, related: tuple[Mention, ...], there: There | None, facts: Facts
    ) -> tuple[str, str]:
        """The load, and what the next step finds."""
        if (
            fault.host is not None and fault.host.implicit != "always"
        ):  # no load, which brings the state to the parameters
            where = where_is(fault, there)
            return (
                f"what the program puts into the optimizer's state is on the CPU, its parameters on {where}; move it there",
                '`step()` computes with both: on an accelerator that raises "Expected all tensors to be on the same device".',
            )
        loads = fault.host is not None and told_at is fault.host.origin
        what = "the optimizer gets its state here, before its model is moved" if loads else "this leads to a step"
        what += "" if loads else " of an optimizer that got its state before its model was moved"
        step = f"The state stays on the CPU, and `step()` meets parameters on {where_is(fault, there)}"
        return (
            f"{what}; load the state after the move",
            f'{step}: on an accelerator that raises "Tensors of the same index must be on the same device".',
        )

    def repair(self, fault: Fault, there: There | None, facts: Facts) -> NodeFix | None:
        """None: the move is in another place, and what lies between the two is not known."""
        return None

    def _told(self, call: ir.Call, filled: ir.Op, loaded: bool, facts: Facts) -> Report:
        got = "Line {0} gave the optimizer state" if loaded else "The optimizer made state in `step()` on line {0}"
        advice = (
            "move the model before the optimizer's `load_state_dict`"
            if loaded
            else "move it back before the next `step()`, or use a copy"
        )
        return self.report(
            call,
            f"this moves the model but not its optimizer's state; {advice}",
            detail=f"{got}, and on an accelerator the next `step()` raises "
            '"Tensors of the same index must be on the same device".',
            related=(Mention(filled, "here the optimizer gets state"),),
            fix=lambda: (
                moved_below(filled, call, "Load the optimizer's state after the move", facts) if loaded else None
            ),
        )


def _is_moved_by_hand(optimizer: Value, facts: Facts) -> bool:
    """True where the function goes over the state of the optimizer: `for state in optimizer.state.values():`."""
    store = statement_of(optimizer.origin, facts) if optimizer.origin is not None else None
    return isinstance(store, ir.Store) and any(
        facts.place(read.object) == store.name for read in Lookup.of(facts.body).attributes("state")
    )


def _leaves_state(before: Device | None, target: Device, loaded: bool) -> bool:
    """True when the parameters leave the device where the state was made."""
    if before is None:
        return loaded and target.may_be_accelerator
    return (before.may_be_accelerator and target.place == "cpu") or (
        before.place == "cpu" and target.may_be_accelerator
    )


def _steps_there(optimizer: Value, filled: ir.Op, call: ir.Call, facts: Facts) -> bool:
    """True when the same optimizer steps after the move, and no other move brings the model to its state before."""
    lookup, cfg, moved = Lookup.of(facts.body), Cfg.of(facts.body), facts.value(facts.receiver(call)).ref
    store = statement_of(optimizer.origin, facts) if optimizer.origin is not None else None
    if not isinstance(store, ir.Store):
        return False
    others = [one for one in moves_in(facts) if one is not call and facts.value(facts.receiver(one)).ref == moved]
    return any(
        facts.place(read.object) == store.name
        and cfg.may_follow(call, read, without=store)
        and all(cfg.may_follow(filled, call, without=one) and cfg.may_follow(call, read, without=one) for one in others)
        for read in lookup.attributes("step")
    )


def _is_stateless(optimizer: Value) -> bool:
    """True for SGD without momentum: it keeps no tensors."""
    built = optimizer.origin
    if optimizer.symbol not in modules.STATELESS_OPTIMIZERS or not isinstance(built, ir.Call):
        return False
    return built.keyword("momentum") is None and built.positional_count < 3 and not built.has_splat
