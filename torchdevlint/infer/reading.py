"""Reading: attributes, items, elements, and the parts of what is unpacked."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import arrays, containers, host_libraries, opaque, options, paths, presence, pretrained, tensors
from torchdevlint.infer.classes import (
    APPLY,
    attribute_of,
    bases_of,
    foreign_bases_of,
    is_enum,
    is_function_of_autograd,
    is_named_tuple,
    layer_of,
    metaclass_of,
    special,
    wrapped,
)
from torchdevlint.infer.conditions import device_type
from torchdevlint.infer.guards import consistent
from torchdevlint.infer.imports import MODULE
from torchdevlint.infer.joins import join, lift, one_of
from torchdevlint.infer.presence import PRESENT
from torchdevlint.infer.state import COLLATED, FILLED, RENEWED, Facts, Under, as_moved, renewal
from torchdevlint.infer.values import (
    ARRAY,
    ARRAY_NUMBER,
    BATCH_ENCODING,
    MEMBER,
    NOTHING,
    NUMBER,
    SIZE,
    UNKNOWN,
    Array,
    Bound,
    Cls,
    Const,
    Device,
    Ext,
    Func,
    Guard,
    OneOf,
    Partial,
    Rec,
    Ref,
    Site,
    SliceValue,
    Sort,
    Star,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    alternatives,
    array,
    as_key,
    device_at,
    holds_partial,
    is_member,
    is_open,
    is_partial,
    may_be_same,
    of_key,
    options_of,
    shifted,
    waits,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchdevlint.infer.context import Context

_OF_LAYERS = frozenset({"torch.nn.ModuleList", "torch.nn.ParameterList", "torch.nn.Sequential"})
_BY_NAME = frozenset({"torch.nn.ModuleDict", "torch.nn.ParameterDict"})  # a loop over these gives names
_MOST_TURNS = 8  # of a loop over known items that are run one by one
MOST_SHORT_TURNS = 32  # ... of a short loop, as one that moves each of the models in a dict
_MOST_OPERATIONS = 400  # ... of all turns together
MOST_NUMBERED = 3  # ... over numbers, which few loops ask for more than how often to run


ITEMS = ".@items"  # of an iterator, what it gives one by one
FIRST_ITEM = ".@first"  # ... and what it gives first, where not all is told apart
_OF_PROCESS = frozenset({"sys.argv", "os.environ"})


def attribute(ctx: Context, value: Value, name: str, site: Site | None = None) -> Value:
    """`value.name`."""
    if isinstance(value, OneOf):
        return ctx.lift(lambda one: attribute(ctx, one, name, site), value)
    if isinstance(value, Tensor):
        return tensors.attribute(ctx, value, name)
    if isinstance(value, Term):
        return _of_term(ctx, value, name)
    if isinstance(value, Ref):
        return _of_object(ctx, value, name, site)
    if name == "__name__" and isinstance(value, (Func, Cls)):
        return Const(value.body.name if isinstance(value, Func) else value.cls.name)
    if isinstance(value, Func):
        return _of_object(ctx, Ref(("function", value.body)), name, site)
    if isinstance(value, Cls):
        if name == "apply" and is_function_of_autograd(ctx.analysis, value.cls):
            return Partial(Ext(APPLY), (value,), ())
        rec = ctx.heap.get(value)
        if rec is not None and "." + name in rec.fields:
            return _member(ctx, value, name, rec.at("." + name), site)
        found = attribute_of(ctx, value, name, None)
        if found is not None:
            if _may_be_set_by_now(ctx, value, name, found):
                return ctx.read(Term("attribute", value, name))
            return _member(ctx, value, name, found, site)
        if name == "__new__":
            return Ext("builtins.object.__new__")
        meta = metaclass_of(ctx, value.cls)
        of_meta = attribute_of(ctx, meta, name, value, site=site) if meta is not None else None
        if of_meta is not None:
            return of_meta
        maker = pretrained.maker_of(ctx.analysis, value, name)
        if maker is not None:
            return maker
        if name == "_make" and is_named_tuple(ctx.analysis, value.cls):
            return Partial(Ext("collections.namedtuple._make"), (), (("@class", value),))
        return Term("attribute", value, name) if ctx.mode == "summary" else UNKNOWN
    if isinstance(value, Ext):
        if name == "__dict__" and value.name.startswith(MODULE):
            return Bound(value, name)
        is_option = options.holds_options(value.name)
        return Term("attribute", value, name) if is_option else ctx.imported(ctx.unit, f"{value.name}.{name}")
    if isinstance(value, Bound) and value.name == "__dict__":
        return Bound(value, name)
    if isinstance(value, Partial) and name == "_make" and value.function == Ext("collections.namedtuple.make"):
        return Partial(Ext("collections.namedtuple._make"), (), value.keywords)
    if isinstance(value, Device):
        return device_type(value.place) if name == "type" else Bound(value, name)
    if name == "parent" and paths.is_text(value):
        return paths.parent(value)
    if isinstance(value, Array) and name in ("T", "real", "imag", "shape"):
        return value if name != "shape" else SIZE
    if isinstance(value, (Const, Tup, Sort)):
        return Bound(value, name)
    return UNKNOWN


def _member(ctx: Context, cls: Cls, name: str, value: Value, site: Site | None) -> Value:
    """A class attribute: a class method is bound to the class, a member of an `Enum` keeps what it is bound to as its value."""
    if isinstance(value, Func) and value.receiver is None and value.body.is_class_method:
        return Func(value.body, value.frame, cls, value.defaults, value.form)
    if isinstance(value, Func) or name.startswith("_") or not is_enum(ctx.analysis, cls.cls):
        return value
    return ctx.new(site, "object", cls, {".value": value, ".name": Const(name)}, tag=(MEMBER, cls.cls, name))


def of_member(ctx: Context, value: Value) -> Value:
    """A member of an `Enum` that is a string or a number as well is that, and an object with `__index__` its number; everything else is what it is."""
    number = special(ctx, value, "__index__", []) if isinstance(value, Ref) else None
    if number is not None:
        return number
    rec = ctx.rec(value) if is_member(value) else None
    if rec is None or not isinstance(rec.cls, Cls):
        return value
    is_plain = any(one.rpartition(".")[2] in _PLAIN_ENUMS for one in foreign_bases_of(ctx.analysis, rec.cls.cls))
    return rec.at(".value") if is_plain else value


_PLAIN_ENUMS = frozenset({"str", "int", "StrEnum", "IntEnum", "IntFlag"})


def _members(ctx: Context, cls: Cls) -> list[Value]:
    """The members of an `Enum`, in the order of its body."""
    fields = ctx.analysis.unit_of(cls.cls.body).class_fields.get(cls.cls, {})
    names = [key[1:] for key, one in fields.items() if not isinstance(one, Func) and not key.startswith("._")]
    return [attribute(ctx, cls, name) for name in names]


def _of_term(ctx: Context, value: Term, name: str) -> Value:
    if value is UNKNOWN:
        return UNKNOWN
    if name == "__dict__":
        return Bound(value, name)
    if name == "__class__" and ctx.mode == "summary" and value.waits:
        return Term("type", value)
    rec = ctx.heap.get(value)
    if rec is not None and "." + name in rec.fields:
        held = rec.at("." + name)
        was_shown = ctx.shown.get((value, "." + name)) is held  # what is set behind the call is known
        return _set_later(ctx, value, name) if was_shown and _may_be_set(ctx, value) and _is_data(ctx, held) else held
    default = options.remembered(ctx, value, name)
    if default is not None:
        return default
    cls = ctx.analysis.class_of_receiver(value)
    if cls is not None:
        set_here = ctx.heap.get(cls)
        if set_here is not None and isinstance(set_here.fields.get("." + name), (Tensor, Term, OneOf)):
            return set_here.at("." + name)  # `Scaler.mean = ...`, of which an instance has none of its own
        found = attribute_of(ctx, cls, name, value, final=True)
        if found is not None:
            return found
    if name in tensors.PROOF_ATTRIBUTES:
        ctx.prove(value)
    if name in ("shape", "dtype", "ndim", "device"):
        ctx.weak.add(value)
    if name == "device" and (value in ctx.proven or value.op == "moved"):
        from torchdevlint.infer import devices

        return device_at(devices.device_of(ctx, value))
    if name in host_libraries.ATTRIBUTES and opaque.is_of_host_library(value):
        is_table = value.op == "item" and isinstance(value.args[1], Ref)  # `frame[["a", "b"]]`
        return array(2) if is_table else ARRAY
    return ctx.read(Term("attribute", value, name))


def plain_attribute(ctx: Context, value: Value, name: Value) -> Value:
    """`object.__getattribute__(value, name)`, whatever the class makes of `value.name`."""
    if not isinstance(name, Const):
        return UNKNOWN
    known = str(name.value)
    return _of_object(ctx, value, known, None, is_raw=True) if isinstance(value, Ref) else attribute(ctx, value, known)


def _is_data(ctx: Context, value: Value) -> bool:
    """True for a tensor, for what a caller gives, and for a list or dict of such, or of nothing yet."""
    for one in alternatives(value):
        rec = ctx.heap.get(one) if isinstance(one, Ref) else None
        held = [one] if rec is None else list(rec.items.values()) if rec.kind in ("list", "dict") else None
        if held is not None and (not held or any(isinstance(part, Tensor) or is_open(part) for part in held)):
            return True
    return False


def _may_be_set_by_now(ctx: Context, cls: Cls, name: str, held: Value) -> bool:
    """True for an attribute of a class that functions set: a summary does not know when, nor does who is called from outside."""
    if ctx.mode == "module" or isinstance(held, (Func, Cls)):
        return False
    unit = ctx.analysis.unit_of(cls.cls.body)
    if name in unit.set_of_classes:
        return ctx.mode == "summary" or isinstance(held, Device)
    return isinstance(held, Device) and ctx.analysis.kept.imports.may_set(unit, name)


def _set_later(ctx: Context, value: Value, name: str) -> Value:
    """An attribute that what was given the object may have set: a caller tells."""
    later = Term("attribute", value, name, ctx.opened)
    ctx.emit(later)
    return later


def _may_be_set(ctx: Context, value: Term) -> bool:
    """True for what something open was given, or a part of it."""
    at: Value = value
    while ctx.handed_on and isinstance(at, Term):
        if at in ctx.handed_on:
            return True
        at = at.args[0] if at.op == "attribute" else NUMBER
    return False


def _of_object(ctx: Context, value: Ref, name: str, site: Site | None, *, is_raw: bool = False) -> Value:
    rec = ctx.heap.get(value)
    own = bases_of(ctx.analysis, rec.cls.cls) if rec is not None and isinstance(rec.cls, Cls) else ()
    if not is_raw and not name.startswith("__") and any("__getattribute__" in one.methods for one in own):
        made = special(ctx, value, "__getattribute__", [Const(name)], site)
        if made is not None:
            return made
    if rec is not None and name == "state" and FILLED in rec.fields:
        ctx.put(value, FILLED, UNKNOWN)  # whoever reads the state of an optimizer moves it
    if rec is not None and "." + name in rec.fields:
        held = rec.at("." + name)
        if value in ctx.handed_on and rec.kind == "object" and _is_data(ctx, held):
            return _set_later(ctx, value, name)
        return held
    if rec is not None and name == "__dict__":
        return Bound(value, name)
    if rec is not None and name == "__class__" and isinstance(rec.cls, Cls):
        return rec.cls
    if rec is None and ctx.mode == "summary" and "." + name in (closure := ctx.unit.closures.get(value, {})):
        return closure["." + name]
    if rec is None or rec.kind == "overlay":
        lent = ctx.lent(value, name) if ctx.mode != "summary" else None
        return ctx.read(Term("attribute", value, name)) if lent is None else lent
    if isinstance(rec.cls, Cls):
        found = attribute_of(ctx, rec.cls, name, value, site=site)
        if found is not None:
            return found
    written = _written_like(rec, name)
    if written is not None:
        return written
    if rec.kind == "module":
        from torchdevlint.infer import modules

        of_module = modules.attribute(ctx, value, rec, name)
        if of_module is not None:
            return of_module
    if isinstance(rec.cls, Ext) and ".@parameters" in rec.fields:
        from torchdevlint.infer import distributions

        drawn = distributions.attribute(ctx, value, rec, name)
        if drawn is not None:
            return drawn
    if name == "_fields" and rec.is_named_tuple:
        return Tup(tuple(map(Const, rec.attributes)))
    got = special(ctx, value, "__getattr__", [Const(name)], site) if not name.startswith("__") else None
    if got is not None:
        return got
    is_of_encoding = rec.cls == BATCH_ENCODING and name not in _OF_ENCODINGS
    if is_of_encoding or (rec.kind == "dict" and ("k", name) in rec.fields and shows_items(ctx, value, rec)):
        return item(ctx, value, Const(name), site)
    if rec.kind in ("list", "dict", "generator", "module", "object"):
        return Bound(value, name)
    return UNKNOWN


# What an encoding has itself; every other attribute is one of its items (tokenization_utils_base.py, `BatchEncoding.__getattr__`).
_OF_ENCODINGS = frozenset(
    "to items keys values get pop popitem update setdefault clear copy data encodings is_fast n_sequences convert_to_tensors tokens word_ids words "
    "sequence_ids char_to_token char_to_word token_to_chars token_to_word token_to_sequence word_to_chars word_to_tokens".split()
)


def shows_items(ctx: Context, value: Ref, rec: Rec) -> bool:
    """True for a dict whose items are its attributes: `self.__dict__ = self`, and `__getattr__ = dict.__getitem__` in its class."""
    if rec.fields.get(".__dict__") == value:
        return True
    getter = attribute_of(ctx, rec.cls, "__getattr__", value) if isinstance(rec.cls, Cls) else None
    return isinstance(getter, Ext) and getter.name in ("builtins.dict.__getitem__", "builtins.dict.get")


def attributes_like(ctx: Context, value: Value, name: Text) -> list[Value]:
    """What an object has under names of which only a part is known: `getattr(self, f"layer{number}")`."""
    rec, pattern = ctx.rec(value), paths.glob_of(name)
    if rec is None:
        return list(members(ctx, value, pattern).values())
    own = bases_of(ctx.analysis, rec.cls.cls) if isinstance(rec.cls, Cls) else ()
    fitting = [one for one in rec.attributes if fnmatchcase(one, pattern)]
    fitting = fitting or [one for base in own for one in base.methods if fnmatchcase(one, pattern)]
    return [attribute(ctx, value, one) for one in fitting]


def members(ctx: Context, value: Value, pattern: str = "*") -> dict[str, Value]:
    """The functions and classes of a module of the project, one of which a program may choose by its name: `getattr(models, args.model)`, `globals()[name]`.

    A class from which another one of them derives is not chosen for itself.
    """
    if isinstance(value, Ext) and value.name.startswith(MODULE) and value.name.endswith("::"):
        path = value.name.removeprefix(MODULE).removesuffix("::")
    elif value == ctx.unit.globals:
        path = ctx.unit.path
    else:
        return {}
    found = ctx.analysis.kept.imports.members(ctx.unit, path)
    bases = {base for one in found.values() if isinstance(one, Cls) for base in bases_of(ctx.analysis, one.cls)[1:]}
    fitting = {name: one for name, one in found.items() if fnmatchcase(name, pattern)}
    return {name: one for name, one in fitting.items() if not (isinstance(one, Cls) and one.cls in bases)}


def chosen(name: Value, several: Mapping[Any, Value]) -> Value:
    """What the user chooses by its name: what has been chosen tells the option."""
    if not options.is_option(name):
        return join(*several.values())
    return one_of([(frozenset({(Term("equal", name, Const(key)), True)}), one) for key, one in several.items()])


def _written_like(rec: Rec, name: str) -> Value | None:
    """What was written under a name of which only a part was known (`setattr(self, f"layer{number}", ...)`) and which this name fits."""
    found = [one for key, one in rec.attributes.items() if "*" in key and fnmatchcase(name, key)]
    return join(*found) if found else None


def _stored_under(written: Rec, key: Value) -> Value | None:
    """What was stored last under this very key, which only a caller knows."""
    return next((one for field, one in written.fields.items() if isinstance(field, Under) and field.key == key), None)


def item(ctx: Context, value: Value, key: Value, site: Site | None = None) -> Value:
    """`value[key]`."""
    if isinstance(value, OneOf):
        not_left = [one for _, one in tensors.placed(value.options)]
        return ctx.lift(
            lambda one: (
                item(ctx, one, ctx.possible(key), site)
                if one in not_left or not isinstance(one, Tensor)
                else tensors.index(ctx, one, ctx.possible(key), site, is_left=True)
            ),
            value,
        )
    if isinstance(value, Tensor):
        return tensors.index(ctx, value, key, site)
    if isinstance(value, Tup):
        if isinstance(key, Const) and type(key.value) is int:
            known = containers.known_at(value, key.value)
            return element(ctx, value) if known is None else known
        if isinstance(key, SliceValue):
            part = containers.sliced(ctx, value, key, site)
            return value if part is None else part
        return element(ctx, value)
    if isinstance(value, Bound) and value.name == "__dict__":
        if ctx.mode == "summary" and not isinstance(key, Const) and waits(key):
            is_of_module = isinstance(value.object, Ext) or value.object == ctx.unit.globals
            whole = Term("attribute", value.object, "__dict__")
            return Term("got", value.object, key) if is_of_module else Term("item", whole, key)
        if isinstance(key, Const):
            return attribute(ctx, value.object, str(key.value), site)
        several = members(ctx, value.object, paths.glob_of(key) if isinstance(key, Text) else "*")
        return chosen(key, several) if several else UNKNOWN
    if isinstance(value, Const) and isinstance(value.value, str):
        return containers.part_of_text(value.value, key)
    if isinstance(value, Cls) and isinstance(key, Const) and is_enum(ctx.analysis, value.cls):
        return attribute(ctx, value, str(key.value), site)
    if isinstance(value, Ref):
        rec = ctx.heap.get(value)
        if rec is None:
            return ctx.read(Term("item", value, key))
        return _item_of_object(ctx, value, rec, key, site)
    if isinstance(value, Term) and value.op == "binary" and ctx.mode != "summary":
        computed = tensors.as_tensor(ctx, value)
        if isinstance(computed, Tensor):
            return tensors.index(ctx, computed, key, site)
    if isinstance(value, Term) and value is not UNKNOWN:
        rec, name = ctx.heap.get(value), as_key(key)
        if rec is not None and isinstance(name, Const) and ("k", name.value) in rec.fields:
            return rec.at(("k", name.value))
        stored = _stored_under(rec, key) if rec is not None else None
        if stored is not None:
            return stored
        is_cut = isinstance(key, Tup) and key.items and not all(isinstance(one, Const) for one in key.items)
        if (holds_tensor(key) and not isinstance(key, SliceValue)) or (
            tensors.is_part_on_host(value) and (is_cut or key == Const(None))
        ):
            return tensors.index(ctx, value, key, site)
        renewed = _renewed(ctx, value, name) if isinstance(name, Const) or name == NUMBER else None
        if value.op == "attribute" and ctx.mode == "summary":  # it may be a table, and what is looked up a tensor
            tensors.claim_index(ctx, value, key.items if isinstance(key, Tup) else [key], site)
        return ctx.read(Term("item", value, key)) if renewed is None else renewed
    if isinstance(value, Array) and value != ARRAY_NUMBER:
        parts = key.items if isinstance(key, Tup) else (key,)
        tensors.claim_arrays(ctx, parts, site, indices=parts)
        rank = arrays.index(value, parts).rank
        return array(rank, Term("item", value, key) if ctx.mode == "summary" else None)
    if isinstance(value, Cls):
        made = attribute_of(ctx, value, "__class_getitem__", value)
        meta = metaclass_of(ctx, value.cls)
        made = attribute_of(ctx, meta, "__getitem__", value) if meta is not None else made
        if isinstance(made, Func):
            return ctx.call(made, [key], {}, site)
        return value  # with the types that it is of
    if isinstance(value, Ext):
        return Term("item", value, key) if value.name in _OF_PROCESS else value  # a type with arguments
    return NUMBER if value == SIZE and not isinstance(key, SliceValue) else UNKNOWN


def item_of_dict(ctx: Context, value: Value, key: Value) -> Value:
    """`dict.__getitem__(value, key)`, whatever the class of the dict makes of `value[key]`."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or not isinstance(value, Ref):
        return UNKNOWN
    return _item_of_object(ctx, value, rec, key, None, is_raw=True)


