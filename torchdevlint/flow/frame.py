"""The interpretation of one body: operations in, facts out.

A `Frame` walks the control-flow graph to a fixed point. The environment maps places to values: names ("x"), paths ("self.net", "batch['ids']"),
the state of objects ("@ref": where a module's parameters are) and the guards that hold on the path ("?").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchdevlint.flow import calls, conditions, values
from torchdevlint.flow.devices import CPU, TOP, Device, from_string, symbolic
from torchdevlint.flow.facts import AttributeStore, Facts, Meeting, Use
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
    replace,
    tensor,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.flow.analysis import Analysis

Environment = dict[str, Any]
GUARDS = "?"

DEVICE_NAME = re.compile(r"(?:\A|[._])(?:\w*device\w*|dev|gpu|gpu_id|cuda_device)\Z", re.IGNORECASE)
_NO_DEVICE = re.compile(r"devices|device_(?:count|ids|map|mesh|type|name)|num_device|n_device", re.IGNORECASE)
LOADER_NAME = re.compile(r"(?:\A|_|\.)(?:\w*_?(?:data)?loader|dl|train_dl|val_dl|valid_dl|test_dl)\Z", re.IGNORECASE)
_MOST_VISITS = 5
_DTYPES = frozenset(
    "float32 float64 float16 bfloat16 float double half int8 int16 int32 int64 uint8 short int long bool complex64 complex128 cfloat cdouble".split()
)


def looks_like_device(path: str) -> bool:
    """True for a path that names a device by custom: `device`, `self.device`, `args.device`."""
    return bool(DEVICE_NAME.search(path)) and not _NO_DEVICE.search(path.rpartition(".")[2])


class Frame:
    """One body under interpretation, and after it, with its final facts."""

    __slots__ = (
        "analysis",
        "block",
        "body",
        "class_summary",
        "definitions",
        "depth",
        "env",
        "exit_env",
        "index",
        "requirements",
        "returned",
        "sink",
        "values",
    )

    def __init__(self, analysis: Analysis, body: ir.Body, depth: int = 0) -> None:
        self.analysis = analysis
        self.body = body
        self.index = analysis.index_of(body)
        self.definitions = self.index.definitions
        self.values: list[Value] = [UNKNOWN] * body.register_count
        self.env: Environment = {}
        self.exit_env: Environment | None = None
        self.returned: Value | None = None
        self.block: ir.Block | None = None
        self.sink: Callable[[str, ir.Op, Any], None] | None = None
        self.depth = depth
        self.requirements: dict[str, Value] = {}
        self.class_summary = analysis.enclosing_summary(body)

    # ---------------------------------------------------------------------------------------------- walking the graph

    def run(self, sink: Callable[[str, ir.Op, Any], None] | None = None) -> None:
        """Interpret the body to a fixed point, then (with `sink`) once more to tell its events."""
        blocks, order = self.body.blocks, self.index.order
        incoming: list[Environment | None] = [None] * len(blocks)
        incoming[order[0]] = self._entry_environment()
        straight = not self.index.has_loop
        if straight:
            self.sink = sink
        position = {block: at for at, block in enumerate(order)}
        pending = set(order[:1])
        visits = [0] * len(blocks)
        while pending:
            number = min(pending, key=position.__getitem__)
            pending.discard(number)
            start = incoming[number]
            if start is None or visits[number] >= _MOST_VISITS:
                continue
            visits[number] += 1
            self._run_block(blocks[number], start)
            for successor, env in self._outgoing(blocks[number]):
                known = incoming[successor]
                merged = env if known is None else _merge(known, env)
                if merged is not known:
                    incoming[successor] = merged
                    pending.add(successor)
        if not straight and sink is not None:
            self.sink = sink
            for number in order:
                start = incoming[number]
                if start is not None:
                    self._run_block(blocks[number], start)
                    if not blocks[number].successors:
                        self._leave()
        self.sink = None

    def _run_block(self, block: ir.Block, start: Environment) -> None:
        self.env = dict(start)
        self.block = block
        handlers = HANDLERS
        for op in block.ops:
            handlers[type(op)](self, op)

    def _outgoing(self, block: ir.Block) -> list[tuple[int, Environment]]:
        if not block.successors:
            self._leave()
            return []
        if block.test is None or len(block.successors) != 2:
            return [(successor, self.env) for successor in block.successors]
        true, false = conditions.branch(self, block.test)
        return [
            (block.successors[0], conditions.refined(self.env, true)),
            (block.successors[1], conditions.refined(self.env, false)),
        ]

    def _leave(self) -> None:
        if self.exit_env is None:
            self.exit_env = self.env
        else:
            self.exit_env = _merge(self.exit_env, self.env)

    def _entry_environment(self) -> Environment:
        env: Environment = {GUARDS: self._entry_guards()}
        for number, parameter in enumerate(self.body.parameters):
            env[parameter.name] = self.analysis.parameter_value(self.body, parameter, number, self.class_summary)
        return env

    def _entry_guards(self) -> frozenset[str]:
        text = " ".join(self.body.decorators).lower()
        return (
            frozenset({"decorated"})
            if "skip" in text or "require" in text or "cuda" in text or "gpu" in text
            else frozenset()
        )

    # ---------------------------------------------------------------------------------------------- places

    def place(self, register: ir.Register) -> str:
        """The path that a register was read from, or ""."""
        op = self.definitions[register]
        if isinstance(op, ir.Load):
            return op.name
        if isinstance(op, ir.Attribute):
            base = self.place(op.object)
            return f"{base}.{op.name}" if base else ""
        if isinstance(op, ir.Subscript):
            base = self.place(op.object)
            key = self.values[op.index].constant
            if base and isinstance(key, (str, int)) and not isinstance(key, bool):
                return f"{base}[{key!r}]"
        return ""

    def store_place(self, place: str, value: Value) -> None:
        """Bind a place; what was known below it is forgotten."""
        env = self.env
        root = place.partition(".")[0].partition("[")[0]
        if root in self.index.extended or root != place:
            dot, bracket = place + ".", place + "["
            for key in [key for key in env if key.startswith((dot, bracket))]:
                del env[key]
        env[place] = value

    def lookup(self, name: str) -> Value:
        """The value of a name: here, in the enclosing functions, in the module, or a builtin."""
        found = self.env.get(name)
        if found is not None:
            return found  # type: ignore[no-any-return]
        if name in self.index.stored and name not in self.body.global_names and self.body.kind != "module":
            return UNKNOWN
        return self.analysis.lookup_outside(self.body, name)

    def nearest_device(self) -> str | None:
        """The spelling of a device in scope: a local or parameter, then `self.device`, then a module constant."""
        local = [
            (name != "device", name)
            for name, value in self.env.items()
            if isinstance(value, Value)
            and "@" not in name
            and _is_device(value)
            and "[" not in name
            and looks_like_device(name)
        ]
        if local:
            return min(local)[1]
        summary = self.class_summary
        if (
            summary is not None
            and self.index.self_name
            and (summary.stores_of("device") or summary.has_device_property or summary.is_lightning)
        ):
            return f"{self.index.self_name}.device"
        for name in ("device", "DEVICE"):
            value = self.analysis.lookup_outside(self.body, name)
            if _is_device(value):
                return name
        return None

    def is_guarded(self, block: ir.Block, device_type: str) -> bool:
        """True when an availability test, a flag, or a handler of the error stands between the program and this operation."""
        guards = self.env.get(GUARDS, frozenset())
        if guards & {device_type, "accelerator", "flag", "decorated"}:
            return True
        return any(
            t.part == "body"
            and {name.rpartition(".")[2] for name in t.catches}
            & {"RuntimeError", "AssertionError", "Exception", "BaseException"}
            for t in block.tries
        )

    def optimizers_over(self, ref: str) -> list[Value]:
        """The optimizers bound here whose parameters are those of module `ref`."""
        found: list[Value] = []
        for value in self.env.values():
            if (
                isinstance(value, Value)
                and value.kind is Kind.OPTIMIZER
                and ref in value.refs
                and all(v.origin is not value.origin for v in found)
            ):
                found.append(value)
        return found

    # ---------------------------------------------------------------------------------------------- devices

    def device_argument(self, register: ir.Register | None) -> Device:
        """The device that a value in a device position means; TOP when it may be anything."""
        if register is None:
            return TOP
        value = self.values[register]
        kind = value.kind
        if kind in (Kind.DEVICE, Kind.STRING):
            if value.device is not TOP and value.device.name != "":
                return value.device
            if value.device.place in ("cpu", "meta"):
                return value.device
            if kind is Kind.STRING and isinstance(value.constant, str):
                return TOP
            return symbolic(self.place(register) or "device", chosen=value.device.chosen)
        if kind is Kind.TENSOR:
            return value.device
        if kind is Kind.SCALAR and isinstance(value.constant, int) and not isinstance(value.constant, bool):
            return Device("acc", f"cuda:{value.constant}")
        place = self.place(register)
        if place and looks_like_device(place):
            return symbolic(place)
        return TOP

    def module_device(self, module: Value) -> Device:
        """Where a module's parameters are now."""
        state = self.env.get("@" + module.ref) if module.ref else None
        return state.device if isinstance(state, Value) else module.device

    def is_dtype(self, register: ir.Register) -> bool:
        """True for an argument that is a dtype, by its name or value."""
        value = self.values[register]
        if value.kind is Kind.DTYPE:
            return True
        if value.kind is Kind.SYMBOL:
            head, _, last = value.symbol.rpartition(".")
            return head == "torch" and last in _DTYPES
        place = self.place(register)
        return place.endswith("dtype") or place in ("int", "float", "bool")

    # ---------------------------------------------------------------------------------------------- events

    def tell(self, event: str, op: ir.Op, extra: Any = None) -> None:
        """Give an event to the rules."""
        if self.sink is not None:
            self.sink(event, op, extra)

    def tell_if_heard(self, event: str, name: str, op: ir.Op) -> None:
        """Give an event of a frequent operation to the rules, when one of them asked for this name."""
        if self.sink is not None and (self.analysis.heard is None or name in self.analysis.heard):
            self.sink(event, op, None)

    def facts(self) -> Facts:
        """The facts here and now."""
        return Facts(self.analysis, self, self.block)

    def used(self, value: Value, op: ir.Op, role: str, callee: str = "", receiver: Value | None = None) -> None:
        """Note a use of a value whose maker is known."""
        if value.origin is not None and self.sink is not None:
            self.analysis.uses.setdefault(id(value.origin), []).append(Use(op, role, callee, receiver, self.body))

    def meet(
        self,
        op: ir.Op,
        operands: list[tuple[Value, str]],
        *,
        strict: bool,
        callee: str = "",
        module: Value | None = None,
    ) -> None:
        """Tell each fresh CPU tensor among the operands that meets a tensor which may be on an accelerator."""
        if len(operands) < 2:
            return
        if self.sink is None:
            if self.depth:
                self._note_requirements(operands)
            return
        told: set[int] = set()
        for number, (value, role) in enumerate(operands):
            for part in value.parts:
                if not (part.is_fresh_cpu or part.symbol == "argument"):
                    continue
                if (part.rank == 0 and not strict and role != "output") or (
                    part.origin is not None and id(part.origin) in told
                ):
                    continue
                other = _best_other(part, [v for at, (v, _) in enumerate(operands) if at != number])
                if other is not None:
                    told.add(id(part.origin))
                    self.sink("meet", op, Meeting(op, part, other, strict, role, callee, module))

    def _note_requirements(self, operands: list[tuple[Value, str]]) -> None:
        """In a summary: a parameter that meets something else's device makes the caller's argument meet it."""
        for number, (value, _) in enumerate(operands):
            if value.others or value.device.place != "sym" or value.moved is not None or value.kind is not Kind.TENSOR:
                continue
            name = value.device.name.removesuffix(".device")
            if name == value.device.name or not any(parameter.name == name for parameter in self.body.parameters):
                continue
            for at, (other, _) in enumerate(operands):
                if (
                    at == number
                    or other.others
                    or other.device.place != "sym"
                    or other.device.name == value.device.name
                ):
                    continue
                if other.device.name == "self" or (other.evidence >= Evidence.USAGE and other.moved is None):
                    self.requirements.setdefault(name, other)


