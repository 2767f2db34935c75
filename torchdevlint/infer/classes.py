"""Classes of the project: what they inherit, and what an attribute of an instance or of the class itself is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from torchdevlint.infer.units import REGISTERS
from torchdevlint.infer.values import (
    UNKNOWN,
    Bound,
    Cls,
    Const,
    Ext,
    Func,
    Partial,
    Ref,
    Site,
    Super,
    Tensor,
    Term,
    Value,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.source.grounds import kept_in
from torchdevlint.stubs.knowledge.platforms import OTHER_FRAMEWORKS

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.context import Context

_MOST_BASES = 30
_MODULE_BASES = (
    "torch.nn.Module",
    "torch.nn.modules.Module",
    "torch.nn.modules.module.Module",
    "torch.jit.ScriptModule",
)
_OPTIMIZER = re.compile(r"torch\.optim\.(?:\w+\.)?[A-Z]\w*\Z(?<!LR)(?<!Scheduler)")
_NO_MODULES = ("Function", "Protocol", "ABC", "object", "Enum", "Generic")


def is_base(name: str) -> bool:
    """True for the dotted name of PyTorch's own base class of modules."""
    return name in _MODULE_BASES


def bases_of(analysis: Analysis, cls: ir.Class) -> tuple[ir.Class, ...]:
    """The class and the classes of the project that it inherits from, nearest first."""
    return _lineage(analysis, cls)[0]


def foreign_bases_of(analysis: Analysis, cls: ir.Class) -> tuple[str, ...]:
    """The dotted names of the other classes that it inherits from."""
    return _lineage(analysis, cls)[1]


def has_caller_outside(analysis: Analysis, cls: ir.Class) -> bool:
    """True for a class with a base of another library whose methods may call those that it overrides: a base other than `nn.Module`, and no mere mark."""
    return any(
        not is_base(name) and name.rpartition(".")[2] not in _NO_MODULES for name in foreign_bases_of(analysis, cls)
    )


_Lineage = tuple[tuple[ir.Class, ...], tuple[str, ...]]


def _lineage(analysis: Analysis, cls: ir.Class) -> _Lineage:
    meanwhile: _Lineage = (cls,), ()
    return kept_in(analysis.kept.lineages, cls, lambda: _lineage_of(analysis, cls), meanwhile)


def _lineage_of(analysis: Analysis, cls: ir.Class) -> _Lineage:
    lines: list[list[ir.Class]] = []
    foreign: list[str] = []
    for base in cls.bases:
        found = analysis.named(analysis.unit_of(cls.body), base)
        if isinstance(found, Cls):
            inner, names = _lineage(analysis, found.cls)
            lines.append(list(inner))
            foreign += names
        else:
            foreign.append(found.name if isinstance(found, Ext) else base)
    return (cls, *_merged([*lines, [line[0] for line in lines]]))[:_MOST_BASES], tuple(foreign)


def _merged(lines: list[list[ir.Class]]) -> Iterator[ir.Class]:
    """The order in which Python asks several bases: each class in front of its own bases (C3, Objects/typeobject.c, `pmerge`)."""
    while lines := [line for line in lines if line]:
        heads = [line[0] for line in lines]
        following = next((one for one in heads if not any(one in line[1:] for line in lines)), heads[0])
        yield following
        lines = [[one for one in line if one is not following] for line in lines]


def is_module(analysis: Analysis, cls: ir.Class) -> bool:
    """True for a class whose instances are modules: by a base that is one, or by a `forward` on a base that nobody here knows."""
    return kept_in(analysis.kept.modules, cls, lambda: _is_module(analysis, cls))


def _is_module(analysis: Analysis, cls: ir.Class) -> bool:
    own, names = _lineage(analysis, cls)
    known = any(name in _MODULE_BASES or analysis.stubs.module_class(name) is not None for name in names)
    if not known and names and not all(map(_is_no_module, names)):
        has_forward = any("forward" in one.methods for one in own)
        known = has_forward and not any(name.endswith(_NO_MODULES) for name in names)
        known = known or any(_registers(method) for one in own for method in one.methods.values())
        known = known or any(
            name.rpartition(".")[2] in ("LightningModule", "PreTrainedModel", "Module") for name in names
        )
    return known