def _item_of_object(
    ctx: Context, value: Ref, rec: Rec, key: Value, site: Site | None, *, is_raw: bool = False
) -> Value:
    if rec.kind == "dict":
        key = as_key(key, is_final=ctx.mode != "summary")
        if ctx.mode == "summary" and waits(key) and "default" not in rec.fields and not isinstance(rec.cls, Cls):
            if containers.holds_unnamed_objects(rec):
                return rec.at("*")
            return Term("item", value, key)  # which one it is, a caller tells
    if isinstance(key, SliceValue) and ".tensors" in rec.fields:  # of a `TensorDataset`
        return rec.at(".tensors")
    if isinstance(key, SliceValue):
        part = containers.sliced(ctx, value, key, site) if rec.kind == "list" else None
        return part if part is not None else _any_of_list(ctx, value, rec, key, site)
    if rec.kind == "module" and isinstance(key, Sort):
        return layers_in(ctx, value, rec)
    if FIRST_ITEM in rec.fields and key == Const(0):
        return rec.at(FIRST_ITEM)
    if not is_raw and (rec.kind == "list" or ("k", 0) not in rec.fields):
        got = special(ctx, value, "__getitem__", [key], site)
        if got is not None:
            return got
    if (inner := wrapped(ctx, value)) != value:
        return item(ctx, inner, key, site)
    if isinstance(key, Const):
        k = key.value
        several = ways(ctx, value) if rec.kind == "list" and type(k) is int else None
        if several is not None:
            return one_of([(guards, held[k]) for guards, held in several if -len(held) <= k < len(held)])
        if rec.kind == "list" and PRESENT in rec.fields:
            return element(ctx, value)  # filled in too many ways: nobody knows which item stands there
        if type(k) is int and k < 0 and "*" not in rec.fields:
            k += sum(1 for name in rec.fields if isinstance(name, tuple))
        if rec.kind == "dict" and (is_partial(k) or holds_partial(rec)):
            fitting = [one for field, one in rec.items.items() if field == "*" or may_be_same(field[1], k)]
            if fitting:
                return join(*fitting)
        if ("k", k) in rec.fields:
            kept: Value = rec.fields["k", k]
            if ctx.given_items.get(value) is rec and _is_data(ctx, kept):
                later = Term("item", value, key, ctx.opened)  # what was given the container may have replaced it
                ctx.emit(later)
                return later
            return join(kept, rec.fields["*"]) if rec.kind == "list" and "*" in rec.fields else kept
        if rec.kind == "overlay":
            return Term("item", value, key)
        if "default" in rec.fields:
            return _made_by_default(ctx, value, rec, ("k", k), site)
        if rec.kind == "dict":
            missing = special(ctx, value, "__missing__", [key], site) if "*" not in rec.fields else None
            if missing is not None:
                return missing
            turn = rec.fields.get(containers.KEY_OF_TURN)
            if ctx.mode == "summary" and turn is not None and waits(turn) and isinstance(rec.at("*"), OneOf):
                return Term("item", value, key)  # which turn has met the key, a caller tells
            return _of_key(rec, key)
    elif rec.kind == "dict" and "default" in rec.fields and not rec.items:
        return _made_by_default(ctx, value, rec, "*", site)
    elif rec.kind == "dict" and "*" not in rec.items and rec.items:
        return chosen(key, {field[1]: one for field, one in rec.items.items()})
    elif rec.kind == "dict":
        return join(*rec.items.values()) if rec.items else UNKNOWN
    return layers_in(ctx, value, rec) if rec.kind == "module" else element(ctx, value)


