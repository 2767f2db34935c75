"""TDL501."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.once import once_per_body
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import is_read_after
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_op
from torchdevlint.rules.structure import once_per_place
from torchdevlint.stubs.knowledge.tensor_attributes import TENSOR_ATTRIBUTES

_PINS = "pin_memory"
_MOVES = frozenset({"to", "cuda", "cpu", "xpu", "mps", "npu", "hpu", _PINS})
_CASTS = frozenset({"float", "double", "half", "bfloat16", "type"})
_SENDERS = frozenset({"accelerate.utils.send_to_device", "accelerate.utils.operations.send_to_device"})


class DiscardedDeviceMove(Rule):
    """Finds moves of tensors whose result is thrown away.

    ## What it does
    Reports an expression statement `x.to(...)`, `x.cuda()`, `x.cpu()`, `x.pin_memory()` (and `.half()`, `.float()`, ...) where `x` is a tensor;
    also `inputs.input_ids = inputs.input_ids.to(...)` of a BatchEncoding that is then passed on as `**inputs`.

    ## Why is this bad?
    These methods return a new tensor and leave `x` where it is. The statement has no effect: the program goes on with the CPU
    tensor, and fails later on, or computes on the CPU without a word. An attribute set on a BatchEncoding stands beside its data, which
    alone is what `**inputs` passes.

    ## Example
        for images, labels in loader:
            images.to(device)

    ## Use instead
        for images, labels in loader:
            images = images.to(device)

    ## When it stays silent
    Modules, metrics, BatchEncoding and BatchFeature, PyG data, which move in place; receivers whose type is not known; the result of a call
    that has no name (`torch.zeros(1).cuda()` wakes the GPU up on purpose).

    ## Fix safety
    `x = x.to(...)` is safe: the old line did nothing. It is unsafe for an argument that only its name (`labels`) tells to be a tensor. A Parameter of a module
    cannot be replaced by a tensor (`TypeError`): `p.data = p.data.to(...)` is an unsafe fix. None
    is made where the receiver is no name, attribute or plain subscript, and for a name that nothing reads afterwards.

    ## Proof
    After the statement the tensor is still in host memory; after the assignment it is on the accelerator.

    ## References
    torch/_tensor_docs.py (`to`), torch/nn/modules/module.py (`Module.to` works in place), torch/nn/utils/rnn.py (PackedSequence).
    """

    code, name, severity = "TDL501", "discarded-device-move", ERROR
    fixable = "sometimes"

    @on_op(ir.Discard)
    def check(self, statement: ir.Discard, facts: Facts) -> Iterator[Report]:
        call = facts.definition(statement.value)
        if not isinstance(call, ir.Call):
            return
        if facts.qualified(call.function) in _SENDERS:
            yield from self._check_sender(call, facts)
            return
        method = facts.definition(call.function)
        if not isinstance(method, ir.Attribute) or method.name not in _MOVES | _CASTS:
            return
        if method.name == "to" and not call.arguments:
            return
        place = facts.place(method.object)
        is_tensor = _is_tensor(method.object, facts)
        if not place or is_tensor is None or _is_of_another_kind(place, facts) or _is_asked_for_more(place, facts):
            return
        is_cast = len(call.arguments) == 1 and facts.frame.is_dtype(call.arguments[0].value)
        does = "converts" if method.name not in _MOVES or is_cast else "pins" if method.name == _PINS else "moves"
        is_parameter = _may_be_parameter(method.object, facts)
        target = f"{place}.data" if is_parameter else place
        is_of_tuple = _is_of_a_tuple(method.object, facts)
        write = "use what it returns" if is_of_tuple else f"write `{target} = {target}.{method.name}(...)`"
        again = f"`{place}.{method.name}(...)` {does} nothing in place; {write}"
        thrown = f"It returns a new tensor, which is thrown away here, and `{place}` stays as it is."
        yield self.report(
            call,
            again.replace("{", "{{").replace("}", "}}"),
            detail=thrown.replace("{", "{{").replace("}", "}}"),
            case=_case(call, method.object, facts, is_tensor=is_tensor, does=does),
            fix=lambda: (
                _assign_data(call)
                if is_parameter
                else _assign(call, safe=is_tensor)
                if _is_wanted(place, call, facts) and not is_of_tuple
                else None
            ),
        )

    @on_op(ir.StoreAttribute)
    def check_attribute(self, store: ir.StoreAttribute, facts: Facts) -> Iterator[Report]:
        """`inputs.input_ids = inputs.input_ids.to(device)` of a BatchEncoding, which `model(**inputs)` does not see."""
        moved, place = facts.definition(store.value), facts.place(store.object)
        method = facts.definition(moved.function) if isinstance(moved, ir.Call) else None
        if not isinstance(method, ir.Attribute) or method.name not in _MOVES or not place:
            return
        if facts.value(store.object).kind is not Kind.BATCH_ENCODING:
            return
        if facts.place(method.object) == f"{place}.{store.name}" and _is_splatted(place, facts):
            yield self.report(
                store,
                f'`**{place}` still passes the tensor that was not moved; write `{place}["{store.name}"] = ...`',
                detail=f"This sets an attribute beside the data. `{place}.to(...)` moves all of it.",
                fix=lambda: NodeFix(
                    Ground.OLD_LINE_DID_NOTHING, "Store it under its key", builders.attribute_to_item(store)
                ),
            )

    def _check_sender(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        first = call.argument("tensor", 0)
        if facts.value(first).kind in (Kind.TENSOR, Kind.DICT, Kind.LIST, Kind.TUPLE):
            target = facts.definition(first)
            yield self.report(
                call,
                "`send_to_device` returns what it moved, and this throws it away; assign the result",
                detail="The old value stays where it is.",
                fix=lambda: _assign(call, target),
            )


# Libraries whose batches move in place (BatchEncoding, Data, NestedTensor, ImageList) and are given to models as they are.
_BATCHES_IN_PLACE = (
    "torch_geometric",
    "dgl",
    "transformers",
    "tensordict",
    "detectron2",
    "torchtext",
    "torch_sparse",
    "e3nn",
)
# Arguments that are tensors by the custom of the field; they give a warning, no error.
_TENSOR_NAMES = frozenset(
    "y y_hat y_true y_pred target targets label labels image images img imgs logits mask masks preds predictions input_ids attention_mask".split()
)


def _case(call: ir.Call, register: ir.Register, facts: Facts, *, is_tensor: bool, does: str) -> str:
    """The row of the policy."""
    if does == "moves" and _is_placed(call, register, facts):
        return "it is there already"
    if does == "converts":
        return "the result is a conversion"
    if facts.value(register).device.name == "self":
        return "the module moves it"
    if does == "pins":
        return "the result is pinned: without it copies are slower, and nothing fails"
    return "" if is_tensor else "it may be no tensor"


def _is_tensor(register: ir.Register, facts: Facts) -> bool | None:
    """True where the receiver is known to be a tensor, False where it is one by its name or its use; None when it may be something that moves in place."""
    value, place = facts.value(register), facts.place(register)
    if _is_copy_of_unknown(register, facts):
        return None
    if value.kind is Kind.TENSOR:
        known = value.evidence >= Evidence.USAGE or (value.group is not None and value.origin is not None)
        return True if known and not (value.group is not None and _is_used_as_mapping(place, facts)) else None
    if value.kind is Kind.UNKNOWN and value.parameter == place and place in _TENSOR_NAMES:
        use = facts.index.use(place)
        is_moved_alone = not use.called and use.attributes <= _MOVES | _CASTS
        return False if is_moved_alone and not _is_used_as_mapping(place, facts) else None
    if value.kind is Kind.UNKNOWN and (_is_given_to_a_model(place, facts) or _is_used_as_tensor(place, facts)):
        return False
    return None


def _is_used_as_tensor(place: str, facts: Facts) -> bool:
    """True for an operand of PyTorch's functions."""
    use = facts.index.use(place)
    return use.torch_argument and use.kind()[0] is Kind.TENSOR and not _is_used_as_mapping(place, facts)


