"""TDL401."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.devices import TOP, Device
from torchdevlint.flow.facts import ClassSummary, Facts, Meeting, Use
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.values import Evidence, Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.factories import is_factory
from torchdevlint.rules.forwards import may_be_given_on_host
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.neighbours import default_device_is_set
from torchdevlint.rules.premises import Premise
from torchdevlint.rules.rule import ERROR, WARNING, Mention, NodeFix, Report, on_any_call, on_file, on_meet
from torchdevlint.rules.structure import converts_on_host, exports, is_test_file, operations, where_taken_out
from torchdevlint.rules.surroundings import (
    in_program_for_the_host,
    in_project_for_the_host,
    in_tests,
    where_batches_may_be_placed,
)
from torchdevlint.rules.wording import MISMATCH, is_placeholder, make_there, owns


class ModelInputLeftOnCpu(Inferred):
    """Finds inputs that stay on the CPU while the model they are given to was moved.

    ## What it does
    Knows where a model was moved (`model.to(device)`, `model.cuda()`) and what it is called with: the output of a tokenizer or processor,
    an element of a `DataLoader`, a tensor made here. Likewise a loss that gets the model's output and a target that was never moved.

    A model that is an argument may be anywhere: a tensor or batch that the function makes for it on the CPU is a warning. And the other way
    round: a model that the function makes, never moves, and calls with a tensor that was moved, or with an argument. A class that keeps a
    `device` beside a model, and neither uses it nor moves anything, is reported where it calls the model.

    ## Why is this bad?
    `model(**inputs)` raises `RuntimeError: Expected all tensors to be on the same device` on every machine with an accelerator.

    ## Example
        model = AutoModel.from_pretrained(name).to(device)
        inputs = tokenizer(text, return_tensors="pt")
        outputs = model(**inputs)

    ## Use instead
        inputs = tokenizer(text, return_tensors="pt").to(device)

    ## When it stays silent
    Models whose device is unknown or that place their inputs themselves (`DataParallel`, `device_map`, a `forward` that moves them); batches
    that the caller, a function that was not followed, or a collate function may have placed; tests; functions that export a model. In a project
    it is a note where the callers know where the model is, and where the imported files place batches.

    ## Fix safety
    `.to(device)` on a tokenizer's output or a tensor is safe: on a CPU run it does nothing. Unsafe where the device is that of an argument,
    and for what a loader gave.

    ## Proof
    A module on an accelerator is called with a CPU tensor and raises; with the moved input it gives the CPU run's values.

    ## References
    aten/src/ATen/core/op_registration/adaption.h; transformers `BatchEncoding.to`.
    """

    code, name, severity = "TDL401", "model-input-left-on-cpu", ERROR
    quiet_in = (
        in_program_for_the_host,
        in_tests,
    )
    doubtful_in = (in_project_for_the_host,)
    fixable = "sometimes"

    def __init__(self) -> None:
        self._run: dict[int, tuple[ClassSummary, ir.Call, str]] = {}

    @on_any_call
    def note_call(self, call: ir.Call, facts: Facts) -> None:
        """The first call of a model that a class which is no module keeps for its caller."""
        summary, callee = facts.class_summary, facts.value(call.function)
        if summary is None or summary.is_module or id(summary) in self._run or not callee.attribute:
            return
        if callee.kind is Kind.MODULE and callee.evidence >= Evidence.USAGE and callee.device is TOP:
            self._run[id(summary)] = (summary, call, callee.attribute)

    @on_file
    def check_forgotten(self, facts: Facts) -> Iterator[Report]:
        """Classes that keep a device and never use it."""
        for summary, call, model in self._run.values():
            stores = summary.stores.get("device", ())
            if not stores or summary.bases or _is_device_used(summary, facts):
                continue
            yield self.report(
                call,
                f"`{summary.cls.name}` never uses the device that it keeps; move `self.{model}` and its inputs to `self.device`",
                detail=f"The device is kept on line {{0}}. Work stays on the CPU, or raises {MISMATCH} for a model that the caller moved.",
                severity=WARNING,
                related=(Mention(stores[0].op, "here the device is kept"),),
            )

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        """Inputs on the CPU."""
        if meeting.role != "input" or meeting.module is None:
            return
        made, cpu = meeting.cpu.origin, meeting.cpu
        module = meeting.module
        if made is None or not owns(facts, made) or facts.in_forward or cpu.attribute or is_placeholder(made, facts):
            return
        if _follows_default_device(made, facts) and default_device_is_set(facts):
            return
        is_loss = module.symbol.endswith("Loss")
        if cpu.rank == 0 and not is_loss:
            return  # a 0-dim tensor is let through by pointwise operations, and no layer takes one
        device = meeting.other.device
        given = _is_argument(meeting)
        kept = bool(module.attribute) and not given and not _is_factory(made, facts)
        placed = _moved_here(meeting, facts) or given or kept
        known = module.evidence >= Evidence.USAGE or (given and cpu.evidence >= Evidence.STRONG)
        if not is_loss and not (placed and known):
            return
        if given and (not _is_made_here(cpu, facts) or is_test_file(facts)):
            return  # what a loader of the caller gives may be on the device already
        if given and (exports(facts) or (converts_on_host(facts) and not facts.mentions("cuda", "device"))):
            return  # the caller gives a model on the CPU
        if given and (_moves_nothing(facts) or _is_data_parallel(module, facts) or _moves_by_flag(facts)):
            return
        if is_loss and module.evidence <= Evidence.NAME and is_test_file(facts):
            return  # a test of a loss that moves its target itself
        if is_loss and (meeting.other.moved is None or isinstance(made, ir.Unpack)):
            return  # a target from the same batch as the moved input is TDL518's
        register = _argument(meeting, facts)
        if isinstance(meeting.op, ir.Call) and may_be_given_on_host(meeting.op, register, facts):
            return
        place = facts.place(register)
        if "len" in place.rpartition(".")[2].lower():
            return  # lengths stay on the CPU, for `pack_padded_sequence`
        written = facts.definition(register)
        made_here = isinstance(made, (ir.Call, ir.Subscript)) and not _is_iteration(made, facts)
        at = made if made_here or written is None else written
        if (
            isinstance(cpu.group, ir.Call)
            and _is_batch_made_here(cpu.group, facts)
            and not _is_iteration(cpu.group, facts)
        ):
            at = cpu.group  # every part of the batch is there
        elif not made_here:
            at = where_taken_out(written, cpu, facts) or at
        copy = _moved_copy(meeting, facts) if is_loss else None
        if copy is not None:
            yield self._copied(copy, meeting, facts)
            return
        certain = cpu.evidence >= Evidence.USAGE and module.evidence >= Evidence.USAGE and not given
        of_loader = cpu.group is not None or _is_iteration(made, facts) or isinstance(made, (ir.Unpack, ir.Iterate))
        certain = certain and not (of_loader and where_batches_may_be_placed(meeting.op, facts))
        what = f"`{place}`" if place else "this input"
        if given:
            where = f", `{meeting.other.parameter}` may be elsewhere"
        else:
            where = f" and meets {'the output of ' * is_loss}a model on {device.describe()}"
        moved = _where_moved(meeting, facts)
        expression = _spelled(device)
        is_long = given and expression.startswith("next(")
        advice = (
            f"move it to the device of `{meeting.other.parameter}`" if is_long else f"move it with `.to({expression})`"
        )
        yield self.report(
            at,
            f"{what} is on the CPU{where}; {advice}",
            detail=f"{'The model is moved on line {0}. ' if moved else ''}On an accelerator the two raise {MISMATCH}."
            + (f" `.to({expression})` moves it there." if is_long else ""),
            severity=ERROR if certain else WARNING,
            related=(
                *((Mention(moved, "here the model moved"),) if moved is not None else ()),
                *((Mention(made, "here it comes from"),) if at is not made else ()),
            ),
            fix=lambda: _fix(at, meeting, facts, Ground.MOVE_DOES_NOTHING if made_here else Ground.UNSEEN_CODE),
            holds=lambda: not (given and _callers_know(module, facts)),
            rests_on=_premise(meeting, facts),
        )

    def _copied(self, copy: ir.Op, meeting: Meeting, facts: Facts) -> Report:
        """The model got moved copies of a batch, the loss a part of the batch itself."""
        device = meeting.other.device
        return self.report(
            copy,
            "this moves copies for the model alone, and the loss gets the CPU batch; bind the moved batch to its name",
            detail=f"A part of the batch meets the model's output on {device.describe()} on line {{0}}: on an accelerator that raises "
            f"{MISMATCH}.",
            related=(Mention(meeting.op, "here the two meet"),),
        )

    @on_meet
    def check_model(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        """Models on the CPU, for inputs that are not."""
        made, given = meeting.cpu.origin, meeting.other
        if meeting.role != "module" or made is None or not owns(facts, made) or facts.in_setup or is_test_file(facts):
            return
        moved = given.moved
        chosen = moved is not None or _is_made_there(given)
        if not (chosen or given.parameter) or _is_where_a_model_is(given.device, facts):
            return
        what = f"an input on {given.device.describe()}" if chosen else f"the argument `{given.parameter}`"
        yield self.report(
            made,
            f"this model is on the CPU and gets {what} on line {{0}}; move it with `.to({_spelled(given.device)})`",
            detail=f"It is made here and never moved. On an accelerator that raises {MISMATCH}.",
            severity=ERROR if moved is not None else WARNING,
            related=(Mention(meeting.op, "here it is called"),),
            fix=lambda: _move(made, given.device.name) if not chosen else None,
            holds=lambda: not _is_handed_on(made, facts),
            rests_on=Premise(facts.body, given.parameter) if not chosen else None,
        )


def _moved_copy(meeting: Meeting, facts: Facts) -> ir.Op | None:
    """The move in `model(**{k: v.to(device) for k, v in inputs.items()})` when the CPU tensor is a part of `inputs`."""
    made, called = meeting.cpu.origin, meeting.other.moved
    if not isinstance(made, ir.Subscript) or not isinstance(called, ir.Call) or not owns(facts, called):
        return None
    batch = facts.value(made.object)
    for argument in called.arguments:
        part = facts.value(argument.value).element
        if part is not None and part.moved is not None and part.group is batch.origin is not None:
            return part.moved
    return None


def _is_device_used(summary: ClassSummary, facts: Facts) -> bool:
    """True when the device is read anywhere in the file, or something is moved in the class."""
    if any(
        isinstance(op, ir.Attribute) and op.name == "device" for body in facts.program.bodies for op in operations(body)
    ):
        return True
    return any(
        isinstance(op, ir.Attribute) and op.name in ("to", "cuda", "prepare")
        for body in summary.cls.methods.values()
        for op in operations(body)
    )


def _follows_default_device(made: ir.Op, facts: Facts) -> bool:
    """True for a tensor that PyTorch's default device places: made by a factory without `device=`."""
    return isinstance(made, ir.Call) and facts.callee(made) in functions.FACTORIES


