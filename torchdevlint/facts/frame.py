"""A body at one moment, as rules ask about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchdevlint.facts.devices import TOP, symbolic
from torchdevlint.facts.devices import Device as Spelled
from torchdevlint.facts.naming import (
    names_index,
)
from torchdevlint.facts.values import UNKNOWN as NO_VALUE
from torchdevlint.facts.values import Kind, replace
from torchdevlint.facts.values import Value as View
from torchdevlint.facts.views import Views
from torchdevlint.infer.devices import MOVED
from torchdevlint.infer.state import PLACED
from torchdevlint.infer.values import (
    NOWHERE,
    Ref,
    Term,
    Value,
)
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup

_DTYPES = frozenset(
    "float32 float64 float16 bfloat16 float double half int8 int16 int32 int64 uint8 short int long bool complex64 complex128 cfloat cdouble".split()
)


class Frame(Views):
    """A body at one moment of its run: in front of an operation, or at its end."""

    def mark(self, name: str, default: Any) -> Any:
        """What is known of a module by its reference ("@self.net"), where something has moved it, and of the state of an optimizer ("@opt...")."""
        if name.startswith("@opt"):
            return self._optimizer_state(int(name.removeprefix("@opt")), default)
        ref = name[1:]
        for place, rec in self.heap.items():
            if (
                isinstance(place, Term)
                and self.text(place) == ref
                and (PLACED in rec.fields or "@device" in rec.fields)
            ):
                return View(
                    Kind.MODULE, self.spelled(rec.fields.get("@device", rec.fields.get(PLACED, NOWHERE))), ref=ref
                )
            if rec.kind == "module" and isinstance(place, Ref) and self._ref(place) == ref:
                return self.of(place) if MOVED in rec.fields else default
        return default

    def _optimizer_state(self, made: int, default: Any) -> Any:
        """The call that gave an optimizer its state before this moment."""
        lookup = Lookup.of(self.body)
        found = default
        for op in lookup.kind(ir.Call):
            if not self._is_before(op):
                continue
            written = self.definitions[op.function]
            if isinstance(written, ir.Attribute) and written.name in ("load_state_dict", "step"):
                owner = self.values[written.object]
                if owner.kind is Kind.OPTIMIZER and id(owner.origin) == made:
                    if written.name == "load_state_dict":
                        found = View(Kind.DEVICE, TOP, moved=op, constant="filled")
                    elif found is default:
                        found = View(Kind.DEVICE, TOP, moved=op, constant="stepped")
        return found

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
                return View(kind, view.device, ref=name, evidence=evidence, moved=view.moved)
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
            return head == "torch" and last in _DTYPES
        place = self.place(register)
        return place.endswith(("dtype", "precision")) or place in ("int", "float", "bool")

    def nearest_device(self, at: ir.Op | None = None) -> str | None:
        """The spelling of a device in scope: a local or parameter that is bound on every path to `at`, then `self.device`, then a global name."""
        cfg = Cfg.of(self.body)
        for name in self.index.device_places:
            value = self.bound(name)
            if value is None and any(parameter.name == name for parameter in self.body.parameters):
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
        ):
            return f"{self.index.self_name}.device"
        for name in ("device", "DEVICE"):
            if self.lookup(name).kind is Kind.DEVICE:
                return name
        return None

    @property
    def given(self) -> dict[str, View]:
        """What the parameters hold."""
        return {one.name: self.of_parameter(one.name) for one in self.body.parameters}

    def of_parameter(self, name: str) -> View:
        """What a parameter holds."""
        view = self.of(Term("parameter", self.body, name))
        return self._annotated(self.body, name) if view.kind is Kind.UNKNOWN else view

    @property
    def env(self) -> _Env:
        """What the names of this body hold now."""
        return _Env(self)

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


class _Env:
    """What names hold."""

    def __init__(self, here: Frame) -> None:
        self._here = here

    def _names(self) -> dict[str, Value]:
        here = self._here
        return here._moment.env if here._moment is not None else here.walk.env if here.walk is not None else {}

    def get(self, name: str, default: Any = None) -> Any:
        here = self._here
        if name[0] == "@":
            return here.mark(name, default)
        names = self._names()
        if name not in names:
            return default
        if here._at is not None:
            bindings = Cfg.of(here.body).bindings(name, here._at)
            if len(bindings.stores) == 1 and bindings.parameter is None:
                return here.values[bindings.stores[0].value]
        return here.named(name, names[name])

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def items(self) -> Iterator[tuple[str, View]]:
        for name in self._names():
            yield name, self.get(name)

    def values(self) -> Iterator[View]:
        for _, value in self.items():
            yield value
