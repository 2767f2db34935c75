"""Transfer functions of Python's builtins and of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.flow.devices import TOP, symbolic
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.operands import Handler, combine, element, reranked, unknown_like
from torchdevlint.flow.values import (
    AT_LEAST_ONE,
    NDARRAY,
    SCALAR,
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


def _sequence_copy(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    if first is None:
        return Value(Kind.LIST, items=())
    value = frame.values[first]
    if value.kind in (Kind.LIST, Kind.TUPLE):
        return replace(value, kind=Kind.LIST if name.endswith("list") else Kind.TUPLE, symbol="")
    if value.kind in (Kind.PARAMETERS, Kind.BATCH):
        return value
    if value.kind is Kind.TENSOR:
        return Value(Kind.LIST, element=reranked(value, None))
    return Value(Kind.LIST if name.endswith("list") else Kind.TUPLE)


def _dict(frame: Frame, op: ir.Call, name: str) -> Value:
    entries = tuple((a.keyword, frame.values[a.value]) for a in op.arguments if a.keyword)
    first = op.positional(0)
    if first is not None and frame.values[first].kind is Kind.DICT:
        base = frame.values[first]
        return replace(base, entries=(*base.entries, *entries))
    return Value(Kind.DICT, entries=entries, items=() if not op.arguments else None)


def _filter(frame: Frame, op: ir.Call, name: str) -> Value:
    second = op.positional(1)
    value = frame.values[second] if second is not None else UNKNOWN
    return value if value.kind in (Kind.PARAMETERS, Kind.LIST) else UNKNOWN


def _chain(frame: Frame, op: ir.Call, name: str) -> Value:
    refs: list[str] = []
    for argument in op.arguments:
        refs += frame.values[argument.value].refs
    return Value(Kind.PARAMETERS, refs=tuple(dict.fromkeys(refs))) if refs else UNKNOWN


def _enumerate(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    if first is None:
        return UNKNOWN
    return Value(Kind.LIST, element=Value(Kind.TUPLE, items=(SCALAR, element(frame, op, first))))


def _zip(frame: Frame, op: ir.Call, name: str) -> Value:
    if any(argument.star for argument in op.arguments):
        return UNKNOWN
    items = tuple(element(frame, op, argument.value) for argument in op.arguments if argument.keyword is None)
    return Value(Kind.LIST, element=Value(Kind.TUPLE, items=items))


def _passed_iterable(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    if first is None:
        return UNKNOWN
    return frame.values[first]


def _next(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    if first is None:
        return UNKNOWN
    value = frame.values[first]
    if value.kind is Kind.PARAMETERS:
        device = TOP
        if len(value.refs) == 1:
            state = frame.env.get("@" + value.refs[0])
            device = state.device if state is not None else TOP
            if not device.may_be_accelerator:
                device = symbolic(
                    f"next({value.refs[0]}.parameters()).device"
                    if "#" not in value.refs[0]
                    else "next(model.parameters()).device"
                )
        return tensor(device, evidence=Evidence.STRONG, rank=AT_LEAST_ONE)
    return element(frame, op, first)


def _scalar(frame: Frame, op: ir.Call, name: str) -> Value:
    return SCALAR


def _map(frame: Frame, op: ir.Call, name: str) -> Value:
    """`map(f, values)`: what `f` gives for an element."""
    first, second = op.positional(0), op.positional(1)
    if first is None or second is None or op.positional_count != 2:
        return UNKNOWN
    function, given = frame.values[first], element(frame, op, second)
    if function.kind is Kind.SYMBOL and function.symbol in functions.STRICT:
        return _map_strict(frame, op, function.symbol, frame.values[second])
    if function.kind is not Kind.FUNCTION:
        return UNKNOWN
    return Value(Kind.LIST, element=frame.analysis.call_with(frame, op, function, [given]))


def _map_strict(frame: Frame, op: ir.Call, name: str, given: Value) -> Value:
    """`map(torch.stack, (these, those))`: each list has its tensors on one device."""
    results = []
    for part in given.items or ():
        held = part.items if part.items is not None else (part.element,) if part.element is not None else ()
        found = [replace(inner, others=()) for item in held for inner in item.parts if inner.kind is Kind.TENSOR]
        results.append(reranked(combine(found), AT_LEAST_ONE) if found else UNKNOWN)
    return Value(Kind.LIST, items=tuple(results)) if results else UNKNOWN


def _partial(frame: Frame, op: ir.Call, name: str) -> Value:
    """`partial(torch.stack, dim=-1)` is called like the function, as long as its tensors are still to come and nothing says where to."""
    first = op.positional(0)
    placed = op.keyword("device") is not None
    return frame.values[first] if first is not None and op.positional_count == 1 and not placed else UNKNOWN


def _sum(frame: Frame, op: ir.Call, name: str) -> Value:
    """`sum(tensors)` adds up its elements, beginning with the number 0."""
    first = op.positional(0)
    value = element(frame, op, first) if first is not None else UNKNOWN
    return reranked(value, value.rank) if value.kind is Kind.TENSOR else unknown_like(value)


def _extreme(frame: Frame, op: ir.Call, name: str) -> Value:
    """`max(a, b)` and `max(values)` give one of what they are given."""
    if not op.arguments or any(argument.star for argument in op.arguments):
        return UNKNOWN
    found = [frame.values[argument.value] for argument in op.arguments if argument.keyword is None]
    if len(found) == 1:
        return (
            SCALAR if found[0].kind in (Kind.SIZE, Kind.LIST) and element_of(found[0]).kind is Kind.SCALAR else UNKNOWN
        )
    return SCALAR if all(value.kind is Kind.SCALAR for value in found) else UNKNOWN


def _abs(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    value = frame.values[first] if first is not None else UNKNOWN
    return value if value.kind in (Kind.TENSOR, Kind.NDARRAY) else SCALAR if value.kind is Kind.SCALAR else UNKNOWN


def _range(frame: Frame, op: ir.Call, name: str) -> Value:
    return Value(Kind.LIST, element=SCALAR, symbol="range")


def _str(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    if first is not None and frame.values[first].kind is Kind.DEVICE:
        return replace(frame.values[first], kind=Kind.STRING)
    return STRING


def _super(frame: Frame, op: ir.Call, name: str) -> Value:
    return Value(Kind.OTHER, symbol="super")


def _getattr(frame: Frame, op: ir.Call, name: str) -> Value:
    return UNKNOWN


_NUMPY_SCALARS = frozenset(
    "float32 float64 int32 int64 isnan isinf prod product median var amax amin ptp count_nonzero "
    "log exp sqrt argmax mean sum std max min random.rand random.randint random.choice".split()
)

_NUMPY_ROWS = frozenset({"arange", "geomspace", "linspace", "logspace"})  # of numbers: one dimension


def numpy_call(frame: Frame, op: ir.Call, name: str) -> Value:
    last = name.partition(".")[2]
    if last.startswith("random.seed") or last in ("save", "savez", "set_printoptions", "load"):
        return UNKNOWN if last != "load" else Value(Kind.UNKNOWN)
    if last in _NUMPY_SCALARS:
        return UNKNOWN
    if last in _NUMPY_ROWS and all(frame.values[argument.value].kind is not Kind.NDARRAY for argument in op.arguments):
        return Value(Kind.NDARRAY, rank=1)
    return NDARRAY


EXACT: dict[str, Handler] = {
    "torch.jit.annotate": _filter,
    "builtins.list": _sequence_copy,
    "builtins.tuple": _sequence_copy,
    "builtins.sorted": _sequence_copy,
    "builtins.reversed": _sequence_copy,
    "builtins.dict": _dict,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.iter": _passed_iterable,
    "builtins.next": _next,
    "builtins.filter": _filter,
    "builtins.len": _scalar,
    "builtins.int": _scalar,
    "builtins.float": _scalar,
    "builtins.bool": _scalar,
    "builtins.isinstance": _scalar,
    "builtins.hasattr": _scalar,
    "builtins.range": _range,
    "builtins.str": _str,
    "builtins.map": _map,
    "functools.partial": _partial,
    "builtins.sum": _sum,
    "builtins.max": _extreme,
    "builtins.min": _extreme,
    "builtins.abs": _abs,
    "builtins.super": _super,
    "builtins.getattr": _getattr,
    "itertools.chain": _chain,
    "tqdm.tqdm": _passed_iterable,
    "tqdm.auto.tqdm": _passed_iterable,
    "tqdm.notebook.tqdm": _passed_iterable,
    "tqdm": _passed_iterable,
}
