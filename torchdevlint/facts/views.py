"""What a value is and where it lives, in the words that rules use: from the values of the inference, and from the names that a body spells."""

from __future__ import annotations

from typing import Any

from torchdevlint.facts import parameters
from torchdevlint.facts.devices import TOP, from_string, symbolic
from torchdevlint.facts.devices import Device as Spelled
from torchdevlint.facts.imported import named
from torchdevlint.facts.made import Made
from torchdevlint.facts.naming import (
    ABSENT,
    looks_like_device,
)
from torchdevlint.facts.values import AT_LEAST_ONE, Evidence, Kind, replace
from torchdevlint.facts.values import UNKNOWN as NO_VALUE
from torchdevlint.facts.values import Value as View
from torchdevlint.facts.values import join as joined
from torchdevlint.infer import annotated, classes
from torchdevlint.infer import modules as placing
from torchdevlint.infer.annotated import is_number
from torchdevlint.infer.devices import MOVED
from torchdevlint.infer.state import PLACED
from torchdevlint.infer.values import (
    BATCH_ENCODING,
    HOST,
    NOWHERE,
    UNKNOWN,
    Cls,
    Const,
    Device,
    Ext,
    Func,
    OneOf,
    Place,
    Rec,
    Ref,
    Site,
    Sort,
    Super,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
)
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.stubs.knowledge import methods, modules
from torchdevlint.stubs.knowledge.functions import AVAILABILITY

_SORTS = {
    "number": Kind.SCALAR,
    "array number": Kind.SCALAR,
    "clock": Kind.SCALAR,
    "array": Kind.NDARRAY,
    "array or number": Kind.NDARRAY,
    "size": Kind.SIZE,
    "dtype": Kind.DTYPE,
    "text": Kind.STRING,
    "accelerator": Kind.STRING,
}
_MOST_NESTED = 4
_MOST_NAMES = 6
_TENSOR_CLASSES = frozenset({"torch.Tensor", "torch.FloatTensor", "torch.autograd.Variable", "torch.nn.Parameter"})
_STATE = methods.MODULE_STRONG | {"state_dict", "load_state_dict"}


