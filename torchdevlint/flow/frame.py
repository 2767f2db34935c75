"""The interpretation of one body: operations in, facts out.

A `Frame` walks the control-flow graph to a fixed point. The environment maps places to values: names ("x"), paths ("self.net", "batch['ids']"),
the state of objects ("@ref": where a module's parameters are) and the guards that hold on the path ("?").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchdevlint.flow import conditions, parameters, values
from torchdevlint.flow.devices import TOP, Device, symbolic
from torchdevlint.flow.facts import Facts, Use
from torchdevlint.flow.naming import follows_an_object, looks_like_device, names_index
from torchdevlint.flow.operations import HANDLERS
from torchdevlint.flow.values import (
    UNKNOWN,
    Evidence,
    Kind,
    Value,
    replace,
)
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.tables import unlike
from torchdevlint.source import deadline

if TYPE_CHECKING:
    from torchdevlint.flow.analysis import Analysis

Environment = dict[str, Any]
GUARDS = "?"

_MOST_VISITS = 5
_STEP = re.compile(r"[.\[]")  # from a place to one below it
_DTYPES = frozenset(
    "float32 float64 float16 bfloat16 float double half int8 int16 int32 int64 uint8 short int long bool complex64 complex128 cfloat cdouble".split()
)


class Frame:
    """One body under interpretation, and after it, with its final facts."""

    __slots__ = (
        "_below",
        "_noted",
        "_optimizers",
        "analysis",
        "block",
        "body",
        "class_summary",
        "definitions",
        "depth",
        "env",
        "exit_env",
        "given",
        "index",
        "returned",
        "sink",
        "values",
    )

    def __init__(self, analysis: Analysis, body: ir.Body, depth: int = 0) -> None:
        self.analysis = analysis
        self.body = body
        self.index = analysis.index_of(body)
        self.definitions = self.index.definitions
        self._noted: set[str] = set()  # the places that were bound in this body
        self._below: dict[str, list[str]] = {}  # of them, those with a place above them, by that one
        self._optimizers: dict[
            str, dict[str, None]
        ] = {}  # where optimizers were bound, by the module whose parameters they have
        self.values: list[Value] = [UNKNOWN] * body.register_count
        self.env: Environment = {}
        self.exit_env: Environment | None = None
        self.given: dict[str, Value] = {}  # what the parameters hold when the body starts
        self.returned: Value | None = None
        self.block: ir.Block | None = None
        self.sink: Callable[[str, ir.Op, Any], None] | None = None
        self.depth = depth
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
        deadline.check()
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
        if _is_never(block.test, self.definitions):
            return [(block.successors[1], self.env)]
        true, false = conditions.branch(self, block.test)
        for place in (*true.places, *false.places):
            self._note_place(place)
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
            value = parameters.parameter_value(self.analysis, self.body, parameter, number, self.class_summary)
            env[parameter.name] = self.given[parameter.name] = self.analysis.observed.parameter(
                self.body, parameter.name, value
            )
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

    def makes(self, op: ir.ValueOp) -> bool:
        """True for an operation of this body, whose registers are those of this frame."""
        return op.dst < len(self.definitions) and self.definitions[op.dst] is op

    def store_place(self, place: str, value: Value) -> None:
        """Bind a place; what was known below it is forgotten."""
        env = self.env
        root = place.partition(".")[0].partition("[")[0]
        if root in self.index.extended or root != place:
            for key in self.places_below(place):
                del env[key]
        self.put(place, value)

    def put(self, place: str, value: Value) -> None:
        """Bind a place; what is known below it stays."""
        self._note_place(place)
        if value.kind is Kind.OPTIMIZER:
            for ref in value.refs:
                self._optimizers.setdefault(ref, {})[place] = None
        self.env[place] = value

    def _note_place(self, place: str) -> None:
        """Note a place that is bound somewhere in this body under each place above it."""
        if place not in self._noted:
            self._noted.add(place)
            for end in _STEP.finditer(place):
                self._below.setdefault(place[: end.start()], []).append(place)

    def places_below(self, place: str) -> list[str]:
        """The places below one of which something is known here: its attributes, its entries, and theirs."""
        return [below for below in self._below.get(place, ()) if below in self.env]

    def lookup(self, name: str) -> Value:
        """The value of a name: here, in the enclosing functions, in the module, or a builtin."""
        found = self.env.get(name)
        if found is not None:
            return found  # type: ignore[no-any-return]
        if name in self.index.stored and name not in self.body.global_names and self.body.kind != "module":
            return UNKNOWN
        return self.analysis.lookup_outside(self.body, name)

    def nearest_device(self, at: ir.Op | None = None) -> str | None:
        """The spelling of a device in scope: a local or parameter, then `self.device`, then a module constant.

        With `at`, an operation of this body, a local is named only where it is bound on every path to that operation.
        """
        cfg = Cfg.of(self.body)
        for name in self.index.device_places:
            if (
                isinstance(value := self.env.get(name), Value)
                and _is_device(value)
                and not (names_index(name) and value.device.place == "sym" and not value.device.chosen)
                and (at is None or cfg.definitely_bound(name, at))
            ):
                return name
        summary = self.class_summary
        if (
            summary is not None
            and self.index.self_name
            and not self.body.is_class_method
            and (summary.stores_of("device") or summary.has_device_property or summary.is_lightning)
        ):
            return f"{self.index.self_name}.device"
        for name in ("device", "DEVICE"):
            value = self.analysis.lookup_outside(self.body, name)
            if _is_device(value):
                return name
        return None

    @property
    def is_absent(self) -> bool:
        """True where a test has found no accelerator."""
        return conditions.ABSENT in self.env.get(GUARDS, frozenset())

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
        for place in self._optimizers.get(ref, ()):
            value = self.env.get(place)
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
        if place and looks_like_device(place) and not self._is_of_an_unknown_attribute(place, register):
            return symbolic(place)
        return TOP

    def _is_of_an_unknown_attribute(self, place: str, register: ir.Register) -> bool:
        """True for `self.buffer.device` of an object of which nothing is known: it may keep what it holds on the CPU."""
        written = self.definitions[register]
        if not isinstance(written, ir.Attribute) or written.name != "device" or not follows_an_object(place):
            return False
        holder = self.definitions[written.object]
        return (
            isinstance(holder, ir.Attribute)
            and self.values[holder.object].ref == "self"
            and self.values[written.object].kind is Kind.UNKNOWN
            and self.index.use(place.removesuffix(".device")).kind()[1] < Evidence.USAGE
        )

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
        return place.endswith(("dtype", "precision")) or place in ("int", "float", "bool")

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


def _is_never(test: ir.Register, definitions: list[ir.Op | None]) -> bool:
    """True for `if False:`, and for what begins with it: `if False and ready():`."""
    written = definitions[test]
    if isinstance(written, ir.Choice) and written.shape == "and":
        return _is_never(written.values[0], definitions)
    return isinstance(written, ir.Constant) and written.value is False


def _is_device(value: Value) -> bool:
    return value.kind is Kind.DEVICE or (value.kind is Kind.STRING and value.device.place == "sym")


def _on_some_paths(key: str, state: Value) -> Value:
    """A module that was moved on one path (`if torch.cuda.is_available(): model.cuda()`) is where its parameters are."""
    ref = key[1:]
    if state.device.may_be_accelerator and all(part.isidentifier() for part in ref.split(".")):
        return replace(state, device=symbolic(f"next({ref}.parameters()).device", chosen=True))
    return replace(state, device=TOP)


def _merge(left: Environment, right: Environment) -> Environment:
    """The environment after two paths met; `left` itself when nothing changes."""
    if left is right:
        return left
    merged = dict(left)
    changed = False
    for key in unlike((left, right)):
        value, other = left.get(key), right.get(key)
        if value is None:
            if "." not in key and "[" not in key:
                merged[key] = _on_some_paths(key, right[key]) if key[0] == "@" else other
                changed = True
            continue
        if key == GUARDS:
            merged[key] = value & (other or frozenset())
        elif other is None:
            if "." in key or "[" in key:
                del merged[key]
                changed = True  # known on one path only: the default holds on the other
                continue
            if key[0] != "@":
                continue  # unbound on the other path
            merged[key] = _on_some_paths(key, value)
        else:
            merged[key] = values.join(value, other)
        if merged[key] is not value and merged[key] != value:
            changed = True
    return merged if changed else left
