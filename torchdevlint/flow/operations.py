"""Transfer functions of operations: what each one does to the values of a frame.

Calls are in `calls` and `methods`; `HANDLERS` maps each class of operation to its function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchdevlint.flow import attributes, calls, conditions, entries, module_calls, operands, parameters, values
from torchdevlint.flow.devices import TOP, Device, from_string, symbolic
from torchdevlint.flow.facts import AttributeStore, EntryStore
from torchdevlint.flow.knowledge import methods
from torchdevlint.flow.naming import LOADER_NAME
from torchdevlint.flow.values import (
    AT_LEAST_ONE,
    DTYPE,
    NDARRAY,
    NONE,
    NOTHING,
    OTHER,
    SCALAR,
    SIZE,
    STRING,
    UNKNOWN,
    Evidence,
    Kind,
    Value,
    element_of,
    replace,
    tensor,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.flow.frame import Frame


_SLICE = Value(Kind.OTHER, symbol="slice")
_TENSOR_ATTRIBUTES_SAME = frozenset("data grad T mT H mH real imag".split())


def _constant(frame: Frame, op: ir.Constant) -> None:
    value = op.value
    kind = type(value)
    if kind is str:
        device = from_string(value) if len(value) < 12 else TOP
        frame.values[op.dst] = Value(Kind.STRING, device, constant=value)
    elif value is None:
        frame.values[op.dst] = NONE
    elif kind in (int, float, bool):
        frame.values[op.dst] = Value(Kind.SCALAR, constant=value)
    else:
        frame.values[op.dst] = OTHER


def _load(frame: Frame, op: ir.Load) -> None:
    value = frame.lookup(op.name)
    if value.kind is Kind.UNKNOWN and value.parameter == "":
        value = _by_usage(frame, op.name, value)
    frame.values[op.dst] = value


def _by_usage(frame: Frame, path: str, value: Value) -> Value:
    use = frame.index.uses.get(path)
    if use is None:
        return value
    kind, evidence = use.kind()
    if kind is Kind.MODULE:
        return Value(Kind.MODULE, value.device, ref=f"{path}", evidence=evidence, moved=value.moved)
    if kind is Kind.OPTIMIZER:
        return Value(Kind.OPTIMIZER, evidence=evidence)
    if kind is Kind.TENSOR and value.device is not TOP:
        return replace(value, kind=Kind.TENSOR, evidence=evidence)
    if value.kind is Kind.UNKNOWN and value.moved is not None:
        if use.is_module_call:
            return module_calls.called_after_move(value, path)
        if (
            use.arithmetic or use.index
        ):  # of all that can be moved, only tensors can be computed with, or index something
            return replace(value, kind=Kind.TENSOR, evidence=Evidence.USAGE)
    if use.is_tensor_dtype and value.kind is Kind.UNKNOWN and value.device is TOP and value.moved is None:
        return tensor(symbolic(f"{path}.device"), evidence=Evidence.USAGE)
    return value


def _attribute(frame: Frame, op: ir.Attribute) -> None:
    value = read_attribute(frame, op)
    frame.values[op.dst] = value
    frame.tell_if_heard("attribute", op.name, op)


def read_attribute(frame: Frame, op: ir.Attribute) -> Value:
    """The value of `object.name`."""
    base = frame.values[op.object]
    name = op.name
    kind = base.kind
    if kind is Kind.SYMBOL:
        return frame.analysis.symbol(f"{base.symbol}.{name}")
    place = frame.place(op.dst)
    if place:
        found = frame.env.get(place)
        if found is not None:
            return found  # type: ignore[no-any-return]
    if kind is Kind.TENSOR:
        return _tensor_attribute(frame, op, base)
    if base.ref == "self" and frame.class_summary is not None:
        found = attributes.of_self(frame.analysis, frame, frame.class_summary, name, place)
        if found.kind is Kind.DICT and place:
            frame.put(place, found)  # what this body adds to it is seen from here on
        return found
    if kind is Kind.MODULE:
        return _module_attribute(frame, base, name, place)
    if kind is Kind.INSTANCE and base.definition is not None:
        summary = frame.analysis.summary_of(base.definition)
        return attributes.of_other(frame.analysis, summary, name)
    if name == "device" and kind is not Kind.NDARRAY:
        return Value(Kind.DEVICE if kind is Kind.BATCH_ENCODING else Kind.UNKNOWN, symbolic(place or "device"))
    if name == "shape":
        return SIZE
    if name == "dtype":
        return DTYPE
    if kind in (Kind.BATCH_ENCODING, Kind.BATCH):
        if name.startswith("num_"):
            return SCALAR
        return replace(base, kind=Kind.TENSOR, group=base.origin, evidence=Evidence.USAGE, rank=AT_LEAST_ONE, ref="")
    if kind is Kind.CHECKPOINT:
        return base
    own = frame.class_summary
    if (
        name == "weight"
        and own is not None
        and own.is_module
        and place.startswith(frame.index.self_name + ".")
        and place.count(".") == 2
    ):
        return tensor(symbolic("self"), evidence=Evidence.USAGE, rank=AT_LEAST_ONE, attribute="module")
    if place:
        found = _by_usage(frame, place, UNKNOWN)
        return replace(found, parameter=base.parameter) if base.parameter and found.kind is Kind.MODULE else found
    return UNKNOWN


def _tensor_attribute(frame: Frame, op: ir.Attribute, base: Value) -> Value:
    name = op.name
    if name == "device":
        left = base if base.is_fresh_cpu and base.attribute else UNKNOWN
        return Value(Kind.DEVICE, base.device if not base.others else TOP, origin=left.origin, attribute=left.attribute)
    if name == "shape":
        return SIZE
    if name == "dtype":
        return DTYPE
    if name in ("is_cuda", "is_mps", "is_xpu"):
        return Value(Kind.CONDITION, symbol=name[3:])
    if name in _TENSOR_ATTRIBUTES_SAME:
        return replace(base, needs_grad=False) if name in ("data", "grad") else base
    if name in ("requires_grad", "ndim", "is_leaf", "is_sparse"):
        return SCALAR
    if name in ("values", "indices"):
        return operands.reranked(base, None)  # of `x.max(dim)`, `x.topk(k)`, `x.sort()`
    if base.evidence < Evidence.STRONG or base.origin is None:
        return UNKNOWN
    return UNKNOWN


def _module_attribute(frame: Frame, base: Value, name: str, place: str) -> Value:
    device = frame.module_device(base)
    if name == "device":
        return Value(Kind.DEVICE, device if device.may_be_accelerator else symbolic(place or "device"))
    if name in ("weight", "bias", "in_proj_weight", "running_mean", "running_var"):
        where = module_calls.own_device(base, device) if device is TOP else device
        return tensor(where, evidence=min(Evidence.STRONG, max(base.evidence, Evidence.USAGE)), rank=AT_LEAST_ONE)
    if name == "module":
        return replace(base, definition=None)
    if name == "config":
        return UNKNOWN
    if base.definition is not None:
        summary = frame.analysis.summary_of(base.definition)
        if summary.stores_of(name) or summary.method(name):
            return attributes.of_other(frame.analysis, summary, name)
    part = _by_usage(frame, place, UNKNOWN) if place else UNKNOWN
    if part.kind is Kind.MODULE:
        given = base.parameter if f"@{base.ref}" not in frame.env else ""
        return replace(part, device=device, parameter=given, evidence=min(part.evidence, base.evidence))
    return UNKNOWN


def _binary(frame: Frame, op: ir.Binary) -> None:
    left, right = frame.values[op.left], frame.values[op.right]
    if left.kind is Kind.STRING and op.operator == "%":
        frame.values[op.dst] = _string_expression(left)  # it reads a tensor's number, wherever that is
    elif left.kind is Kind.TENSOR or right.kind is Kind.TENSOR:
        left_tensor, right_tensor = (operands.as_operand(value, Evidence.USAGE) for value in (left, right))
        frame.values[op.dst] = operands.combine([v for v in (left_tensor, right_tensor) if v is not None])
        if left.kind is Kind.NDARRAY or right.kind is Kind.NDARRAY:
            frame.values[op.dst] = UNKNOWN
    elif left.kind is Kind.NDARRAY or right.kind is Kind.NDARRAY:
        other = right if left.kind is Kind.NDARRAY else left
        frame.values[op.dst] = UNKNOWN if other.kind is Kind.UNKNOWN else NDARRAY  # a tensor and an array give a tensor
    elif left.kind is Kind.SCALAR and right.kind is Kind.SCALAR:
        frame.values[op.dst] = SCALAR
    elif left.kind is Kind.PARAMETERS and right.kind is Kind.PARAMETERS:
        frame.values[op.dst] = Value(Kind.PARAMETERS, refs=(*left.refs, *right.refs))
    elif Kind.STRING in (left.kind, right.kind):
        frame.values[op.dst] = _string_expression(left)
    elif left.kind is Kind.LIST and right.kind is Kind.LIST:
        frame.values[op.dst] = _concatenated(left, right) if op.operator == "+" else Value(Kind.LIST)
    elif op.operator == "+" and Kind.TUPLE in (left.kind, right.kind):
        frame.values[op.dst] = Value(Kind.TUPLE)
    elif left.kind is Kind.LIST and op.operator == "*":
        element = element_of(left)
        # `[None] * n` is a row of places that are filled later.
        frame.values[op.dst] = Value(Kind.LIST, element=element if element.kind is not Kind.NONE else None)
    else:
        frame.values[op.dst] = _of_unknown(left, right)


def _of_unknown(left: Value, right: Value) -> Value:
    """Arithmetic on an argument of unknown kind: a tensor that a caller gives makes the result one, and it lives there."""
    for value, other in ((left, right), (right, left)):
        if value.kind is Kind.UNKNOWN and value.parameter and value.device is TOP and value.moved is None:
            alone = not other.parameter or other.kind is Kind.SCALAR
            return Value(parameter=value.parameter, symbol="computed") if alone else UNKNOWN
    return UNKNOWN


def _string_expression(left: Value) -> Value:
    text = left.constant
    if isinstance(text, str) and text.startswith("cuda"):
        return Value(Kind.STRING, Device("acc", "cuda"))
    return STRING


def _unary(frame: Frame, op: ir.Unary) -> None:
    value = frame.values[op.operand]
    if op.operator == "not":
        frame.values[op.dst] = replace(value, negated=not value.negated) if value.kind is Kind.CONDITION else SCALAR
    elif value.kind is Kind.SCALAR and isinstance(value.constant, (int, float)) and op.operator == "-":
        frame.values[op.dst] = Value(Kind.SCALAR, constant=-value.constant)
    else:
        frame.values[op.dst] = value if value.kind in (Kind.TENSOR, Kind.NDARRAY, Kind.SCALAR) else UNKNOWN


def _compare(frame: Frame, op: ir.Compare) -> None:
    left = frame.values[op.left]
    right = frame.values[op.comparators[0]]
    frame.values[op.dst] = SCALAR
    if op.operators[0] in ("==", "!=", "<", ">", "<=", ">="):
        if left.kind is Kind.TENSOR or right.kind is Kind.TENSOR:
            a, b = operands.as_operand(left), operands.as_operand(right)
            frame.values[op.dst] = operands.combine([v for v in (a, b) if v is not None])
        elif left.kind is Kind.NDARRAY:
            frame.values[op.dst] = NDARRAY
        else:
            if left.kind is Kind.UNKNOWN:
                frame.values[op.dst] = operands.unknown_like(left)  # a tensor's comparison is a mask
            token, negated = conditions.compared(frame, op)
            if token:
                frame.values[op.dst] = Value(Kind.CONDITION, symbol=token, negated=negated)
    elif op.operators[0] in ("is", "is not", "in", "not in"):
        token, negated = conditions.compared(frame, op)
        if token:
            frame.values[op.dst] = Value(Kind.CONDITION, symbol=token, negated=negated)
    frame.tell_if_heard("op", type(op).__name__, op)


def _choice(frame: Frame, op: ir.Choice) -> None:
    found = [frame.values[register] for register in op.values]
    if op.shape in ("and", "or"):
        conditionals = [value for value in found if value.kind is Kind.CONDITION]
        if conditionals and op.shape == "and":
            frame.values[op.dst] = conditionals[0]
            return
    result = found[0]
    for value in found[1:]:
        result = values.join(result, value)
    if result.kind in (Kind.DEVICE, Kind.STRING) and result.device.place == "sym" and result.device.name == "":
        result = replace(result, constant=NOTHING)
    frame.values[op.dst] = result


def _subscript(frame: Frame, op: ir.Subscript) -> None:
    base, index = frame.values[op.object], frame.values[op.index]
    frame.values[op.dst] = _read_item(frame, op, base, index)
    frame.used(base, op, "subscript")


def _read_item(frame: Frame, op: ir.Subscript, base: Value, index: Value) -> Value:
    place = frame.place(op.dst)
    if place:
        found = frame.env.get(place)
        if found is not None:
            return found  # type: ignore[no-any-return]
    kind = base.kind
    key = index.constant
    if kind is Kind.TENSOR and isinstance(key, str):
        # What a model gives by name is a dict of tensors rather than a tensor, and what is deeper in it may well be a list or a number.
        return replace(base, evidence=Evidence(max(base.evidence - 1, Evidence.NONE)))
    if kind is Kind.TENSOR:
        return _index_tensor(frame, op, base, index)
    if kind in (Kind.TUPLE, Kind.LIST):
        if isinstance(key, int) and base.items is not None and -len(base.items) <= key < len(base.items):
            return base.items[key]
        if isinstance(frame.definitions[op.index], ir.Slice):
            return Value(kind, element=element_of(base))
        return element_of(base)
    if kind is Kind.DICT:
        found = base.entry(key)
        if found is not None or base.element is not None:
            return found or base.element or UNKNOWN
    if kind in (Kind.BATCH, Kind.BATCH_ENCODING):
        # The place to mend is where the part is taken out; a BatchEncoding's parts are tensors for sure.
        origin = op if kind is Kind.BATCH_ENCODING and base.moved is None and base.origin is not None else base.origin
        evidence = min(base.evidence, Evidence.USAGE)
        return tensor(base.device, origin=origin, moved=base.moved, evidence=evidence, group=base.origin)
    if kind in (Kind.CHECKPOINT, Kind.STATE_DICT):
        return base if kind is Kind.CHECKPOINT else tensor(base.device, evidence=Evidence.STRONG)
    if kind is Kind.NDARRAY:
        return base
    if kind is Kind.SIZE:
        return SCALAR
    if kind is Kind.MODULE:
        return Value(Kind.MODULE, base.device, ref=f"{base.ref}[]" if base.ref else "", evidence=Evidence.USAGE)
    owner = frame.place(op.object)
    if isinstance(key, str) and owner and kind in (Kind.UNKNOWN, Kind.DICT):
        return Value(device=base.device, moved=base.moved, group=owner)
    if kind is Kind.UNKNOWN and base.device is not TOP:
        return replace(base, origin=None)
    return UNKNOWN


def _index_tensor(frame: Frame, op: ir.Subscript, base: Value, index: Value) -> Value:
    indices = index.items if index.kind is Kind.TUPLE and index.items is not None else (index,)
    advanced = [value for value in indices if value.kind is Kind.TENSOR]
    rank = base.rank
    if rank is not None and rank > 0:
        lowered = sum(1 for value in indices if value.kind is Kind.SCALAR)
        added = sum(1 for value in indices if value.kind is Kind.NONE)
        least = rank - lowered + added
        if all(value.kind in (Kind.SCALAR, Kind.NONE, Kind.OTHER) for value in indices):
            rank = max(least, 0)
        else:  # an index of which nothing is known may be a number
            least -= sum(1 for value in indices if value.kind is Kind.UNKNOWN)
            rank = AT_LEAST_ONE if least > 0 and not advanced else None
    elif rank is None and any(value.kind is Kind.NONE for value in indices):
        rank = AT_LEAST_ONE
    elif rank == AT_LEAST_ONE and any(value.kind is not Kind.OTHER for value in indices):
        rank = None if any(value.kind in (Kind.SCALAR, Kind.UNKNOWN) for value in indices) else AT_LEAST_ONE
    if rank is None and _SLICE in indices:
        rank = AT_LEAST_ONE  # a slice keeps its dimension
    if base.others:
        return replace(base, rank=rank, others=tuple(replace(part, rank=None) for part in base.others))
    return replace(base, rank=rank)


def _slice(frame: Frame, op: ir.Slice) -> None:
    frame.values[op.dst] = _SLICE


def _sequence(frame: Frame, op: ir.Sequence) -> None:
    elements = [frame.values[element.value] for element in op.elements]
    kind = Kind.TUPLE if op.shape == "tuple" else Kind.LIST
    if any(element.starred for element in op.elements) or len(elements) > 32:
        frame.values[op.dst] = Value(kind, refs=_parameter_refs(elements))
        return
    refs = _parameter_refs(elements)
    if refs and op.shape == "list":
        frame.values[op.dst] = Value(Kind.PARAMETERS, refs=refs)
        return
    frame.values[op.dst] = Value(kind, items=tuple(elements))


def _parameter_refs(elements: list[Value]) -> tuple[str, ...]:
    """The modules whose parameters a list of optimizer groups holds: `[{"params": m.parameters()}]`."""
    refs: list[str] = []
    for element in elements:
        if element.kind is Kind.PARAMETERS:
            refs += element.refs
        elif element.kind is Kind.DICT:
            inner = element.entry("params")
            if inner is not None and inner.kind is Kind.PARAMETERS:
                refs += inner.refs
    return tuple(dict.fromkeys(refs))


def _mapping(frame: Frame, op: ir.Mapping) -> None:
    entries: list[tuple[Any, Value]] = []
    for key, register in zip(op.keys, op.values, strict=True):
        name = frame.values[key].constant if key is not None else NOTHING
        if isinstance(name, (str, int)):
            entries.append((name, frame.values[register]))
    frame.values[op.dst] = Value(Kind.DICT, entries=tuple(entries[:64]), items=() if not op.keys else None)


def _formatted(frame: Frame, op: ir.FormattedString) -> None:
    if op.prefix.startswith("cuda"):
        frame.values[op.dst] = Value(Kind.STRING, Device("acc", "cuda"))
    else:
        frame.values[op.dst] = STRING


def _comprehension(frame: Frame, op: ir.Comprehension) -> None:
    element = frame.values[op.value]
    if op.shape == "dict":
        frame.values[op.dst] = Value(Kind.DICT, element=element)
    else:
        frame.values[op.dst] = Value(Kind.LIST, element=element, symbol="generator" if op.shape == "generator" else "")


def _make_function(frame: Frame, op: ir.MakeFunction) -> None:
    frame.analysis.note_closure(op.function, frame.env)
    frame.values[op.dst] = Value(Kind.FUNCTION, definition=op.function)


def _make_class(frame: Frame, op: ir.MakeClass) -> None:
    frame.values[op.dst] = Value(Kind.CLASS, definition=op.cls)


def _import(frame: Frame, op: ir.Import) -> None:
    frame.values[op.dst] = frame.analysis.symbol(op.qualified) if op.name != "*" else UNKNOWN


def _unpack(frame: Frame, op: ir.Unpack) -> None:
    source = frame.values[op.source]
    kind = source.kind
    value = UNKNOWN
    if kind in (Kind.TUPLE, Kind.LIST):
        if source.items is not None and len(source.items) == op.count and not op.starred:
            value = source.items[op.index]
        else:
            value = element_of(source) if not op.starred else Value(Kind.LIST, element=element_of(source))
    elif kind is Kind.BATCH and not op.starred:
        value = tensor(
            source.device, origin=op, moved=source.moved, evidence=source.evidence, group=source.origin, rank=None
        )
    elif kind is Kind.TENSOR:
        value = replace(source, rank=None, group=None)
    elif kind is Kind.SIZE:
        value = SCALAR
    elif kind is Kind.NDARRAY:
        value = NDARRAY
    elif kind is Kind.UNKNOWN:
        written = frame.definitions[op.source]
        value = Value(group=written, device=source.device) if written is not None else UNKNOWN
    frame.values[op.dst] = value


def _iterate(frame: Frame, op: ir.Iterate) -> None:
    frame.values[op.dst] = operands.iterate(frame, op)


def _enter(frame: Frame, op: ir.Enter) -> None:
    frame.values[op.dst] = UNKNOWN


def _await(frame: Frame, op: ir.Await) -> None:
    frame.values[op.dst] = frame.values[op.value]


def _yield(frame: Frame, op: ir.Yield) -> None:
    if op.value is not None:
        frame.used(frame.values[op.value], op, "returned")
    frame.values[op.dst] = UNKNOWN


def _augmented(frame: Frame, op: ir.AugmentedAssign) -> None:
    target, value = frame.values[op.target], frame.values[op.value]
    if target.kind is Kind.TENSOR:
        frame.values[op.dst] = target
    elif value.kind is Kind.TENSOR and target.kind is Kind.SCALAR:
        frame.values[op.dst] = value if value.origin is None else replace(value, rank=value.rank)
    elif target.kind is Kind.LIST and value.kind in (Kind.LIST, Kind.TUPLE):
        frame.values[op.dst] = _extended(target, element_of(value))
    else:
        frame.values[op.dst] = target if target.kind is value.kind else UNKNOWN
    frame.tell_if_heard("op", type(op).__name__, op)


def _extended(target: Value, element: Value) -> Value:
    old = element_of(target)
    if old is UNKNOWN and (target.items == () or target.items is None):
        return Value(Kind.LIST, element=element)
    return Value(Kind.LIST, element=values.join(old, element))


def _concatenated(left: Value, right: Value) -> Value:
    """`[a, *b] + c`: each item where all are known, else what any of the two may hold."""
    if left.items is not None and right.items is not None:
        return Value(Kind.LIST, items=(*left.items, *right.items))
    if left.items == () or right.items == ():
        return right if left.items == () else left
    element = values.join(element_of(left), element_of(right))
    return Value(Kind.LIST, element=element)


def _opaque(frame: Frame, op: ir.Opaque) -> None:
    frame.values[op.dst] = UNKNOWN


def _store(frame: Frame, op: ir.Store) -> None:
    value = frame.values[op.value]
    if op.annotation is not None and value.kind is Kind.UNKNOWN:
        annotated = parameters.annotated(frame.analysis, op.annotation, op.name)
        if annotated is not None:
            value = annotated
    value = _named_device(value, op.name)
    if value.kind is Kind.UNKNOWN and value.device is not TOP:
        value = _by_usage(frame, op.name, value)
    elif (
        value.kind is Kind.UNKNOWN
        and not _is_called(frame, op.value)
        and LOADER_NAME.search(op.name)
        and not frame.analysis.places_batches
    ):
        value = Value(Kind.LOADER, evidence=Evidence.NAME)
    elif value.kind is Kind.TENSOR and _is_called(frame, op.value) and _has_state(frame, op.name):
        value = UNKNOWN
    elif value.kind is Kind.TENSOR and value.evidence is Evidence.NAME:
        use = frame.index.uses.get(op.name)
        if use is not None and use.kind()[0] is Kind.TENSOR:
            value = replace(value, evidence=max(value.evidence, use.kind()[1]))
    value = frame.analysis.observed.store(op, value)
    frame.store_place(op.name, value)
    frame.tell_if_heard("op", type(op).__name__, op)


def _is_called(frame: Frame, register: ir.Register) -> bool:
    """True for what a function returned, also as one of several: `prepare` and prefetchers give loaders that move their batches."""
    written = frame.definitions[register]
    return isinstance(written, (ir.Call, ir.Unpack))


_STATE = frozenset({"state_dict", "load_state_dict"})


def _has_state(frame: Frame, name: str) -> bool:
    """True for a name that is bound once, and asked for what no tensor has: `made.load_state_dict(...)`, `made.parameters()`."""
    asked = frame.index.use(name).attributes & (methods.MODULE_STRONG | _STATE)
    return len(frame.index.bound_to(name)) == 1 and bool(asked)


def _named_device(value: Value, place: str) -> Value:
    """A device that the program chose gets the name that it is bound to."""
    if value.kind in (Kind.DEVICE, Kind.STRING) and value.device.place == "sym" and value.device.name == "":
        return replace(value, device=symbolic(place, chosen=True))
    return value


def _store_attribute(frame: Frame, op: ir.StoreAttribute) -> None:
    value = frame.values[op.value]
    base = frame.values[op.object]
    frame.used(value, op, "stored")
    place = frame.place(op.object)
    if op.annotation is not None and value.kind is Kind.UNKNOWN:
        value = parameters.annotated(frame.analysis, op.annotation, op.name) or value
    if place:
        path = f"{place}.{op.name}"
        value = _named_device(value, path)
        if base.ref == "self" and frame.class_summary is not None:
            value = attributes.store(frame.analysis, frame.class_summary, AttributeStore(op, value, frame.body))
        frame.store_place(path, value)
    frame.tell_if_heard("op", type(op).__name__, op)


def _store_subscript(frame: Frame, op: ir.StoreSubscript) -> None:
    value = frame.values[op.value]
    frame.used(value, op, "stored")
    place = frame.place(op.object)
    key = frame.values[op.index].constant
    base = frame.values[op.object]
    owner, _, name = place.rpartition(".")
    known_key = isinstance(key, (str, int)) and not isinstance(key, bool)
    if owner and owner == frame.index.self_name and frame.class_summary is not None:
        entries.note(frame.class_summary, name, EntryStore(op, key if known_key else None, value, frame.body))
    if place and base.kind is not Kind.TENSOR:
        if known_key:
            frame.store_place(f"{place}[{key!r}]", value)
        else:
            if base.kind in (Kind.BATCH, Kind.BATCH_ENCODING) and value.moved is not None:
                frame.put(place, replace(base, device=value.device, moved=value.moved))  # part by part, in a loop
            old = base.element if base.kind is Kind.DICT else None
            for known in frame.places_below(place):
                if known.startswith(place + "["):
                    del frame.env[known]
            if base.kind is Kind.LIST and value.kind is Kind.TENSOR and element_of(base).kind is Kind.TENSOR:
                frame.put(place, Value(Kind.LIST, element=values.join(element_of(base), value), refs=base.refs))
            if base.kind is Kind.DICT:
                frame.put(place, Value(Kind.DICT, element=value if old is None else values.join(old, value)))
    frame.tell_if_heard("op", type(op).__name__, op)


def _delete(frame: Frame, op: ir.Delete) -> None:
    frame.env.pop(op.name, None)


def _declare(frame: Frame, op: ir.Declare) -> None:
    value = parameters.annotated(frame.analysis, op.annotation, op.name)
    if value is not None and frame.body.kind != "class":
        frame.env.setdefault(op.name, value)


def _discard(frame: Frame, op: ir.Discard) -> None:
    frame.tell_if_heard("op", type(op).__name__, op)


def _return(frame: Frame, op: ir.Return) -> None:
    value = frame.values[op.value] if op.value is not None else NONE
    frame.used(value, op, "returned")
    if value.kind is Kind.TENSOR and value.moved is None and frame.is_absent:
        value = replace(
            value, device=TOP, origin=None, moved=op, others=()
        )  # left on the CPU because there is nothing else
    frame.returned = value if frame.returned is None else values.join(frame.returned, value)
    frame.tell_if_heard("op", type(op).__name__, op)


def _raise(frame: Frame, op: ir.Raise) -> None:
    return None


def _call(frame: Frame, op: ir.Call) -> None:
    frame.tell("before-call", op)
    result = calls.call(frame, op)
    frame.values[op.dst] = result


HANDLERS: dict[type, Callable[[Frame, Any], None]] = {
    ir.Constant: _constant,
    ir.Load: _load,
    ir.Attribute: _attribute,
    ir.Call: _call,
    ir.Binary: _binary,
    ir.Unary: _unary,
    ir.Compare: _compare,
    ir.Choice: _choice,
    ir.Subscript: _subscript,
    ir.Slice: _slice,
    ir.Sequence: _sequence,
    ir.Mapping: _mapping,
    ir.FormattedString: _formatted,
    ir.Comprehension: _comprehension,
    ir.MakeFunction: _make_function,
    ir.MakeClass: _make_class,
    ir.Import: _import,
    ir.Unpack: _unpack,
    ir.Iterate: _iterate,
    ir.Enter: _enter,
    ir.Await: _await,
    ir.Yield: _yield,
    ir.AugmentedAssign: _augmented,
    ir.Opaque: _opaque,
    ir.Store: _store,
    ir.Declare: _declare,
    ir.StoreAttribute: _store_attribute,
    ir.StoreSubscript: _store_subscript,
    ir.Delete: _delete,
    ir.Discard: _discard,
    ir.Return: _return,
    ir.Raise: _raise,
}
