"""Transfer functions of torch's functions: factories, checked operations, everything that the tables know by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.flow import methods
from torchdevlint.flow.devices import CPU, SAVED, TOP, Device, symbolic
from torchdevlint.flow.knowledge import functions, modules
from torchdevlint.flow.module_calls import optimizer, torch_module, wrapped
from torchdevlint.flow.operands import Handler, combine, given_device, made, reranked, tensors_in
from torchdevlint.flow.values import (
    AT_LEAST_ONE,
    UNKNOWN,
    Evidence,
    Kind,
    Value,
    replace,
    tensor,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.flow.frame import Frame


def torch_call(frame: Frame, op: ir.Call, name: str) -> Value:
    if name in functions.SIZED_FACTORIES:
        return made(frame, op, given_device(frame, op), _sized_rank(frame, op, name))
    if name in functions.RANKED_FACTORIES:
        return made(frame, op, given_device(frame, op), functions.RANKED_FACTORIES[name])
    if name in functions.RANDINT:
        return made(frame, op, given_device(frame, op), AT_LEAST_ONE)
    if name in functions.LIKE_FACTORIES:
        return _like(frame, op)
    if name in functions.SPARSE_FACTORIES:
        first = op.positional(0)
        base = frame.values[first] if first is not None else UNKNOWN
        if op.keyword("device") is None and base.kind is Kind.TENSOR:
            return replace(base, rank=AT_LEAST_ONE, group=None)
        return (
            made(frame, op, given_device(frame, op), AT_LEAST_ONE) if op.keyword("device") is not None else tensor(TOP)
        )
    if name in functions.HOST_FACTORIES:
        return _host_factory(frame, op, name)
    if name in functions.STRICT or name in functions.POINTWISE:
        return _checked(frame, op, name)
    if modules.is_optimizer(name):
        return optimizer(frame, op, name)
    if name in modules.INPUT_MOVERS:
        return wrapped(frame, op)
    if modules.is_module_class(name):
        return torch_module(frame, op, name)
    if name.startswith("torch.utils.cpp_extension."):
        return Value(Kind.OTHER)
    if name.startswith("torch.distributions."):
        return _distribution(frame, op, name)
    if name in functions.NON_TENSOR:
        return UNKNOWN
    if (
        name.startswith(("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special."))
        or name.count(".") == 1
    ):
        return _derived(frame, op, name)
    return UNKNOWN


def _distribution(frame: Frame, op: ir.Call, name: str) -> Value:
    """A distribution lives where its parameters do, and so does what is sampled from it."""
    if not name.rpartition(".")[2][:1].isupper():
        return UNKNOWN
    operands = [value for a in op.arguments if not a.star for value in tensors_in(frame, a.value)]
    return replace(combine(operands), symbol="distribution") if operands else UNKNOWN


def _derived(frame: Frame, op: ir.Call, name: str) -> Value:
    """A torch function without a row of its own: the result lives where its first tensor does."""
    head, _, last = name.rpartition(".")
    if head == "torch" and not last[:1].islower():
        return UNKNOWN
    for argument in op.arguments:
        if argument.star:
            break
        found = tensors_in(frame, argument.value)
        if found:
            rank = found[0].rank if last in _KEEPS_RANK else None
            if (
                last in functions.REDUCTIONS
                and op.positional_count == 1
                and op.keyword("dim") is None
                and op.keyword("axis") is None
            ):
                rank = 0
            elif last in (
                "tril",
                "triu",
                "outer",
                "diag_embed",
                "cumsum",
                "cumprod",
                "flip",
                "roll",
                "sort",
                "unsqueeze",
                "flatten",
                "one_hot",
                "pad",
            ):
                rank = AT_LEAST_ONE if (found[0].rank or 0) != 0 else None
            return reranked(found[0], rank)
    if head == "torch.nn.functional" or last in _KEEPS_RANK:
        return tensor(TOP, evidence=Evidence.USAGE)
    return UNKNOWN


_KEEPS_RANK = frozenset(
    "exp exp2 log log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh logit sigmoid relu softmax log_softmax abs neg sign floor "
    "ceil round square erf gelu silu dropout log1p expm1 reciprocal softplus elu leaky_relu normalize clone detach logical_not bitwise_not "
    "nan_to_num tril triu cumsum cumprod flip roll normal bernoulli poisson".split()
)


def _sized_rank(frame: Frame, op: ir.Call, name: str) -> int | None:
    register = op.keyword("size")
    first = register if register is not None else op.positional(0)
    if first is None:
        return AT_LEAST_ONE
    value = frame.values[first]
    if value.kind in (Kind.TUPLE, Kind.LIST):
        return len(value.items) if value.items is not None else AT_LEAST_ONE
    if name == "torch.full":
        return AT_LEAST_ONE
    count = op.positional_count
    if count > 1:
        return count
    return 1 if value.kind is Kind.SCALAR else AT_LEAST_ONE


def _like(frame: Frame, op: ir.Call) -> Value:
    first = op.positional(0)
    base = frame.values[first] if first is not None else UNKNOWN
    if op.keyword("device") is not None:
        return tensor(given_device(frame, op), rank=base.rank, evidence=Evidence.STRONG)
    if base.kind is Kind.TENSOR:
        return replace(base, group=None, needs_grad=False, parameter="")
    return tensor(base.device, evidence=Evidence.STRONG)


def _host_factory(frame: Frame, op: ir.Call, name: str) -> Value:
    if op.keyword("device") is not None:
        return tensor(given_device(frame, op), rank=AT_LEAST_ONE, evidence=Evidence.STRONG)
    if name in functions.LEGACY_CONSTRUCTORS and frame.analysis.legacy_default:
        return tensor(TOP, evidence=Evidence.STRONG)
    first = op.positional(0)
    if first is not None and frame.values[first].kind is Kind.TENSOR:
        if name not in functions.LEGACY_CONSTRUCTORS:
            return tensor(CPU, rank=AT_LEAST_ONE, evidence=Evidence.STRONG)  # what NumPy gives lies in host memory
        return replace(frame.values[first], group=None)
    return tensor(CPU, rank=AT_LEAST_ONE, origin=None if frame.is_absent else op, evidence=Evidence.STRONG)


def _data_factory(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.argument("data", 0)
    base = frame.values[first] if first is not None else UNKNOWN
    rank = _data_rank(base)
    if op.keyword("device") is not None:
        return tensor(given_device(frame, op), rank=rank, evidence=Evidence.STRONG)
    if base.kind is Kind.TENSOR:
        return replace(base, group=None)
    if base.kind is Kind.UNKNOWN and first is not None and isinstance(frame.definitions[first], ir.Compare):
        return tensor(TOP, rank=rank, evidence=Evidence.STRONG)  # `torch.tensor(x == 1)` keeps the device of a tensor x
    if name != "torch.tensor" and base.kind not in (Kind.NDARRAY, Kind.LIST, Kind.TUPLE, Kind.SCALAR):
        # as_tensor(x) keeps the device of a tensor x.
        return tensor(base.device if base.device is not TOP else TOP, rank=rank, evidence=Evidence.STRONG)
    return made(frame, op, given_device(frame, op), rank)


def _data_rank(base: Value) -> int | None:
    if base.kind is Kind.SCALAR:
        return 0
    if base.kind in (Kind.LIST, Kind.TUPLE, Kind.SIZE):
        return AT_LEAST_ONE
    if base.kind is Kind.NDARRAY:
        return base.rank if base.rank is not None else AT_LEAST_ONE
    return base.rank if base.kind is Kind.TENSOR else None


def _checked(frame: Frame, op: ir.Call, name: str) -> Value:
    """A function that wants its tensors on one device."""
    strict = name in functions.STRICT
    operands: list[Value] = []
    host = [op.argument(keyword, at) for keyword, at in functions.HOST_ARGUMENTS.get(name, {}).items()]
    for argument in op.arguments:
        if argument.star or argument.keyword in ("out", "generator") or argument.value in host:
            continue
        if name.endswith(".where") and frame.values[argument.value].kind is Kind.SCALAR:
            continue
        operands += tensors_in(frame, argument.value)
    if not operands:
        return tensor(TOP, evidence=Evidence.USAGE)
    result = combine(operands)
    if name in functions.LOSS_FUNCTIONS:
        return replace(result, rank=0, origin=None if not result.is_fresh_cpu else result.origin)
    last = name.rpartition(".")[2]
    if strict:
        return reranked(result, AT_LEAST_ONE if last in _GIVES_DIMENSIONS else None)
    if last in ("max", "min") and len(operands) == 1:
        return reranked(result, 0 if op.positional_count == 1 and not op.keyword("dim") else None)
    return result


_GIVES_DIMENSIONS = frozenset(
    "cat concat concatenate stack hstack vstack dstack column_stack outer ger mm bmm kron linear embedding".split()
)


def _from_first(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    if first is None:
        return UNKNOWN
    found = tensors_in(frame, first)
    return reranked(found[0], None) if found else UNKNOWN


def _padded(frame: Frame, op: ir.Call, name: str) -> Value:
    """(padded, lengths): the lengths are always on the CPU (torch/nn/utils/rnn.py)."""
    padded = _from_first(frame, op, name)
    return Value(Kind.TUPLE, items=(padded, tensor(CPU, rank=1, evidence=Evidence.STRONG)))


def _one_hot(frame: Frame, op: ir.Call, name: str) -> Value:
    result = _from_first(frame, op, name)
    return replace(result, rank=AT_LEAST_ONE) if result.kind is Kind.TENSOR else tensor(TOP)


def _meshgrid(frame: Frame, op: ir.Call, name: str) -> Value:
    found: list[Value] = []
    for argument in op.arguments:
        if argument.keyword is None:
            found += tensors_in(frame, argument.value)
    if not found:
        return UNKNOWN
    return Value(Kind.LIST, element=reranked(combine(found), AT_LEAST_ONE))


def _parameter(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.argument("data", 0)
    value = frame.values[first] if first is not None else UNKNOWN
    return tensor(
        value.device, rank=value.rank, evidence=Evidence.STRONG, needs_grad=True, symbol="parameter", origin=None
    )


def _buffer(frame: Frame, op: ir.Call, name: str) -> Value:
    return replace(_parameter(frame, op, name), symbol="buffer", needs_grad=False)


def _variable(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    return frame.values[first] if first is not None else UNKNOWN


def _load(frame: Frame, op: ir.Call, name: str) -> Value:
    register = op.argument("map_location", 1)
    if register is None:
        return Value(Kind.CHECKPOINT, SAVED if not op.has_splat else TOP, origin=op)
    if frame.values[register].kind is Kind.NONE:
        return Value(Kind.CHECKPOINT, SAVED, origin=op)
    return Value(Kind.CHECKPOINT, frame.device_argument(register), origin=op)


def _device_call(frame: Frame, op: ir.Call, name: str) -> Value:
    register = op.argument("device", 0)
    if register is None:
        register = op.keyword("type")
    device = frame.device_argument(register)
    index = op.positional(1)
    if index is not None and device.place == "acc" and ":" not in device.name:
        number = frame.values[index].constant
        device = Device("acc", f"{device.name}:{number}") if isinstance(number, int) else Device("sym", "", chosen=True)
    if register is not None and device is TOP:
        value = frame.values[register]
        if value.device.place == "sym" and value.device.name == "":
            device = value.device
        elif isinstance(value.constant, str):
            return Value(Kind.DEVICE, TOP)
        else:
            place = frame.place(register)
            device = symbolic(place, chosen=value.device.chosen) if place else Device("sym", "", chosen=False)
    if device.place == "sym" and device.chosen and frame.values[register or 0].kind is Kind.STRING:
        device = Device("sym", "", chosen=True)
    return Value(Kind.DEVICE, device)


def _availability(frame: Frame, op: ir.Call, name: str) -> Value:
    return Value(Kind.CONDITION, symbol=functions.AVAILABILITY[name] or "flag")


def _accelerator_device(frame: Frame, op: ir.Call, name: str) -> Value:
    return Value(Kind.DEVICE, Device("sym", "", chosen=True))


def _generator(frame: Frame, op: ir.Call, name: str) -> Value:
    register = op.argument("device", 0)
    return Value(Kind.GENERATOR, CPU if register is None else frame.device_argument(register), origin=op)


def _send_to_device(frame: Frame, op: ir.Call, name: str) -> Value:
    first, second = op.positional(0), op.argument("device", 1)
    if first is None:
        return UNKNOWN
    return methods.moved_value(frame, op, frame.values[first], frame.device_argument(second))


EXACT: dict[str, Handler] = {
    "torch.device": _device_call,
    "torch.Generator": _generator,
    "torch.accelerator.current_accelerator": _accelerator_device,
    "torch.autograd.Variable": _variable,
    "torch.nn.functional.one_hot": _one_hot,
    "torch.meshgrid": _meshgrid,
    "torch.nn.utils.rnn.pad_sequence": _from_first,
    "torch.nn.utils.rnn.pack_padded_sequence": _from_first,
    "torch.nn.utils.rnn.pad_packed_sequence": _padded,
    "accelerate.utils.send_to_device": _send_to_device,
    **dict.fromkeys(functions.AVAILABILITY, _availability),
    **dict.fromkeys(functions.LOADS, _load),
    **dict.fromkeys(functions.DATA_FACTORIES, _data_factory),
    **dict.fromkeys(modules.PARAMETERS, _parameter),
    **dict.fromkeys(modules.BUFFERS, _buffer),
}
