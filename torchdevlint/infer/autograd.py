"""Functions of autograd: `apply` calls `forward`, and a backward pass calls `backward` with gradients that are where the results are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer import classes, devices, reading
from torchdevlint.infer.values import (
    MANY,
    NONE,
    NOWHERE,
    UNKNOWN,
    Args,
    Cls,
    Ext,
    Func,
    Keywords,
    Ref,
    Site,
    Tensor,
    Tup,
    Value,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

CONTEXT = "torch.autograd.function.FunctionCtx"
_MOST_RESULTS = 8


def apply(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`Function.apply(...)`, which is given the class first (torch/autograd/function.py). What is trained is followed by a backward pass."""
    cls, *given = args
    if not isinstance(cls, Cls):
        return UNKNOWN
    context = new_context(ctx, site)
    result = _called(ctx, cls, "forward", given if has_setup(ctx, cls) else [context, *given], keywords, site)
    if has_setup(ctx, cls):
        _called(ctx, cls, "setup_context", [context, Tup(tuple(given)), result], {}, site)
    _called(ctx, cls, "backward", [context, *gradients(ctx, result)], {}, site)
    return result


def new_context(ctx: Context, site: Site | None) -> Ref:
    """What `forward` keeps for `backward`."""
    return ctx.new(site, "object", Ext(CONTEXT), {}, tag="context")


def has_setup(ctx: Context, cls: Cls) -> bool:
    """True where `setup_context` gets the context, in the place of `forward`."""
    return any("setup_context" in one.methods for one in classes.bases_of(ctx.analysis, cls.cls))


def method(ctx: Context, context: Ref, name: str, args: Args) -> Value | None:
    """A method of the context; None where nothing is known."""
    if name == "save_for_backward":
        ctx.put(context, ".saved_tensors", Tup(tuple(args)))
        return NONE
    return None


def gradients(ctx: Context, result: Value) -> list[Value]:
    """What `backward` gets for what `forward` gave: a gradient for each tensor, on its device."""
    known = reading.items(ctx, result) if isinstance(result, Tup) else None
    places = [devices.device_of(ctx, one) for one in (known if known is not None else [result])]
    return [Tensor(place, MANY) if place != NOWHERE else UNKNOWN for place in places[:_MOST_RESULTS]]


def _called(ctx: Context, cls: Cls, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    found = classes.attribute_of(ctx, cls, name, None)
    return ctx.call(found, args, keywords, site) if isinstance(found, Func) else UNKNOWN


def steps(cls: ir.Class) -> list[ir.Body]:
    """The methods of a function of autograd that a pass forward and one backward call, in their order."""
    return [cls.methods[name] for name in ("forward", "setup_context", "backward") if name in cls.methods]
