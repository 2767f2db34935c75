"""Transfer functions of calls: functions of torch, builtins, functions and classes of this file, methods of values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from torchdevlint.flow import methods
from torchdevlint.flow.devices import CPU, SAVED, TOP, Device, symbolic
from torchdevlint.flow.knowledge import functions, modules
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

Handler = Callable[["Frame", ir.Call, str], Value]


def call(frame: Frame, op: ir.Call) -> Value:
    """The value of a call."""
    callee = frame.values[op.function]
    kind = callee.kind
    if kind is Kind.SYMBOL:
        return _symbol_call(frame, op, callee.symbol)
    _note_uses(frame, op)
    if kind is Kind.FUNCTION:
        return frame.analysis.call_function(frame, op, callee)
    if kind is Kind.CLASS:
        return frame.analysis.instantiate(frame, op, callee)
    if kind is Kind.MODULE:
        return call_module(frame, op, callee)
    written = frame.definitions[op.function]
    if isinstance(written, ir.Attribute) and not (LOSS_NAME.search(written.name) or MODEL_NAME.search(written.name)):
        return methods.call(frame, op, written.name, frame.values[written.object], written.object)
    if kind is Kind.TOKENIZER or returns_tensors(frame, op):
        return batch_encoding(frame, op)
    place = frame.place(op.function)
    if LOSS_NAME.search(place):
        return call_module(frame, op, _UNKNOWN_LOSS)
    if MODEL_NAME.search(place):
        return call_module(frame, op, _UNKNOWN_MODEL)
    return UNKNOWN


# What people call a loss: the last resort, never for errors.
LOSS_NAME = re.compile(
    r"(?:\A|[._])(?:\w*criterion\w*|loss_?f(?:n|unc|unction)?|loss_?function|objective_fn)\Z", re.IGNORECASE
)
MODEL_NAME = re.compile(
    r"(?:\A|[._])(?:model|net|network|encoder|decoder|policy|actor|critic|backbone|generator|discriminator)\Z",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = Value(Kind.MODULE, evidence=Evidence.NAME)
_UNKNOWN_LOSS = Value(Kind.MODULE, symbol="torch.nn.UnknownLoss", evidence=Evidence.NAME)


def _note_uses(frame: Frame, op: ir.Call, callee: str = "") -> None:
    if frame.sink is None:
        return
    written = frame.definitions[op.function]
    receiver = None
    if not callee and isinstance(written, ir.Attribute):
        callee = "." + written.name
        receiver = frame.values[written.object]
        frame.used(receiver, op, "receiver", callee)
    for at, argument in enumerate(op.arguments):
        role = f"keyword {argument.keyword}" if argument.keyword else (argument.star or f"argument {at}")
        frame.used(frame.values[argument.value], op, role, callee, receiver)


# ---------------------------------------------------------------------------------------------------- helpers


def as_operand(value: Value) -> Value | None:
    """The value as a tensor operand, or None when it is none (a number, a string, nothing known)."""
    if value.kind is Kind.TENSOR:
        return value
    if value.kind is Kind.UNKNOWN and value.device.may_be_accelerator and value.moved is not None:
        return tensor(value.device, moved=value.moved, evidence=Evidence.NAME)
    return None


def combine(operands: list[Value]) -> Value:
    """The result of an operation on tensors: on the accelerator operand, of the highest rank; fresh only when all are."""
    if not operands:
        return UNKNOWN
    if len(operands) == 1:
        return (
            replace(operands[0], group=None, attribute=operands[0].attribute)
            if operands[0].group is not None
            else operands[0]
        )
    best = operands[0]
    for value in operands[1:]:
        if _precedence(value) > _precedence(best):
            best = value
    rank = _broadcast([value.rank for value in operands])
    evidence = min((v.evidence for v in operands if v.kind is Kind.TENSOR), default=Evidence.NONE)
    fresh = all(part.is_fresh_cpu or part.rank == 0 for value in operands for part in value.parts)
    if best.is_fresh_cpu and not fresh:
        # An operand of unknown place: where the result lives is unknown.
        return tensor(TOP, rank=rank, evidence=evidence)
    return replace(
        best,
        rank=rank,
        group=None,
        parameter="",
        others=(),
        # The operand that decides the device decides how sure it is.
        evidence=best.evidence if best.device.may_be_accelerator else evidence,
    )


def _precedence(value: Value) -> int:
    if value.device.may_be_accelerator:
        return 3
    if value.device is TOP:
        return 2
    return 1 if value.rank != 0 else 0


def _broadcast(ranks: list[int | None]) -> int | None:
    if any(rank is None for rank in ranks):
        return AT_LEAST_ONE if any(rank is not None and rank != 0 for rank in ranks) else None
    known = [rank for rank in ranks if rank is not None]
    if AT_LEAST_ONE in known:
        return AT_LEAST_ONE
    return max(known)


def tensors_in(frame: Frame, register: ir.Register) -> list[Value]:
    """The tensors given by an argument: itself, or the elements of a list or tuple."""
    value = frame.values[register]
    if value.kind in (Kind.LIST, Kind.TUPLE):
        found = []
        for item in value.items if value.items is not None else ([value.element] if value.element is not None else []):
            operand = as_operand(item)
            if operand is not None:
                found.append(operand)
        return found
    operand = as_operand(value)
    return [operand] if operand is not None else []


def given_device(frame: Frame, op: ir.Call, default: Device = CPU) -> Device:
    """The device of a factory call: its `device=`, or the default device."""
    register = op.keyword("device")
    if register is None:
        if any(argument.star == "**" for argument in op.arguments):
            return TOP
        return frame.analysis.default_device(frame) or default
    if frame.values[register].kind is Kind.NONE:
        return frame.analysis.default_device(frame) or default
    return frame.device_argument(register)


def made(frame: Frame, op: ir.Call, device: Device, rank: int | None) -> Value:
    """A tensor that this call creates."""
    out = op.keyword("out")
    if out is not None:
        # No new tensor: the result is where `out` is.
        return frame.values[out] if frame.values[out].kind is Kind.TENSOR else tensor(TOP, evidence=Evidence.STRONG)
    origin = op if device is CPU and op.keyword("device") is None and not frame.is_absent else None
    grad = op.keyword("requires_grad")
    return tensor(
        device,
        rank=rank,
        origin=origin,
        evidence=Evidence.STRONG,
        needs_grad=grad is not None and frame.values[grad].constant is True,
    )


def iterate(frame: Frame, op: ir.Iterate) -> Value:
    """What a loop variable holds."""
    value = frame.values[op.iterable]
    kind = value.kind
    if kind is Kind.LOADER:
        return Value(Kind.BATCH, CPU, origin=op, evidence=value.evidence)
    if kind is Kind.SYMBOL or kind is Kind.SIZE:
        return SCALAR if kind is Kind.SIZE else UNKNOWN
    if kind is Kind.TENSOR:
        rank = value.rank - 1 if value.rank is not None and value.rank > 0 else None
        return replace(value, rank=rank, group=None)
    if kind in (Kind.LIST, Kind.TUPLE):
        return element_of(value)
    if kind is Kind.DICT:
        return UNKNOWN
    if kind is Kind.PARAMETERS:
        return tensor(TOP, evidence=Evidence.STRONG)
    if kind is Kind.MODULE:
        return Value(Kind.MODULE, value.device, ref=f"{value.ref}[]" if value.ref else "", evidence=Evidence.USAGE)
    if kind is Kind.NDARRAY:
        return NDARRAY
    if kind is Kind.UNKNOWN and value.device is not TOP:
        return replace(value, origin=None, group=None)
    return UNKNOWN


# ---------------------------------------------------------------------------------------------------- dotted names


def _symbol_call(frame: Frame, op: ir.Call, name: str) -> Value:
    _note_uses(frame, op, name)
    handler = _EXACT.get(name)
    if handler is not None:
        return handler(frame, op, name)
    root = name.partition(".")[0]
    if root == "torch":
        return _torch_call(frame, op, name)
    if root == "numpy":
        return _numpy_call(frame, op, name)
    if root == "builtins":
        return UNKNOWN
    if modules.TOKENIZER.match(name.removesuffix(".from_pretrained")):
        return Value(Kind.TOKENIZER, symbol=name)
    if name.endswith(".from_pretrained") and modules.HF_MODEL.match(name.removesuffix(".from_pretrained")):
        return _pretrained(frame, op, name)
    if modules.HF_MODEL.match(name):
        return Value(Kind.MODULE, CPU, ref=_ref(frame, op), evidence=Evidence.STRONG, symbol=name, origin=op)
    if modules.is_optimizer(name):
        return optimizer(frame, op, name)
    if modules.is_module_class(name):
        return Value(Kind.MODULE, CPU, ref=_ref(frame, op), evidence=Evidence.STRONG, symbol=name, origin=op)
    if (
        root in ("argparse", "os", "sys", "re", "json", "time", "random", "math", "logging", "copy", "pickle")
        and name != "copy.deepcopy"
    ):
        return Value(Kind.OTHER) if name not in ("pickle.load", "copy.copy", "math.prod") else UNKNOWN
    if returns_tensors(frame, op):
        return batch_encoding(frame, op)
    last = name.rpartition(".")[2]
    if name in ("copy.deepcopy", "copy.copy"):
        return _copied(frame, op, name)
    if root == "einops" or root == "torch_scatter" or root == "torch_sparse":
        first = op.positional(0)
        return combine(tensors_in(frame, first)) if first is not None else UNKNOWN
    if last == "DataLoader":
        return Value(Kind.LOADER, evidence=Evidence.USAGE, symbol=name)
    return UNKNOWN


def _ref(frame: Frame, op: ir.Op) -> str:
    return f"{frame.body.qualname}#{getattr(op, 'dst', 0)}"


def _torch_call(frame: Frame, op: ir.Call, name: str) -> Value:
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
        return _wrapped(frame, op)
    if modules.is_module_class(name):
        return torch_module(frame, op, name)
    if name in functions.NON_TENSOR:
        return UNKNOWN
    if (
        name.startswith(("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special."))
        or name.count(".") == 1
    ):
        return _derived(frame, op, name)
    return UNKNOWN


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
            return _reranked(found[0], rank)
    if head == "torch.nn.functional" or last in _KEEPS_RANK:
        return tensor(TOP, evidence=Evidence.USAGE)
    return UNKNOWN


_KEEPS_RANK = frozenset(
    "exp log sqrt rsqrt sin cos tan tanh sigmoid relu softmax log_softmax abs neg sign floor ceil round square erf gelu silu dropout log1p expm1 "
    "reciprocal softplus elu leaky_relu normalize clone detach logical_not bitwise_not nan_to_num tril triu cumsum cumprod flip roll".split()
)


def _reranked(value: Value, rank: int | None) -> Value:
    others = tuple(replace(part, rank=None) for part in value.others)
    return replace(value, rank=rank, group=None, parameter="", others=others)


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
    rank: int | None = AT_LEAST_ONE
    if first is not None and frame.values[first].kind is Kind.TENSOR:
        return replace(frame.values[first], group=None)
    return tensor(CPU, rank=rank, origin=None if frame.is_absent else op, evidence=Evidence.STRONG)


def _data_factory(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.argument("data", 0)
    base = frame.values[first] if first is not None else UNKNOWN
    rank = _data_rank(base)
    if op.keyword("device") is not None:
        return tensor(given_device(frame, op), rank=rank, evidence=Evidence.STRONG)
    if base.kind is Kind.TENSOR:
        return replace(base, group=None)
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
    operands: list[tuple[Value, str]] = []
    host = functions.HOST_ARGUMENTS.get(name, frozenset())
    for argument in op.arguments:
        if argument.star or argument.keyword in ("out", "generator") or argument.keyword in host:
            continue
        role = (
            "weight" if argument.keyword in ("weight", "pos_weight") and name in functions.LOSS_FUNCTIONS else "operand"
        )
        if name.endswith(".where") and frame.values[argument.value].kind is Kind.SCALAR:
            continue
        operands += [(value, role) for value in tensors_in(frame, argument.value)]
    frame.meet(op, operands, strict=strict, callee=name)
    if not operands:
        return tensor(TOP, evidence=Evidence.USAGE)
    result = combine([value for value, _ in operands])
    if name in functions.LOSS_FUNCTIONS:
        return replace(result, rank=0, origin=None if not result.is_fresh_cpu else result.origin)
    last = name.rpartition(".")[2]
    if strict:
        return _reranked(result, AT_LEAST_ONE if last in _GIVES_DIMENSIONS else None)
    if last in ("max", "min") and len(operands) == 1:
        return _reranked(result, 0 if op.positional_count == 1 and not op.keyword("dim") else None)
    return result


_GIVES_DIMENSIONS = frozenset(
    "cat concat concatenate stack hstack vstack dstack column_stack outer ger mm bmm kron linear embedding".split()
)


def torch_module(frame: Frame, op: ir.Call, name: str) -> Value:
    """An instance of a class of torch.nn; a loss keeps its CPU weight as `element`."""
    weight = None
    if name in modules.WEIGHTED_LOSSES:
        for register in (op.keyword("weight"), op.keyword("pos_weight"), op.positional(0)):
            if register is not None and frame.values[register].kind is Kind.TENSOR:
                weight = frame.values[register]
                break
    device = given_device(frame, op)
    return Value(
        Kind.MODULE, device, ref=_ref(frame, op), evidence=Evidence.STRONG, symbol=name, origin=op, element=weight
    )


def _wrapped(frame: Frame, op: ir.Call) -> Value:
    """DataParallel and its kind: same parameters, inputs moved by the wrapper."""
    first = op.argument("module", 0)
    inner = frame.values[first] if first is not None else UNKNOWN
    return Value(
        Kind.MODULE, TOP, ref=inner.ref if inner.kind is Kind.MODULE else "", evidence=Evidence.STRONG, symbol="wrapper"
    )


def _pretrained(frame: Frame, op: ir.Call, name: str) -> Value:
    device_map = op.keyword("device_map")
    quantized = op.keyword("load_in_8bit") or op.keyword("load_in_4bit") or op.keyword("quantization_config")
    if device_map is not None or quantized is not None or op.has_splat:
        return Value(Kind.MODULE, TOP, ref=_ref(frame, op), evidence=Evidence.STRONG, symbol="dispatched", origin=op)
    return Value(
        Kind.MODULE,
        CPU,
        ref=_ref(frame, op),
        evidence=Evidence.STRONG,
        symbol=name.removesuffix(".from_pretrained"),
        origin=op,
    )


def optimizer(frame: Frame, op: ir.Call, name: str) -> Value:
    """An optimizer over the parameters of some modules."""
    register = op.argument("params", 0)
    value = frame.values[register] if register is not None else UNKNOWN
    refs = value.refs if value.kind in (Kind.PARAMETERS, Kind.LIST) else ()
    return Value(Kind.OPTIMIZER, refs=refs, origin=op, symbol=name, evidence=Evidence.STRONG)


def returns_tensors(frame: Frame, op: ir.Call) -> bool:
    """True for a call that says `return_tensors="pt"`: a tokenizer's or processor's."""
    register = op.keyword("return_tensors")
    return register is not None and frame.values[register].constant == "pt"


def batch_encoding(frame: Frame, op: ir.Call) -> Value:
    """What a tokenizer returns."""
    if not returns_tensors(frame, op):
        return UNKNOWN
    return Value(Kind.BATCH_ENCODING, CPU, origin=op, evidence=Evidence.STRONG, ref=_ref(frame, op))


def call_module(frame: Frame, op: ir.Call, module: Value, *, checked: bool = True) -> Value:
    """The output of a module: on its parameters' device; CPU inputs are told."""
    device = frame.module_device(module)
    name = module.symbol
    inputs = _inputs(frame, op)
    if name in ("wrapper", "dispatched"):
        moved = next((value for value in inputs if value.moved is not None and value.device.may_be_accelerator), None)
        where = device if moved is None else moved.device
        return tensor(where, moved=op if moved else None, evidence=Evidence.USAGE, needs_grad=True)
    operands: list[tuple[Value, str]] = []
    parameters = tensor(
        device, evidence=module.evidence, rank=AT_LEAST_ONE, moved=op, attribute=module.attribute or "module"
    )
    is_loss = name.startswith("torch.nn.") and name.endswith("Loss")
    has_weights = (
        not name.startswith("torch.nn.") or name in modules.LEAF_MODULES_WITH_WEIGHTS or name in modules.CONTAINERS
    )
    if has_weights and not is_loss and device.may_be_accelerator:
        operands.append((parameters, "module"))
    operands += [(value, "input") for value in inputs]
    if is_loss and module.element is not None and not _moved(frame, module):
        operands.append((module.element, "weight"))
    if checked and (is_loss or has_weights):
        frame.meet(op, operands, strict=True, callee=name or "module", module=module)
    if is_loss:
        result = combine(inputs) if inputs else tensor(device)
        return replace(
            result,
            rank=0,
            needs_grad=True,
            group=None,
            origin=None,
            device=result.device if not result.is_fresh_cpu else TOP,
        )
    if not has_weights and inputs:
        return _reranked(inputs[0], None)
    if device is CPU or device.place == "top":
        # An unmoved module may be moved elsewhere; its output follows its input.
        followed = next((v for v in inputs if v.moved is not None and v.device.may_be_accelerator), None)
        if device is CPU and inputs and all(v.device is CPU and not v.others for v in inputs):
            followed = inputs[0]
        elif device is CPU:
            followed = None
        device = followed.device if followed is not None else TOP
    evidence = Evidence.STRONG if name in modules.LEAF_MODULES_WITH_WEIGHTS else Evidence.USAGE
    return tensor(
        device,
        evidence=min(evidence, module.evidence),
        moved=op if device.may_be_accelerator else None,
        needs_grad=True,
    )