def _best_other(part: Value, others: list[Value]) -> Value | None:
    best: Value | None = None
    for value in others:
        for other in value.parts:
            if (
                other.kind is not Kind.TENSOR
                or not other.device.may_be_accelerator
                or other.origin is part.origin is not None
            ):
                continue
            if best is None or other.evidence > best.evidence:
                best = other
    return best


def _is_device(value: Value) -> bool:
    return value.kind is Kind.DEVICE or (value.kind is Kind.STRING and value.device.place == "sym")


def _merge(left: Environment, right: Environment) -> Environment:
    """The environment after two paths met; `left` itself when nothing changes."""
    if left is right:
        return left
    merged: Environment = {}
    changed = False
    for key, value in left.items():
        other = right.get(key)
        if other is value:
            merged[key] = value
        elif key == GUARDS:
            merged[key] = value & (other or frozenset())
        elif other is None:
            if "." in key or "[" in key:
                changed = True  # known on one path only: the default holds on the other
                continue
            if key[0] == "@":
                merged[key] = replace(value, device=TOP)
            else:
                merged[key] = value  # unbound on the other path
                continue
        else:
            merged[key] = values.join(value, other)
        if merged[key] is not value and merged[key] != value:
            changed = True
    for key, value in right.items():
        if key not in left and "." not in key and "[" not in key:
            merged[key] = replace(value, device=TOP) if key[0] == "@" else value
            changed = True
    return merged if changed else left


