"""Optimizers: their groups of parameters and what they keep of each, those of PyTorch and the classes of a project that inherit from one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchdevlint.infer import claims, modules, reading
from torchdevlint.infer.joins import join
from torchdevlint.infer.options import is_told
from torchdevlint.infer.state import FILLED
from torchdevlint.infer.summary import LEAF, Operand
from torchdevlint.infer.values import (
    HOST,
    MANY,
    NONE,
    NUMBER,
    UNKNOWN,
    Args,
    Const,
    DoubleStar,
    Ext,
    Keywords,
    Ref,
    Site,
    Star,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    is_elsewhere,
    waits,
)
from torchdevlint.stubs.knowledge.modules import STATELESS_OPTIMIZERS

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

GIVEN = "given"  # what the constructor was given
STATE = "state"  # the role of that state


def make(ctx: Context, name: str, given: Value, options: Keywords, site: Site | None) -> Value:
    """An optimizer with its groups of parameters and its state, which is where they are (torch/optim/optimizer.py).

    What it is `given` it keeps as well: a module that is moved later takes its parameters along.
    """
    params = _parameters(ctx, given)
    held = [one for one in params if not _may_move(one)]
    for one in _listed(ctx, given):  # on the CPU the move did nothing, and it is still the leaf
        claims.claim(ctx, "host", [Operand(one, role=LEAF)], site)
    of_each = modules.plain(join(*held)) if held else UNKNOWN
    fields = _fields(ctx, params, {"*": of_each, ("k", "step"): NUMBER}, site)
    if not _is_stateless(name, options):
        fields[GIVEN] = given
    return ctx.new(site, "object", Ext(name), fields, tag="optimizer")


def _is_stateless(name: str, options: Keywords) -> bool:
    """True for SGD without momentum: it keeps no tensors."""
    return name in STATELESS_OPTIMIZERS and options.get("momentum", Const(0)) in (NONE, Const(0), Const(0.0))


def filled(ctx: Context, optimizer: Ref, site: Site | None) -> None:
    """`optimizer.load_state_dict(...)`: the state is brought to where the parameters are now, whatever device it was saved from."""
    if site is not None and GIVEN in ctx.heap[optimizer].fields:
        places = {one.device for one in _now(ctx, optimizer)}
        ctx.note_move(optimizer)
        ctx.put(optimizer, FILLED, Tensor(HOST, MANY, site, "always") if places == {HOST} else UNKNOWN)


def stepped(ctx: Context, optimizer: Ref, site: Site | None) -> None:
    """`optimizer.step()` computes with the parameters, where they are now, and with its state, which no move of the module brings along."""
    loaded, written = ctx.heap[optimizer].fields.get(FILLED), _written(ctx, optimizer)
    params = _now(ctx, optimizer) if loaded is not None or written is not None else []
    for held in (loaded, written) if params else ():
        if held is not None:
            claims.claim(ctx, "same", [Operand(held, role=STATE), Operand(join(*params))], site)


def _written(ctx: Context, optimizer: Ref) -> Value | None:
    """What the program itself has put on the CPU of what the optimizer keeps: `optimizer.state[p][name] = value`. Counts of steps may be there."""
    whole = [ctx.rec(one) for one in alternatives(ctx.heap[optimizer].fields.get(".state", UNKNOWN))]
    of_each = [one for rec in whole if rec is not None for held in rec.items.values() for one in alternatives(held)]
    found: list[Value] = []
    for rec in map(ctx.rec, of_each):
        if rec is not None and rec.kind == "dict":
            found += [one for key, held in rec.items.items() if key != ("k", "step") for one in alternatives(held)]
    is_brought = any(isinstance(one, Tensor) and one.device == HOST and one.origin is not None for one in found)
    return join(*found) if is_brought else None


def _now(ctx: Context, optimizer: Ref) -> list[Tensor]:
    """The parameters of an optimizer, where they are."""
    given = ctx.heap[optimizer].fields.get(GIVEN, UNKNOWN)
    several = [one for each in alternatives(reading.element(ctx, given)) for one in _in_group(ctx, each)]
    found = [claims.where_now(ctx, one) for one in several]
    return [one for one in found if isinstance(one, Tensor)]


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


def _may_move(one: Tensor) -> bool:
    """True for a parameter on the CPU, of which the state is where it is in the first step: who moves its module before that moves it here as well."""
    return not (is_elsewhere(one.device) or is_told(one.device) or _is_open(one))


def _parameters(ctx: Context, given: Value) -> list[Tensor]:
    """What an optimizer is given, but for tensors on the CPU that are no parameters."""
    several = alternatives(reading.element(ctx, given))
    return [one for each in several for one in _of_group(ctx, each)]


def _listed(ctx: Context, given: Value) -> list[Value]:
    """What the program lists itself, that is or may be a leaf which was moved: `[self.shift]`, and no `model.parameters()`."""
    if not isinstance(given, (Ref, Tup)):
        return []
    several: list[Value] = []
    for each in alternatives(reading.element(ctx, given)):
        rec = ctx.heap.get(each) if isinstance(each, Ref) else None
        several += [each] if rec is None else _in_group(ctx, each)
    return [
        one for one in dict.fromkeys(several) if (isinstance(one, Tensor) and one.leaf == "copied") or _may_be_leaf(one)
    ]


def _may_be_leaf(value: Value) -> bool:
    return isinstance(value, Term) and value.op in ("parameter", "attribute", "moved") and waits(value)


def _in_group(ctx: Context, given: Value) -> list[Value]:
    """The parameters of a group, a dict or one that is given by itself."""
    rec = ctx.heap.get(given) if isinstance(given, Ref) else None
    params = rec.fields.get(("k", "params"), UNKNOWN) if rec is not None and rec.kind == "dict" else given
    return list(alternatives(params if isinstance(params, Tensor) else reading.element(ctx, params)))


def _of_group(ctx: Context, given: Value) -> list[Tensor]:
    """The parameters of a group, a dict or one that is given by itself, and the tensors that are not on the CPU."""
    if isinstance(given, Term) and given is not UNKNOWN and ctx.mode == "root":
        return [Tensor(Term("own", given), MANY)]  # somebody from outside gives them
    return [one for one in _in_group(ctx, given) if isinstance(one, Tensor) and (one.follows or not _may_move(one))]


def _is_open(one: Tensor) -> bool:
    return isinstance(one.device, Term) and one.device.op == "own"