def _inputs(frame: Frame, op: ir.Call) -> list[Value]:
    """The tensors that a module is called with, also inside batches and `**inputs`."""
    inputs: list[Value] = []
    for argument in op.arguments:
        value = frame.values[argument.value]
        if value.kind is Kind.BATCH_ENCODING or (value.kind is Kind.BATCH and not argument.star):
            inputs.append(_encoded(value))
        elif argument.star == "**" and value.kind is Kind.DICT and value.element is not None and value.element.moved:
            inputs.append(tensor(value.element.device, moved=value.element.moved, evidence=Evidence.NAME))
        elif not argument.star:
            inputs += tensors_in(frame, argument.value)
    return inputs


def _encoded(value: Value) -> Value:
    return tensor(value.device, rank=AT_LEAST_ONE, origin=value.origin, moved=value.moved, evidence=value.evidence)


def _moved(frame: Frame, module: Value) -> bool:
    state = frame.env.get("@" + module.ref) if module.ref else None
    return state is not None


def _copied(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    value = frame.values[first] if first is not None else UNKNOWN
    if value.kind is Kind.MODULE:
        return replace(value, device=frame.module_device(value), ref=_ref(frame, op))
    return replace(value, group=None) if value.kind is Kind.TENSOR else value


# ---------------------------------------------------------------------------------------------------- numpy


_NUMPY_SCALARS = frozenset(
    "float32 float64 int32 int64 isnan isinf prod log exp sqrt argmax mean sum std max min random.rand random.randint random.choice".split()
)


def _numpy_call(frame: Frame, op: ir.Call, name: str) -> Value:
    last = name.partition(".")[2]
    if last.startswith("random.seed") or last in ("save", "savez", "set_printoptions", "load"):
        return UNKNOWN if last != "load" else Value(Kind.UNKNOWN)
    if last in _NUMPY_SCALARS:
        return UNKNOWN
    return NDARRAY


# ---------------------------------------------------------------------------------------------------- exact names


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


def _load(frame: Frame, op: ir.Call, name: str) -> Value:
    register = op.argument("map_location", 1)
    if register is None:
        return Value(Kind.CHECKPOINT, SAVED if not op.has_splat else TOP, origin=op)
    if frame.values[register].kind is Kind.NONE:
        return Value(Kind.CHECKPOINT, SAVED, origin=op)
    return Value(Kind.CHECKPOINT, frame.device_argument(register), origin=op)


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


def _loader(frame: Frame, op: ir.Call, name: str) -> Value:
    generator = op.keyword("collate_fn")
    return Value(Kind.LOADER, evidence=Evidence.USAGE if generator is not None else Evidence.STRONG, symbol=name)


def _from_first(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    if first is None:
        return UNKNOWN
    found = tensors_in(frame, first)
    return _reranked(found[0], None) if found else UNKNOWN


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
    return Value(Kind.LIST, element=replace(found[0], rank=AT_LEAST_ONE, group=None))


def _sequence_copy(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    if first is None:
        return Value(Kind.LIST, items=())
    value = frame.values[first]
    if value.kind in (Kind.LIST, Kind.TUPLE):
        return replace(value, kind=Kind.LIST if name.endswith("list") else Kind.TUPLE, symbol="")
    if value.kind is Kind.PARAMETERS:
        return value
    if value.kind is Kind.TENSOR:
        return Value(Kind.LIST, element=_reranked(value, None))
    return Value(Kind.LIST if name.endswith("list") else Kind.TUPLE)


def _dict(frame: Frame, op: ir.Call, name: str) -> Value:
    entries = tuple((a.keyword, frame.values[a.value]) for a in op.arguments if a.keyword)
    first = op.positional(0)
    if first is not None and frame.values[first].kind is Kind.DICT:
        base = frame.values[first]
        return replace(base, entries=(*base.entries, *entries))
    return Value(Kind.DICT, entries=entries)


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
    return Value(Kind.LIST, element=Value(Kind.TUPLE, items=(SCALAR, _element(frame, op, first))))


def _zip(frame: Frame, op: ir.Call, name: str) -> Value:
    if any(argument.star for argument in op.arguments):
        return UNKNOWN
    items = tuple(_element(frame, op, argument.value) for argument in op.arguments if argument.keyword is None)
    return Value(Kind.LIST, element=Value(Kind.TUPLE, items=items))


def _passed_iterable(frame: Frame, op: ir.Call, name: str) -> Value:
    first = op.positional(0)
    if first is None:
        return UNKNOWN
    return frame.values[first]


def _element(frame: Frame, op: ir.Call, register: ir.Register) -> Value:
    probe = ir.Iterate(op.node, register, register)
    value = iterate(frame, probe)
    return replace(value, origin=op) if value.kind is Kind.BATCH else value


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
    return _element(frame, op, first)


def _scalar(frame: Frame, op: ir.Call, name: str) -> Value:
    return SCALAR


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


def _send_to_device(frame: Frame, op: ir.Call, name: str) -> Value:
    first, second = op.positional(0), op.argument("device", 1)
    if first is None:
        return UNKNOWN
    return methods.moved_value(frame, op, frame.values[first], frame.device_argument(second))


def _accelerator_device(frame: Frame, op: ir.Call, name: str) -> Value:
    return Value(Kind.DEVICE, Device("sym", "", chosen=True))


def _generator(frame: Frame, op: ir.Call, name: str) -> Value:
    register = op.argument("device", 0)
    return Value(Kind.GENERATOR, CPU if register is None else frame.device_argument(register), origin=op)


_EXACT: dict[str, Handler] = {
    "torch.device": _device_call,
    "torch.Generator": _generator,
    "torch.accelerator.current_accelerator": _accelerator_device,
    "torch.autograd.Variable": _variable,
    "torch.nn.functional.one_hot": _one_hot,
    "torch.meshgrid": _meshgrid,
    "torch.nn.utils.rnn.pad_sequence": _from_first,
    "torch.nn.utils.rnn.pack_padded_sequence": _from_first,
    "torch.nn.utils.rnn.pad_packed_sequence": _padded,
    "torch.jit.annotate": _filter,
    "torch.utils.data.DataLoader": _loader,
    "torch.utils.data.dataloader.DataLoader": _loader,
    "torch_geometric.loader.DataLoader": lambda frame, op, name: UNKNOWN,
    "torch_geometric.data.DataLoader": lambda frame, op, name: UNKNOWN,
    "accelerate.utils.send_to_device": _send_to_device,
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
    "builtins.super": _super,
    "builtins.getattr": _getattr,
    "itertools.chain": _chain,
    "tqdm.tqdm": _passed_iterable,
    "tqdm.auto.tqdm": _passed_iterable,
    "tqdm.notebook.tqdm": _passed_iterable,
    "tqdm": _passed_iterable,
    **dict.fromkeys(functions.AVAILABILITY, _availability),
    **dict.fromkeys(functions.LOADS, _load),
    **dict.fromkeys(functions.DATA_FACTORIES, _data_factory),
    **dict.fromkeys(modules.PARAMETERS, _parameter),
    **dict.fromkeys(modules.BUFFERS, _buffer),
}