def _of_key(rec: Rec, key: Const) -> Value:
    """What a dict whose items are not told apart has under a key: the values of the turns in which the loop over another dict has met the key."""
    held = rec.at("*", NOTHING)  # a key that is not there raises
    if containers.KEY_OF_TURN not in rec.fields:
        return held
    met = [guards for guards, one in options_of(rec.fields[containers.KEY_OF_TURN]) if as_key(one) == key and guards]
    if len(met) != 1:
        return held
    fitting = [(guards - met[0], one) for guards, one in options_of(held) if consistent(guards, met[0])]
    return one_of(fitting) if fitting else held


def _any_of_list(ctx: Context, value: Ref, rec: Rec, key: SliceValue, site: Site | None) -> Value:
    """A slice with bounds that are not known: which item is where is not known either."""
    if rec.kind != "list" or "*" in rec.fields or (key.lower is None and key.step is None):
        return value
    held = [content for k, content in rec.fields.items() if isinstance(k, tuple)]
    return ctx.new(site, "list", None, {"*": join(*held)} if held else {}, tag="slice")


def _made_by_default(ctx: Context, value: Ref, rec: Rec, key: Any, site: Site | None) -> Value:
    factory = rec.fields["default"]
    made = ctx.call(factory, [], {}, site)
    new = ctx.rec(made) if isinstance(factory, Ext) else None
    if new is not None:  # each key has one of its own
        made = ctx.new(site, new.kind, new.cls, new.fields, tag=("default", key))
    ctx.put(value, key, made)
    return made