class Views(Made):
    """A body at one moment, with its values as rules see them."""

    def value(self, register: ir.Register) -> View:
        found = self._seen.get(register)
        if found is None:
            self._seen[register] = NO_VALUE  # of what is asked for on the way to itself: in a loop
            found = self._seen[register] = self._view(register)
        return found

    def _view(self, register: ir.Register) -> View:
        name = named(self.analysis, self.body, register)
        if name:
            return self.analysis.symbol(name)
        raw = self._raw(register)
        view = self._as_written(register, self.of(raw))
        if view.parameter and view.kind is Kind.TENSOR and not self._is_of_parameter(register, view.parameter):
            view = replace(view, parameter="")
        place = self.place(register)
        is_bound_once = bool(place) and len(self.index.bound_to(place)) == 1
        if view.kind is Kind.TENSOR and is_bound_once and self.index.use(place).attributes & _STATE:
            view = NO_VALUE  # asked for what no tensor has
        if view.kind is Kind.TENSOR and view.evidence is Evidence.NAME and place:
            shown, evidence = self.index.use(place).kind()
            view = replace(view, evidence=max(view.evidence, evidence)) if shown is Kind.TENSOR else view
        if view.is_fresh_cpu and ABSENT in self.guards:
            view = replace(view, origin=None)
        if view.kind is Kind.UNKNOWN:
            view = self._by_names(view, raw, register, place)
        if place and view.kind in (Kind.DEVICE, Kind.STRING) and view.device.place == "sym" and not view.device.name:
            view = replace(view, device=symbolic(place, chosen=True))
        made = self.definitions[register]
        return self._observed(made, view) if isinstance(made, ir.Load) and self.analysis.observed else view

    def _observed(self, read: ir.Load, view: View) -> View:
        """What a name holds, with what a run saw there."""
        found = Cfg.of(self.body).bindings(read.name, read)
        if found.parameter is not None and not found.stores:
            return self.analysis.observed.parameter(self.body, read.name, view)
        if len(found.stores) == 1 and found.parameter is None:
            return self.analysis.observed.store(found.stores[0], view)
        return view

    def _is_of_parameter(self, register: ir.Register, name: str) -> bool:
        """True for a parameter, and for a part of it."""
        made: ir.Op | None = self.definitions[register]
        for _ in range(2 * _MOST_NAMES):
            if isinstance(made, ir.Load):
                if made.name == name:
                    return True
                made = self.source(made.dst)
                if isinstance(made, ir.Load):
                    return made.name == name
            elif isinstance(made, (ir.Subscript, ir.Attribute)):
                made = self.definitions[made.object]
            elif isinstance(made, ir.Unpack):
                made = self.definitions[made.source]
            elif isinstance(made, ir.Iterate):
                made = self.definitions[made.iterable]
            else:
                return False
        return False

    def refuses_assignment(self, holder: ir.Register) -> bool:
        """True for what is said to be a named tuple, or an object of a frozen class: its attributes cannot be set."""
        inference, raw = self.analysis.inference, self._raw(holder)
        rec = self.heap.get(raw) if isinstance(raw, Ref) else None
        cls = rec.cls.cls if rec is not None and isinstance(rec.cls, Cls) else None
        cls = annotated.class_of(inference, raw) if isinstance(raw, Term) else cls
        return cls is not None and classes.refuses_assignment(inference, cls)

    def _by_names(self, view: View, raw: Value, register: ir.Register, place: str) -> View:
        """What annotations, uses and names tell of something of which the inference knows nothing."""
        tested = self._tested(raw)
        if tested is not None:
            return tested
        if isinstance(raw, Term) and raw.op == "parameter" and not raw.args[1].startswith("@"):
            found = self._where_placed(raw, self._annotated(*raw.args))
            if found.kind is not Kind.UNKNOWN and not self._is_around(raw.args[0]):  # an attribute that keeps it
                return replace(
                    found, device=symbolic(place) if found.kind is Kind.DEVICE and place else TOP, parameter=""
                )
            if found.kind is not Kind.UNKNOWN:
                return found
        if isinstance(raw, Term) and annotated.is_tensor(self.analysis.inference, raw):
            return replace(view, kind=Kind.TENSOR, evidence=Evidence.USAGE)
        if not place:
            return view
        if isinstance(raw, Term) and looks_like_device(place) and not isinstance(self.definitions[register], ir.Call):
            return View(Kind.DEVICE, symbolic(place), parameter=view.parameter)
        use = self.index.use(place)
        kind, evidence = use.kind()
        if kind is Kind.MODULE:
            return self._module_by_use(raw, view, place, evidence)
        if kind is Kind.OPTIMIZER:
            return View(kind, evidence=evidence, parameter=view.parameter)
        if kind is Kind.TENSOR and view.device is not TOP:
            return replace(view, kind=kind, evidence=evidence)
        if view.moved is not None:
            if use.is_module_call:
                return self._module_by_use(raw, view, place, Evidence.USAGE)
            if use.arithmetic or use.index:
                return replace(view, kind=Kind.TENSOR, evidence=Evidence.USAGE)
        if use.is_tensor_dtype and view.device is TOP and view.moved is None:
            return View(Kind.TENSOR, symbolic(f"{place}.device"), evidence=Evidence.USAGE)
        return view

    def _tested(self, raw: Value) -> View | None:
        """What `isinstance` has told of a value before."""
        for term, outcome in self.facts_held if isinstance(raw, Term) else ():
            if term.op != "isinstance" or term.args[0] != raw or not outcome:
                continue
            classes = term.args[1].items if isinstance(term.args[1], Tup) else (term.args[1],)
            names = {one.name if isinstance(one, Ext) else "" for one in classes}
            if names <= _TENSOR_CLASSES:
                text = self.text(raw)
                parameter = str(raw.args[1]) if isinstance(raw, Term) and raw.op == "parameter" else ""
                device = symbolic(f"{text}.device") if text else TOP
                return View(Kind.TENSOR, device, evidence=Evidence.USAGE, parameter=parameter)
            if names == {"numpy.ndarray"}:
                return View(Kind.NDARRAY)
            if "" not in names:
                return View(Kind.OTHER)
        return None

    def _ref_of_name(self, name: str, value: Value) -> str:
        """A name tells modules apart of which nothing is known; one that is bound again, with what it holds."""
        return f"{name}#{hash(value)}" if len(self.index.bound_to(name)) > 1 else name

    def _module_by_use(self, raw: Value, view: View, place: str, evidence: Evidence) -> View:
        own = self.index.self_name and place.startswith(self.index.self_name + ".")
        summary = self.class_summary
        device = view.device
        if own and device is TOP and summary is not None and summary.is_module:
            device = symbolic("self")
        attribute = place.partition(".")[2] if own else ""
        ref = "self." + attribute if own else self._ref_of_name(place, raw)
        found = View(
            Kind.MODULE,
            device,
            ref=ref,
            evidence=evidence,
            attribute=attribute,
            parameter=view.parameter,
            moved=view.moved,
        )
        return self._where_placed(raw, found)

    def _where_placed(self, raw: Value, view: View) -> View:
        """A module of which only its use is known, where this body has moved it."""
        rec = self.heap.get(raw) if view.kind is Kind.MODULE and isinstance(raw, Term) else None
        if rec is None:
            return view
        place = rec.fields.get("@device", rec.fields.get(PLACED))
        site = rec.fields.get(MOVED)
        if place is None:
            return view
        moved = site if isinstance(site, Site) and site.unit is self._unit else None
        return replace(view, device=self.spelled(place, moved), moved=moved.op if moved is not None else view.moved)

    def of(self, value: Value, nested: int = 0) -> View:
        """The view of a value."""
        if nested > _MOST_NESTED:
            return NO_VALUE
        match value:
            case Const(constant):
                return _constant(constant)
            case Term() if is_number(value):
                return View(Kind.SCALAR)
            case Sort(name):
                kind = _SORTS.get(name, Kind.OTHER)
                return View(kind, Spelled("acc", "cuda") if name == "accelerator" else TOP)
            case Tensor():
                return self._tensor(value)
            case Device(place):
                return View(Kind.DEVICE, self.spelled(place))
            case Tup(items):
                return View(Kind.TUPLE, items=tuple(self.of(one, nested + 1) for one in items))
            case OneOf(options):
                views = [self.of(one, nested + 1) for _, one in options] or [NO_VALUE]
                view = views[0]
                for other in views[1:]:
                    view = joined(view, other)
                return view
            case Ref():
                return self._of_maker(value, self._object(value, nested))
            case Func(body, receiver=receiver):
                if receiver is not None or body.owner is not None:
                    is_static = body.owner is not None and body.is_static
                    return View(Kind.FUNCTION, definition=body, ref="bound") if is_static else NO_VALUE
                return View(Kind.FUNCTION, definition=body)
            case Cls(cls):
                return View(Kind.CLASS, definition=cls)
            case Ext(name):
                return self.analysis.symbol(name)
            case Super():
                return View(Kind.OTHER, symbol="super")
            case Term(op="available"):
                return View(Kind.CONDITION, symbol=AVAILABILITY.get(value.args[0].value, "cuda"))
            case Term(op="not"):
                view = self.of(value.args[0], nested + 1)
                return replace(view, negated=not view.negated) if view.kind is Kind.CONDITION else View(Kind.SCALAR)
            case Term(op="is_cuda"):
                return View(Kind.CONDITION, symbol="cuda")
            case Term(op="equal" | "is_none" | "isinstance"):
                there, absent = self._guards_of(value, True), self._guards_of(value, False)
                if there - {ABSENT}:
                    return View(Kind.CONDITION, symbol=next(iter(there - {ABSENT})))
                if absent - {ABSENT}:
                    return View(Kind.CONDITION, symbol=next(iter(absent - {ABSENT})), negated=True)
                return View(Kind.SCALAR)
            case Term():
                return self._of_maker(value, self._term(value, nested))
        return NO_VALUE

    def _tensor(self, value: Tensor) -> View:
        site, place = value.origin, value.device
        made = site.op if site is not None and site.unit is self._unit else None
        moved = value.moved if value.moved is not None and value.moved.unit is self._unit else None
        device = self.spelled(place, moved)
        parameter = ""
        evidence = Evidence.STRONG
        if isinstance(place, Term) and place.op == "own" and isinstance(place.args[0], Term):
            root = place.args[0]
            if root.op == "parameter":
                parameter = root.args[1]
                evidence = self._evidence(root)
        return View(
            Kind.TENSOR,
            device,
            rank=AT_LEAST_ONE if value.rank is not None and value.rank < 0 else value.rank,
            origin=made,
            moved=moved.op if moved is not None else None,
            evidence=evidence,
            attribute=value.kept,
            parameter=parameter,
            symbol="parameter" if value.follows else "",
        )

    def _evidence(self, root: Term) -> Evidence:
        found = self._annotated(*root.args)
        return max(found.evidence, Evidence.USAGE) if found.kind is Kind.TENSOR else Evidence.USAGE

    def _annotated(self, body: ir.Body, name: str) -> View:
        number = next((at for at, one in enumerate(body.parameters) if one.name == name), None)
        if number is None:
            return NO_VALUE
        summary = self.analysis.enclosing_summary(body)
        return parameters.parameter_value(self.analysis, body, body.parameters[number], number, summary)

    def _object(self, ref: Ref, nested: int) -> View:
        rec = self.heap.get(ref)
        if rec is None or rec.kind in ("frame", "overlay"):
            return NO_VALUE
        cls = rec.cls
        definition = cls.cls if isinstance(cls, Cls) else None
        name = cls.name if isinstance(cls, Ext) else ""
        site = _made_at(ref.place)
        made = site.op if site is not None and site.unit is self._unit else None
        if rec.kind == "module" and name in modules.INPUT_MOVERS:
            inner = rec.fields.get(".module")
            return View(
                Kind.MODULE,
                TOP,
                ref=self._ref(inner) if isinstance(inner, Ref) else "",
                evidence=Evidence.STRONG,
                symbol="wrapper",
            )
        if rec.kind == "module":
            is_self = self.walk is not None and ref == self.walk.owner
            moved = rec.fields.get(MOVED)
            return View(
                Kind.MODULE,
                symbolic("self") if is_self else self._module_place(rec),
                origin=None if is_self else made,
                moved=moved.op if isinstance(moved, Site) and moved.unit is self._unit else None,
                evidence=Evidence.STRONG,
                symbol=name,
                definition=definition,
                ref="self" if is_self else self._ref(ref),
                attribute=self._attribute_of(ref),
            )
        if name == BATCH_ENCODING.name:  # a dict that has `to`
            return View(Kind.BATCH_ENCODING, TOP, origin=made, evidence=Evidence.STRONG)
        if rec.kind in ("list", "dict"):
            entries = tuple(
                (key[1], self.of(one, nested + 1)) for key, one in rec.fields.items() if isinstance(key, tuple)
            )
            others = self.of(rec.fields["*"], nested + 1) if "*" in rec.fields else None
            if rec.kind == "list":
                items = tuple(one for _, one in entries) if others is None else None
                return View(Kind.LIST, items=items, element=others, definition=definition)
            return View(
                Kind.DICT,
                entries=entries,
                element=others,
                items=() if not rec.fields else None,
                definition=definition,
            )
        if name.startswith("torch.optim."):
            return View(Kind.OPTIMIZER, symbol=name, origin=made, evidence=Evidence.STRONG)
        if rec.kind == "object" and definition is not None:
            is_self = self.walk is not None and ref == self.walk.owner
            return View(
                Kind.INSTANCE,
                symbolic("self") if is_self else TOP,
                definition=definition,
                ref="self" if is_self else self._ref(ref),
                evidence=Evidence.STRONG,
            )
        return View(Kind.OTHER) if rec.kind == "object" and name else NO_VALUE

    def _ref(self, ref: Ref) -> str:
        kept = self._attribute_of(ref)
        return f"self.{kept}" if kept else f"{self.body.qualname}#{hash(ref)}"

    def _attribute_of(self, ref: Ref) -> str:
        owner = self.walk.owner if self.walk is not None else None
        rec = self.heap.get(owner) if owner is not None else None
        for key, one in rec.fields.items() if rec is not None else ():
            if isinstance(key, str) and key.startswith(".") and ref in alternatives(one):
                return key[1:]
        return ""

    def _module_place(self, rec: Rec) -> Spelled:
        moved = rec.fields.get(MOVED)
        return self.spelled(self._place_within(rec), moved if isinstance(moved, Site) else None)

    def _place_within(self, rec: Rec) -> Place:
        """Where a module is: on the CPU, where it was made, if its parts were not moved one by one."""
        place: Place = rec.fields.get("@device", NOWHERE)
        if place != HOST or self.walk is None:
            return place
        ctx = self.walk.ctx
        saved, ctx.heap = ctx.heap, self.heap
        try:
            return placing.place_within(ctx, rec)
        finally:
            ctx.heap = saved

    def _term(self, term: Term, nested: int) -> View:
        if term is UNKNOWN:
            return NO_VALUE
        if term.op == "moved":
            inner, place, site = term.args
            view = self.of(inner, nested + 1)
            moved = site.op if isinstance(site, Site) and site.unit is self._unit else None
            return replace(view, device=self.spelled(place, site), moved=moved, parameter="")
        if term.op == "parameter" and not term.args[1].startswith("@") and self._is_around(term.args[0]):
            return View(parameter=term.args[1])
        if term.op == "binary":
            roots = [one for one in term.args[1:] if isinstance(one, Term) and one.op == "parameter"]
            if len(roots) == 1:
                return View(parameter=roots[0].args[1], symbol="computed")
        return NO_VALUE


def _made_at(place: object) -> Site | None:
    """Where an object was made: what a function makes for its caller, at the call of that."""
    if isinstance(place, tuple) and place[0] == "at":
        called = place[1][0] if isinstance(place[1], tuple) else place[1]
        return called if isinstance(called, Site) else None
    return place[0] if isinstance(place, tuple) and isinstance(place[0], Site) else None


def _constant(constant: Any) -> View:
    kind = type(constant)
    if kind is str:
        return View(Kind.STRING, from_string(constant) if len(constant) < 12 else TOP, constant=constant)
    if constant is None:
        return View(Kind.NONE, constant=None)
    return View(Kind.SCALAR, constant=constant) if kind in (int, float, bool) else View(Kind.OTHER)