# ---------------------------------------------------------------------------------------------------- operations

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
        return Value(Kind.MODULE, TOP, ref=f"{path}", evidence=evidence)
    if kind is Kind.OPTIMIZER:
        return Value(Kind.OPTIMIZER, evidence=evidence)
    if kind is Kind.TENSOR and value.device is not TOP:
        return replace(value, kind=Kind.TENSOR, evidence=evidence)
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
        return frame.analysis.self_attribute(frame, frame.class_summary, name, place)
    if kind is Kind.MODULE:
        return _module_attribute(frame, base, name, place)
    if kind is Kind.INSTANCE and base.definition is not None:
        summary = frame.analysis.summary_of(base.definition)
        return frame.analysis.foreign_attribute(summary, name)
    if name == "device" and kind is not Kind.NDARRAY:
        return Value(Kind.DEVICE if kind is Kind.BATCH_ENCODING else Kind.UNKNOWN, symbolic(place or "device"))
    if name == "shape":
        return SIZE
    if name == "dtype":
        return DTYPE
    if kind in (Kind.BATCH_ENCODING, Kind.BATCH):
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
        return _by_usage(frame, place, UNKNOWN)
    return UNKNOWN


def _tensor_attribute(frame: Frame, op: ir.Attribute, base: Value) -> Value:
    name = op.name
    if name == "device":
        return Value(Kind.DEVICE, base.device if not base.others else TOP)
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
    if base.evidence < Evidence.STRONG or base.origin is None:
        return UNKNOWN
    return UNKNOWN