def element(ctx: Context, value: Value) -> Value:
    """Any element of an iterable."""
    if isinstance(value, OneOf):
        return ctx.lift(lambda one: element(ctx, one), value)
    if isinstance(value, Tensor):
        value = tensors.now(ctx, value)
        rank = shifted(value.rank, -1) if value.rank != 0 else None
        return replace(tensors.derived(value, rank, -1), kept="")
    if isinstance(value, Tup):
        several = [element(ctx, one.value) if isinstance(one, Star) else one for one in value.items]
        return join(*several) if several else NOTHING
    if isinstance(value, Ref):
        return _element_of_object(ctx, value)
    if isinstance(value, Term):
        renewed = _renewed(ctx, value)
        return renewed if renewed is not None else ctx.read(Term("element", value)) if value is not UNKNOWN else UNKNOWN
    if isinstance(value, Bound) and value.name == "__dict__":
        return _name_of_attribute(ctx, value.object)
    if isinstance(value, Array):
        return arrays.element(value)
    if isinstance(value, Cls) and is_enum(ctx.analysis, value.cls):
        return join(*_members(ctx, value)) if _members(ctx, value) else UNKNOWN
    return NUMBER if isinstance(value, (Const, Sort)) else UNKNOWN


def _renewed(ctx: Context, value: Term, key: Value = NUMBER) -> Value | None:
    """What a loop over all items of something unknown has put in the place of each, or under a key; None where there was none."""
    is_of_values = False
    if value.op == "call" and isinstance(value.args[0], Term) and value.args[0].op == "attribute":
        is_of_values = value.args[0].args[1] == "values"  # `batch.values()`
        value = value.args[0].args[0] if is_of_values else value
    rec = ctx.heap.get(value)
    found = rec.fields.get(RENEWED) if rec is not None and rec.kind == "overlay" else None
    if found is None or (key == NUMBER and not is_of_values and _is_by_key(found)):
        return None
    found = renewal_of(found, key)
    if found == NOTHING:
        return None
    moved = lift(as_moved, found)
    is_stable = all(isinstance(one, Term) and one.op == "moved" for one in alternatives(moved))
    return moved if is_stable or not ctx.in_loop else None  # what the next turn would make of anything else has no end