def _is_no_module(name: str) -> bool:
    """True for what torch defines and is no module (an optimizer, a data set, a distribution), and for a class of another framework."""
    is_other = name.startswith(("torch.optim.", "torch.utils.", "torch.distributions.", "torch.autograd."))
    return is_other or name.partition(".")[0] in OTHER_FRAMEWORKS


def _registers(method: ir.Body) -> bool:
    """True for a method that gives `self` parameters or buffers, as modules have them."""
    return any(isinstance(op, ir.Attribute) and op.name in REGISTERS for block in method.blocks for op in block.ops)


def is_named_tuple(analysis: Analysis, cls: ir.Class) -> bool:
    """True for a `typing.NamedTuple`."""
    return any(name.rpartition(".")[2] == "NamedTuple" for name in foreign_bases_of(analysis, cls))


def refuses_assignment(analysis: Analysis, cls: ir.Class) -> bool:
    """True for tuples, and behind `@dataclass(frozen=True)`: their attributes cannot be set."""
    return is_tuple(analysis, cls) or _is_asked_to_be(cls, "frozen")


def is_tuple(analysis: Analysis, cls: ir.Class) -> bool:
    """True for a class of tuples: a `typing.NamedTuple`, one that derives from what `namedtuple` has made, or from `tuple` itself."""
    own, foreign = _lineage(analysis, cls)
    is_plain = any(name.rpartition(".")[2] in ("NamedTuple", "tuple", "Tuple") for name in foreign)
    return is_plain or any(one in analysis.unit_of(one.body).rows for one in own)


_CONTAINERS = {
    "builtins.dict": "dict",
    "dict": "dict",
    "collections.OrderedDict": "dict",
    "typing.TypedDict": "dict",
    "typing_extensions.TypedDict": "dict",
    "builtins.list": "list",
    "list": "list",
    "collections.deque": "list",
}


def container_kind(analysis: Analysis, cls: ir.Class) -> str:
    """ "dict" or "list" for a class that derives from one, "" for any other."""
    return next((_CONTAINERS[name] for name in foreign_bases_of(analysis, cls) if name in _CONTAINERS), "")


def layer_of(analysis: Analysis, cls: ir.Class) -> str:
    """The layer, container or model of a library that a class inherits from, `class Block(nn.Sequential)`; "" for any other class."""
    several = (one for one in foreign_bases_of(analysis, cls) if not is_base(one))
    return next((one for one in several if analysis.stubs.module_class(one) is not None), "")


def is_optimizer(name: str) -> bool:
    """True for the name of an optimizer of PyTorch, or of the class that all of them inherit from."""
    return _OPTIMIZER.match(name) is not None


def optimizer_of(analysis: Analysis, cls: ir.Class) -> str:
    """The optimizer of PyTorch that a class inherits from; "" for any other class."""
    return next(filter(is_optimizer, foreign_bases_of(analysis, cls)), "")


DATA_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})


def loader_of(analysis: Analysis, cls: ir.Class) -> str:
    """The data loader of PyTorch that a class inherits from; "" for any other class."""
    return next((one for one in foreign_bases_of(analysis, cls) if one in DATA_LOADERS), "")


_WRAPPED = {"collections.UserDict": "dict", "collections.UserList": "list"}


def wrapped_kind(analysis: Analysis, cls: ir.Class) -> str:
    """ "dict" or "list" for a class that keeps its items in one, as its `data` (Lib/collections/__init__.py), "" for any other."""
    return next((_WRAPPED[name] for name in foreign_bases_of(analysis, cls) if name in _WRAPPED), "")


def wrapped(ctx: Context, value: Value) -> Value:
    """What holds the items of an object: the `data` of a `UserDict`, and for any other the object itself."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or rec.kind != "object" or not isinstance(rec.cls, Cls) or ".data" not in rec.fields:
        return value
    return rec.at(".data") if wrapped_kind(ctx.analysis, rec.cls.cls) else value


def is_exception(analysis: Analysis, cls: ir.Class) -> bool:
    """True for a class that derives from one of Python's exceptions."""
    return any(name.rpartition(".")[2].endswith(EXCEPTIONS) for name in foreign_bases_of(analysis, cls))