def _module_attribute(frame: Frame, base: Value, name: str, place: str) -> Value:
    device = frame.module_device(base)
    if name == "device":
        return Value(Kind.DEVICE, device if device.may_be_accelerator else symbolic(place or "device"))
    if name in ("weight", "bias", "in_proj_weight"):
        return tensor(device, evidence=Evidence.STRONG)
    if name == "module":
        return replace(base, definition=None)
    if name == "config":
        return UNKNOWN
    if base.definition is not None:
        summary = frame.analysis.summary_of(base.definition)
        if summary.stores_of(name) or summary.method(name):
            return frame.analysis.foreign_attribute(summary, name)
    return UNKNOWN


def _binary(frame: Frame, op: ir.Binary) -> None:
    left, right = frame.values[op.left], frame.values[op.right]
    strict = op.operator == "@"
    if left.kind is Kind.TENSOR or right.kind is Kind.TENSOR:
        left_tensor, right_tensor = calls.as_operand(left), calls.as_operand(right)
        if left_tensor is not None and right_tensor is not None:
            frame.meet(op, [(left_tensor, "operand"), (right_tensor, "operand")], strict=strict, callee=op.operator)
        frame.values[op.dst] = calls.combine([v for v in (left_tensor, right_tensor) if v is not None])
        if left.kind is Kind.NDARRAY or right.kind is Kind.NDARRAY:
            frame.values[op.dst] = UNKNOWN
    elif left.kind is Kind.NDARRAY or right.kind is Kind.NDARRAY:
        frame.values[op.dst] = NDARRAY
    elif left.kind is Kind.SCALAR and right.kind is Kind.SCALAR:
        frame.values[op.dst] = SCALAR
    elif left.kind is Kind.PARAMETERS and right.kind is Kind.PARAMETERS:
        frame.values[op.dst] = Value(Kind.PARAMETERS, refs=(*left.refs, *right.refs))
    elif Kind.STRING in (left.kind, right.kind):
        frame.values[op.dst] = _string_expression(left)
    elif left.kind is Kind.LIST and right.kind is Kind.LIST:
        element = values.join(element_of(left), element_of(right)) if element_of(left) is not UNKNOWN else UNKNOWN
        frame.values[op.dst] = Value(Kind.LIST, element=element)
    elif left.kind is Kind.LIST and op.operator == "*":
        frame.values[op.dst] = Value(Kind.LIST, element=element_of(left))
    else:
        frame.values[op.dst] = UNKNOWN


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
            a, b = calls.as_operand(left), calls.as_operand(right)
            if a is not None and b is not None:
                frame.meet(op, [(a, "operand"), (b, "operand")], strict=False, callee=op.operators[0])
            frame.values[op.dst] = calls.combine([v for v in (a, b) if v is not None])
        elif left.kind is Kind.NDARRAY:
            frame.values[op.dst] = NDARRAY
        else:
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
    for value in advanced:
        if base.is_fresh_cpu and value.device.may_be_accelerator and value.rank != 0:
            frame.meet(op, [(base, "index"), (value, "operand")], strict=True, callee="[]")
    rank = base.rank
    if rank is not None and rank > 0:
        lowered = sum(1 for value in indices if value.kind is Kind.SCALAR)
        added = sum(1 for value in indices if value.kind is Kind.NONE)
        rank = (
            max(rank - lowered + added, 0)
            if not advanced and all(v.kind in (Kind.SCALAR, Kind.NONE, Kind.OTHER) for v in indices)
            else None
        )
        if rank is None and not advanced and lowered == 0:
            rank = AT_LEAST_ONE
    elif rank == AT_LEAST_ONE and any(value.kind is not Kind.OTHER for value in indices):
        rank = None if any(value.kind in (Kind.SCALAR, Kind.UNKNOWN) for value in indices) else AT_LEAST_ONE
    if base.others:
        return replace(base, rank=rank, others=tuple(replace(part, rank=None) for part in base.others))
    return replace(base, rank=rank)


