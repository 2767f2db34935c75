"""Transfer functions of method calls `receiver.name(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.flow import attributes, module_calls
from torchdevlint.flow.devices import CPU, TOP, Device
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.knowledge import methods as table
from torchdevlint.flow.operands import combine, tensors_in
from torchdevlint.flow.values import (
    AT_LEAST_ONE,
    NDARRAY,
    OTHER,
    SCALAR,
    SIZE,
    UNKNOWN,
    Evidence,
    Kind,
    Value,
    element_of,
    join,
    replace,
    tensor,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.flow.frame import Frame


def call(frame: Frame, op: ir.Call, name: str, receiver: Value, register: ir.Register) -> Value:
    """The value of `receiver.name(...)`."""
    if name in table.MOVES or name in table.CASTS:
        return _move(frame, op, name, receiver, register)
    kind = receiver.kind
    if kind is Kind.TENSOR:
        return _tensor_method(frame, op, name, receiver)
    if kind is Kind.MODULE:
        return _module_method(frame, op, name, receiver)
    if receiver.ref == "self" or kind is Kind.INSTANCE:
        result = frame.analysis.call_method(frame, op, name, receiver)
        return (
            module_calls.batch_encoding(frame, op)
            if result is UNKNOWN and module_calls.returns_tensors(frame, op)
            else result
        )
    if kind is Kind.OTHER and receiver.symbol == "super":
        return UNKNOWN
    if kind is Kind.TOKENIZER:
        return module_calls.batch_encoding(frame, op) if name not in ("encode",) else _encoded(frame, op)
    if kind in (Kind.LIST, Kind.TUPLE):
        return _list_method(frame, op, name, receiver, register)
    if kind is Kind.DICT:
        return _dict_method(frame, op, name, receiver)
    if kind in (Kind.BATCH, Kind.BATCH_ENCODING, Kind.CHECKPOINT):
        return _batch_method(frame, op, name, receiver)
    if kind is Kind.NDARRAY:
        return NDARRAY if name not in ("tolist", "item") else OTHER
    if kind is Kind.OPTIMIZER:
        return _optimizer_method(frame, op, name, receiver)
    if kind is Kind.STRING:
        return Value(Kind.STRING)
    if name == "numpy":
        return NDARRAY
    if name == "parameters" and not op.arguments:
        return Value(Kind.PARAMETERS, refs=(frame.place(register),) if frame.place(register) else ())
    if name == "state_dict" and not op.arguments:
        return Value(Kind.STATE_DICT)
    if name in table.NEW_LIKE:
        return tensor(receiver.device, evidence=Evidence.USAGE)
    if module_calls.returns_tensors(frame, op):
        return module_calls.batch_encoding(frame, op)
    if kind is Kind.UNKNOWN and receiver.device is not TOP and name not in ("item", "size", "tolist", "get", "keys"):
        return replace(receiver, group=None)
    return UNKNOWN


def _encoded(frame: Frame, op: ir.Call) -> Value:
    """`tokenizer.encode(..., return_tensors="pt")` gives a tensor."""
    if not module_calls.returns_tensors(frame, op):
        return Value(Kind.LIST, element=SCALAR)
    return tensor(CPU, rank=2, origin=op, evidence=Evidence.STRONG)


# ---------------------------------------------------------------------------------------------------- moves


def move_target(frame: Frame, op: ir.Call, name: str) -> Device | None:
    """The device that `.to(...)`, `.cuda(...)`, `.cpu()` moves to; None when the call moves nothing (a dtype, `.to(None)`); TOP when unknown."""
    if name == "cpu":
        return CPU
    if name in ("cuda", "xpu", "mps", "npu", "hpu"):
        register = op.argument("device", 0)
        if register is None:
            return Device("acc", name)
        device = frame.device_argument(register)
        value = frame.values[register]
        if device.place == "acc" and isinstance(value.constant, int):
            return Device("acc", f"{name}:{value.constant}")
        return device if device is not TOP else Device("acc", name)
    if name != "to":
        return None
    register = op.keyword("device")
    if register is not None:
        return frame.device_argument(register)
    register = op.keyword("other")
    if register is None:
        register = op.positional(0)
    if register is None:
        return None if not op.has_splat else TOP
    if frame.is_dtype(register) or frame.values[register].kind is Kind.NONE:
        return None
    return frame.device_argument(register)


def _move(frame: Frame, op: ir.Call, name: str, receiver: Value, register: ir.Register) -> Value:
    if name in table.CASTS:
        return _cast(frame, op, name, receiver)
    target = move_target(frame, op, name)
    if target is None:
        return receiver if receiver.kind is not Kind.UNKNOWN else replace(receiver, group=receiver.group)
    kind = receiver.kind
    if kind is Kind.MODULE or (
        receiver.ref == "self" and frame.class_summary is not None and frame.class_summary.is_module
    ):
        return _move_module(frame, op, receiver, target)
    if kind is Kind.UNKNOWN and isinstance(_statement_of(frame, op), ir.Discard) and receiver.device is TOP:
        called = attributes.called_elsewhere(frame, frame.place(register))
        return UNKNOWN if called is None else _move_module(frame, op, called, target)
    result = moved_value(frame, op, receiver, target)
    source = op.argument("device", 0)
    if target is CPU and name == "to" and source is not None and _is_left_behind(frame.values[source]):
        result = _moved_to_host(receiver, frame.values[source]) if kind is Kind.TENSOR else UNKNOWN
    place = frame.place(register)
    if kind is Kind.BATCH_ENCODING and place:
        frame.store_place(place, result)  # moves in place and returns itself
    return result


def _is_left_behind(source: Value) -> bool:
    """True for a plain attribute that stays on the CPU, and for its `.device`."""
    return bool(source.attribute) and source.device is CPU and source.origin is not None and source.moved is None


def _moved_to_host(value: Value, source: Value) -> Value:
    """`x.to(self.anchors.device)`: where that attribute was left."""
    return replace(
        value,
        device=CPU,
        moved=None,
        origin=source.origin,
        attribute=source.attribute,
        others=(),
        parameter="",
        group=None,
    )


def _statement_of(frame: Frame, op: ir.Call) -> ir.Op | None:
    """The Discard of an expression statement, when this call is one."""
    if frame.block is None:
        return None
    return frame.analysis.discards(frame.body).get(op.dst)


def moved_value(frame: Frame, op: ir.Op, value: Value, target: Device) -> Value:
    """A value after a move that returns the moved one."""
    if value.kind is Kind.TENSOR:
        return replace(
            value,
            device=target,
            moved=op,
            others=(),
            evidence=max(value.evidence, Evidence.USAGE),
            parameter=value.parameter,
        )
    if value.kind in (Kind.BATCH, Kind.BATCH_ENCODING):
        return replace(value, device=target, moved=op)
    if value.kind is Kind.DICT:
        return replace(value, entries=tuple((k, moved_value(frame, op, v, target)) for k, v in value.entries))
    if value.kind is Kind.LIST and value.element is not None:
        return replace(value, element=moved_value(frame, op, value.element, target))
    return Value(
        value.kind if value.kind is not Kind.NONE else Kind.UNKNOWN,
        target,
        moved=op,
        group=value.group,
        parameter=value.parameter,
        origin=None,
    )


def _move_module(frame: Frame, op: ir.Call, module: Value, target: Device) -> Value:
    frame.tell("module-move", op, (module, target))
    if module.ref and module.ref != "self":
        frame.env["@" + module.ref] = Value(Kind.DEVICE, target, moved=op)
    return replace(module, device=target, moved=op)


def _cast(frame: Frame, op: ir.Call, name: str, receiver: Value) -> Value:
    if name == "type":
        register = op.positional(0)
        if register is None:
            return Value(Kind.STRING)
        symbol = frame.values[register].symbol
        text = frame.values[register].constant
        spelled = symbol if frame.values[register].kind is Kind.SYMBOL else text if isinstance(text, str) else ""
        if spelled.startswith("torch.cuda."):
            return moved_value(frame, op, receiver, Device("acc", "cuda"))
        if spelled and spelled.startswith("torch.") and spelled.endswith("Tensor"):
            return moved_value(frame, op, receiver, CPU)
        known = frame.is_dtype(register) and not _is_type_string(frame, register)
        if not known and spelled == "" and receiver.kind is Kind.TENSOR:
            return replace(receiver, device=TOP, origin=None, moved=op, others=())
    return receiver


def _is_type_string(frame: Frame, register: ir.Register) -> bool:
    """True for a name that holds `x.type()` or `torch.cuda.FloatTensor` on some path: they name a device as well."""
    written = frame.definitions[register]
    if not isinstance(written, ir.Load) or frame.values[register].kind is Kind.DTYPE:
        return False
    return any(
        _asks_type(frame.definitions[value], frame)
        or frame.analysis.resolve_text(frame.index.dotted(value)).startswith("torch.cuda.")
        for value in frame.index.bound_to(written.name)
    )


def _asks_type(made: ir.Op | None, frame: Frame) -> bool:
    if not isinstance(made, ir.Call) or made.arguments:
        return False
    method = frame.definitions[made.function]
    return isinstance(method, ir.Attribute) and method.name == "type"


# ---------------------------------------------------------------------------------------------------- tensors

_SAME_RANK = frozenset(
    "clone detach contiguous requires_grad_ float abs exp log sqrt neg sigmoid tanh relu softmax log_softmax clamp clamp_ pow round floor ceil cumsum "
    "cumprod flip roll tril triu tril_ triu_ fill_ zero_ normal_ uniform_ random_ exponential_ bernoulli_ masked_fill masked_fill_ transpose permute t "
    "sort pin_memory share_memory_ logical_not long int bool half double add sub mul div add_ sub_ mul_ div_ eq ne lt le gt ge detach_ "
    "log_ exp_ sin cos sqrt_ neg_ abs_ type_as copy_ log_softmax index_fill_ index_copy_ index_add_ scatter_ scatter_add_ copysign_ geometric_".split()
)
_GIVES_DIMENSIONS = frozenset(
    "view reshape expand repeat unsqueeze unsqueeze_ flatten expand_as view_as unfold repeat_interleave tile nonzero".split()
)


def _tensor_method(frame: Frame, op: ir.Call, name: str, receiver: Value) -> Value:
    if name in table.NEW_LIKE:
        return _new_like(frame, op, receiver)
    if name == "numpy":
        written = frame.definitions[op.function]
        place = frame.place(written.object) if isinstance(written, ir.Attribute) else ""
        if place and frame.env.get(place) is receiver:
            # From here on it is on the CPU, or the line has raised.
            frame.put(place, replace(receiver, device=CPU, origin=None, moved=op, others=()))
        return Value(Kind.NDARRAY, origin=receiver.origin)
    if receiver.symbol == "distribution":
        return _distribution_method(frame, op, name, receiver)
    if name in table.TENSOR_SCALARS:
        return SCALAR
    if name in table.TENSOR_SIZES:
        return SIZE if not op.arguments else SCALAR
    if name in table.TENSOR_HOST:
        return Value(Kind.LIST, element=UNKNOWN)
    if name == "type_as":
        other = op.positional(0)
        if other is not None and _is_left_behind(frame.values[other]):
            return _moved_to_host(receiver, frame.values[other])
        device = frame.values[other].device if other is not None else TOP
        return replace(receiver, device=device, moved=op, others=())
    if name in ("backward", "retain_grad", "register_hook"):
        return OTHER
    if name in ("copy_", "set_"):
        return receiver
    if name in ("unbind", "chunk", "split", "topk", "tensor_split"):
        return Value(Kind.LIST, element=_reranked(receiver, None))
    if name in table.TENSOR_POINTWISE or name in table.TENSOR_STRICT:
        return _checked(frame, op, name, receiver)
    if name == "view" and op.positional_count == 1 and frame.is_dtype(op.arguments[0].value):
        return _reranked(receiver, receiver.rank)  # reads the same elements as another type
    if _flattens(frame, op, name):
        return _reranked(receiver, 1)
    return _same_device(op, name, receiver)


def _flattens(frame: Frame, op: ir.Call, name: str) -> bool:
    """True for `x.view(-1)`, `x.reshape(-1)`, `x.flatten()` and `x.ravel()`."""
    if name in ("view", "reshape"):
        return len(op.arguments) == 1 and frame.values[op.arguments[0].value].constant == -1
    return name in ("flatten", "ravel") and not op.arguments


def _distribution_method(frame: Frame, op: ir.Call, name: str, receiver: Value) -> Value:
    given = [value for argument in op.arguments if not argument.star for value in tensors_in(frame, argument.value)]
    if name in ("log_prob", "cdf", "icdf"):
        return replace(combine([receiver, *given]), symbol="")
    rank = receiver.rank if receiver.rank != 0 or op.arguments else 0
    return replace(_reranked(receiver, AT_LEAST_ONE if rank != 0 else 0), symbol="")


def _same_device(op: ir.Call, name: str, receiver: Value) -> Value:
    if name in _SAME_RANK:
        detached = name in ("detach", "detach_")  # only a tensor has these
        return replace(
            receiver,
            group=None,
            needs_grad=receiver.needs_grad and not detached,
            parameter="",
            evidence=max(receiver.evidence, Evidence.USAGE) if detached else receiver.evidence,
        )
    if name in _GIVES_DIMENSIONS:
        return _reranked(receiver, AT_LEAST_ONE)
    if name in functions.REDUCTIONS and not op.arguments:
        return _reranked(receiver, 0)
    return _reranked(receiver, None)


def _reranked(value: Value, rank: int | None) -> Value:
    others = tuple(replace(part, rank=None) for part in value.others)
    return replace(value, rank=rank, group=None, parameter="", others=others)


def _new_like(frame: Frame, op: ir.Call, receiver: Value) -> Value:
    register = op.keyword("device")
    device = receiver.device if register is None else frame.device_argument(register)
    return tensor(device, rank=AT_LEAST_ONE, evidence=receiver.evidence, origin=receiver.origin, moved=receiver.moved)


def _checked(frame: Frame, op: ir.Call, name: str, receiver: Value) -> Value:
    strict = name in table.TENSOR_STRICT
    in_place = name.endswith("_")
    operands = [receiver]
    # Indices may be on the CPU, as in `x[i] = v` (aten/src/ATen/native/TensorAdvancedIndexing.cpp, `index_put_`).
    given = op.arguments[1:] if name.startswith("index_put") else op.arguments
    for argument in given:
        if not argument.star and argument.keyword not in ("out", "alpha", "dim", "indices"):
            operands += tensors_in(frame, argument.value)
    if in_place:
        return receiver
    result = combine(operands)
    if strict:
        return _reranked(result, AT_LEAST_ONE if name in ("mm", "bmm", "outer", "ger") else None)
    return result


# ---------------------------------------------------------------------------------------------------- modules and the rest


_DICT_METHODS = frozenset("keys values items pop clear update get".split())


def _module_method(frame: Frame, op: ir.Call, name: str, module: Value) -> Value:
    if name in ("parameters", "named_parameters"):
        return Value(Kind.PARAMETERS, refs=(module.ref,) if module.ref else ())
    if name in ("state_dict",):
        return Value(Kind.STATE_DICT, frame.module_device(module), origin=op)
    if name in ("train", "eval", "requires_grad_", "share_memory", "apply", "zero_grad", "to_empty", "compile"):
        return module
    if name in ("register_buffer", "register_parameter") and module.ref == "self" and frame.class_summary is not None:
        return attributes.register(frame.analysis, frame, op, name, frame.class_summary)
    if name == "add_state" and module.ref == "self" and frame.class_summary is not None:
        return attributes.register(frame.analysis, frame, op, name, frame.class_summary)
    if name.startswith("register_") and "buffer" in name and module.ref == "self" and frame.class_summary is not None:
        return attributes.register(
            frame.analysis, frame, op, name, frame.class_summary
        )  # of the class itself, or of its base
    if name == "add_module" or name == "register_module":
        return OTHER
    if name in ("load_state_dict", "register_forward_hook", "named_modules"):
        return OTHER
    if name == "forward":
        return module_calls.call_module(frame, op, module)
    if module.definition is not None:
        return frame.analysis.call_method(frame, op, name, module)
    if name in table.FORWARD_LIKE and module.symbol not in ("wrapper", "dispatched"):
        return module_calls.call_module(frame, op, module)
    if module.symbol == "torch.nn.ModuleDict" and name not in _DICT_METHODS:
        # `self.parts.embed(x)` calls the module that is kept under this name.
        inner = Value(Kind.MODULE, module.device, ref=f"{module.ref}.{name}", attribute=module.attribute)
        return module_calls.call_module(frame, op, replace(inner, evidence=Evidence.USAGE))
    return UNKNOWN


def _optimizer_method(frame: Frame, op: ir.Call, name: str, receiver: Value) -> Value:
    if name == "load_state_dict":
        frame.tell("optimizer-load", op, receiver)
        if receiver.origin is not None:
            frame.env[f"@opt{id(receiver.origin)}"] = Value(Kind.DEVICE, TOP, moved=op, constant="filled")
    elif name == "step":
        frame.tell("optimizer-step", op, receiver)
        if receiver.origin is not None and f"@opt{id(receiver.origin)}" not in frame.env:
            frame.env[f"@opt{id(receiver.origin)}"] = Value(Kind.DEVICE, TOP, moved=op, constant="stepped")
    return OTHER


def _list_method(frame: Frame, op: ir.Call, name: str, receiver: Value, register: ir.Register) -> Value:
    if name in ("append", "insert", "extend"):
        given = op.positional(1 if name == "insert" else 0)
        place = frame.place(register)
        if given is not None and place:
            value = frame.values[given]
            if name == "extend":
                value = _reranked(value, None) if value.kind is Kind.TENSOR else element_of(value)
            frame.tell("list-append", op, (place, value))
            frame.put(place, _appended(receiver, value))
        return OTHER
    if name == "pop" and receiver.element is not None:
        return receiver.element
    return UNKNOWN


def _appended(receiver: Value, value: Value) -> Value:

    old = element_of(receiver)
    if old is UNKNOWN and not receiver.items and receiver.element is None:
        return Value(Kind.LIST, element=value, refs=receiver.refs)
    return Value(Kind.LIST, element=join(old, value), refs=receiver.refs)


def _dict_method(frame: Frame, op: ir.Call, name: str, receiver: Value) -> Value:
    if name in ("get", "pop", "setdefault"):
        first = op.positional(0)
        key = frame.values[first].constant if first is not None else None
        return receiver.entry(key) or receiver.element or UNKNOWN
    if name == "items":
        return Value(Kind.LIST, element=Value(Kind.TUPLE, items=(UNKNOWN, receiver.element or _only(receiver))))
    if name == "values":
        return Value(Kind.LIST, element=receiver.element or _only(receiver))
    if name == "copy":
        return receiver
    return UNKNOWN


def _only(receiver: Value) -> Value:
    result: Value | None = None
    for _, value in receiver.entries:
        result = value if result is None else join(result, value)
    return result or UNKNOWN


def _batch_method(frame: Frame, op: ir.Call, name: str, receiver: Value) -> Value:
    if name in ("get", "pop") and op.positional(0) is not None:
        if receiver.kind is Kind.CHECKPOINT:
            return receiver
        return tensor(
            receiver.device,
            origin=receiver.origin,
            moved=receiver.moved,
            evidence=Evidence.USAGE,
            group=receiver.origin,
        )
    if name in ("items", "values"):
        inner = (
            tensor(
                receiver.device,
                origin=receiver.origin,
                moved=receiver.moved,
                evidence=Evidence.USAGE,
                group=receiver.origin,
            )
            if receiver.kind is not Kind.CHECKPOINT
            else receiver
        )
        if name == "values":
            return Value(Kind.LIST, element=inner)
        return Value(Kind.LIST, element=Value(Kind.TUPLE, items=(UNKNOWN, inner)))
    return UNKNOWN