EXCEPTIONS = ("Error", "Exception", "StopIteration", "Warning")


def is_enum(analysis: Analysis, cls: ir.Class) -> bool:
    """True for an `Enum`, whose members keep what the class body binds as their `value`."""
    return any(name.rpartition(".")[2] in ("Enum", "Flag") for name in foreign_bases_of(analysis, cls))


APPLY = "torch.autograd.Function.apply"


def is_function_of_autograd(analysis: Analysis, cls: ir.Class) -> bool:
    """True for a `torch.autograd.Function`: `apply` calls its `forward` with a context."""
    return any(name.endswith("autograd.Function") for name in foreign_bases_of(analysis, cls))


def positional(ctx: Context, value: Value, position: int) -> Value:
    """What `case Class(pattern, ...)` matches at a position: a field by `__match_args__`, or the value itself for a class like `int`."""
    from torchdevlint.infer import reading

    rec = ctx.rec(value)
    if rec is None or not isinstance(rec.cls, Cls):
        return value if position == 0 else UNKNOWN
    written = attribute_of(ctx, rec.cls, "__match_args__", value)
    names = reading.items(ctx, written) if written is not None else None
    if names is None:
        names = [Const(name) for name, _ in field_names(ctx.analysis, rec.cls.cls)]
    if position >= len(names) or not isinstance(names[position], Const):
        return UNKNOWN
    return reading.attribute(ctx, value, str(names[position].value))  # type: ignore[union-attr]


def field_names(analysis: Analysis, cls: ir.Class, *, with_given: bool = False) -> list[tuple[str, bool]]:
    """The annotated fields of a dataclass or named tuple, as its constructor takes them, and whether they have a default.

    `with_given`: and what `__post_init__` is given and the object does not keep (Lib/dataclasses.py, `InitVar`).
    """
    found: dict[str, bool] = {}
    by_keyword: set[str] = set()
    for one in reversed(bases_of(analysis, cls)):
        marks = [op.name for op in _ops_annotated(one) if op.annotation and _last(op.annotation) == "KW_ONLY"]
        is_by_keyword = _takes_keywords_alone(one)
        for op in _ops_annotated(one):
            is_by_keyword = is_by_keyword or op.name in marks
            if op in _annotated(one) and op.annotation and (with_given or not is_given_once(op.annotation)):
                found[op.name] = isinstance(op, ir.Store)
                by_keyword |= {op.name} if is_by_keyword else set()
    return sorted(found.items(), key=lambda row: row[0] in by_keyword)


def is_dataclass(cls: ir.Class) -> bool:
    """True for a class that a decorator of this name has made one."""
    return any(name.rpartition(".")[2] == "dataclass" for name in cls.body.decorators)


def _takes_keywords_alone(cls: ir.Class) -> bool:
    """True behind `@dataclass(kw_only=True)`."""
    return _is_asked_to_be(cls, "kw_only")


def _is_asked_to_be(cls: ir.Class, option: str) -> bool:
    """True where a decorator is called with an option of this name that is True."""
    lookup = Lookup.of(cls.parent)
    made = [lookup.definition(register) for register in cls.body.decorator_registers]
    given = [op.keyword(option) for op in made if isinstance(op, ir.Call)]
    told = [lookup.definition(register) for register in given if register is not None]
    return any(isinstance(op, ir.Constant) and op.value is True for op in told)


def given_once(analysis: Analysis, cls: ir.Class) -> list[str]:
    """The names of the fields that are for `__post_init__` alone."""
    own = reversed(bases_of(analysis, cls))
    return [op.name for one in own for op in _annotated(one) if op.annotation and is_given_once(op.annotation)]


def annotation_of_field(analysis: Analysis, cls: ir.Class, name: str) -> tuple[ir.Annotation, ir.Class] | None:
    """What the body of a class says that an attribute is, and the class that says so."""
    for one in bases_of(analysis, cls):
        for op in _annotated(one):
            if op.name == name and op.annotation:
                return op.annotation, one
    return None


def is_given_once(annotation: ir.Annotation) -> bool:
    """True for `InitVar[int]`."""
    return _last(annotation) == "InitVar"