def _is_factory(made: ir.Op, facts: Facts) -> bool:
    """True for what TDL504 reports in the methods of a class."""
    return isinstance(made, ir.Call) and facts.callee(made) in functions.FACTORIES | functions.HOST_FACTORIES


def _moved_here(meeting: Meeting, facts: Facts) -> bool:
    module = meeting.module
    if module is None or facts.frame is None:
        return False
    if not module.ref:
        return module.moved is not None  # of an unknown function, moved where it was bound
    return "@" + module.ref in facts.frame.env or (module.moved is not None and not module.attribute)


def _is_argument(meeting: Meeting) -> bool:
    """True for a model that the function was given, and nothing here moved."""
    return bool(meeting.other.parameter) and meeting.other.attribute == "module"


def _premise(meeting: Meeting, facts: Facts) -> Premise | None:
    """Who decides where the model is: the caller that gives it to this function, or to the constructor that keeps it."""
    if _is_argument(meeting):
        return Premise(facts.body, meeting.other.parameter)
    summary, module = facts.class_summary, meeting.module
    if summary is None or summary.is_module or module is None or not module.attribute or _moved_here(meeting, facts):
        return None
    stores = [store for store in summary.stores_of(module.attribute) if store.value.parameter]
    return Premise(stores[0].body, stores[0].value.parameter) if stores else None


