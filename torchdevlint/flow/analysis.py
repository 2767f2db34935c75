"""The analysis of one file: bodies in order, summaries of its functions and classes, and what the whole file says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torchdevlint.flow import calls, index, values
from torchdevlint.flow.devices import CPU, TOP, Device, symbolic
from torchdevlint.flow.facts import AttributeStore, ClassSummary, Use
from torchdevlint.flow.frame import Environment, Frame
from torchdevlint.flow.knowledge import modules
from torchdevlint.flow.naming import LOADER_NAME, looks_like_device
from torchdevlint.flow.observed import NOTHING_OBSERVED, Observed
from torchdevlint.flow.values import (
    NOTHING,
    OTHER,
    SCALAR,
    UNKNOWN,
    Evidence,
    Kind,
    Value,
    replace,
    tensor,
)
from torchdevlint.program import ir

Sink = Callable[[str, ir.Op, Any], None]

_BUILTINS = frozenset(
    "len list tuple dict enumerate zip iter next filter int float bool isinstance hasattr range str super getattr sorted reversed".split()
)
_BUILTIN_VALUES = {name: values.symbol(f"builtins.{name}") for name in _BUILTINS}
_DEEPEST_CALL = 3
_SETUP_METHODS = (
    "__init__",
    "__post_init__",
    "setup",
    "reset_parameters",
    "init_weights",
    "_init_weights",
    "build",
    "_build",
    "configure_model",
)
_TENSOR_ANNOTATIONS = frozenset(
    "Tensor FloatTensor LongTensor BoolTensor IntTensor ByteTensor DoubleTensor Variable".split()
)
_TRANSPARENT = frozenset("Optional Union | Annotated Final typing.Optional typing.Union t.Optional t.Union".split())


@dataclass(slots=True)
class _Summary:
    returned: Value
    requirements: dict[str, Value] = field(default_factory=dict)
    running: bool = False


class Analysis:
    """Facts of one file. `run` analyses everything and gives each event, with its frame, to `sink_for`."""

    def __init__(
        self, program: ir.Program, heard: frozenset[str] | None = None, observed: Observed = NOTHING_OBSERVED
    ) -> None:
        """`heard`: the attribute names and operation classes whose events somebody wants; None for all. `observed`: what a run saw."""
        self.program = program
        self.observed = observed
        self.heard = heard
        self.uses: dict[int, list[Use]] = {}
        self.module_env: Environment = {}
        self._indices: dict[int, index.BodyIndex] = {}
        self._summaries: dict[int, _Summary] = {}
        self._classes: dict[int, ClassSummary] = {}
        self._closures: dict[int, Environment] = {}
        self._discards: dict[int, dict[ir.Register, ir.Discard]] = {}
        self._symbols: dict[str, Value] = {}
        self.aliases = _aliases(program)
        self._attribute_cache: dict[tuple[int, str], Value] = {}
        self._settled: set[int] = set()
        self._reported: set[int] = set()
        self._imports: Environment = {}
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
        frame = Frame(self, body)
        frame.run(self._sink_for(frame) if self._sink_for is not None else None)
        for child in body.functions:
            if frame.exit_env is not None:
                self._closures[id(child)] = frame.exit_env
        return frame

    def index_of(self, body: ir.Body) -> index.BodyIndex:
        """The index of a body, made once."""
        found = self._indices.get(id(body))
        if found is None:
            found = self._indices[id(body)] = index.build(body, self.aliases)
        return found

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
        return any(name == root or name.startswith(root + ".") for name in self.program.imported for root in roots)

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

    # ---------------------------------------------------------------------------------------------- kinds of parameters

    def annotated(self, annotation: ir.Annotation, name: str) -> Value | None:
        """The value that an annotation promises, or None when it says nothing of interest."""
        last = annotation.name.rpartition(".")[2]
        if last in _TENSOR_ANNOTATIONS:
            return tensor(symbolic(f"{name}.device"), evidence=Evidence.STRONG)
        if annotation.name in _TRANSPARENT or last in ("Optional", "Union"):
            inner = [self.annotated(argument, name) for argument in annotation.arguments if argument.name != "None"]
            kinds = {value.kind if value is not None else None for value in inner}
            if len(inner) >= 1 and len(kinds) == 1 and inner[0] is not None:
                return inner[0]
            if Kind.DEVICE in kinds:
                return Value(Kind.DEVICE, symbolic(name))
            return Value(Kind.OTHER) if None not in kinds and Kind.TENSOR not in kinds else UNKNOWN
        resolved = self.resolve_text(annotation.name)
        if resolved in ("torch.device", "torch.types.Device", "torch.types.DeviceLikeType") or last == "device":
            return Value(Kind.DEVICE, symbolic(name))
        if resolved == "torch.dtype":
            return values.DTYPE
        if resolved in ("int", "float", "bool"):
            return SCALAR
        if resolved == "str":
            return Value(Kind.DEVICE, symbolic(name)) if looks_like_device(name) else values.STRING
        if resolved in modules.LOADERS or last == "DataLoader":
            return Value(Kind.LOADER, evidence=Evidence.USAGE)
        if resolved in modules.MODULE_BASES or resolved == "torch.nn.Module" or last in ("PreTrainedModel",):
            return Value(Kind.MODULE, TOP, ref=name, evidence=Evidence.STRONG)
        if resolved.startswith("torch.optim."):
            return Value(Kind.OPTIMIZER, evidence=Evidence.STRONG)
        if last == "ndarray":
            return values.NDARRAY
        if last in ("BatchEncoding", "BatchFeature"):
            return Value(Kind.BATCH_ENCODING, TOP, evidence=Evidence.STRONG)
        if last in ("List", "list", "Sequence", "Tuple", "tuple", "Iterable"):
            element = self.annotated(annotation.arguments[0], name) if annotation.arguments else None
            if element is not None and element.is_tensor:
                return Value(Kind.LIST, element=replace(element, device=symbolic(f"{name}[0].device")))
            return Value(Kind.LIST, element=element) if element is not None and element.kind is Kind.SCALAR else UNKNOWN
        if last in ("Dict", "dict", "Mapping"):
            element = self.annotated(annotation.arguments[1], name) if len(annotation.arguments) == 2 else None
            if element is not None and element.is_tensor:
                return Value(Kind.DICT, element=replace(element, device=symbolic(f"{name}'s device")))
            return UNKNOWN
        if last in ("Any", "object", "?", "Callable", "None"):
            return None
        return UNKNOWN

    def parameter_value(
        self, body: ir.Body, parameter: ir.Parameter, number: int, summary: ClassSummary | None
    ) -> Value:
        """What a parameter holds when the function starts: by annotation, default, use, and only then by name."""
        name = parameter.name
        body_index = self.index_of(body)
        if number == 0 and body_index.self_name == name and body.owner is not None:
            if "classmethod" in body.decorators:
                return Value(Kind.CLASS, definition=body.owner)
            is_module = summary is not None and summary.is_module
            return Value(
                Kind.MODULE if is_module else Kind.INSTANCE,
                symbolic("self"),
                ref="self",
                definition=body.owner,
                evidence=Evidence.STRONG,
            )
        if parameter.kind == "*":
            return UNKNOWN
        if parameter.kind == "**":
            return Value(Kind.DICT)
        if parameter.annotation is not None:
            value = self.annotated(parameter.annotation, name)
            if value is not None:
                return replace(value, parameter=name) if value.kind is not Kind.UNKNOWN else Value(parameter=name)
        if looks_like_device(name):
            return Value(Kind.DEVICE, symbolic(name), parameter=name)
        default = self._default(body, parameter)
        if default is not None and default.kind in (Kind.SCALAR, Kind.STRING):
            return replace(default, constant=NOTHING, device=TOP, parameter=name)
        use = body_index.use(name)
        kind, evidence = use.kind()
        if kind is Kind.TENSOR:
            return tensor(symbolic(f"{name}.device"), parameter=name, evidence=evidence)
        if kind is Kind.MODULE:
            return Value(Kind.MODULE, TOP, ref=name, evidence=evidence, parameter=name)
        if kind is Kind.OPTIMIZER:
            return Value(Kind.OPTIMIZER, evidence=evidence, parameter=name)
        in_forward = summary is not None and summary.is_module and body.name == "forward"
        if (
            in_forward
            and default is None
            and not use.called
            and not use.host_argument
            and (use.module_argument or use.arithmetic)
        ):
            return tensor(symbolic(f"{name}.device"), parameter=name, evidence=Evidence.USAGE)
        if LOADER_NAME.search(name):
            return Value(Kind.LOADER, evidence=Evidence.NAME, parameter=name)
        if name in ("model", "net", "network") and use.called:
            return Value(Kind.MODULE, TOP, ref=name, evidence=Evidence.NAME, parameter=name)
        return Value(parameter=name)

    def _default(self, body: ir.Body, parameter: ir.Parameter) -> Value | None:
        if parameter.default is None or body.parent is None:
            return None
        definition = self.index_of(body.parent).definitions[parameter.default]
        if isinstance(definition, ir.Constant):
            constant = definition.value
            if isinstance(constant, (bool, int, float)):
                return Value(Kind.SCALAR, constant=constant)
            if isinstance(constant, str):
                return Value(Kind.STRING, constant=constant)
            if constant is None:
                return values.NONE
        return None

    # ---------------------------------------------------------------------------------------------- functions

    def call_function(self, frame: Frame, op: ir.Call, callee: Value) -> Value:
        """The value of a call of a function of this file."""
        body: ir.Body = callee.definition
        bindings = self._bind(frame, op, body, skip=0)
        return self._specialised(frame, op, body, bindings, None)

    def call_method(self, frame: Frame, op: ir.Call, name: str, receiver: Value) -> Value:
        """The value of `receiver.name(...)` for an object of a class of this file."""
        if receiver.definition is None:
            return UNKNOWN
        summary = self.summary_of(receiver.definition)
        body = summary.method(name)
        if body is None:
            if receiver.ref == "self":
                attribute = self.self_attribute(frame, summary, name, f"{frame.index.self_name}.{name}")
                if attribute.kind is Kind.MODULE:
                    return calls.call_module(frame, op, attribute)
            return UNKNOWN
        if "property" in body.decorators:
            return UNKNOWN
        bindings = self._bind(frame, op, body, skip=0 if "staticmethod" in body.decorators else 1)
        return self._specialised(frame, op, body, bindings, receiver)

    def _bind(self, frame: Frame, op: ir.Call, body: ir.Body, skip: int) -> dict[str, Value]:
        bindings: dict[str, Value] = {}
        positional = [p for p in body.parameters if p.kind in ("positional", "positional-only")][skip:]
        at = 0
        for argument in op.arguments:
            if argument.star:
                return {}
            value = frame.values[argument.value]
            if value.kind is not Kind.DEVICE:
                device = frame.device_argument(argument.value)
                if value.kind is Kind.UNKNOWN and device is not TOP:
                    value = replace(value, device=device)
            if argument.keyword is not None:
                bindings[argument.keyword] = value
            elif at < len(positional):
                bindings[positional[at].name] = value
                at += 1
        return bindings

    def _specialised(
        self, frame: Frame, op: ir.Call, body: ir.Body, bindings: dict[str, Value], receiver: Value | None
    ) -> Value:
        if body.is_generator:
            return UNKNOWN
        if frame.body.kind == "module":
            # The module calls while it is still read: its functions see what it has bound so far.
            self.module_env = {**self._imports, **frame.env}
        if body.owner is not None:
            self.settle(self.summary_of(body.owner))
        summary = self._summary(body, frame.depth + 1)
        own = TOP
        if receiver is not None and receiver.ref == "self":
            own = symbolic("self")
        elif receiver is not None and receiver.kind is Kind.MODULE:
            own = frame.module_device(receiver)
        for name, other in summary.requirements.items():
            given = bindings.get(name)
            if given is not None and given.kind is Kind.TENSOR:
                met = _substitute(replace(other, parameter=""), bindings, own, 0)
                frame.meet(op, [(given, "argument"), (met, "operand")], strict=True, callee=body.name)
        return _substitute(summary.returned, bindings, own, 0)

    def _summary(self, body: ir.Body, depth: int) -> _Summary:
        found = self._summaries.get(id(body))
        if found is not None:
            return found
        if depth > _DEEPEST_CALL:
            return _Summary(UNKNOWN)
        found = self._summaries[id(body)] = _Summary(UNKNOWN, running=True)
        inner = Frame(self, body, depth)
        inner.run()
        found.returned = inner.returned or values.NONE
        found.requirements = inner.requirements
        found.running = False
        return found

    def instantiate(self, frame: Frame, op: ir.Call, callee: Value) -> Value:
        """An object of a class of this file."""
        cls: ir.Class = callee.definition
        summary = self.summary_of(cls)
        ref = f"{frame.body.qualname}#{op.dst}"
        if summary.is_module:
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
        in_file = {c.name: c for c in self.program.classes if c is not cls}
        bases = tuple(self.resolve_text(base) for base in cls.bases)
        found.bases = bases
        found.base_summaries = tuple(self.summary_of(in_file[base]) for base in cls.bases if base in in_file)
        found.is_lightning = any(
            base in modules.LIGHTNING_BASES or base.endswith("LightningModule") for base in bases
        ) or any(base.is_lightning for base in found.base_summaries)
        found.is_module = found.is_lightning or self._is_module(cls, bases, found.base_summaries)
        found.has_device_property = "device" in cls.methods or any(
            base.has_device_property for base in found.base_summaries
        )
        found.forward_methods = self._reachable(found) if found.is_module else frozenset()
        setup = self._reached(found, [name for name in _SETUP_METHODS if name in cls.methods])
        others = self._reached(found, [name for name in cls.methods if name not in setup])
        found.setup_methods = frozenset(setup - others)
        return found

    def _is_module(self, cls: ir.Class, bases: tuple[str, ...], summaries: tuple[ClassSummary, ...]) -> bool:
        if any(base.is_module for base in summaries):
            return True
        for base in bases:
            if base in modules.MODULE_BASES or (base.startswith("torch.nn.") and base.rpartition(".")[2][:1].isupper()):
                return True
            last = base.rpartition(".")[2]
            if last.endswith(("PreTrainedModel", "LightningModule")) or base in ("nn.Module", "Module"):
                return True
            if "." in base and _MODULE_NAME.search(last) and self._holds_modules(cls):
                return True
            # A class with forward whose base comes from elsewhere, named as modules are.
            if (
                "forward" in cls.methods
                and base not in ("?", "object")
                and not last.endswith(("Function", "Dataset", "Hook", "Transform"))
            ):
                resolved_elsewhere = "." in base
                if resolved_elsewhere and self.imports("torch") and not base.startswith(("torch.autograd", "abc.")):
                    return True
        return False

    def _holds_modules(self, cls: ir.Class) -> bool:
        """True when `__init__` stores an instance of a class of torch.nn (or an embedding or layer by name) on self."""
        init = cls.methods.get("__init__")
        if init is None:
            return False
        definitions = self.index_of(init).definitions
        for block in init.blocks:
            for op in block.ops:
                if isinstance(op, ir.StoreAttribute):
                    made = definitions[op.value]
                    function = definitions[made.function] if isinstance(made, ir.Call) else None
                    text = _dotted(definitions, function)
                    if text and modules.is_module_class(self.resolve_text(text)):
                        return True
        return False

    def _reachable(self, summary: ClassSummary) -> frozenset[str]:
        """The methods that forward reaches through calls on self."""
        starts = [
            "forward",
            "training_step",
            "validation_step",
            "test_step",
            "predict_step",
            "loss",
            "__call__",
            "forward_train",
            "forward_test",
            "step",
        ]
        pending = [name for name in starts if summary.method(name) is not None]
        if not pending:
            # forward stands in a base class elsewhere: what this class defines is what that one calls.
            pending = [name for name in summary.cls.methods if not name.startswith("__") and name not in _SETUP_METHODS]
        return self._reached(summary, pending) - {"__init__"}

    def _reached(self, summary: ClassSummary, pending: list[str]) -> frozenset[str]:
        """The methods reached from these through calls on self."""
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            body = summary.method(name)
            if name in seen or body is None:
                continue
            seen.add(name)
            pending += [called for called in self.index_of(body).self_calls if called not in seen]
        return frozenset(seen)

    def settle(self, summary: ClassSummary) -> None:
        """Fill in the attributes of a class: set-up methods first, then every method that stores one."""
        if id(summary) in self._settled:
            return
        self._settled.add(id(summary))
        for base in summary.base_summaries:
            self.settle(base)
        names = [name for name in _SETUP_METHODS if name in summary.cls.methods]
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
                Frame(self, body, depth=1).run()
        self._attribute_cache.clear()

    def store_self_attribute(self, summary: ClassSummary, store: AttributeStore) -> Value:
        """Note `self.name = value`; gives the value as the method sees it from now on."""
        name, value = store.op.name, store.value
        known = summary.stores.setdefault(name, [])
        for at, old in enumerate(known):
            if old.op is store.op:
                known[at] = store
                break
        else:
            known.append(store)
        self._attribute_cache.pop((id(summary), name), None)
        if value.kind is Kind.TENSOR and value.symbol in ("parameter", "buffer"):
            (summary.parameters if value.symbol == "parameter" else summary.buffers).add(name)
            return replace(
                value, device=symbolic("self"), origin=None, others=(), evidence=Evidence.STRONG, attribute=name
            )
        if value.kind is Kind.MODULE and summary.is_module:
            return replace(
                value,
                device=symbolic("self") if value.device in (CPU, TOP) else value.device,
                ref=f"self.{name}",
                attribute=name,
            )
        return value

    def register_tensor(self, frame: Frame, op: ir.Call, method: str, summary: ClassSummary) -> Value:
        """`self.register_buffer(name, tensor)` and `self.register_parameter`."""
        first = op.argument("name", 0)
        name = frame.values[first].constant if first is not None else NOTHING
        if isinstance(name, str):
            (summary.buffers if method == "register_buffer" else summary.parameters).add(name)
            second = op.argument("tensor", 1) if method == "register_buffer" else op.argument("param", 1)
            rank = frame.values[second].rank if second is not None else None
            frame.store_place(
                f"{frame.index.self_name}.{name}",
                tensor(symbolic("self"), rank=rank, evidence=Evidence.STRONG, attribute=name),
            )
            self._attribute_cache.pop((id(summary), name), None)
        return OTHER

    def self_attribute(self, frame: Frame, summary: ClassSummary, name: str, place: str) -> Value:
        """What `self.name` holds on entry of a method."""
        if name == "device" and not summary.stores_of("device"):
            return Value(Kind.DEVICE, symbolic(place or "self.device"))
        key = (id(summary), name)
        found = self._attribute_cache.get(key)
        if found is None:
            found = self._attribute_cache[key] = self._attribute(summary, name)
        if found.kind is Kind.UNKNOWN and place:
            kind, evidence = frame.index.use(place).kind()
            if kind is Kind.MODULE:
                return Value(
                    kind, symbolic("self") if summary.is_module else TOP, ref=place, evidence=evidence, attribute=name
                )
            if kind is Kind.OPTIMIZER:
                return Value(kind, evidence=evidence)
            if looks_like_device(name):
                return Value(Kind.DEVICE, symbolic(place))
            if summary.is_module and summary.stores_of(name) and frame.index.use(place).called:
                # Stored from an argument and called: a submodule.
                return Value(Kind.MODULE, symbolic("self"), ref=place, evidence=Evidence.USAGE, attribute=name)
        if (
            found.kind is Kind.DEVICE
            and found.device.place == "sym"
            and place
            and not found.device.name.startswith("self.")
        ):
            return replace(found, device=symbolic(place, chosen=found.device.chosen))
        return found

    def _attribute(self, summary: ClassSummary, name: str) -> Value:
        if summary.is_registered(name):
            return tensor(
                symbolic("self"), evidence=Evidence.STRONG, attribute=name, rank=self._registered_rank(summary, name)
            )
        stores = summary.stores_of(name)
        if not stores:
            return self._class_constant(summary, name)
        if any(store.body.name in ("_apply", "to", "cuda", "cpu") for store in stores):
            return tensor(TOP, attribute=name)  # the class moves it itself
        if any(part.moved is not None and part.attribute == name for store in stores for part in store.value.parts):
            return tensor(TOP, attribute=name)  # a method moves it, also on a condition
        result: Value | None = None
        for store in stores:
            value = self._as_attribute(summary, name, store.value)
            result = value if result is None else values.join(result, value)
        return result or UNKNOWN

    def _registered_rank(self, summary: ClassSummary, name: str) -> int | None:
        ranks = {store.value.rank for store in summary.stores_of(name)}
        return ranks.pop() if len(ranks) == 1 else None

    def _as_attribute(self, summary: ClassSummary, name: str, value: Value) -> Value:
        if value.kind is Kind.MODULE and summary.is_module:
            device = value.device if value.device.may_be_accelerator else symbolic("self")
            return replace(value, device=device, ref=f"self.{name}", attribute=name, origin=None)
        if value.kind is Kind.TENSOR:
            parts = [replace(part, attribute=name, group=None, others=()) for part in value.parts]
            parts = [self._as_seen_elsewhere(part) for part in parts]
            result = parts[0]
            for part in parts[1:]:
                result = values.join(result, part)
            return result
        if value.kind in (Kind.LIST, Kind.DICT, Kind.TUPLE):
            return replace(value, attribute=name)
        return replace(value, parameter="") if value.parameter else value

    @staticmethod
    def _as_seen_elsewhere(part: Value) -> Value:
        """A device named by a local of the storing method (`x.device`) means nothing in another one; an argument stays where it was given."""
        if part.parameter and part.moved is None and part.device.place == "sym" and part.evidence >= Evidence.STRONG:
            return replace(part, device=TOP, symbol="argument", parameter="")
        part = replace(part, parameter="") if part.parameter else part
        if part.device.place == "sym" and not part.device.name.startswith("self"):
            return replace(part, device=TOP)
        return part

    def _class_constant(self, summary: ClassSummary, name: str) -> Value:
        method = summary.method(name)
        if method is not None:
            if "property" in method.decorators or any(d.endswith("cached_property") for d in method.decorators):
                if name == "device":
                    return Value(Kind.DEVICE, symbolic("self.device"))
                return UNKNOWN
            return (
                Value(Kind.FUNCTION, definition=method, ref="bound") if "staticmethod" in method.decorators else UNKNOWN
            )
        return UNKNOWN

    def foreign_attribute(self, summary: ClassSummary, name: str) -> Value:
        """An attribute of an object that is not self."""
        value = self._attribute(summary, name) if name != "device" else UNKNOWN
        if value.kind is Kind.TENSOR:
            return replace(value, origin=None, device=TOP, others=())
        return value if value.kind not in (Kind.MODULE, Kind.DEVICE) else UNKNOWN


def _substitute(value: Value, bindings: dict[str, Value], own: Device, depth: int) -> Value:
    """A returned value in terms of the caller: devices and parameters replaced by what was given."""
    if depth > 3:
        return UNKNOWN
    if value.device is TOP and not (value.parameter or value.items or value.element or value.entries or value.others):
        return value
    if (
        value.parameter
        and value.moved is None
        and value.parameter in bindings
        and value.kind in (Kind.UNKNOWN, Kind.TENSOR)
    ):
        return bindings[value.parameter]
    if value.others:
        parts = [_substitute(replace(part, others=()), bindings, own, depth) for part in value.parts]
        result = parts[0]
        for part in parts[1:]:
            result = values.join(result, part)
        return result
    device = _substituted_device(value.device, bindings, own)
    result = value
    if value.moved is not None and value.parameter in bindings and bindings[value.parameter].kind is not Kind.UNKNOWN:
        result = replace(bindings[value.parameter], moved=value.moved, others=())
    result = replace(result, device=device, parameter="", group=result.group if value.parameter else None)
    if value.element is not None and value.kind in (Kind.LIST, Kind.DICT, Kind.TUPLE):
        result = replace(result, element=_substitute(value.element, bindings, own, depth + 1))
    if value.items:
        result = replace(result, items=tuple(_substitute(item, bindings, own, depth + 1) for item in value.items))
    if value.entries:
        result = replace(
            result,
            entries=tuple((key, _substitute(item, bindings, own, depth + 1)) for key, item in value.entries),
        )
    return result


def _substituted_device(device: Device, bindings: dict[str, Value], own: Device) -> Device:
    if device.place != "sym":
        return device
    name = device.name
    root = name.partition(".")[0]
    if root == "self":
        return device if own.name == "self" else own if name == "self" else TOP
    given = bindings.get(root)
    if given is None:
        return device if root in ("next(model", "the default device") else TOP
    if name == root or name == f"{root}.device":
        return given.device
    return TOP


_MODULE_NAME = re.compile(r"(?:Module|Model|Net|Network|Encoder|Decoder|Layer|Block|Head|Backbone|Agent|Policy)\Z")


def _dotted(definitions: list[ir.Op | None], op: ir.Op | None) -> str:
    """`a.b.c` as written, or ""."""
    if isinstance(op, ir.Load):
        return op.name
    if isinstance(op, ir.Attribute):
        base = _dotted(definitions, definitions[op.object])
        return f"{base}.{op.name}" if base else ""
    return ""


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
                    isinstance(op, ir.Store)
                    and op.value in pending
                    and found.setdefault(op.name, pending[op.value]) != pending[op.value]
                ):
                    clash.add(op.name)
    return {name: qualified for name, qualified in found.items() if name not in clash}


def _global_names(program: ir.Program) -> frozenset[str]:
    names: set[str] = set()
    for body in program.bodies:
        if body.kind == "function":
            names |= body.global_names & body.local_names if body.local_names else body.global_names
    return frozenset(names)