def element_of(value: Value) -> Value:
    """What iterating over a value gives."""
    if value.element is not None:
        return value.element
    if value.items:
        result = value.items[0]
        for item in value.items[1:]:
            result = values.join(result, item)
        return result
    return UNKNOWN


def _slice(frame: Frame, op: ir.Slice) -> None:
    frame.values[op.dst] = OTHER


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
    frame.values[op.dst] = calls.iterate(frame, op)


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
        operand = calls.as_operand(value)
        if operand is not None:
            frame.meet(
                op, [(target, "output"), (operand, "operand")], strict=op.operator == "@", callee=op.operator + "="
            )
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


def _opaque(frame: Frame, op: ir.Opaque) -> None:
    frame.values[op.dst] = UNKNOWN


def _store(frame: Frame, op: ir.Store) -> None:
    value = frame.values[op.value]
    if op.annotation is not None and value.kind is Kind.UNKNOWN:
        annotated = frame.analysis.annotated(op.annotation, op.name)
        if annotated is not None:
            value = annotated
    value = _named_device(value, op.name)
    if value.kind is Kind.UNKNOWN and value.device is not TOP:
        value = _by_usage(frame, op.name, value)
    elif value.kind is Kind.UNKNOWN and LOADER_NAME.search(op.name):
        value = Value(Kind.LOADER, evidence=Evidence.NAME)
    frame.store_place(op.name, value)
    frame.tell_if_heard("op", type(op).__name__, op)


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
        value = frame.analysis.annotated(op.annotation, op.name) or value
    if place:
        path = f"{place}.{op.name}"
        value = _named_device(value, path)
        if base.ref == "self" and frame.class_summary is not None:
            value = frame.analysis.store_self_attribute(frame.class_summary, AttributeStore(op, value, frame.body))
        frame.store_place(path, value)
    frame.tell_if_heard("op", type(op).__name__, op)