def _moves_by_flag(facts: Facts) -> bool:
    """True for a function that calls `.cuda()` in a branch, in a file with a flag for GPUs: the caller moves the model by the same flag."""
    return facts.mentions("gpu", "use_gpu", "use_cuda") and any(
        isinstance(op, ir.Attribute) and op.name == "cuda"
        for block in facts.body.blocks
        if block.index and not block.loops
        for op in block.ops
    )


def _moves_nothing(facts: Facts) -> bool:
    """True for a program in which nothing is moved, the model neither."""
    return facts.mentions("__name__") and not facts.mentions("cuda", "to", "device")


def _is_data_parallel(module: Value, facts: Facts) -> bool:
    """True for a model of which `device_ids` or `.module` is read: `nn.DataParallel` scatters its inputs."""
    return bool({"device_ids", "module"} & facts.analysis.index_of(facts.body).use(module.parameter).attributes)


def _callers_know(module: Value, facts: Facts) -> bool:
    """True when the calls of this file give a model on the CPU, or one whose wrapper moves its inputs."""
    values = facts.analysis.arguments_given(facts.body, module.parameter)
    wrapped = any(value.symbol in ("wrapper", "dispatched") for value in values)
    return wrapped or facts.analysis.given_on_host(facts.body, module.parameter)