def renewal_of(renewed: Value, key: Value) -> Value:
    """What an item was replaced with, by its key where that is known; nothing where the loop leaves it out."""
    if not isinstance(key, Const):
        return renewal(renewed)
    reached = [
        (guards, one) for guards, one in options_of(renewed) if not any(_rules_out(guard, key) for guard in guards)
    ]
    return renewal(one_of(reached))


def _is_by_key(renewed: Value) -> bool:
    """True for what `for key in batch` and `for key, value in batch.items()` have replaced: a loop over `batch` gives its keys."""
    several = [as_moved(one) for one in alternatives(renewed)]
    held = [one.args[0] for one in several if isinstance(one, Term) and one.op == "moved"]
    items = [one for one in held if isinstance(one, Term) and one.op == "item"]
    return any(
        _is_key_of_turn(one.args[1]) or (one.args[1] == Const(1) and _is_key_of_turn(one.args[0])) for one in items
    )


def _rules_out(guard: Guard, key: Const) -> bool:
    """True for a condition of a loop over keys that this one does not meet: `if key != "meta"`."""
    term, outcome = guard
    if term.op == "equal" and any(isinstance(side, Const) for side in term.args):
        turn, other = term.args if isinstance(term.args[1], Const) else term.args[::-1]
        return _is_key_of_turn(turn) and (as_key(other) == key) is not outcome
    if term.op == "contains" and isinstance(term.args[1], Tup) and _is_key_of_turn(term.args[0]):
        keys = [as_key(one) for one in term.args[1].items]
        return all(isinstance(one, Const) for one in keys) and (key in keys) is not outcome
    return False


