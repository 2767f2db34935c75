"""By which way an operand came to where it meets another: the calls that handed it on as it is, and the name that it got."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchdevlint.infer.state import LEFT
from torchdevlint.infer.summary import Given, Operand
from torchdevlint.infer.values import HOST, Ext, OneOf, Rec, Ref, Site, Tensor, Term, Tup, Value, alternatives
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs import loader
from torchdevlint.stubs.knowledge.modules import INPUT_MOVERS

_HOLDERS = frozenset({"module", "list", "dict"})
_MOST_LEVELS = 3  # a batch that holds lists of tensors
_MOST_DEEP = 20  # modules and containers in each other
_DEVICES = frozenset({"own", "near", "device_of"})  # the device of something

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context


def bound(ctx: Context, value: Value, site: Site) -> Site | None:
    """Where the function that an operation stands in last gave this value a name, in front of it."""
    stores = ctx.bound.get((site.body, value)) if site.body is not None else None
    if not stores or site.body is None:
        return None
    number = Lookup.of(site.body).number
    behind = number(site.op)
    last = max((store for store in stores if number(store) < behind), key=number, default=None)
    return site.unit.site(last, site.body) if last is not None else None


def on(ctx: Context, operand: Operand) -> Operand:
    """An operand that is left to the callers, with the call that hands it on here."""
    found = given(ctx, operand.value, is_module=operand.role == "module") if ctx.calls else None
    return operand if found is None else operand._replace(given=found)


def given(ctx: Context, value: Value, is_module: bool) -> Given | None:
    """The outermost of the calls that are run which hand a tensor on, or the module that holds it. None where two arguments may be meant."""
    found = None
    for call in reversed(ctx.calls):
        arguments = [(name, one) for name, one in call.parameters.items() if "@" not in name]
        names = [name for name, one in arguments if _hands_on(ctx, one, value, is_module)]
        if call.site is None or len(names) != 1:
            break
        found = Given(call.site, call.body, names[0])
    return found


def _hands_on(ctx: Context, argument: Value, value: Value, is_module: bool) -> bool:
    """True for an argument that is the value, or one of what it may be, or holds it: a list, a tuple, a dict, a module."""
    if isinstance(value, OneOf):
        return any(_hands_on(ctx, argument, one, is_module) for one in alternatives(value))
    for one in alternatives(argument):
        if isinstance(one, Tensor) and isinstance(value, Tensor):
            if (one.origin, one.device) == (value.origin, value.device):
                return True
        elif isinstance(one, Term):
            if one in _holders(value):
                return True
        elif not isinstance(value, Tensor) or value.origin is None:
            continue
        elif isinstance(one, Ref) and is_module:
            made = value.origin.whole
            if any(rec is not None and rec.fields.get("@origin") is made for rec in map(ctx.rec, _inside(ctx, one))):
                return True
        elif isinstance(one, (Ref, Tup)) and _holds(ctx, one, value, _MOST_LEVELS):
            return True
    return False


def _holds(ctx: Context, holder: Value, value: Tensor, deep: int) -> bool:
    """True for a list, a tuple or a dict that holds a tensor, also in another one."""
    if isinstance(holder, Tensor):
        return (holder.origin, holder.device) == (value.origin, value.device)
    rec = ctx.rec(holder) if isinstance(holder, Ref) else None
    is_container = rec is not None and rec.kind in ("list", "dict")
    held = holder.items if isinstance(holder, Tup) else list(rec.items.values()) if rec and is_container else []
    return deep > 0 and any(_holds(ctx, one, value, deep - 1) for each in held for one in alternatives(each))


def _holders(value: Value) -> Iterator[Term]:
    """What is open of a value: itself, what has it as an attribute, and what a method of tensors was called on."""
    place: object = value.device if isinstance(value, Tensor) else value
    while isinstance(place, Term):
        if place.op not in _DEVICES:
            yield place
        inner = place.args[0] if place.args else None
        is_method = isinstance(inner, Term) and inner.op == "attribute" and inner.args[1] in loader.tensor_methods()
        if place.op == "call" and is_method and isinstance(inner, Term):
            place = inner.args[0]
        else:
            place = inner if place.op == "attribute" or place.op in _DEVICES else None


def _inside(ctx: Context, module: Ref) -> Iterator[Value]:
    from torchdevlint.infer.modules import within

    yield module
    yield from (one for _, one in within(ctx, module))


def left_at(ctx: Context, tensor: Tensor) -> Site | None:
    """The move that has left the module on the CPU which a tensor is a part of; None where there are several, or another file has it."""
    made = tensor.origin.whole if tensor.origin is not None else None
    found = {
        rec.fields[LEFT]
        for ref, rec in ctx.heap.items()
        if LEFT in rec.fields
        and isinstance(ref, Ref)
        and any(inner is not None and inner.fields.get("@origin") is made for inner in map(ctx.rec, _inside(ctx, ref)))
    }
    site = found.pop() if len(found) == 1 else None
    return site if site is not None and site.unit is ctx.unit else None


def outermost(ctx: Context, tensor: Tensor) -> Site | None:
    """Where the module was made that holds the one which a tensor is a part of, itself held by no other but a DataParallel; None where that is the same one,
    or where several may be meant.
    """
    if tensor.origin is None:
        return None
    made = tensor.origin.whole
    if made not in ctx.outermost:  # one fault is met in many ways, and this looks at all objects
        ctx.outermost[made] = _outermost(ctx, made)
    return ctx.outermost[made]


def _outermost(ctx: Context, made: Site) -> Site | None:
    holders: dict[Ref, Ref] = {}
    for holder, rec in ctx.heap.items():
        if rec.kind in _HOLDERS:
            for content in rec.fields.values():
                holders.update((one, holder) for one in alternatives(content) if isinstance(one, Ref) and one != holder)
    found: dict[Site | None, None] = {}
    for part, rec in ctx.heap.items():
        if rec.kind == "module" and rec.fields.get("@device", HOST) == HOST and _is_of(rec, made):
            at: Ref | None = part
            outer: Site | None = rec.fields.get("@origin")
            for _ in range(_MOST_DEEP):
                at = holders.get(at) if at is not None else None
                if at is None:
                    break
                held = ctx.heap[at]
                if held.kind == "module" and not (isinstance(held.cls, Ext) and held.cls.name in INPUT_MOVERS):
                    outer = held.fields.get("@origin")
            found[outer if outer is not made else None] = None
    return next(iter(found)) if len(found) == 1 else None


def _is_of(rec: Rec, made: Site) -> bool:
    """True for the module that was made at a line, or whose parameter or buffer was."""
    if rec.fields.get("@origin") is made:
        return True
    return any(
        isinstance(one, Tensor) and one.follows and one.origin is not None and one.origin.whole is made
        for content in rec.fields.values()
        if isinstance(content, (Tensor, OneOf))
        for one in alternatives(content)
    )
