"""What `object`, `dict` and `nn.Module` do themselves for a name that a class of the project overrides: `super().__setattr__(name, value)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torchdevlint.infer import classes, modules, reading, tensors
from torchdevlint.infer.joins import join
from torchdevlint.infer.values import (
    NONE,
    NOTHING,
    UNKNOWN,
    Cls,
    Const,
    Ext,
    Func,
    Ref,
    Site,
    Term,
    Tup,
    Value,
    alternatives,
    is_open,
    waits,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

# Whose methods are called so: `dict.__setitem__(self, ...)`.
OWNERS = frozenset({"builtins.object", "builtins.dict", "torch.nn.Module", "collections.OrderedDict"})


def method(
    ctx: Context, value: Value, name: str, args: list[Value], site: Site | None, *, is_of_object: bool = False
) -> Value:
    """`super().name(*args)` in a method of `value`, and `object.name(value, *args)`, which says that it is that of `object`."""
    if name == "__setattr__" and len(args) > 1:
        modules.store_named(ctx, value, args[0], args[1], by="raw_object_set" if is_of_object else "raw_set")
        return NONE
    if name == "__delattr__" and args:
        modules.store_named(ctx, value, args[0], NOTHING, by="raw_del")
        return NONE
    if name == "__setitem__" and len(args) > 1:
        for one in alternatives(value):
            if ctx.mode == "summary" and is_open(one):
                ctx.emit(Term("call", Ext("builtins.dict.__setitem__"), (one, *args), (), site))
            else:
                tensors.store_in_container(ctx, one, args[0], args[1], site, is_raw=True)
        return NONE
    return asked(ctx, value, args[0], name) if name in _FINDS and args else UNKNOWN


_MAPPINGS = frozenset({"Mapping", "MutableMapping", "UserDict"})


def of_mapping(ctx: Context, value: Ref, name: str, args: list[Value], site: Site | None) -> Value | None:
    """What `collections.abc.Mapping` makes of `__iter__` and `__getitem__` of a class (Lib/_collections_abc.py); None for other methods and classes."""
    rec = ctx.heap.get(value)
    if rec is None or not isinstance(rec.cls, Cls) or name not in ("keys", "values", "items", "get"):
        return None
    bases = classes.foreign_bases_of(ctx.analysis, rec.cls.cls)
    getter = classes.attribute_of(ctx, rec.cls, "__getitem__", value)
    if _MAPPINGS.isdisjoint(base.rpartition(".")[2] for base in bases) or not isinstance(getter, Func):
        return None
    if name == "get" and args:
        return join(ctx.call(getter, args[:1], {}, site), args[1] if len(args) > 1 else NONE)
    key = reading.element(ctx, value)
    if name == "keys":
        return ctx.new(site, "list", None, {"*": key}, tag=name)
    held = ctx.call(getter, [key], {}, site)
    return ctx.new(site, "list", None, {"*": held if name == "values" else Tup((key, held))}, tag=name)


def asked(ctx: Context, value: Value, key: Value, name: str) -> Value:
    """What `object`, `nn.Module` or `dict` itself finds under a name or key that is asked for by one of their methods; a caller may tell of what."""
    if ctx.mode == "summary" and (waits(key) or waits(value)):
        return Term("asked", value, key, name)
    return join(*[_FINDS[name](ctx, one, each) for one in alternatives(value) for each in alternatives(key)])


def _held(ctx: Context, value: Value, name: Value) -> Value:
    """The parameter, buffer or module of a name; nothing where it raises."""
    rec = ctx.rec(value)
    if rec is None or not isinstance(rec.cls, Cls) or not isinstance(name, Const):
        return UNKNOWN
    if f".{name.value}" in rec.fields:
        return rec.at(f".{name.value}")
    bases = classes.foreign_bases_of(ctx.analysis, rec.cls.cls)
    return NOTHING if all(base in _PLAIN for base in bases) and "*" not in rec.fields else UNKNOWN


_PLAIN = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module", "builtins.object"})
_FINDS: dict[str, Callable[[Context, Value, Value], Value]] = {
    "__getattr__": _held,
    "__getattribute__": reading.plain_attribute,
    "__getitem__": reading.item_of_dict,
}