def _is_made_here(cpu: Value, facts: Facts) -> bool:
    """True for a tensor that a call of this function made, by itself or as a part of what it returned."""
    made = cpu.origin
    if isinstance(made, ir.Subscript):
        return facts.value(made.object).kind is Kind.BATCH_ENCODING
    if isinstance(made, ir.Unpack):
        return _is_batch_made_here(cpu.group, facts)
    return isinstance(made, ir.Call) and facts.value(made.dst).kind in (Kind.TENSOR, Kind.BATCH_ENCODING)


def _is_batch_made_here(group: ir.Op | str | None, facts: Facts) -> bool:
    """True for the call of a collate function."""
    return isinstance(group, ir.Call) and owns(facts, group) and facts.value(group.dst).kind is Kind.BATCH


def _is_made_there(given: Value) -> bool:
    """True for `torch.randn(n, device=device)`: made on a device that the program chose, not on that of another tensor."""
    named = given.device.place in ("sym", "acc") and not given.device.name.endswith(".device")
    return (
        named
        and not given.parameter
        and not given.attribute
        and given.device.name != "self"
        and bool(given.device.name)
    )


def _is_where_a_model_is(device: Device, facts: Facts) -> bool:
    """True for `model.device`: where that model is, which may be the CPU, too."""
    root = facts.frame.env.get(device.name.partition(".")[0]) if facts.frame is not None else None
    return isinstance(root, Value) and root.kind is Kind.MODULE


def _is_handed_on(made: ir.Op, facts: Facts) -> bool:
    """True when the module is an argument of something that may move it, or is kept for others."""
    for use in facts.uses(made):
        if use.role == "stored":
            return True
        if not use.role.startswith(("argument", "keyword", "*")) or use.callee.startswith(
            ("torch.optim.", "builtins.")
        ):
            continue
        if not (isinstance(use.op, ir.Call) and use.body is facts.body and _leaves_in_place(use, use.op, facts)):
            return True
    return False


def _leaves_in_place(use: Use, call: ir.Call, facts: Facts) -> bool:
    """True for a function of this file that does not move what it gets here."""
    callee = facts.value(call.function)
    if facts.place(call.function) in _LOOKERS:
        return True
    if callee.kind is not Kind.FUNCTION or not isinstance(callee.definition, ir.Body):
        return False
    kind, _, which = use.role.partition(" ")
    positional = [p.name for p in callee.definition.parameters if p.kind in ("positional", "positional-only")]
    if kind == "argument" and int(which) < len(positional):
        which = positional[int(which)]
    elif kind != "keyword":
        return False
    return not _may_move(callee.definition, which, facts)


def _may_move(body: ir.Body, name: str, facts: Facts) -> bool:
    """True when a body may move its argument: it calls `.to` or `.cuda` on it, gives it away, keeps it, or binds it anew."""
    holders = {op.dst for op in operations(body) if isinstance(op, ir.Load) and op.name == name}
    for op in operations(body):
        if isinstance(op, ir.Attribute) and op.object in holders and op.name in ("to", "cuda", "half"):
            return True
        if isinstance(op, (ir.Store, ir.StoreAttribute)) and (op.value in holders or getattr(op, "name", "") == name):
            return True
        if isinstance(op, ir.Call) and any(argument.value in holders for argument in op.arguments):
            written = facts.analysis.index_of(body).definitions[op.function]
            if not (isinstance(written, ir.Load) and written.name in _LOOKERS):
                return True
    return False


