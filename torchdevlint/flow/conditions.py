"""What a condition tells of the machine: guards, and what each branch knows.

A guard is a word in the environment's set: a device type ("cuda"), "accelerator", or "flag" for a condition on a name that speaks of GPUs
(`if args.cuda:`), which is taken as the programmer's own test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torchdevlint.flow.devices import ACCELERATORS, CPU, TOP, symbolic
from torchdevlint.flow.values import NDARRAY, OTHER, UNKNOWN, Evidence, Kind, Value, replace, tensor
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.flow.frame import Frame

# Holds where a test found no accelerator: tensors stay on the CPU there, and rightly so.
ABSENT = "no accelerator"

FLAG_NAME = re.compile(
    r"cuda|gpu|device|(?<![a-z])(?:mps|npu|mlu|musa|hpu|sdaa)(?![a-z])|xpu|accelerat|distributed|dist_avail|nccl|half|fp16|amp\b"
    r"|(?:\A|\.)model_parallel\Z",  # set by `parallelize()` of transformers, which spreads a model over CUDA devices
    re.IGNORECASE,
)
_GPU_NAME = re.compile(r"cuda|gpu", re.IGNORECASE)
_NEGATED_NAME = re.compile(
    r"(?:\A|_|\.)(?:no|without|disable|force_cpu|cpu)(?:_|\Z)|no_cuda|nocuda|cpu_only|use_cpu|\Acpu\Z|\.cpu\Z",
    re.IGNORECASE,
)
# What an option for the index of a GPU says for none (as CUDA_VISIBLE_DEVICES does), as a number and as texts.
_NO_GPU = (-1, "-1", "", "none")


@dataclass(slots=True)
class Knowledge:
    """What holds on one branch: guards, and new values of places."""

    guards: set[str] = field(default_factory=set)
    places: dict[str, Value] = field(default_factory=dict)


def branch(frame: Frame, test: ir.Register) -> tuple[Knowledge, Knowledge]:
    """What the true and the false branch of a test know."""
    true, false = Knowledge(), Knowledge()
    _learn(frame, test, true, false, 0)
    return true, false


def refined(env: dict[str, Any], knowledge: Knowledge) -> dict[str, Any]:
    """The environment with a branch's knowledge; the same one when there is none."""
    if not knowledge.guards and not knowledge.places:
        return env
    result = dict(env)
    result["?"] = env["?"] | knowledge.guards
    result.update(knowledge.places)
    return result


def _learn(frame: Frame, test: ir.Register, true: Knowledge, false: Knowledge, depth: int) -> None:
    op = frame.definitions[test]
    if depth > 8 or op is None:
        return
    if isinstance(op, ir.Unary) and op.operator == "not":
        _learn(frame, op.operand, false, true, depth + 1)
        return
    if isinstance(op, ir.Choice) and op.shape in ("and", "or"):
        for register in op.values:
            if op.shape == "and":
                _learn(frame, register, true, Knowledge(), depth + 1)
            else:
                _learn(frame, register, Knowledge(), false, depth + 1)
        if op.shape == "or":
            _either(frame, op, true, depth)
        return
    value = frame.values[test]
    if value.kind is Kind.CONDITION:
        there, absent = (false, true) if value.negated else (true, false)
        there.guards.add(value.symbol or "flag")
        known = value.symbol in ACCELERATORS or value.symbol == "accelerator"
        if known or (isinstance(op, ir.Compare) and _asks_for_no_gpu(frame, op)):
            absent.guards.add(ABSENT)
        if isinstance(op, ir.Attribute) and value.symbol == "cuda":
            _refine_is_cuda(frame, op, false)
        if isinstance(op, ir.Compare):
            _refine_device(frame, op, true, false)
        return
    if isinstance(op, ir.Call):
        _learn_call(frame, op, true, false)
    elif isinstance(op, ir.Compare):
        _learn_none(frame, op, true, false)
    elif isinstance(op, (ir.Load, ir.Attribute, ir.Subscript)):
        place = frame.place(test) or (op.name if isinstance(op, ir.Attribute) else "")
        if FLAG_NAME.search(place) or _NEGATED_NAME.search(place):
            there, absent = (false, true) if _NEGATED_NAME.search(place) else (true, false)
            there.guards.add("flag")
            if _GPU_NAME.search(place):
                absent.guards.add(ABSENT)


def _either(frame: Frame, op: ir.Choice, true: Knowledge, depth: int) -> None:
    """`a or b` is a guard only where both are."""
    common: set[str] | None = None
    for register in op.values:
        known = Knowledge()
        _learn(frame, register, known, Knowledge(), depth + 1)
        common = known.guards if common is None else common & known.guards
    true.guards |= common or set()


def _refine_is_cuda(frame: Frame, op: ir.Attribute, false: Knowledge) -> None:
    place = frame.place(op.object)
    base = frame.values[op.object]
    if place and base.kind is Kind.TENSOR:
        false.places[place] = replace(base, device=CPU, origin=None, others=())


