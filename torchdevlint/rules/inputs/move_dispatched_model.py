"""TDL403."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchdevlint.facts.devices import TOP
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import NOTHING, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, Rule, on_call, on_method, on_op
from torchdevlint.rules.structure import may_follow

_DISPATCHERS = ("load_checkpoint_and_dispatch", "dispatch_model")
_OVER_SEVERAL = ("auto", "balanced", "balanced_low_0", "sequential")
_ONE_GPU = "a machine with one GPU that holds the whole model moves it"


class MoveDispatchedModel(Rule):
    """Finds models that are placed by `device_map` and then moved.

    ## What it does
    Reports `.to(device)` and `.cuda()` on a model that the function loads with `device_map=` (or
    `accelerate.load_checkpoint_and_dispatch`), and `pipeline(model=model, device=...)` with
    such a model.

    ## Why is this bad?
    A model that is spread over devices has hooks that bring its inputs along. Moving it warns `You shouldn't move a model that is
    dispatched using accelerate hooks`,
    and raises `RuntimeError: You can't move a model that has some modules offloaded to cpu or disk`; the pipeline raises `ValueError: The
    model has been loaded with accelerate and therefore cannot
    be moved to a specific device`.

    ## Example
        model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")
        model.to(device)

    ## Use instead
        model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")

    ## When it stays silent
    Casts to a dtype; `device_map=None`; a map that is not known. A map with a single device (`device_map="cuda:0"`, `{"": 0}`) makes no
    hooks: the move works and is an info; so it does where `"auto"` finds room on a single GPU, and is a warning.

    ## Fix safety
    Safe: where the move raised or warned, the model is already where `device_map` put it.

    ## Proof
    Needs transformers and accelerate, which are no dependencies of this program: no proof is claimed.

    ## References
    accelerate/big_modeling.py (dispatch_model); transformers/pipelines/base.py.
    """

    code, name, severity = "TDL403", "move-dispatched-model", ERROR
    needs = ("device_map", *_DISPATCHERS)
    fixable = "safe"

    def __init__(self) -> None:
        self._dispatched: dict[tuple[int, str], tuple[ir.Call, ir.Store]] = {}

    @on_op(ir.Store)
    def note_store(self, op: ir.Store, facts: Facts) -> None:
        """Names that hold what accelerate dispatched."""
        written = facts.definition(op.value)
        key = (id(facts.body), op.name)
        dispatches = isinstance(written, ir.Call) and (facts.qualified(written.function) or "").endswith(_DISPATCHERS)
        if isinstance(written, ir.Call) and dispatches:
            self._dispatched[key] = written, op
        elif not (isinstance(written, ir.Call) and facts.place(facts.receiver(written)) == op.name):
            self._dispatched.pop(key, None)

    @on_method("to", "cuda")
    def check_move(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        register = facts.receiver(call)
        origin = self._origin(register, facts)
        target = facts.target_of_move(call)
        if origin is None or target is None or facts.in_try_catching("RuntimeError", "ValueError", "Exception"):
            return
        if target is TOP and not call.has_splat and facts.callee(call) == ".to":
            return  # may be a dtype
        several = _spreads(origin, facts)
        if several is None:
            return
        spelled = facts.place(register) or "the model"
        if several:
            message = f"`{spelled}` was placed by `device_map` on line {{0}} and must not be moved; remove the move"
            detail = (
                'It warns "You shouldn\'t move a model that is dispatched using accelerate hooks", and raises "You can\'t move a model '
                'that has some modules offloaded to cpu or disk" where parts are offloaded.'
            )
        else:
            message, detail = (
                f"`device_map` put `{spelled}` on one device on line {{0}}, which this repeats or undoes; remove the move",
                "",
            )
        yield self.report(
            call,
            message,
            detail=detail,
            case=("" if _names_several(origin, facts) else _ONE_GPU) if several else "the whole model is on one device",
            related=(Mention(origin, "here it is placed"),),
            fix=lambda: _remove(call, facts) if several else None,
        )

    @on_call("transformers.pipeline", "transformers.pipelines.pipeline")
    def check_pipeline(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        model = call.argument("model", 1)
        device = call.keyword("device")
        origin = self._origin(model, facts)
        if origin is None or device is None or facts.value(device).kind is Kind.NONE or not _spreads(origin, facts):
            return
        yield self.report(
            call,
            "`device_map` placed this model on line {0}, and `pipeline` cannot move it; leave `device=` out",
            detail='It raises "The model has been loaded with accelerate and therefore cannot be moved to a specific device".',
            related=(Mention(origin, "here it is placed"),),
            fix=lambda: _without_device(call),
        )

    def _origin(self, register: ir.Register | None, facts: Facts) -> ir.Call | None:
        """The call that dispatched the model of a register, when this function made it."""
        value = facts.value(register)
        if value.kind is Kind.MODULE and value.symbol == "dispatched" and isinstance(value.origin, ir.Call):
            return value.origin if facts.makes(value.origin) else None
        read = facts.definition(register)
        if value.kind not in (Kind.UNKNOWN, Kind.MODULE) or not isinstance(read, ir.Load):
            return None
        origin, stored = self._dispatched.get((id(facts.body), read.name), (None, None))
        return (
            origin if stored is not None and may_follow(facts.body, stored, read) else None
        )  # not of the other arm of an `if`


def _names_several(origin: ir.Call, facts: Facts) -> bool:
    """True for a map that names several devices itself; what "auto" and its like choose may be a single one."""
    register = origin.keyword("device_map")
    return register is not None and facts.value(register).kind is Kind.DICT


def _spreads(origin: ir.Call, facts: Facts) -> bool | None:
    """True when the map may spread the model over devices, False for a map of one device, None when there is none or it is unknown."""
    register = origin.keyword("device_map")
    if register is None:
        return True if (facts.qualified(origin.function) or "").endswith(_DISPATCHERS) else None
    value = facts.value(register)
    constant: Any = value.constant
    if value.kind is Kind.NONE:
        return None
    if isinstance(constant, str):
        return constant in _OVER_SEVERAL
    if value.kind is Kind.DICT and value.entries:
        named = {one.constant for _, one in value.entries}
        return len(named) > 1 if NOTHING not in named else False if len(value.entries) == 1 else None
    if value.kind in (Kind.DEVICE, Kind.SCALAR) or (value.kind is Kind.STRING and constant is NOTHING):
        return False if value.kind is not Kind.STRING else None
    return None


def _remove(call: ir.Call, facts: Facts) -> NodeFix | None:
    if call.positional_count > 1 or len(call.arguments) > 1:
        return None  # `.to(device, dtype)` casts, too
    edits = builders.undo_method(facts.program, call)
    return NodeFix(Ground.OLD_LINE_RAISED, "Leave the model where `device_map` put it", edits)


def _without_device(call: ir.Call) -> NodeFix | None:
    edits = builders.remove_keyword(call, "device")
    return NodeFix(Ground.OLD_LINE_RAISED, "Leave the model where `device_map` put it", edits)