_LOOKERS = frozenset(("print", "isinstance", "len", "type", "hasattr", "getattr", "id", "str"))


def _move(made: ir.Op, device: str) -> NodeFix | None:
    from torchdevlint.fixes import builders

    if not all(part.isidentifier() for part in device.split(".")):
        return None
    edits = builders.wrap_method(made, "to", device)
    return NodeFix(Ground.UNSEEN_CODE, f"Move it with `.to({device})`", edits) if edits else None


def _is_iteration(made: ir.Op, facts: Facts) -> bool:
    """True where a batch comes out of `enumerate(loader)`, `next(iter(loader))`: what is to be moved is a part of that."""
    return isinstance(made, ir.Call) and facts.value(made.function).symbol.startswith("builtins.")


def _spelled(device: Device) -> str:
    return f'"{device.name}"' if device.place == "acc" or not device.name else device.name


def _expression(device: Device, at: ir.Op, facts: Facts) -> str:
    """The spelling of a device where a tensor is made: a name that is bound to it there, or what it is called."""
    nearest = facts.nearest_device(at) if device.place == "acc" and owns(facts, at) else None
    if nearest is not None and facts.frame is not None and nearest.isidentifier():
        bound = facts.frame.lookup(nearest)
        if not bound.others and bound.device == device:
            return nearest
    return _spelled(device)


def _where_moved(meeting: Meeting, facts: Facts) -> ir.Op | None:
    if meeting.module is None or facts.frame is None:
        return None
    state = facts.frame.env.get("@" + meeting.module.ref)
    return state.moved if state is not None else meeting.module.moved if not meeting.module.ref else None


def _arguments(meeting: Meeting) -> tuple[ir.Argument, ...]:
    return meeting.op.arguments if isinstance(meeting.op, ir.Call) else ()


def _argument(meeting: Meeting, facts: Facts) -> ir.Register | None:
    """The argument that is still on the CPU."""
    for argument in _arguments(meeting):
        given = facts.value(argument.value)
        if any(
            part.origin is meeting.cpu.origin and (part.moved is None or given.kind is not Kind.TENSOR)
            for part in given.parts
        ):
            return argument.value
    return None


def _is_plain_mapping(made: ir.Op, meeting: Meeting, facts: Facts) -> bool:
    """True for `model(**batch)` where a loader gave `batch`: a dict, which has no `.to`."""
    return any(
        argument.star == "**"
        and facts.value(argument.value).kind is Kind.BATCH
        and facts.definition(argument.value) is made
        for argument in _arguments(meeting)
    )


def _fix(made: ir.Op, meeting: Meeting, facts: Facts, ground: Ground) -> NodeFix | None:
    from torchdevlint.fixes import builders

    name = meeting.other.device.name
    if meeting.other.device.place not in ("sym", "acc") or _is_plain_mapping(made, meeting, facts):
        return None
    expression = _expression(meeting.other.device, made, facts)
    if _is_argument(meeting):
        moves = isinstance(made, ir.ValueOp) and facts.value(made.dst).kind in (Kind.TENSOR, Kind.BATCH_ENCODING)
        edits = builders.wrap_method(made, "to", name) if moves else None
        return NodeFix(Ground.UNSEEN_CODE, "Move it to the model", edits) if edits else None
    if meeting.other.device.place == "sym" and not all(part.isidentifier() for part in name.split(".")):
        return None
    if (
        meeting.other.device.place == "sym"
        and facts.frame is not None
        and name.partition(".")[0] not in facts.frame.env
    ):
        outside = facts.analysis.lookup_outside(facts.body, name.partition(".")[0])
        if outside.kind is Kind.UNKNOWN:
            return None
    if isinstance(made, ir.Call) and is_factory(made, facts) and made.keyword("device") is None and owns(facts, made):
        return make_there(made, expression, ground, facts)
    edits = builders.wrap_method(made, "to", expression)
    return NodeFix(ground, f"Move it with `.to({expression})`", edits) if edits else None