def _annotated(cls: ir.Class) -> list[ir.Declare | ir.Store]:
    """The annotated names of a class body that stand for fields."""
    return [op for op in _ops_annotated(cls) if op.annotation and _last(op.annotation) not in _NO_FIELDS]


def _ops_annotated(cls: ir.Class) -> list[ir.Declare | ir.Store]:
    ops = [op for block in cls.body.blocks for op in block.ops if isinstance(op, (ir.Declare, ir.Store))]
    return [op for op in ops if op.annotation]


def _last(annotation: ir.Annotation) -> str:
    return annotation.name.rpartition(".")[2]


_NO_FIELDS = frozenset({"ClassVar", "KW_ONLY"})


def attribute_of(
    ctx: Context, cls: Cls, name: str, receiver: Value | None, *, final: bool = False, site: Site | None = None
) -> Value | None:
    """A method (bound to `receiver`), a property's value, or what the class body binds; None where there is none.

    With `final`, the receiver may be of a subclass: nothing is said of a method that a subclass overrides, or that is there for those of others.
    """
    for one in bases_of(ctx.analysis, cls.cls):
        found = _own(ctx, one, cls.frame, name)
        if final and not isinstance(found, (Func, ir.Body)):
            continue
        if final and (
            _is_overridden(ctx, cls.cls, name) or (isinstance(found, ir.Body) and is_to_be_overridden(found))
        ):
            return None
        if isinstance(found, ir.Body):
            return _method(ctx, cls, one, found, receiver, site)
        if found is not None:
            if ctx.mode == "summary" and receiver is not None and isinstance(found, Ref) and found not in ctx.heap:
                return _known_to_callers(ctx, receiver, name, found)
            return _bound(ctx, found, cls, receiver, site)
    return None


def _known_to_callers(ctx: Context, receiver: Value, name: str, held: Ref) -> Term:
    """An object of the class body; what a descriptor gives is another thing each time."""
    made = class_of(ctx, held)
    if made is None or attribute_of(ctx, made, "__get__", None) is None:
        return Term("attribute", receiver, name)
    asked = Term("attribute", receiver, name, len(ctx.events))
    ctx.emit(asked)
    return asked


def _is_overridden(ctx: Context, cls: ir.Class, name: str) -> bool:
    unit = ctx.analysis.unit_of(cls.body)
    if any(_comes_from_elsewhere(ctx.analysis, sub, cls, name) for sub in _subclasses(unit.subclasses, cls)):
        return True
    return name in ctx.analysis.kept.imports.overriding(unit, cls.name)


def _comes_from_elsewhere(analysis: Analysis, sub: ir.Class, cls: ir.Class, name: str) -> bool:
    """True where a subclass has another method of a name than the class: its own, or that of a mixin which stands in front of the class."""
    order = bases_of(analysis, sub)
    return any(name in one.methods for one in order[: order.index(cls)]) if cls in order else name in sub.methods


def _own(ctx: Context, cls: ir.Class, frame: Value | None, name: str) -> Value | ir.Body | None:
    """What a class itself has under a name: a method of its body, or what the body binds, a decorator made of a method, or somebody put there later."""
    method = cls.methods.get(name)
    rec, key = ctx.heap.get(Cls(cls, frame)), "." + name
    kept: Value | None = rec.fields.get(key) if rec is not None else None
    if kept is None:
        kept = ctx.analysis.unit_of(cls.body).class_fields.get(cls, {}).get(key)
        kept = _of_import(kept) if kept is not None else None
    if isinstance(kept, Func) and kept.body.name == name and any(kept.body is one for one in cls.methods.values()):
        return method  # of a property, the getter
    return kept if method is None or isinstance(kept, (Func, Ref, Cls, Partial)) else method


def is_to_be_overridden(method: ir.Body) -> bool:
    """True for a method that does nothing, or says that it is not implemented: a class of another file has another one."""
    if any(name.rpartition(".")[2].startswith("abstract") for name in method.decorators):
        return True
    lookup = Lookup.of(method)
    if len(method.blocks) > 2:
        return False
    if any(lookup.kind(ir.Raise)):
        return any(lookup.loads("NotImplementedError"))
    made = [lookup.definition(op.value) for op in lookup.kind(ir.Return) if op.value is not None]
    is_nothing = all(isinstance(one, ir.Constant) and one.value is None for one in made)
    return is_nothing and all(isinstance(op, (ir.Constant, ir.Discard, ir.Return)) for op in lookup.all)


