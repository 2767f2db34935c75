"""The analysis of one file: bodies in order, summaries of its functions and classes, and what the whole file says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchdevlint.flow import attributes, call_sites, class_shape, index, loaders, module_calls, values
from torchdevlint.flow.devices import CPU, TOP, Device, symbolic
from torchdevlint.flow.facts import ClassSummary, Use
from torchdevlint.flow.frame import Environment, Frame
from torchdevlint.flow.observed import NOTHING_OBSERVED, Observed
from torchdevlint.flow.operands import reference
from torchdevlint.flow.summaries import Summary, substitute
from torchdevlint.flow.values import (
    NOTHING,
    UNKNOWN,
    Evidence,
    Kind,
    Value,
    replace,
)
from torchdevlint.program import ir
from torchdevlint.program.project import Member

Sink = Callable[[str, ir.Op, Any], None]

_BUILTINS = frozenset(
    "len list tuple dict enumerate zip iter next filter int float bool isinstance hasattr range str super getattr sorted reversed sum max min abs map".split()
)
_BUILTIN_VALUES = {name: values.symbol(f"builtins.{name}") for name in _BUILTINS}
_DEEPEST_CALL = 3


class Analysis:
    """Facts of one file. `run` analyses everything and gives each event, with its frame, to `sink_for`."""

    def __init__(
        self,
        program: ir.Program,
        heard: frozenset[str] | None = None,
        observed: Observed = NOTHING_OBSERVED,
        target_torch: tuple[int, int] | None = None,
        member: Member | None = None,
    ) -> None:
        """`heard`: the attribute names and operation classes whose events somebody wants; None for all. `observed`: what a run saw."""
        self.program = program
        self.observed = observed
        self.target_torch = target_torch
        self.member = member
        self.heard = heard
        self.uses: dict[int, list[Use]] = {}
        self.frames: dict[int, Frame] = {}  # of each body, by its identity, once it was interpreted
        self._given: dict[int, list[tuple[ir.Body, dict[str, Value] | None]]] = {}
        self.module_env: Environment = {}
        self._indices: dict[int, index.BodyIndex] = {}
        self._summaries: dict[int, Summary] = {}
        self._classes: dict[int, ClassSummary] = {}
        self._classes_by_name: dict[str, list[ir.Class]] | None = None
        self._closures: dict[int, Environment] = {}
        self._discards: dict[int, dict[ir.Register, ir.Discard]] = {}
        self._symbols: dict[str, Value] = {}
        self.aliases = _aliases(program)
        self.attribute_cache: dict[tuple[int, str], Value] = {}
        self.remembered: dict[Any, Any] = {}  # answers of rules to what does not change while the file is analysed
        self._settled: set[int] = set()
        self._call_sites: call_sites.Sites | None = None
        self._places_batches: bool | None = None
        self._reported: set[int] = set()
        self._imports: Environment = {}
        self._imported: frozenset[str] | None = None  # what is imported, with all packages above it
        self._sink_for: Callable[[Frame], Sink] | None = None
        self._global_stores = _global_names(program)
        words = program.words
        self.legacy_default = "set_default_tensor_type" in words
        self._has_default_device = "set_default_device" in words or self.legacy_default

    # ---------------------------------------------------------------------------------------------- running

    def run(self, sink_for: Callable[[Frame], Sink]) -> None:
        """Analyse the whole file: the module, the constructors of its classes, then every other body, each told once."""
        self._sink_for = sink_for
        self._imports = {name: self.symbol(qualified) for name, qualified in self.aliases.items()}
        self.module_env = dict(self._imports)
        module = self._report(self.program.module)
        self.module_env = module.exit_env or module.env
        for cls in self.program.classes:
            self.settle(self.summary_of(cls))
        for body in self.program.bodies:
            if id(body) not in self._reported:
                self._report(body)

    def _report(self, body: ir.Body) -> Frame:
        """Interpret a body and give its events to the rules."""
        self._reported.add(id(body))
        frame = self.frames[id(body)] = Frame(self, body)
        frame.run(self._sink_for(frame) if self._sink_for is not None else None)
        for child in body.functions:
            if frame.exit_env is not None:
                self._closures[id(child)] = frame.exit_env
        if body.owner is not None and body.name == "__init__":
            attributes.settle(self, self.summary_of(body.owner), body, frame.exit_env or {})
        return frame

    def index_of(self, body: ir.Body) -> index.BodyIndex:
        """The index of a body, made once."""
        found = self._indices.get(id(body))
        if found is None:
            found = self._indices[id(body)] = index.of(body, self.aliases)
        return found

    @property
    def call_sites(self) -> call_sites.Sites:
        """The calls of the file's own functions, by name."""
        if self._call_sites is None:
            self._call_sites = call_sites.collect(self)
        return self._call_sites

    @property
    def places_batches(self) -> bool:
        """True for a file with a loader whose batches may be on a device already."""
        if self._places_batches is None:
            self._places_batches = loaders.any_may_place(self)
        return self._places_batches

    def discards(self, body: ir.Body) -> dict[ir.Register, ir.Discard]:
        """The expression statements of a body by register."""
        found = self._discards.get(id(body))
        if found is None:
            found = {op.value: op for block in body.blocks for op in block.ops if isinstance(op, ir.Discard)}
            self._discards[id(body)] = found
        return found

    # ---------------------------------------------------------------------------------------------- names

    def symbol(self, name: str) -> Value:
        """The value of a dotted name, made once."""
        found = self._symbols.get(name)
        if found is None:
            if name.startswith("torch.nn.modules.") and name.rpartition(".")[2][:1].isupper():
                name = "torch.nn." + name.rpartition(".")[2]
            found = self._symbols[name] = values.symbol(name)
        return found

    def lookup_outside(self, body: ir.Body, name: str) -> Value:
        """A name that the body does not bind: in the enclosing functions, the module, the builtins."""
        scope: ir.Body | None = body
        while scope is not None and scope.kind != "module":
            closure = self._closures.get(id(scope))
            if (
                closure is not None
                and name in closure
                and scope.parent is not None
                and scope.parent.kind in ("function", "lambda")
            ):
                outer: Value = closure[name]
                return outer
            scope = scope.parent
        if body.kind != "module":
            found: Value | None = self.module_env.get(name)
            if found is not None:
                return found if name not in self._global_stores else UNKNOWN
        return _BUILTIN_VALUES.get(name, UNKNOWN)

    def note_closure(self, function: ir.Body, env: Environment) -> None:
        """Remember what a nested function sees."""
        self._closures[id(function)] = env

    def resolve_text(self, dotted: str) -> str:
        """The dotted name that a written one stands for, by the file's imports."""
        root, dot, rest = dotted.partition(".")
        base = self.aliases.get(root)
        return f"{base}{dot}{rest}" if base else dotted

    def imports(self, *roots: str) -> bool:
        """True when a module under one of the roots is imported."""
        if self._imported is None:
            self._imported = frozenset(
                ".".join(parts[:count])
                for parts in (name.split(".") for name in self.program.imported)
                for count in range(1, len(parts) + 1)
            )
        return not self._imported.isdisjoint(roots)

    def default_device(self, frame: Frame) -> Device | None:
        """The default device where it was set by the file, or by a `with torch.device(...)` around the operation."""
        if frame.block is not None:
            for register in frame.block.withs:
                value = frame.values[register]
                if value.kind is Kind.DEVICE:
                    return (
                        frame.device_argument(register) if value.device is not TOP else symbolic("the default device")
                    )
        return symbolic("the default device") if self._has_default_device else None

    # ---------------------------------------------------------------------------------------------- functions

    def call_function(self, frame: Frame, op: ir.Call, callee: Value) -> Value:
        """The value of a call of a function of this file."""
        body: ir.Body = callee.definition
        bindings = self._bind(frame, op, body, skip=0)
        return self._specialised(frame, op, body, bindings, None)

    def call_with(self, frame: Frame, op: ir.Call, callee: Value, given: list[Value]) -> Value:
        """The value of a call of a function of this file with these positional arguments (`map(f, values)` calls it so)."""
        body: ir.Body = callee.definition
        names = [p.name for p in body.parameters if p.kind in ("positional", "positional-only")]
        return self._specialised(frame, op, body, dict(zip(names, given, strict=False)), None)

    def call_method(self, frame: Frame, op: ir.Call, name: str, receiver: Value) -> Value:
        """The value of `receiver.name(...)` for an object of a class of this file."""
        if receiver.definition is None:
            return UNKNOWN
        summary = self.summary_of(receiver.definition)
        body = summary.method(name)
        if body is None:
            if receiver.ref == "self":
                attribute = attributes.of_self(self, frame, summary, name, f"{frame.index.self_name}.{name}")
                if attribute.kind is Kind.MODULE:
                    return module_calls.call_module(frame, op, attribute)
            return UNKNOWN
        if "property" in body.decorators:
            return UNKNOWN
        bindings = self._bind(frame, op, body, skip=0 if body.is_static else 1)
        return self._specialised(frame, op, body, bindings, receiver)

    def _bind(self, frame: Frame, op: ir.Call, body: ir.Body, skip: int) -> dict[str, Value]:
        bindings: dict[str, Value] = {}
        if frame.sink is not None:
            self._given.setdefault(id(body), []).append((frame.body, bindings))
        positional = [p for p in body.parameters if p.kind in ("positional", "positional-only")][skip:]
        at = 0
        for argument in op.arguments:
            if argument.star:
                if frame.sink is not None:
                    self._given[id(body)][-1] = (frame.body, None)
                return {}
            value = self.given(frame, argument.value)
            if argument.keyword is not None:
                bindings[argument.keyword] = value
            elif at < len(positional):
                bindings[positional[at].name] = value
                at += 1
        return bindings

    def given(self, frame: Frame, register: ir.Register) -> Value:
        """What a call gives with a register: an unknown value with the device that it may name, a module where it was moved to."""
        value = frame.values[register]
        if value.kind is Kind.UNKNOWN:
            device = frame.device_argument(register)
            return replace(value, device=device) if device is not TOP else value
        return replace(value, device=module_calls.place_of(frame, value)) if value.kind is Kind.MODULE else value

    def given_on_host(self, body: ir.Body, parameter: str, depth: int = 3) -> bool:
        """True when functions of this file call the body and each gives a CPU tensor as `parameter`. Complete once the file was analysed."""
        calls = [(caller, given) for caller, given in self._given.get(id(body), ()) if not _is_demonstration(caller)]
        if not calls or depth == 0:
            return False
        return all(
            given is not None
            and (
                self._is_on_host(given[parameter], caller, depth)
                if parameter in given
                else self._is_none_by_default(body, parameter)
            )
            for caller, given in calls
        )

    def _is_none_by_default(self, body: ir.Body, parameter: str) -> bool:
        if body.parent is None:
            return False
        outside = self.index_of(body.parent).definitions
        return any(
            p.name == parameter and p.default is not None and _is_none(outside[p.default]) for p in body.parameters
        )

    def arguments_given(self, body: ir.Body, parameter: str) -> list[Value]:
        """What the calls of this file give as `parameter`. Complete once the file was analysed."""
        return [given[parameter] for _, given in self._given.get(id(body), ()) if given and parameter in given]

    def constants_given(self, body: ir.Body, parameter: str) -> list[Any] | None:
        """The constants that the calls of this file give as `parameter`, its default among them; None where there is no call, or one gives anything else."""
        calls = [given for _, given in self._given.get(id(body), ())]
        found: list[Any] = []
        for given in calls:
            constant = NOTHING
            if given is not None:
                constant = given[parameter].constant if parameter in given else self._default_constant(body, parameter)
            if constant is NOTHING:
                return None
            found.append(constant)
        return found or None

    def _default_constant(self, body: ir.Body, parameter: str) -> Any:
        defaults = [p.default for p in body.parameters if p.name == parameter and p.default is not None]
        written = self.index_of(body.parent).definitions[defaults[0]] if defaults and body.parent is not None else None
        return written.value if isinstance(written, ir.Constant) else NOTHING

    def _is_on_host(self, value: Value, caller: ir.Body, depth: int) -> bool:
        for part in (values.element_of(value) if value.kind is Kind.LIST else value).parts:
            if part.kind is Kind.UNKNOWN and part.device is CPU and part.moved is not None:
                continue  # `x.cpu()`
            if part.kind in (Kind.NONE, Kind.NDARRAY):
                continue
            if part.kind not in (Kind.TENSOR, Kind.MODULE) or (part.moved is not None and part.device.place != "cpu"):
                return False
            name = part.device.name.removesuffix(".device")
            asked = part.device.place == "sym" and any(parameter.name == name for parameter in caller.parameters)
            if part.device.place != "cpu" and not (asked and self.given_on_host(caller, name, depth - 1)):
                return False
        return True

    def _specialised(
        self, frame: Frame, op: ir.Call, body: ir.Body, bindings: dict[str, Value], receiver: Value | None
    ) -> Value:
        if body.is_generator:
            return UNKNOWN
        if body.owner is not None:
            self._settle_for(frame, self.summary_of(body.owner))
        self._open_module(frame)
        summary = self._summary(body, frame.depth + 1)
        own = TOP
        if receiver is not None and receiver.ref == "self":
            own = symbolic("self")
        elif receiver is not None and receiver.kind is Kind.MODULE:
            own = frame.module_device(receiver)
        bound = self._with_absent(op, body, bindings)
        returned = substitute(summary.returned, bound, own, 0)
        if returned.kind is Kind.MODULE and returned.ref.startswith(body.qualname + "#"):
            return replace(returned, ref=reference(frame, op))  # each call makes one of its own
        return returned

    def _with_absent(self, op: ir.Call, body: ir.Body, bindings: dict[str, Value]) -> dict[str, Value]:
        """The arguments, with those that the call leaves out and that are None or the CPU then."""
        if op.has_splat or body.parent is None:
            return bindings
        outside = self.index_of(body.parent).definitions
        absent: dict[str, Value] = {}
        for p in body.parameters:
            default = outside[p.default] if p.default is not None and p.name not in bindings else None
            if _is_none(default):
                absent[p.name] = values.NONE
            elif isinstance(default, ir.Constant) and default.value == "cpu":
                absent[p.name] = Value(Kind.STRING, CPU, constant="cpu")
        return {**absent, **bindings} if absent else bindings

    def _open_module(self, frame: Frame) -> None:
        """A module that calls while it is still read: its functions see what it has bound so far."""
        if frame.body.kind == "module":
            self.module_env = {**self._imports, **frame.env}

    def _settle_for(self, frame: Frame, summary: ClassSummary) -> None:
        """Settle a class that is used before its turn came."""
        if id(summary) not in self._settled:
            self._open_module(frame)
            self.settle(summary)

    def returned_by(self, frame: Frame, body: ir.Body) -> Value:
        """What a body gives, in terms of its own parameters and attributes."""
        if body.is_generator:
            return UNKNOWN
        if body.owner is not None:
            self._settle_for(frame, self.summary_of(body.owner))
        self._open_module(frame)
        return self._summary(body, frame.depth + 1).returned

    def _summary(self, body: ir.Body, depth: int) -> Summary:
        found = self._summaries.get(id(body))
        if found is not None:
            return found
        if depth > _DEEPEST_CALL:
            return Summary(UNKNOWN)
        found = self._summaries[id(body)] = Summary(UNKNOWN, running=True)
        inner = Frame(self, body, depth)
        inner.run()
        found.returned = inner.returned or values.NONE
        found.running = False
        return found

    def instantiate(self, frame: Frame, op: ir.Call, callee: Value) -> Value:
        """An object of a class of this file."""
        cls: ir.Class = callee.definition
        summary = self.summary_of(cls)
        ref = f"{frame.body.qualname}#{op.dst}"
        if summary.is_module:
            self._settle_for(frame, summary)
            return Value(Kind.MODULE, CPU, ref=ref, definition=cls, evidence=Evidence.STRONG, origin=op)
        return Value(Kind.INSTANCE, ref=ref, definition=cls)

    # ---------------------------------------------------------------------------------------------- classes

    def enclosing_summary(self, body: ir.Body) -> ClassSummary | None:
        """The class that a body's `self` belongs to."""
        scope: ir.Body | None = body
        while scope is not None:
            if scope.owner is not None and scope.kind != "class":
                return self.summary_of(scope.owner)
            scope = scope.parent
        return None

    def summary_of(self, cls: ir.Class) -> ClassSummary:
        """The summary of a class, made once (its attributes are filled by `settle`)."""
        found = self._classes.get(id(cls))
        if found is not None:
            return found
        found = self._classes[id(cls)] = ClassSummary(cls, is_module=False)
        class_shape.describe(self, found)
        return found

    def class_named(self, name: str, other_than: ir.Class) -> ir.Class | None:
        """The last class of this file with a name, that is not the given one."""
        if self._classes_by_name is None:
            self._classes_by_name = {}
            for cls in self.program.classes:
                self._classes_by_name.setdefault(cls.name, []).append(cls)
        return next((cls for cls in reversed(self._classes_by_name.get(name, ())) if cls is not other_than), None)

    def settle(self, summary: ClassSummary) -> None:
        """Fill in the attributes of a class: set-up methods first, then every method that stores one."""
        if id(summary) in self._settled:
            return
        self._settled.add(id(summary))
        for base in summary.base_summaries:
            self.settle(base)
        names = [name for name in class_shape.SETUP_METHODS if name in summary.cls.methods]
        names += [
            name
            for name in summary.cls.methods
            if name not in names and self.index_of(summary.cls.methods[name]).self_stores
        ]
        for name in names:
            body = summary.cls.methods[name]
            if name == "__init__" and id(body) not in self._reported:
                self._report(body)
            elif self.index_of(body).self_stores or name in ("build", "setup"):
                frame = Frame(self, body, depth=1)
                frame.run()
                attributes.settle(self, summary, body, frame.exit_env or {})
        for body in summary.cls.methods.values() if summary.is_module else ():
            if body.name not in names and any(summary.keeps_dict(name) for name in self.index_of(body).self_fills):
                Frame(self, body, depth=1).run()
        self.attribute_cache.clear()


def _aliases(program: ir.Program) -> dict[str, str]:
    """Imported names of the whole file, where they mean one thing only."""
    found: dict[str, str] = {}
    clash: set[str] = set()
    for body in program.bodies:
        for block in body.blocks:
            pending: dict[int, str] = {}
            for op in block.ops:
                if isinstance(op, ir.Import):
                    pending[op.dst] = op.qualified
                elif (
                    pending
                    and isinstance(op, ir.Store)
                    and op.value in pending
                    and found.setdefault(op.name, pending[op.value]) != pending[op.value]
                ):
                    clash.add(op.name)
    return {name: qualified for name, qualified in found.items() if name not in clash}


def _is_none(written: ir.Op | None) -> bool:
    return isinstance(written, ir.Constant) and written.value is None


def _is_demonstration(body: ir.Body) -> bool:
    """True for the module's own code and for tests: what they give says little of other callers."""
    return body.kind == "module" or body.name.startswith(("test", "main"))


def _global_names(program: ir.Program) -> frozenset[str]:
    names: set[str] = set()
    for body in program.bodies:
        if body.kind == "function":
            names |= body.global_names & body.local_names if body.local_names else body.global_names
    return frozenset(names)