def _is_copy_of_unknown(register: ir.Register, facts: Facts) -> bool:
    """True for the `clone()` of what nothing else shows to be a tensor: metrics and modules of other libraries have such a method too."""
    written = facts.definition(register)
    written = facts.index.bound_once(written.name) if isinstance(written, ir.Load) else written
    method = facts.definition(written.function) if isinstance(written, ir.Call) else None
    return (
        isinstance(method, ir.Attribute) and method.name == "clone" and facts.value(method.object).kind is Kind.UNKNOWN
    )


def _is_asked_for_more(place: str, facts: Facts) -> bool:
    """True for an attribute of the object of which another method of its class reads what no tensor has: `self.vae.config`."""
    summary = facts.class_summary
    if summary is None or not place.startswith("self.") or place.count(".") != 1:
        return False
    uses = (facts.analysis.index_of(body).use(place) for body in summary.cls.methods.values())
    return any(use.called or not use.attributes <= _MOVES | _CASTS | TENSOR_ATTRIBUTES for use in uses)


@once_per_place
def _is_given_to_a_model(place: str, facts: Facts) -> bool:
    """True for what can be moved and is a model's argument as it is: a tensor, where no library is imported whose batches move in place."""
    if facts.imports(*_BATCHES_IN_PLACE):
        return False
    index = facts.index
    use = index.use(place)
    if use.called or not use.attributes <= _MOVES | _CASTS | TENSOR_ATTRIBUTES or _is_used_as_mapping(place, facts):
        return False
    lookup = Lookup.of(facts.body)
    return any(
        isinstance(op, ir.Call)
        and any(a.keyword is None and not a.star and a.value == register for a in op.arguments)
        and index.use(facts.place(op.function)).kind()[0] is Kind.MODULE
        for register in _registers_at(place, facts)
        for op in lookup.readers(register)
    )