def _of_import(value: Value) -> Value:
    """What a class body binds is made when its file is imported: a default device that is set later does not move it."""
    if isinstance(value, Tensor) and value.implicit == "default":
        return Tensor(value.device, value.rank, value.origin, "import", value.follows, value.kept)
    return value


def _bound(ctx: Context, value: Value, cls: Cls, receiver: Value | None, site: Site | None) -> Value:
    """What an instance has of a class attribute: a descriptor is asked, a function and a partial method are given the instance."""
    if isinstance(value, Partial) and value.function == Ext(CLASS_METHOD) and isinstance(value.args[0], Func):
        return _given(value.args[0], cls)
    if receiver is None:
        return value
    if isinstance(value, Func) and value.receiver is None and not value.body.is_static:
        given = _given(value, cls if value.body.is_class_method else receiver)
        if value.form != "property":
            return given
        return ctx.call(given, [], {}, site)
    if isinstance(value, Partial) and value.function == Ext("functools.partialmethod.bound") and value.args:
        function = value.args[0]
        if isinstance(function, Func):
            function = Func(function.body, function.frame, receiver, function.defaults)
        return Partial(function, value.args[1:], value.keywords)
    getter = _of_property(value, 0, "fget", receiver)
    if getter is not None:
        return ctx.call(getter, [], {}, site)
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is not None and isinstance(rec.cls, Cls) and rec.kind == "object":
        getter = attribute_of(ctx, rec.cls, "__get__", value)
        if isinstance(getter, Func):
            return ctx.call(getter, [receiver, cls], {}, site)
    return value


_TYPE = frozenset({"type", "builtins.type"})
PROPERTY, CLASS_METHOD = "builtins.property", "builtins.classmethod"


def _given(function: Func, receiver: Value) -> Func:
    """A function that is given its first argument."""
    return Func(function.body, function.frame, receiver, function.defaults, function.form)


def _of_property(value: Value, position: int, name: str, receiver: Value) -> Value | None:
    """A function of `property(fget, fset)`, bound to an object; None for what is no property, or has no such function."""
    if not isinstance(value, Partial) or value.function != Ext(PROPERTY):
        return None
    found = value.args[position] if position < len(value.args) else dict(value.keywords).get(name)
    return Func(found.body, found.frame, receiver, found.defaults, found.form) if isinstance(found, Func) else None


# What is called for `value.name = ...` and for `del value.name`: of the class, of a property (its role, its place in `property(...)`), of a descriptor.
_SETTING = ("__setattr__", "setter", 1, "fset", "__set__")
_DELETING = ("__delattr__", "deleter", 2, "fdel", "__delete__")


def setter_of(ctx: Context, value: Value, name: str, by: str = "set") -> Value | None:
    """What is called for `value.name = ...`: the class's `__setattr__`, the setter of a property, the `__set__` of a descriptor; None where it is a
    plain attribute. `by` is "raw_set" where `super().__setattr__` asks, "raw_object_set" where `object.__setattr__` does, and "dict_set" where it
    is an item of `value.__dict__`; "del" and "raw_del" ask what is called for `del value.name`.
    """
    special_name, role, position, keyword, of_descriptor = _DELETING if by.endswith("del") else _SETTING
    rec = ctx.rec(value)
    is_known = rec is not None and rec.kind != "overlay"
    cls = rec.cls if is_known and rec is not None else ctx.analysis.class_of_receiver(value)
    if not isinstance(cls, Cls) or by == "dict_set":
        return None
    own = bases_of(ctx.analysis, cls.cls)
    if not by.startswith("raw") and any(special_name in one.methods for one in own):
        of_class = attribute_of(ctx, cls, special_name, value)
        if isinstance(of_class, Func):
            return Partial(of_class, (Const(name),), ())
    for one in own:
        method = one.methods.get(f"{name}.{role}")
        if method is not None:
            return Func(method, ctx.analysis.unit_of(method).globals, value, defaults_of(method))
        kept = ctx.analysis.unit_of(one.body).class_fields.get(one, {}).get("." + name)
        written = _of_property(kept, position, keyword, value) if kept is not None else None
        if written is not None:
            return written
        made = class_of(ctx, kept) if isinstance(kept, Ref) else None
        if made is not None:
            found = attribute_of(ctx, made, of_descriptor, kept)
            if isinstance(found, Func):
                return Partial(found, (value,), ())
    return None


