"""TDL601."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.index import BodyIndex
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.infer.summary import Fault
from torchdevlint.infer.values import Site
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.inferred import Inferred, where_is
from torchdevlint.rules.repairs import There
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, on_method
from torchdevlint.stubs.knowledge import functions, modules

# Words without which no file trains a parameter, or gives it to what does.
_LEARNS = frozenset(
    "backward grad autograd optim optimizer optimizers zero_grad parameters named_parameters ParameterList ParameterDict register_parameter".split()
)
_MOVES = frozenset({"to", "cuda", "cpu", "xpu", "mps"})


class ParameterMovedAfterWrapping(Inferred):
    """Finds parameters and leaves that stop being what they are when they move.

    ## What it does
    Reports `nn.Parameter(...).to(device)` (also `.cuda()`, `.half()`, ...), and a factory with `requires_grad=True` that is moved at once where the
    function, or for an attribute a method of the class, then reads its `.grad` or gives it to an optimizer; also an optimizer that is given what a move
    has made of a Parameter, or of a tensor with `requires_grad`, wherever that was moved.

    ## Why is this bad?
    The move returns a plain tensor that is no leaf: it is not registered in the module, gets no `.grad`, and optimizers refuse it (`ValueError: can't
    optimize a non-leaf Tensor`). On a CPU run `.to("cpu")` returns the very Parameter, so the fault shows on the accelerator only.

    ## Example
        self.scale = nn.Parameter(torch.ones(width)).to(device)

    ## Use instead
        self.scale = nn.Parameter(torch.ones(width).to(device))

    ## When it stays silent
    The move stands inside of `nn.Parameter(...)`; the result is wrapped again; `.data` is moved; `requires_grad=False`, where no
    module keeps the result; a move under `torch.no_grad()`, which gives a leaf.

    ## Fix safety
    Moving the tensor before it is wrapped is safe: where the old line moved nothing the result is the same. `device=` for a factory is safe where the
    factory gives the same numbers on every device, and unsafe for random ones. None is made for what is updated in place with gradients on
    (`self.scale += 1`), which a leaf refuses.

    ## Proof
    The module on an accelerator lacks the parameter in `named_parameters()`; after the repair it is there and is trained.

    ## References
    torch/nn/parameter.py, torch/optim/optimizer.py (`add_param_group`).
    """

    code, name, severity = "TDL601", "parameter-moved-after-wrapping", ERROR
    fixable = "sometimes"

    @on_method("to", "cuda", "cpu", "xpu", "mps", "half", "double", "bfloat16")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        inner = facts.definition(facts.receiver(call))
        if not isinstance(inner, ir.Call):
            return
        name = facts.callee(inner)
        method = facts.callee(call).removeprefix(".")
        if name in modules.PARAMETERS:
            if (
                not _is_wrapped_again(call, facts)
                and not _is_cast_to_float32(call, facts)
                and not _is_constant(call, inner, facts)
                and not _is_placed(inner, facts)
                and not _is_stand_in(call, inner, facts)
            ):
                yield self.report(
                    call,
                    f"`.{method}()` on a Parameter returns a plain tensor that is not registered; "
                    f"{'move' if method in _MOVES else 'convert'} the data first",
                    detail="The tensor gets no gradient, and optimizers refuse it. Where there is nothing to do, as in a run on the CPU, the "
                    "method returns the Parameter itself.",
                    case=_case(call, inner, facts),
                    fix=lambda: None if is_updated_in_place(call, facts) else _move_inside(call),
                )
        elif (
            name in functions.FACTORIES
            and method in ("to", "cuda")
            and facts.constant(inner.keyword("requires_grad")) is True
        ):
            yield from self._check_factory(call, inner, facts)

    def words(
        self, fault: Fault, told_at: Site, related: tuple[Mention, ...], there: There | None, facts: Facts
    ) -> tuple[str, str]:
        """The move, or the optimizer where that is in another file."""
        if told_at is fault.site:
            what = f"what this optimizer is given was moved to {where_is(fault, there)} and is no leaf"
        else:
            what = "what this move gives is no leaf, and an optimizer is given it"
        return f"{what}; move it before it requires gradients", _REFUSED

    def repair(self, fault: Fault, there: There | None, facts: Facts) -> NodeFix | None:
        """None: the tensor is wrapped in one place, moved in another and given to the optimizer in a third."""
        return None

    def _check_factory(self, call: ir.Call, inner: ir.Call, facts: Facts) -> Iterator[Report]:
        register = call.argument("device", 0)
        if facts.callee(call) == ".to" and (register is None or facts.frame.is_dtype(register)):
            return
        if _is_wrapped_again(call, facts) or not _wants_a_leaf(call, facts):
            return
        name = facts.callee(inner)
        plain = len(call.arguments) <= 1 and not call.has_splat
        device = facts.definition(register)
        safe = name in functions.DETERMINISTIC_FACTORIES
        yield self.report(
            call,
            "the moved tensor is no leaf and gets no `.grad`; create it with `device=`",
            detail="Optimizers refuse it. On the CPU the move does nothing, and all is well.",
            case=_CPU_KEEPS_IT,
            fix=lambda: (
                _create_there(call, register is not None, device, safe)
                if plain and not is_updated_in_place(call, facts)
                else None
            ),
        )


_REFUSED = (
    'Autograd has computed it, and the optimizer raises "can\'t optimize a non-leaf Tensor". '
    "On the CPU the move does nothing, and all is well."
)
_CPU_KEEPS_IT = "the device is a variable, and a run on the CPU keeps the Parameter"
_IS_ON_CPU = "it is brought to the CPU, and nothing shows that it is elsewhere"


def _case(call: ir.Call, inner: ir.Call, facts: Facts) -> str:
    """The row of the policy: where nothing in the file asks for gradients or parameters, and no module is meant to register it, the values are right."""
    summary = facts.class_summary
    is_kept = any(isinstance(op, ir.StoreAttribute) for op in Lookup.of(facts.body).readers(call.dst))
    if not (is_kept and summary is not None and summary.is_module) and facts.analysis.program.words.isdisjoint(_LEARNS):
        return "nothing in the file learns"
    if facts.callee(call) == ".cpu" and not facts.value(inner.argument("data", 0)).device.is_accelerator:
        return _IS_ON_CPU
    return _CPU_KEEPS_IT if facts.value(inner.argument("data", 0)).device.place == "sym" else ""


def _is_cast_to_float32(call: ir.Call, facts: Facts) -> bool:
    """True for `.to(torch.float32)`: a parameter is of that type as a rule, and comes back as it is."""
    return len(call.arguments) == 1 and facts.qualified(call.arguments[0].value) in ("torch.float32", "torch.float")


def _is_placed(inner: ir.Call, facts: Facts) -> bool:
    """True for a tensor that was moved before it was wrapped: it is there already."""
    return facts.value(inner.argument("data", 0)).moved is not None


def _is_stand_in(call: ir.Call, inner: ir.Call, facts: Facts) -> bool:
    """True for `return Parameter(torch.zeros(1)).to(device)`: a loss for models that have nothing to learn."""
    made = facts.definition(inner.argument("data", 0))
    is_factory = isinstance(made, ir.Call) and facts.callee(made) in functions.FACTORIES
    return is_factory and any(isinstance(op, ir.Return) for op in Lookup.of(facts.body).readers(call.dst))


def _is_constant(call: ir.Call, inner: ir.Call, facts: Facts) -> bool:
    """True for a parameter without a gradient that no module keeps."""
    summary = facts.class_summary
    in_module = summary is None or summary.is_module
    kept = in_module and any(isinstance(op, ir.StoreAttribute) for op in Lookup.of(facts.body).readers(call.dst))
    return not kept and facts.constant(inner.argument("requires_grad", 1)) is False


def _is_wrapped_again(call: ir.Call, facts: Facts) -> bool:
    """True for `nn.Parameter(<the call>)`, and for `.requires_grad_()` or `.detach()` of it."""
    lookup = Lookup.of(facts.body)
    return not lookup.attributes_of(call.dst).isdisjoint(_STAY_LEAVES) or any(
        isinstance(op, ir.Call)
        and op.argument("data", 0) == call.dst
        and facts.qualified(op.function) in modules.PARAMETERS
        for op in lookup.readers(call.dst)
    )


_STAY_LEAVES = frozenset({"requires_grad_", "detach", "detach_", "data"})


def _wants_a_leaf(call: ir.Call, facts: Facts) -> bool:
    """True when the program asks for the `.grad` of the moved tensor, or gives it to an optimizer; of an attribute, when a method of its class does."""
    lookup = Lookup.of(facts.body)
    readers = lookup.readers(call.dst)
    held = [load.dst for op in readers if isinstance(op, ir.Store) for load in lookup.loads(op.name)]
    if _is_leaf_wanted(facts.body, held, facts):
        return True
    kept = {op.name for op in readers if isinstance(op, ir.StoreAttribute) and op.value == call.dst}
    summary = facts.class_summary
    return any(
        _is_leaf_wanted(body, _read_of_self(body, kept, facts), facts)
        for body in (summary.cls.methods.values() if summary is not None and kept else ())
    )


def _read_of_self(body: ir.Body, names: set[str], facts: Facts) -> list[ir.Register]:
    """The reads of attributes of the object itself."""
    index = facts.analysis.index_of(body)
    return [
        op.dst
        for name in names
        for op in Lookup.of(body).attributes(name)
        if index.dotted(op.object) == index.self_name
    ]


def _is_leaf_wanted(body: ir.Body, held: list[ir.Register], facts: Facts) -> bool:
    lookup = Lookup.of(body)
    listed = [op.dst for one in held for op in lookup.readers(one) if isinstance(op, ir.Sequence)]
    return any("grad" in lookup.attributes_of(one) for one in held) or any(
        isinstance(op, ir.Call)
        and op.argument("params", 0) == one
        and modules.is_optimizer(facts.analysis.spelled(op.function, body))
        for one in listed
        for op in lookup.readers(one)
    )


def is_updated_in_place(call: ir.Call, facts: Facts) -> bool:
    """True where what a call gives is updated in place with gradients on (`w += 1`, `w.mul_(2)`, `w[0] = 1`), which a leaf refuses."""
    readers = Lookup.of(facts.body).readers(call.dst)
    names = {op.name for op in readers if isinstance(op, ir.Store)}
    kept = {op.name for op in readers if isinstance(op, ir.StoreAttribute) and op.value == call.dst}
    summary = facts.class_summary
    bodies = [facts.body, *(summary.cls.methods.values() if summary is not None and kept else ())]
    return any(_updates(body, names if body is facts.body else set(), kept, facts) for body in bodies)


def _updates(body: ir.Body, names: set[str], kept: set[str], facts: Facts) -> bool:
    index = facts.analysis.index_of(body)
    if any(facts.analysis.resolve_text(text) in _WITHOUT_GRADIENTS for text in body.decorators):
        return False

    def is_held(register: ir.Register) -> bool:
        written = index.definitions[register]
        if isinstance(written, ir.Attribute):
            return written.name in kept and index.dotted(written.object) == index.self_name
        return isinstance(written, ir.Load) and written.name in names

    for block in body.blocks:
        if any(_switches_gradients_off(manager, index, facts) for manager in block.withs):
            continue
        for op in block.ops:
            if isinstance(op, ir.AugmentedAssign) and is_held(op.target):
                return True
            if isinstance(op, ir.StoreSubscript) and is_held(op.object):
                return True
            if isinstance(op, ir.Attribute) and _is_in_place(op.name) and is_held(op.object):
                return True
    return False


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__") and method not in _NO_UPDATES


_WITHOUT_GRADIENTS = frozenset({"torch.no_grad", "torch.inference_mode"})
_NO_UPDATES = frozenset({"requires_grad_", "share_memory_"})


def _switches_gradients_off(manager: ir.Register, index: BodyIndex, facts: Facts) -> bool:
    written = index.definitions[manager]
    callee = index.dotted(written.function) if isinstance(written, ir.Call) else ""
    return facts.analysis.resolve_text(callee) in _WITHOUT_GRADIENTS


def _move_inside(call: ir.Call) -> NodeFix | None:
    edits = builders.move_method_into_argument(call, "data")
    return NodeFix(Ground.MOVE_DOES_NOTHING, "Move the tensor before it is wrapped", edits)


def _create_there(call: ir.Call, is_given: bool, device: ir.Op | None, safe: bool) -> NodeFix | None:
    text = builders.source_of(device) if is_given and device is not None else '"cuda"'
    edits = builders.replace_method_by_keyword(call, "device", text)
    ground = Ground.MOVE_DOES_NOTHING if safe else Ground.CHANGES_A_RUN
    return NodeFix(ground, f"Create it with `device={text}`", edits)