def _is_key_of_turn(value: Value) -> bool:
    """True for the variable of a loop over the keys of something unknown, or over its items."""
    if isinstance(value, Term) and value.op == "item" and value.args[1] == Const(0):
        value = value.args[0]
    return isinstance(value, Term) and value.op == "element"


def _name_of_attribute(ctx: Context, value: Value) -> Value:
    """Any key of `value.__dict__`."""
    if isinstance(value, Term):
        return Term("element", Term("attribute", value, "__dict__")) if value is not UNKNOWN else UNKNOWN
    rec = ctx.rec(value)
    return join(*map(Const, rec.attributes)) if rec is not None and rec.attributes else UNKNOWN


def _element_of_object(ctx: Context, value: Ref) -> Value:
    rec = ctx.heap.get(value)
    if rec is None or rec.kind == "overlay":
        return Term("element", value)
    if rec.kind == "dict":
        keys = [of_key(key[1]) for key in rec.fields if isinstance(key, tuple)]
        if "*" in rec.fields:
            return rec.at(containers.KEYS, NUMBER)
        return join(*keys) if keys else NUMBER
    if rec.kind == "module" and _layer_name(ctx, rec) in _BY_NAME:
        names = [of_key(key[1]) for key in rec.fields if isinstance(key, tuple)]
        return join(*names) if names and "*" not in rec.fields else NUMBER
    if rec.kind in ("object", "module") and isinstance(rec.cls, Cls):
        for name in ("__iter__", "__aiter__"):
            made = special(ctx, value, name, [])
            if made is not None:
                several = (special(ctx, made, following, []) for following in ("__next__", "__anext__"))
                one = next((one for one in several if one is not None), None)
                return one if one is not None else UNKNOWN if made == value else element(ctx, made)
        got = special(ctx, value, "__getitem__", [NUMBER])
        if got is not None:
            return got
        if (inner := wrapped(ctx, value)) != value:
            return element(ctx, inner)
    if COLLATED in rec.fields:
        from torchdevlint.infer import loaders

        return loaders.batch_of(ctx, rec)
    if rec.kind == "module" and "*" not in rec.fields:
        from torchdevlint.infer import modules

        layer = modules.layer_of(ctx, value, rec, "*")
        if layer is not None:
            return join(layer, *rec.items.values())
    by_way = ways(ctx, value) if PRESENT in rec.fields else None
    if by_way is not None:
        return one_of([(guards, one) for guards, held in by_way for one in held])
    if rec.items:
        return join(*rec.items.values())
    return NOTHING if rec.kind in ("list", "generator") else UNKNOWN


