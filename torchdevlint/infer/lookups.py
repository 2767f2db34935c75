"""Tables that are filled where they lack a key: what stands there when a call looks, and whether the key says where it is.

`if key not in cache: cache[key] = make(device)` gives what this call makes, or what another one has made. Where the key does not tell devices apart, that
may be elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchdevlint.infer import conditions, devices, reading
from torchdevlint.infer.joins import join
from torchdevlint.infer.state import NO_FACTS, Under
from torchdevlint.infer.values import (
    UNKNOWN,
    Const,
    Device,
    OneOf,
    Rec,
    Ref,
    Site,
    Tensor,
    Term,
    Value,
    as_key,
    options_of,
    parts_of,
    terms_in,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_ASKS = frozenset({"device_of", "device_type", "is_cuda", "as_device"})
_OF_SIZE = frozenset({"shape", "dtype", "ndim", "size", "dim", "numel"})
_OF_TENSORS = frozenset({"device", "is_cuda"})


def store(ctx: Context, target: Value, key: Value, value: Value, site: Site | None) -> None:
    """A caller stores it. Of a table that was asked for the key, what is read under it is what was stored, or was there before, until something is
    stored under another one. What else takes items may be a tensor, which copies what it is given to where it is.
    """
    if isinstance(target, Term) and any(_asks_table(term, target) for term, _ in ctx.facts):
        before = value if _tells_place(key, value) else found(ctx, target, key, site)
        written = ctx.rec(target) or Rec("overlay")
        fields = {field: one for field, one in written.fields.items() if not isinstance(field, Under)}
        ctx.heap[target] = Rec("overlay", written.cls, {**fields, Under(key, before): value})
    ctx.emit(Term("stored", target, key, value, site))


def _asks_table(term: Term, target: Term) -> bool:
    """True for `key in target` and `target.get(key) is None`, also as one of several conditions."""
    if term.op == "contains":
        return bool(term.args[1] == target)
    if term.op in ("all", "not"):
        return any(_asks_table(one, target) for one in terms_in(term.args) if one.op == "contains")
    method = conditions.get_of(term)
    return method is not None and bool(method.args[0] == target)


def found(ctx: Context, target: Value, key: Value, site: Site | None) -> Value:
    """What a table holds under a key, just before something is stored under it."""
    is_open = isinstance(target, Term) and target is not UNKNOWN and not isinstance(as_key(key), Const)
    if ctx.mode == "summary" and is_open:
        for field, one in (ctx.rec(target) or Rec("overlay")).fields.items():
            if isinstance(field, tuple):  # what known keys hold is written at the end, and looked at here
                ctx.emit(Term("stored", target, Const(field[1]), one, site))
        term = Term("held", target, key, (site, *ctx.chain))
        saved, ctx.facts = ctx.facts, NO_FACTS  # where it is there, nothing is stored
        ctx.emit(term)
        ctx.facts = saved
        return term
    if isinstance(as_key(key), Const):
        return reading.item(ctx, target, key)
    if may_tell_place(key):
        return UNKNOWN
    rec = ctx.heap.get(target) if isinstance(target, Ref) and ctx.mode == "summary" else None
    return join(*rec.items.values()) if rec is not None and rec.items else reading.item(ctx, target, key)


def _tells_place(key: Value, value: Value) -> bool:
    """True for a key that holds what the value's place depends on: `cache[n, device] = torch.zeros(n, device=device)`."""
    places = {term for _, one in options_of(value) for term in _places(one)}
    return any(term in places for term in terms_in(key))


def _places(value: Value) -> Iterator[Term]:
    """What says where a value is: a parameter, or the device of something."""
    for term in terms_in(value.device) if isinstance(value, Tensor) else terms_in(value):
        if _is_of_tensor(term):
            yield term
        elif term.op in _ASKS:
            asked = term.args[0] if term.op == "as_device" else Term("attribute", term.args[0], "device")
            if isinstance(asked, Term):
                yield asked


def _is_of_tensor(term: Term) -> bool:
    return term.op == "attribute" and term.args[1] in _OF_TENSORS


def may_tell_place(key: Value) -> bool:
    """True for a key with a device or the name of one in it, or something that may be one."""
    if isinstance(key, (Device, Ref, OneOf)):
        return True
    if isinstance(key, Const):
        is_name = isinstance(key.value, str) and key.value.startswith(("cpu", *devices.ACCELERATORS))
        return is_name or isinstance(key.value, bool)  # `device.type == "cuda"`
    return any(map(may_tell_place, parts_of(key))) or any(map(_may_say_where, _asked_in(key)))


def _asked_in(key: Value) -> Iterator[Term]:
    """The terms in a key, but for those of a size or a type, which a tensor has wherever it is."""
    pending: list[object] = [key]
    while pending:
        one = pending.pop()
        if isinstance(one, Term) and not _is_of_size(one):
            yield one
        if not isinstance(one, Term) or not _is_of_size(one):
            pending += one.args if isinstance(one, Term) else one if isinstance(one, tuple) else parts_of(one)


def _is_of_size(term: Term) -> bool:
    """True for `x.shape`, `x.dtype`, `x.size(0)` and `len(x)`."""
    if term.op == "call" and isinstance(term.args[0], Term) and term.args[0].op == "attribute":
        term = term.args[0]
    return term.op == "length" or (term.op == "attribute" and term.args[1] in _OF_SIZE)


def _may_say_where(term: Term) -> bool:
    return term.op == "parameter" or term.op in _ASKS or _is_of_tensor(term)
