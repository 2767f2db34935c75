"""TDL111."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Evidence, Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import WARNING, Report, Rule, on_call

_WHAT = {Kind.MODULE: "a module", Kind.TENSOR: "a tensor", Kind.STATE_DICT: "a state dict"}


class PickleTensorsBypassesMapLocation(Rule):
    """Finds tensors and modules on an accelerator that are written with pickle.

    ## What it does
    Reports `pickle.dump`, `pickle.dumps`, `joblib.dump` and `cloudpickle.dump` of modules, tensors and state dicts (also in a list,
    tuple or dict) that may be on an accelerator.

    ## Why is this bad?
    The file holds the same location tags as one of `torch.save`, but its reader has no `map_location`: on a machine without that device
    `pickle.load` raises `RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False`.

    ## Example
        model.to(device)
        pickle.dump(model, file)

    ## Use instead
        torch.save(model.state_dict(), file)

    ## When it stays silent
    Values on the CPU, values of unknown type, `pickle.loads(pickle.dumps(x))`.

    ## Fix safety
    There is no automatic fix: the reader must change as well.

    ## Proof
    The pickle of a model on an accelerator cannot be read on a machine without one; a checkpoint can, with `map_location="cpu"`.

    ## References
    torch/storage.py (_load_from_bytes calls torch.load without map_location).
    """

    code, name, severity = "TDL111", "pickle-tensors-bypasses-map-location", WARNING

    @on_call(
        "pickle.dump",
        "pickle.dumps",
        "joblib.dump",
        "cloudpickle.dump",
        "cloudpickle.dumps",
        "dill.dump",
        "dill.dumps",
        "_pickle.dump",
        "_pickle.dumps",
        "cPickle.dump",
        "cPickle.dumps",
    )
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("obj", 0)
        register = call.argument("value", 0) if register is None else register
        value = facts.value(register)
        parts = value.held if value.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT) else (value,)
        found = next((part.kind for part in parts if _may_be_elsewhere(part, facts)), None)
        if found is None and _is_state_of_moved(register, call, facts):
            found = Kind.STATE_DICT
        if found is None or _is_read_here(call, facts):
            return
        name = facts.callee(call)
        yield self.report(
            call,
            f"`{name}` stores {_WHAT[found]} with its device; use `torch.save`, or move it to the CPU first",
            detail='Its reader has no `map_location`: on a machine without that device it raises "Attempting to deserialize object on a CUDA '
            'device".',
        )


def _is_state_of_moved(register: ir.Register | None, call: ir.Call, facts: Facts) -> bool:
    """True for `model.state_dict()` where this function has moved `model` last to what may be an accelerator, whatever `model` is."""
    made = facts.definition(register)
    method = facts.definition(made.function) if isinstance(made, ir.Call) else None
    if not isinstance(method, ir.Attribute) or method.name != "state_dict":
        return False
    place, lookup = facts.place(method.object), Lookup.of(facts.body)
    moves = [
        one
        for one in lookup.kind(ir.Call)
        if lookup.called(one) in ("to", "cuda", "cpu")
        and facts.place(facts.receiver(one)) == place != ""
        and lookup.number(one) < lookup.number(call)
    ]
    target = facts.target_of_move(moves[-1]) if moves else None
    return target is not None and target.may_be_accelerator


def _is_read_here(call: ir.Call, facts: Facts) -> bool:
    """True for `pickle.loads(pickle.dumps(x))`: a copy within one program."""
    return any(
        isinstance(op, ir.Call) and op.function != call.dst and facts.place(op.function).endswith("loads")
        for op in Lookup.of(facts.body).readers(call.dst)
    )


def _may_be_elsewhere(value: Value, facts: Facts) -> bool:
    if value.kind not in _WHAT:
        return False
    device = facts.frame.module_device(value) if value.kind is Kind.MODULE else value.device
    return device.may_be_accelerator and (value.kind is Kind.STATE_DICT or value.evidence >= Evidence.STRONG)