def _store_subscript(frame: Frame, op: ir.StoreSubscript) -> None:
    value = frame.values[op.value]
    frame.used(value, op, "stored")
    place = frame.place(op.object)
    key = frame.values[op.index].constant
    base = frame.values[op.object]
    index = frame.values[op.index]
    for part in index.items if index.kind is Kind.TUPLE and index.items is not None else (index,):
        if base.is_fresh_cpu and part.kind is Kind.TENSOR and part.device.may_be_accelerator and part.rank != 0:
            frame.meet(op, [(base, "index"), (part, "operand")], strict=True, callee="[]=")
    if place and base.kind is not Kind.TENSOR:
        if isinstance(key, (str, int)) and not isinstance(key, bool):
            frame.store_place(f"{place}[{key!r}]", value)
        else:
            old = base.element if base.kind is Kind.DICT else None
            for known in [name for name in frame.env if name.startswith(place + "[")]:
                del frame.env[known]
            if base.kind is Kind.DICT:
                frame.env[place] = Value(Kind.DICT, element=value if old is None else values.join(old, value))
    frame.tell_if_heard("op", type(op).__name__, op)


def _delete(frame: Frame, op: ir.Delete) -> None:
    frame.env.pop(op.name, None)


def _declare(frame: Frame, op: ir.Declare) -> None:
    value = frame.analysis.annotated(op.annotation, op.name)
    if value is not None and frame.body.kind != "class":
        frame.env.setdefault(op.name, value)


def _discard(frame: Frame, op: ir.Discard) -> None:
    frame.tell_if_heard("op", type(op).__name__, op)


def _return(frame: Frame, op: ir.Return) -> None:
    value = frame.values[op.value] if op.value is not None else NONE
    frame.used(value, op, "returned")
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

__all__ = ["CPU", "GUARDS", "LOADER_NAME", "SIZE", "Environment", "Frame", "element_of", "looks_like_device"]
