"""Optimizers: their groups of parameters and what they keep of each, those of PyTorch and the classes of a project that inherit from one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchdevlint.infer import modules, reading
from torchdevlint.infer.options import is_told
from torchdevlint.infer.values import (
    MANY,
    NONE,
    NUMBER,
    UNKNOWN,
    Args,
    DoubleStar,
    Ext,
    Keywords,
    Ref,
    Site,
    Star,
    Tensor,
    Term,
    Value,
    alternatives,
    is_elsewhere,
    join,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context


def make(ctx: Context, name: str, given: Value, site: Site | None) -> Value:
    """An optimizer with its groups of parameters and its state, which is where they are (torch/optim/optimizer.py)."""
    held = _parameters(ctx, given)
    state: dict[Any, Value] = {"*": modules.plain(join(*held)), ("k", "step"): NUMBER} if held else {}
    return ctx.new(site, "object", Ext(name), _fields(ctx, held, state, site), tag="optimizer")


def inherited(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`torch.optim.Optimizer.__init__(self, params, defaults)` of a class of the project, which keeps the state of each parameter itself."""
    from torchdevlint.infer.calls import residual

    target, *rest = args
    given = rest[0] if rest else keywords.get("params", UNKNOWN)
    is_spread = isinstance(given, (Star, DoubleStar))
    if ctx.mode == "summary" and (not isinstance(target, Ref) or is_spread or isinstance(given, Term)):
        return residual(ctx, Ext(f"{name}.__init__"), args, keywords, site)
    if isinstance(target, Ref) and not is_spread:
        state: dict[Any, Value] = {} if name.endswith(".Optimizer") else {"*": UNKNOWN, ("k", "step"): NUMBER}
        for key, content in _fields(ctx, _parameters(ctx, given), state, site).items():
            ctx.put(target, key, content)
    return NONE


def _fields(ctx: Context, held: list[Tensor], state: dict[Any, Value], site: Site | None) -> dict[str, Value]:
    """The groups and the state of an optimizer with these parameters; `state` is what it keeps of each."""
    if not held:
        return {}
    params = ctx.new(site, "list", None, {"*": join(*held)}, tag="params")
    group = ctx.new(site, "dict", None, {("k", "params"): params}, tag="group")
    of_one = ctx.new(site, "dict", None, state, tag="state of one")
    return {
        ".param_groups": ctx.new(site, "list", None, {"*": group}, tag="groups"),
        ".state": ctx.new(site, "dict", None, {"*": of_one}, tag="state"),
    }


def _parameters(ctx: Context, given: Value) -> list[Tensor]:
    """What an optimizer is given. Parameters on the CPU are left out: who moves their module afterwards moves them here as well."""
    several = alternatives(reading.element(ctx, given))
    return [one for each in several for one in _of_group(ctx, each)]


def _of_group(ctx: Context, given: Value) -> list[Tensor]:
    """The parameters of a group, a dict or one that is given by itself, that are not on the CPU."""
    if isinstance(given, Term) and given is not UNKNOWN and ctx.mode == "root":
        return [Tensor(Term("own", given), MANY)]  # somebody from outside gives them
    rec = ctx.heap.get(given) if isinstance(given, Ref) else None
    params = rec.fields.get(("k", "params"), UNKNOWN) if rec is not None and rec.kind == "dict" else given
    several = alternatives(params if isinstance(params, Tensor) else reading.element(ctx, params))
    return [
        one
        for one in several
        if isinstance(one, Tensor) and (is_elsewhere(one.device) or is_told(one.device) or _is_open(one))
    ]


def _is_open(one: Tensor) -> bool:
    return isinstance(one.device, Term) and one.device.op == "own"
