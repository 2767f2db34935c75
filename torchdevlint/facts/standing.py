"""Where a body stands: the state in front of one of its operations, or at its end, and how it spells what it reads."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from torchdevlint.facts.devices import ACCELERATORS, CPU, TOP, from_string, symbolic
from torchdevlint.facts.devices import Device as Spelled
from torchdevlint.facts.naming import (
    looks_like_device,
)
from torchdevlint.facts.scopes import binds, scopes_of
from torchdevlint.facts.values import Kind
from torchdevlint.facts.values import Value as View
from torchdevlint.infer.state import NO_FACTS, State
from torchdevlint.infer.values import (
    CHOSEN,
    HOST,
    NOWHERE,
    UNKNOWN,
    Cls,
    Const,
    Device,
    Func,
    Place,
    Rec,
    Ref,
    Site,
    Tensor,
    Term,
    Value,
    as_chosen,
    is_accelerator,
    literal,
)
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge.functions import LOADS

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts
    from torchdevlint.facts.facts import ClassSummary
    from torchdevlint.infer.walk import Walk


_MOST_NAMES = 6


class Standing:
    """A body at one moment of its run."""

    def __init__(
        self, analysis: FileFacts, body: ir.Body, at: ir.Op | None = None, block: ir.Block | None = None
    ) -> None:
        """`at`: the operation in front of which the body stands, at its end if None."""
        self.analysis, self.body, self.block = analysis, body, block
        self.index = analysis.index_of(body)
        self.definitions = self.index.definitions
        self._at = at
        self.values = Values(self)
        self._seen: dict[ir.Register, View] = {}

    @cached_property
    def walk(self) -> Walk | None:
        """The run of the body; made when something is asked that only a run can tell."""
        return self.analysis.walk_of(self.body)

    @cached_property
    def _moment(self) -> State | None:
        return self.walk.moments.get(self._at) if self.walk is not None and self._at is not None else None

    @cached_property
    def class_summary(self) -> ClassSummary | None:
        """The class whose method this is."""
        return self.analysis.enclosing_summary(self.body)

    @property
    def is_reached(self) -> bool:
        """False where a test comes out in one way alone, and control never comes here."""
        return self.walk is None or self._moment is not None

    @property
    def heap(self) -> dict[Any, Rec]:
        """What the objects hold now."""
        if self._moment is not None:
            return self._moment.heap
        return self.walk.ctx.heap if self.walk is not None else {}

    def bound(self, name: str) -> Value | None:
        """What the inference knows of a name now; None where it is not bound here."""
        return self._names.get(name)

    @property
    def _names(self) -> dict[str, Value]:
        """What the inference knows of the names of this body now."""
        return self._moment.env if self._moment is not None else self.walk.env if self.walk is not None else {}

    @property
    def facts_held(self) -> frozenset[Any]:
        """The conditions that every way to this moment has passed."""
        return NO_FACTS if self._moment is None else self._moment.facts

    def _raw(self, register: ir.Register) -> Value:
        written = self.definitions[register]
        if isinstance(written, ir.Constant):  # that needs no run
            return literal(written)
        if isinstance(written, ir.Load) and (static := self._static(written.name)) is not None:
            return static
        return self.walk.registers.get(register, UNKNOWN) if self.walk is not None else UNKNOWN

    def is_already_at(self, register: ir.Register, device: ir.Register | None, is_host: bool = False) -> bool:
        """True for a tensor that is on the very device that another register holds, or on the CPU (`is_host`), whatever made it so."""
        value = self._raw(register)
        place = Device(HOST) if is_host else self._raw(device) if device is not None else UNKNOWN
        named = from_string(place.value) if isinstance(place, Const) and isinstance(place.value, str) else TOP
        place = Device(HOST) if named is CPU else place
        return isinstance(value, Tensor) and isinstance(place, Device) and value.device == place.place

    def are_together(self, first: ir.Register, second: ir.Register) -> bool:
        """True for two tensors that are certainly on one device."""
        one, other = self._raw(first), self._raw(second)
        if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
            return False
        return one.device == other.device != NOWHERE

    def _static(self, name: str) -> Value | None:
        """A function or class at the top of the file that a name means whenever it is read: that needs no run either."""
        if self.body.kind == "module" or any(binds(one, name) for one in scopes_of(self.body) if one.kind != "module"):
            return None
        found = self.analysis.inference.unit.statics.get(name)
        return found if isinstance(found, (Func, Cls)) else None

    @property
    def _unit(self) -> Any:
        return self.walk.unit if self.walk is not None else None

    def _is_before(self, op: ir.Op) -> bool:
        """True for what may run before this moment."""
        if self._at is None:
            return True
        lookup = Lookup.of(self.body)
        first, second = lookup.block(op), lookup.block(self._at)
        if first is None or second is None:
            return False
        if first is second and lookup.number(op) < lookup.number(self._at):
            return True
        return second.index in Cfg.of(self.body).behind(first.index)

    def source(self, register: ir.Register) -> ir.ValueOp | None:
        """The operation that made a value, also behind names that one store alone may have bound."""
        made = self.definitions[register]
        for _ in range(_MOST_NAMES):
            if not isinstance(made, ir.Load):
                break
            bindings = Cfg.of(self.body).bindings(made.name, made)
            if len(bindings.stores) != 1 or bindings.parameter is not None:
                break
            made = self.definitions[bindings.stores[0].value]
        return made if isinstance(made, ir.ValueOp) else None

    def place(self, register: ir.Register) -> str:
        """The name or path that a register was read from ("self.net", "batch['x']"), or ""."""
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

    def text(self, value: Any) -> str:
        """A term as it is written, "" where nobody writes it."""
        if not isinstance(value, Term):
            return ""
        if value.op == "parameter":
            return str(value.args[1]) if not value.args[1].startswith("@") and self._is_around(value.args[0]) else ""
        if value.op == "attribute":
            base = self.text(value.args[0])
            if isinstance(value.args[0], Ref) and self.walk is not None and value.args[0] == self.walk.owner:
                base = "self"
            return f"{base}.{value.args[1]}" if base else ""
        if value.op == "item" and isinstance(value.args[1], Const):
            base = self.text(value.args[0])
            return f"{base}[{value.args[1].value!r}]" if base else ""
        if value.op == "unknown" and isinstance(site := value.args[0], Site) and site.body is self.body:
            names = self.index.names_of(site.op.dst) if isinstance(site.op, ir.ValueOp) else []
            return names[0] if names else ""
        return ""

    def spelled(self, place: Place, moved: Site | None = None) -> Spelled:
        """A device as the program spells it."""
        if moved is not None and place not in (HOST, NOWHERE):
            named = self._named_by(moved)
            if named is not None:
                return named
        place = as_chosen(place)
        if place == HOST:
            return CPU
        if isinstance(place, str):
            kind, _, index = place.partition(":")
            if is_accelerator(place):
                return Spelled("acc", f"cuda:{index}" if index.isdigit() else "cuda")
            if kind == CHOSEN:
                return symbolic("", chosen=True)
            return TOP
        if isinstance(place, Term):
            of = place.args[0] if place.args else None
            if of == "self":
                return symbolic("self")
            if place.op in ("device_of", "near") and isinstance(of, Term) and of.op in ("as_device", "own", "moved"):
                return self.spelled(of.args[1] if of.op == "moved" else of)
            text = self.text(of)
            if place.op == "as_device":
                return symbolic(text) if text else TOP
            return symbolic(f"{text}.device") if text else TOP
        return TOP

    def _is_around(self, body: ir.Body) -> bool:
        """True for this body, and for one that it stands in."""
        return any(one is body for one in scopes_of(self.body))

    def _named_by(self, moved: Site) -> Spelled | None:
        op = moved.op
        if not isinstance(op, ir.Call) or moved.body is None:
            return None
        definitions = self.analysis.index_of(moved.body).definitions
        written = definitions[op.function]
        is_load = self.analysis.spelled(op.function, moved.body) in LOADS
        register = op.argument("map_location", 1) if is_load else op.argument("device", 0)
        if isinstance(written, ir.Attribute) and written.name in ACCELERATORS and register is None:
            return Spelled("acc", written.name)
        if register is None:
            return None
        made = definitions[register]
        if isinstance(made, ir.Constant) and isinstance(made.value, str):
            return from_string(made.value)
        if isinstance(made, ir.Constant) and isinstance(made.value, int):
            return Spelled("acc", f"cuda:{made.value}")
        if moved.body is self.body:
            device = self.device_argument(register)
            if device is not TOP:
                return device
        text = Lookup.of(moved.body).path(register)
        if moved.body is not self.body and text.partition(".")[0] in moved.body.local_names:
            return None
        return symbolic(text) if text else None

    def device_argument(self, register: ir.Register | None) -> Spelled:
        """The device that a value in a device position means; TOP when it may be anything."""
        if register is None:
            return TOP
        made = self.definitions[register]
        if isinstance(made, ir.Constant) and isinstance(made.value, str):
            return from_string(made.value)
        value = self.values[register]
        place = self.place(register)
        if value.kind in (Kind.DEVICE, Kind.STRING):
            if value.device is not TOP and value.device.name != "":
                return value.device
            if value.device.place in ("cpu", "meta"):
                return value.device
            if value.kind is Kind.STRING and isinstance(value.constant, str):
                return TOP
            return symbolic(place or "device", chosen=value.device.chosen)
        if value.kind is Kind.TENSOR:
            return value.device
        if value.kind is Kind.SCALAR and isinstance(value.constant, int) and not isinstance(value.constant, bool):
            return Spelled("acc", f"cuda:{value.constant}")
        return symbolic(place) if place and looks_like_device(place) else TOP

    def value(self, register: ir.Register) -> View:
        """What a register holds, in the words of rules."""
        raise NotImplementedError


class Values:
    """The registers of a body at one moment."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing

    def __getitem__(self, register: ir.Register) -> View:
        return self._standing.value(register)