def _may_be_parameter(register: ir.Register, facts: Facts) -> bool:
    """True for an attribute that may be a Parameter of a module, which no other tensor can replace: the assignment raises `TypeError`."""
    value, read = facts.value(register), facts.definition(register)
    if not isinstance(read, ir.Attribute) or read.name == "data" or value.symbol == "buffer":
        return False
    holder, own = facts.place(read.object), facts.class_summary
    if holder == "self" and own is not None and own.is_buffer(read.name):
        return False
    is_of_module = holder != "self" and facts.value(read.object).kind is Kind.MODULE
    return value.symbol == "parameter" or value.device.name == "self" or is_of_module


def _is_of_a_tuple(register: ir.Register, facts: Facts) -> bool:
    """True for an attribute that cannot be set."""
    written = facts.definition(register)
    return isinstance(written, ir.Attribute) and facts.frame.refuses_assignment(written.object)


def _is_wanted(place: str, call: ir.Call, facts: Facts) -> bool:
    """False for a name that nothing reads before it is bound again: to bind it to the result would change nothing."""
    return not place.isidentifier() or is_read_after(facts.body, call, place)


def _is_placed(call: ir.Call, register: ir.Register, facts: Facts) -> bool:
    """True for a tensor that is there already, as what it was computed from is, or that was moved before: nothing tells that it is wanted elsewhere."""
    if facts.frame.are_together(register, call.dst):
        return True
    value = facts.value(register)
    target = facts.target_of_move(call)
    placed = value.moved is not None and value.device.may_be_accelerator and not value.others
    return placed and target is not None and target.place != "cpu"


def _is_of_another_kind(place: str, facts: Facts) -> bool:
    """True for a part of a batch of which something is read that no tensor has, and for one beside such a part that nothing shows to be a tensor: graphs."""
    index = facts.index
    beside = _unpacked_beside(facts.body, facts).get(place, ())
    foreign = [name for name in beside if not index.use(name).attributes <= TENSOR_ATTRIBUTES]
    return place in foreign or (bool(foreign) and index.use(place).kind()[0] is not Kind.TENSOR)


@once_per_body
def _unpacked_beside(body: ir.Body, facts: Facts) -> dict[str, list[str]]:
    """For each name that takes a part of something unpacked, the names of all parts."""
    definitions = facts.analysis.index_of(body).definitions
    sources = {
        op.name: taken.source
        for op in Lookup.of(body).kind(ir.Store)
        if isinstance(taken := definitions[op.value], ir.Unpack)
    }
    found: dict[ir.Register, list[str]] = {}
    for name, source in sources.items():
        found.setdefault(source, []).append(name)
    return {name: found[source] for name, source in sources.items()}


@once_per_place
def _is_splatted(place: str, facts: Facts) -> bool:
    """True when the value is given as `**x` somewhere in the body."""
    return any(
        isinstance(op, ir.Call) and any(a.star == "**" and a.value == register for a in op.arguments)
        for register in _registers_at(place, facts)
        for op in Lookup.of(facts.body).readers(register)
    )


@once_per_place
def _is_used_as_mapping(place: str, facts: Facts) -> bool:
    """True when the value is given as `**x` or asked for a key: a BatchEncoding, which moves in place."""
    return _is_splatted(place, facts) or any(
        isinstance(op, ir.Subscript) and op.object == register and isinstance(facts.definition(op.index), ir.Constant)
        for register in _registers_at(place, facts)
        for op in Lookup.of(facts.body).readers(register)
    )


def _assign_data(call: ir.Call) -> NodeFix | None:
    return NodeFix(Ground.UNSEEN_CODE, "Move the data of the Parameter", builders.assign_data(call))


def _assign(call: ir.Call, target: ir.Op | None = None, *, safe: bool = True) -> NodeFix | None:
    edits = builders.assign_statement(call, target)
    ground = Ground.OLD_LINE_DID_NOTHING if safe else Ground.UNKNOWN_KIND
    return NodeFix(ground, "Assign the result", edits)


def _registers_at(place: str, facts: Facts) -> list[ir.Register]:
    """The registers of a body that hold what a name or path means: each read of `batch`, of `self.ids`, of `batch["x"]`."""
    lookup = Lookup.of(facts.body)
    pending = [load.dst for load in lookup.loads(place.partition(".")[0].partition("[")[0])]
    found: list[ir.Register] = []
    for register in pending:  # grows while it is walked
        path = facts.place(register)
        if path == place:
            found.append(register)
        elif path and place.startswith(path):
            pending += [
                op.dst
                for op in lookup.readers(register)
                if isinstance(op, (ir.Attribute, ir.Subscript)) and op.object == register
            ]
    return found
