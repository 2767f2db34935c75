"""A body at one moment, as rules ask about it."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.devices import CPU, TOP, symbolic
from torchdevlint.facts.devices import Device as Spelled
from torchdevlint.facts.naming import (
    names_index,
)
from torchdevlint.facts.scopes import parameter_of
from torchdevlint.facts.values import UNKNOWN as NO_VALUE
from torchdevlint.facts.values import Kind, replace
from torchdevlint.facts.values import Value as View
from torchdevlint.facts.views import Views
from torchdevlint.infer.devices import MOVED
from torchdevlint.infer.state import PLACED
from torchdevlint.infer.values import Ref, Term, Value
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge.tensor_attributes import DTYPES

_MOVES_TO = ("cuda", "xpu", "mps", "npu", "hpu")


class Frame(Views):
    """A body at one moment of its run: in front of an operation, or at its end."""

    def was_moved(self, module: View) -> bool:
        """True for a module that something has moved before this moment."""
        if module.moved is not None:
            return True
        for place, rec in self.heap.items():
            is_placed = PLACED in rec.fields or "@device" in rec.fields
            if isinstance(place, Term) and is_placed and self.text(place) == module.ref:
                return True
            if rec.kind == "module" and isinstance(place, Ref) and self._ref(place) == module.ref:
                return MOVED in rec.fields
        return False

    def state_given(self, optimizer: View) -> tuple[ir.Call, bool] | None:
        """The call that gave an optimizer its state before this moment, and whether that was loaded, or made by a step."""
        found: tuple[ir.Call, bool] | None = None
        for op in Lookup.of(self.body).kind(ir.Call):
            written = self.definitions[op.function]
            if not isinstance(written, ir.Attribute) or written.name not in ("load_state_dict", "step"):
                continue
            is_load = written.name == "load_state_dict"
            if (found is None or is_load) and self._is_before(op):
                owner = self.values[written.object]
                if owner.kind is Kind.OPTIMIZER and owner.origin is optimizer.origin:
                    found = op, is_load
        return found

    def move_target(self, op: ir.Call) -> Spelled | None:
        """The device that `.to(...)`, `.cuda(...)`, `.cpu()` moves to; None for any other call and where nothing moves (a dtype, `.to(None)`); TOP when unknown."""
        written = self.definitions[op.function]
        name = written.name if isinstance(written, ir.Attribute) else ""
        if name == "cpu":
            return CPU
        if name in _MOVES_TO:
            register = op.argument("device", 0)
            if register is None:
                return Spelled("acc", name)
            device = self.device_argument(register)
            index = self.values[register].constant
            if device.place == "acc" and isinstance(index, int):
                return Spelled("acc", f"{name}:{index}")
            return device if device is not TOP else Spelled("acc", name)
        if name != "to":
            return None
        register = op.keyword("device")
        if register is not None:
            return self.device_argument(register)
        register = op.keyword("other")
        register = op.positional(0) if register is None else register
        if register is None:
            return TOP if op.has_splat else None
        moves_nothing = self.is_dtype(register) or self.values[register].kind is Kind.NONE
        return None if moves_nothing else self.device_argument(register)

    def named(self, name: str, value: Value) -> View:
        """What a name holds."""
        view = self.of(value)
        if view.kind is Kind.UNKNOWN and isinstance(value, Term) and value.op == "parameter":
            return self._where_placed(value, self._annotated(*value.args))
        if view.kind in (Kind.DEVICE, Kind.STRING) and view.device.place == "sym" and not view.device.name:
            view = replace(view, device=symbolic(name, chosen=True))
        if view.kind is Kind.UNKNOWN:
            kind, evidence = self.index.use(name).kind()
            if kind is Kind.MODULE:
                return View(kind, view.device, ref=self._ref_of_name(name, value), evidence=evidence, moved=view.moved)
        return view

    def module_device(self, module: View) -> Spelled:
        """Where a module is at this moment."""
        for place, rec in self.heap.items():
            if rec.kind == "module" and isinstance(place, Ref) and module.ref and self._ref(place) == module.ref:
                return self._module_place(rec)
        return module.device

    def lookup(self, name: str) -> View:
        """The value of a name: here, in the functions around, in the module, or a builtin."""
        if self.walk is None:
            return NO_VALUE
        saved = self.walk.env
        try:
            if self._moment is not None:
                self.walk.env = self._moment.env
            return self.named(name, self.walk.load(ir.Load(None, 0, name)))
        finally:
            self.walk.env = saved

    def is_dtype(self, register: ir.Register) -> bool:
        """True for an argument that is a dtype, by its value or its name."""
        value = self.values[register]
        if value.kind is Kind.DTYPE:
            return True
        if value.kind is Kind.SYMBOL:
            head, _, last = value.symbol.rpartition(".")
            return head == "torch" and last in DTYPES
        place = self.place(register)
        return place.endswith(("dtype", "precision")) or place in ("int", "float", "bool")

    def nearest_device(self, at: ir.Op | None = None) -> str | None:
        """The spelling of a device in scope: a local or parameter that is bound on every path to `at`, then `self.device`, then a global name."""
        cfg = Cfg.of(self.body)
        for name in self.index.device_places:
            value = self.bound(name)
            if value is None and parameter_of(self.body, name) is not None:
                value = Term("parameter", self.body, name)
            if value is None:
                continue
            view = self.of(value)
            is_device = view.kind is Kind.DEVICE or (view.kind is Kind.UNKNOWN and isinstance(value, Term))
            if is_device and not names_index(name) and (at is None or cfg.definitely_bound(name, at)):
                return name
        summary = self.class_summary
        if (
            summary is not None
            and self.index.self_name
            and not self.body.is_class_method
            and (summary.stores_of("device") or summary.has_device_property or summary.is_lightning)
            and (at is None or self._is_stored_before("device", at))
        ):
            return f"{self.index.self_name}.device"
        for name in ("device", "DEVICE"):
            if self.lookup(name).kind is Kind.DEVICE:
                return name
        return None

    def _is_stored_before(self, name: str, at: ir.Op) -> bool:
        """False in the constructor that stores an attribute, up to where it does."""
        here = [op for op in Lookup.of(self.body).kind(ir.StoreAttribute) if op.name == name]
        is_setup = self.body.name == "__init__" and bool(here)
        return not is_setup or any(Cfg.of(self.body).dominates(op, at) for op in here)

    def of_parameter(self, name: str) -> View:
        """What a parameter holds."""
        view = self.of(Term("parameter", self.body, name))
        return self._annotated(self.body, name) if view.kind is Kind.UNKNOWN else view

    def held(self, name: str) -> View | None:
        """What a name of this body holds now; None where it is not bound."""
        if name not in self._names:
            return None
        if self._at is not None:
            bindings = Cfg.of(self.body).bindings(name, self._at)
            if len(bindings.stores) == 1 and bindings.parameter is None:
                return self.values[bindings.stores[0].value]
        return self.named(name, self._names[name])

    def all_held(self) -> Iterator[tuple[str, View]]:
        """The names of this body that are bound now, each with what it holds."""
        return ((name, view) for name in self._names if (view := self.held(name)) is not None)

    def optimizers_over(self, ref: str) -> list[View]:
        """The optimizers that are made before this moment of the parameters of a module."""
        found = []
        for op in Lookup.of(self.body).kind(ir.Call):
            if not self._is_before(op):
                continue
            view = self.values[op.dst]
            if view.kind is Kind.OPTIMIZER and view.origin is op and ref in self.refs_of(op.argument("params", 0)):
                found.append(view)
        return found