def _refine_device(frame: Frame, op: ir.Compare, true: Knowledge, false: Knowledge) -> None:
    """`x.device.type == "cpu"`, `x.device == device`: on that side x is there."""
    if len(op.comparators) != 1 or op.operators[0] not in ("==", "!="):
        return
    right = frame.values[op.comparators[0]]
    if right.constant == "cpu" or (right.kind is Kind.DEVICE and right.device is CPU):
        _refine_all_on(frame, op, true if op.operators[0] == "==" else false)
    place = _read_from(frame, op.left).removesuffix(".type")
    name = place.removesuffix(".device")
    known = frame.env.get(name) if place != name else None
    if not isinstance(known, Value) or known.kind not in (Kind.TENSOR, Kind.UNKNOWN):
        return
    side = true if op.operators[0] == "==" else false
    if right.constant == "cpu" or (right.kind is Kind.DEVICE and right.device is CPU):
        side.places[name] = replace(known, kind=Kind.TENSOR, device=CPU, origin=None, others=())
    elif known.kind is Kind.TENSOR and right.kind in (Kind.DEVICE, Kind.STRING, Kind.UNKNOWN):
        side.places[name] = replace(known, device=right.device, origin=None, others=())


def _read_from(frame: Frame, register: ir.Register) -> str:
    """The path of what is compared, also behind the name that it was bound to: `where = x.device.type`."""
    written = frame.definitions[register]
    made = frame.index.bound_once(written.name) if isinstance(written, ir.Load) else None
    return frame.place(made.dst if isinstance(made, ir.Attribute) else register)


def _refine_all_on(frame: Frame, op: ir.Compare, side: Knowledge) -> None:
    """`device == torch.device("cpu")`, `device.type == "cpu"`: all that lives on that device is on the CPU there."""
    read = frame.definitions[op.left]
    compared = frame.values[read.object if isinstance(read, ir.Attribute) and read.name == "type" else op.left]
    if compared.kind is not Kind.DEVICE or compared.device.place != "sym":
        return
    for place, value in frame.env.items():
        if isinstance(value, Value) and value.kind is Kind.TENSOR and value.device == compared.device:
            side.places[place] = replace(value, device=CPU, origin=None, others=())


def _learn_call(frame: Frame, op: ir.Call, true: Knowledge, false: Knowledge) -> None:
    callee = frame.values[op.function]
    name = callee.symbol if callee.kind is Kind.SYMBOL else ""
    if name in ("builtins.isinstance", "torch.is_tensor"):
        register = op.positional(0)
        if register is None:
            return
        if any(symbol.startswith("torch.cuda.") for symbol in _class_names(frame, op)):
            true.guards.add("cuda")
        place = frame.place(register)
        if not place or place == frame.index.self_name:
            return
        before = frame.values[register]
        classes = _class_names(frame, op) if name == "builtins.isinstance" else {"torch.Tensor"}
        if classes & {"torch.Tensor", "torch.FloatTensor", "torch.autograd.Variable", "torch.nn.Parameter"}:
            if before.kind is not Kind.TENSOR and len(classes) == 1:
                if before.parameter == place and before.device is TOP:
                    true.places[place] = tensor(
                        symbolic(f"{place}.device"), evidence=Evidence.USAGE, parameter=before.parameter
                    )
                else:
                    true.places[place] = tensor(before.device, evidence=Evidence.STRONG, parameter=before.parameter)
            if len(classes) == 1 and before.kind is Kind.TENSOR:
                false.places[place] = OTHER
        elif "numpy.ndarray" in classes:
            true.places[place] = NDARRAY
            if before.kind is Kind.TENSOR and before.evidence < Evidence.STRONG:
                false.places[place] = (
                    UNKNOWN  # whoever asks does not know that it is a tensor: it may be a list as well
                )
        elif classes and before.kind in (Kind.TENSOR, Kind.UNKNOWN):
            true.places[place] = OTHER
        return
    if name == "builtins.hasattr":
        _learn_hasattr(frame, op, false)
        return
    written = frame.definitions[op.function]
    if isinstance(written, ir.Load) and written.name == "all" and len(op.arguments) == 1:
        listed = frame.definitions[op.arguments[0].value]
        for element in listed.elements if isinstance(listed, ir.Sequence) else ():
            _learn(frame, element.value, true, Knowledge(), 1)  # `all([torch.cuda.is_available(), wanted])` is an `and`
        return
    path = name or frame.place(op.function) or (written.name if isinstance(written, ir.Attribute) else "")
    if isinstance(written, ir.Attribute) and written.name == "get" and op.positional(0) is not None:
        key = frame.values[op.positional(0) or 0].constant  # `config.get("use_cuda")`
        path = key if isinstance(key, str) else path
    if FLAG_NAME.search(path):
        there, absent = (false, true) if _NEGATED_NAME.search(path) else (true, false)
        there.guards.add("flag")
        if _GPU_NAME.search(path):
            absent.guards.add(ABSENT)
    elif isinstance(written, ir.Attribute) and written.name in ("startswith", "__contains__"):
        text = frame.values[op.positional(0) or 0].constant if op.positional(0) is not None else None
        if isinstance(text, str) and text.split(":")[0] in ACCELERATORS:
            true.guards.add(text.split(":")[0])