def special(ctx: Context, value: Value, name: str, args: Sequence[Value], site: Site | None = None) -> Value | None:
    """What a class of the project makes of an operator, a statement or a builtin: the call of its `__len__`; None where it has none."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    cls = rec.cls if rec is not None else None
    method = attribute_of(ctx, cls, name, value, site=site) if isinstance(cls, Cls) else None
    if not isinstance(method, Func):
        return None
    return ctx.call(method, args, {}, site)


def class_of(ctx: Context, value: Ref) -> Cls | None:
    """The class of the project that an object is of, which its place tells where it lives in the heap of another."""
    rec, place = ctx.heap.get(value), value.place
    while isinstance(place, tuple) and place[0] == "at":
        place = place[2]
    made = place[1] if isinstance(place, tuple) and len(place) == 3 else None
    cls = rec.cls if rec is not None else Cls(made) if isinstance(made, ir.Class) else None
    return cls if isinstance(cls, Cls) else None


def _method(
    ctx: Context, cls: Cls, owner: ir.Class, method: ir.Body, receiver: Value | None, site: Site | None
) -> Value:
    unit = ctx.analysis.unit_of(method)
    kept = unit.class_fields.get(owner, {}).get("." + method.name)
    found = (
        kept
        if isinstance(kept, Func) and kept.body is method
        else Func(method, unit.globals, None, defaults_of(method))
    )
    if cls.cls is owner and cls.frame is not None:
        found = Func(found.body, cls.frame, found.receiver, found.defaults, found.form)  # what the class closes over
    if method.is_static or (receiver is None and not method.is_class_method):
        return found
    if method.is_class_method:
        return Func(found.body, found.frame, receiver if isinstance(receiver, Cls) else cls, found.defaults)
    bound = Func(found.body, found.frame, receiver, found.defaults, found.form)
    roles = {name.rpartition(".")[2] for name in method.decorators}
    is_kept = bool(roles & {"cached_property", "lazy_property"})
    if is_kept and ctx.mode == "summary" and isinstance(receiver, Term):
        return Term("attribute", receiver, method.name)  # a caller may have asked for it before
    if is_kept or "property" in roles:
        made = ctx.call(Func(found.body, found.frame, receiver, found.defaults), [], {}, site)
        rec = ctx.rec(receiver) if receiver is not None else None
        if is_kept and receiver is not None and rec is not None and rec.kind in ("object", "module"):
            ctx.put(receiver, "." + method.name, made)
        return made
    return bound


def defaults_of(method: ir.Body) -> tuple[tuple[str, Value], ...]:
    """The constant defaults of a method whose class body nobody has run yet."""
    if method.parent is None or all(parameter.default is None for parameter in method.parameters):
        return ()
    written = Lookup.of(method.parent)
    found: list[tuple[str, Value]] = []
    for parameter in method.parameters:
        if parameter.default is not None:
            op = written.definition(parameter.default)
            found.append((parameter.name, Const(op.value) if isinstance(op, ir.Constant) else UNKNOWN))
    return tuple(found)


# What a class may override and then asks `super()` for (see torchdevlint.infer.protocols).
PROTOCOLS = frozenset({"__setattr__", "__delattr__", "__getattr__", "__getattribute__", "__setitem__", "__getitem__"})


def _is_mixed_in(analysis: Analysis, cls: ir.Class) -> bool:
    """True for a class that may have others beside it: `super()` in a class without bases is for these, or there is one with several in its file."""
    below = analysis.unit_of(cls.body).subclasses
    return not cls.bases or any(len(one.bases) > 1 for one in _subclasses(below, cls))


def _waits_for_object(analysis: Analysis, cls: ir.Class) -> bool:
    """True where the object tells what `super()` has: others may be mixed in, or a container holds its items itself."""
    return bool(_is_mixed_in(analysis, cls) or container_kind(analysis, cls) or wrapped_kind(analysis, cls))


def _subclasses(below: Mapping[ir.Class, Sequence[ir.Class]], cls: ir.Class, deep: int = 4) -> Iterator[ir.Class]:
    for one in below.get(cls, ()) if deep else ():
        yield one
        yield from _subclasses(below, one, deep - 1)


_INHERITED = frozenset(
    "to cuda cpu xpu mps npu hpu train eval register_buffer register_parameter add_module state_dict parameters".split()
)


def told_of_subclass(ctx: Context, cls: Cls) -> Func | None:
    """The `__init_subclass__` that runs for a new class: the one that it inherits."""
    for one in bases_of(ctx.analysis, cls.cls)[1:]:
        method = one.methods.get("__init_subclass__")
        if method is not None:
            return Func(method, ctx.analysis.unit_of(method).globals, cls, defaults_of(method))
    return None


def metaclass_of(ctx: Context, cls: ir.Class) -> Cls | None:
    """The metaclass of a class, where it is one of the project."""
    for one in bases_of(ctx.analysis, cls):
        register = dict(one.keywords).get("metaclass")
        if register is not None:
            named = Lookup.of(one.parent).path(register)
            found = ctx.analysis.named(ctx.analysis.unit_of(one.body), named)
            return found if isinstance(found, Cls) else None
    return None


def attribute_of_super(ctx: Context, value: Super, name: str) -> Value:
    """`super().name`: what follows the class among those of the object, of which a method may not know all."""
    own = bases_of(ctx.analysis, value.owner)
    rec = ctx.rec(value.receiver)
    cls = value.receiver if isinstance(value.receiver, Cls) else rec.cls if rec is not None else None
    if isinstance(cls, Cls):
        own = bases_of(ctx.analysis, cls.cls)
        own = own[own.index(value.owner) :] if value.owner in own else bases_of(ctx.analysis, value.owner)
    elif isinstance(value.receiver, Term) and ctx.mode == "summary" and _waits_for_object(ctx.analysis, value.owner):
        return Term("super", Cls(value.owner), value.receiver, name)
    of = cls if isinstance(cls, Cls) else Cls(value.owner)
    for one in own[1:]:
        found = _own(ctx, one, of.frame, name)
        if isinstance(found, ir.Body):
            return _method(ctx, of, one, found, value.receiver, None)
        if found is not None:
            return _bound(ctx, found, of, value.receiver, None)
    if name == "__call__" and is_module(ctx.analysis, value.owner):
        from torchdevlint.infer.reading import attribute

        return attribute(ctx, value.receiver, "forward")  # torch/nn/modules/module.py, `_call_impl`
    if name == "__call__" and not _TYPE.isdisjoint(foreign_bases_of(ctx.analysis, value.owner)):
        return Partial(Ext("builtins.type.__call__"), (value.receiver,), ())
    if name == "__init__":
        bases = foreign_bases_of(ctx.analysis, value.owner)
        placing = next((one for one in bases if ctx.analysis.stubs.places_module(one)), None)
        if placing is not None:
            return Ext(placing)
        optimizer = optimizer_of(ctx.analysis, value.owner)
        if optimizer:
            return Partial(Ext(f"{optimizer}.__init__"), (value.receiver,), ())
    loader = loader_of(ctx.analysis, value.owner) if name in ("__init__", "__iter__") else ""
    if loader:
        return Partial(Ext(f"{loader}.{name}"), (value.receiver,), ())
    layer = layer_of(ctx.analysis, value.owner)
    if layer and name in ("__init__", "forward"):
        return Partial(Ext(f"{layer}.{name}"), (value.receiver,), ())
    if name == "_apply" and is_module(ctx.analysis, value.owner):
        return Partial(Ext("torch.nn.Module._apply"), (value.receiver,), ())
    if container_kind(ctx.analysis, value.owner) or wrapped_kind(ctx.analysis, value.owner):
        return Bound(value.receiver, name)
    return Bound(value.receiver, name) if name in _INHERITED or name in PROTOCOLS else Ext("builtins.super." + name)