def unpacked(ctx: Context, value: Value, index: int, count: int, starred: bool) -> Value:
    """Part `index` of what is unpacked into `count` targets."""
    if isinstance(value, OneOf):
        return ctx.lift(lambda one: unpacked(ctx, one, index, count, starred), value)
    known = items(ctx, value)
    if known is not None:
        if starred:
            after = count - 1 - index if index >= 0 else -index - 1
            rest = known[index : len(known) - after]
            fields = {("k", at): part for at, part in enumerate(rest)}
            return ctx.new(None, "list", None, fields, tag=("rest", value, index))
        return known[index] if -len(known) <= index < len(known) else UNKNOWN
    several = ways(ctx, value)
    if several is not None:
        tuples = one_of([(guards, Tup(tuple(held))) for guards, held in several])
        return unpacked(ctx, tuples, index, count, starred)
    found = containers.known_at(value, index) if isinstance(value, Tup) and not starred else None
    if found is not None:
        return found
    if isinstance(value, Term) and value is not UNKNOWN:
        if index >= 0 and not starred:
            return item(ctx, value, Const(index))
        return Term("unpack", value, index, count, starred)
    return value if starred and not isinstance(value, Tensor) else element(ctx, value)


def items(ctx: Context, value: Value) -> list[Value] | None:
    """The items one by one, where all are known."""
    if isinstance(value, Tup):
        return None if any(isinstance(one, Star) for one in value.items) else list(value.items)
    if isinstance(value, Cls) and is_enum(ctx.analysis, value.cls):
        return _members(ctx, value)
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is not None and rec.kind == "generator" and ITEMS in rec.fields:
        in_order = rec.fields[ITEMS]  # on two paths it may give different ones
        return list(in_order.items) if isinstance(in_order, Tup) else None
    if rec is None or "*" in rec.fields or not (rec.kind in ("list", "object") or _is_of_layers(ctx, rec)):
        return None
    if PRESENT in rec.fields:
        several = ways(ctx, value)
        if several is not None and len(several) == 1:
            return several[0][1]
        # A layer that may be lacking runs where it is there.
        if not all(_is_module(ctx, one) for one in rec.items.values()):
            return None
    keys = sorted(key for key in rec.fields if isinstance(key, tuple) and isinstance(key[1], int))
    return [rec.fields[key] for key in keys] if keys or rec.kind == "list" else None