def _learn_hasattr(frame: Frame, op: ir.Call, false: Knowledge) -> None:
    """What lacks an attribute that every tensor has is no tensor."""
    first, second = op.positional(0), op.positional(1)
    place = frame.place(first) if first is not None else ""
    if (
        place
        and second is not None
        and frame.values[second].constant in ("data", "cuda", "cpu", "numpy", "is_cuda", "device", "detach")
    ):
        false.places[place] = OTHER


def _class_names(frame: Frame, op: ir.Call) -> set[str]:
    register = op.positional(1)
    if register is None:
        return set()
    value = frame.values[register]
    members = value.items if value.kind is Kind.TUPLE and value.items is not None else (value,)
    return {member.symbol or "?" for member in members}


def _learn_none(frame: Frame, op: ir.Compare, true: Knowledge, false: Knowledge) -> None:
    if len(op.comparators) != 1 or op.operators[0] not in ("is", "is not"):
        return
    if frame.values[op.comparators[0]].kind is not Kind.NONE:
        return
    place = frame.place(op.left)
    if place and frame.values[op.left].kind is Kind.UNKNOWN:
        side = true if op.operators[0] == "is" else false
        side.places[place] = Value(Kind.NONE, constant=None)


def compared(frame: Frame, op: ir.Compare) -> tuple[str, bool]:
    """The guard that a comparison tells, and whether it holds when the comparison is false; ("", False) when it tells none."""
    if len(op.comparators) != 1:
        return "", False
    operator = op.operators[0]
    right = op.comparators[0]
    for text, _ in ((frame.values[right].constant, op.left), (frame.values[op.left].constant, right)):
        if isinstance(text, str) and text.partition(":")[0] in ACCELERATORS:
            return text.partition(":")[0], operator in ("!=", "not in", "is not")
        if isinstance(text, str) and text.startswith("torch.cuda."):
            return "cuda", operator == "!="  # `x.type() == "torch.cuda.FloatTensor"`
        if text == "cpu":
            return "flag", operator in ("==", "in", "is")
        if text == "gpu":  # `args.mode == "gpu"`: the option names the place
            return "flag", operator in ("!=", "not in", "is not")
    if any(_is_cpu_device(frame, register) for register in (op.left, right)):
        return "flag", operator in ("==", "is")
    path = _flag_path(frame, op.left) or _flag_path(frame, right)
    if not path:
        return "", False
    constant = frame.values[right].constant
    absent = constant is None or constant is False or constant in _NO_GPU or (constant == 0 and type(constant) is int)
    if operator in ("==", "is"):
        return "flag", absent
    if operator in ("!=", "is not"):
        return "flag", not absent
    return "flag", operator in ("<", "<=")


def _is_cpu_device(frame: Frame, register: ir.Register) -> bool:
    """True for `torch.device("cpu")`."""
    value = frame.values[register]
    return isinstance(frame.definitions[register], ir.Call) and value.kind is Kind.DEVICE and value.device is CPU


def _asks_for_no_gpu(frame: Frame, op: ir.Compare) -> bool:
    """True for `gpu_id >= 0`, `gpu is not None`, `gpu != -1` and their negations: on one side no GPU was chosen."""
    if len(op.comparators) != 1 or not _GPU_NAME.search(frame.place(op.left)):
        return False
    constant, operator = frame.values[op.comparators[0]].constant, op.operators[0]
    if constant is None or (isinstance(constant, str) and constant in _NO_GPU):
        return operator in ("is", "is not", "==", "!=")
    if type(constant) is not int:
        return False
    return (constant == 0 and operator in (">=", "<")) or (constant == -1 and operator in (">", "<=", "==", "!="))


def _flag_path(frame: Frame, register: ir.Register) -> str:
    op = frame.definitions[register]
    if isinstance(op, ir.Call):
        callee = frame.values[op.function]
        if callee.kind is Kind.SYMBOL and callee.symbol in ("torch.cuda.device_count", "torch.get_device_name"):
            return "cuda"
        first = op.positional(0)
        return (
            _flag_path(frame, first) if callee.symbol in ("builtins.len", "builtins.str") and first is not None else ""
        )
    path = frame.place(register)
    if not path and isinstance(op, ir.Attribute):
        path = op.name
    if not path and isinstance(op, ir.Subscript):
        key = frame.values[op.index].constant
        path = key if isinstance(key, str) else ""
    return path if path and FLAG_NAME.search(path) else ""