def ways(ctx: Context, value: Value, facts: Facts | None = None) -> list[tuple[Facts, list[Value]]] | None:
    """What a list may hold, or the keys of a dict, each time under its conditions; None where that is not known, or the same on all paths. `facts` hold, else
    those of this point.
    """
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or PRESENT not in rec.fields or "*" in rec.fields or rec.kind not in ("list", "dict"):
        return None
    found = presence.ways(rec, ctx.facts if facts is None else facts)
    if found is None:
        ctx.analysis.hit("ways in which a container is filled")
        return None
    return [
        (guards, [of_key(key[1]) for key in held] if rec.kind == "dict" else list(held.values()))
        for guards, held in found
    ]


def _is_module(ctx: Context, value: Value) -> bool:
    held = [ctx.heap.get(one) if isinstance(one, Ref) else None for one in alternatives(value)]
    return all(rec is not None and rec.kind == "module" for rec in held)


def _is_of_layers(ctx: Context, rec: Rec) -> bool:
    """True for a `ModuleList` or `Sequential`, or one of a class that inherits from them."""
    return rec.kind == "module" and _layer_name(ctx, rec) in _OF_LAYERS


def layers_in(ctx: Context, value: Ref, rec: Rec) -> Value:
    """What a container of layers holds, also where a loop over it gives their names."""
    if _layer_name(ctx, rec) not in _BY_NAME:
        return element(ctx, value)
    from torchdevlint.infer import modules

    layer = modules.layer_of(ctx, value, rec, "*") if "*" not in rec.fields else None
    held = [*([layer] if layer is not None else []), *rec.items.values()]
    return join(*held) if held else UNKNOWN


def _layer_name(ctx: Context, rec: Rec) -> str:
    """The class of torch that a module is of, or that its class inherits from."""
    if isinstance(rec.cls, Ext):
        return rec.cls.name
    return layer_of(ctx.analysis, rec.cls.cls) if isinstance(rec.cls, Cls) else ""


def turns(ctx: Context, value: Value) -> list[Value] | None:
    """What a loop goes over, one by one, where all is known: the keys of a dict, and the items of anything else."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or rec.kind != "dict":
        return items(ctx, value)
    if rec.cls is not None or "*" in rec.fields or "default" in rec.fields or holds_partial(rec):
        return None
    if PRESENT in rec.fields:
        several = ways(ctx, value)
        return several[0][1] if several is not None and len(several) == 1 else None
    return [Const(key[1]) for key in rec.fields if isinstance(key, tuple)]


def one_by_one(ctx: Context, value: Value, operations: int = _MOST_OPERATIONS) -> list[Value] | None:
    """What a loop that is run item by item goes over: all is known, there are few, and they are more than numbers; None for anything else.

    `operations`: of one turn; the shorter the loop, the more turns are followed.
    """
    known = turns(ctx, value)
    if known is None:
        return None
    short = min(MOST_SHORT_TURNS, _MOST_OPERATIONS // max(operations, 1))
    most = MOST_NUMBERED if all(map(_is_number, known)) else max(_MOST_TURNS, short)
    return known if 0 < len(known) <= most else None


def _is_number(value: Value) -> bool:
    return value == NUMBER or (isinstance(value, Const) and isinstance(value.value, (int, float)))


def holds_tensor(value: Value) -> bool:
    """True where a value is a tensor, or a tuple with one."""
    return any(isinstance(one, Tensor) for one in alternatives(value)) or (
        isinstance(value, Tup) and any(holds_tensor(one) for one in value.items)
    )
