"""Data loaders, and the classes of the project that inherit from them (torch/utils/data/dataloader.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchdevlint.infer import reading
from torchdevlint.infer.joins import lift
from torchdevlint.infer.state import COLLATED
from torchdevlint.infer.values import (
    HOST,
    NONE,
    NUMBER,
    UNKNOWN,
    Array,
    Cls,
    Const,
    DoubleStar,
    Ext,
    Func,
    Rec,
    Ref,
    Site,
    Star,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    shifted,
    unknown,
    waits,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchdevlint.infer.context import Context

_COLLATE = ".collate_fn"
_MOST_LEVELS = 4  # of lists and dicts in each other


def make(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value], site: Site | None) -> Value:
    """`DataLoader(dataset, batch_size=1, ..., collate_fn=None)`."""
    fields = _fields(ctx, args, keywords, site)
    if fields["*"] is not None:
        return ctx.new(site, "object", Ext(name), fields, tag="loader")
    return residual(ctx, name, args, keywords, site) if _may_wait(ctx, args, keywords) else unknown(site)


def inherited(
    ctx: Context, name: str, last: str, args: Sequence[Value], keywords: Mapping[str, Value], site: Site | None
) -> Value:
    """`DataLoader.__init__(self, ...)` and `DataLoader.__iter__(self)` of a class of the project."""
    target, *rest = args
    rec = ctx.rec(target)
    is_spread = any(isinstance(one, (Star, DoubleStar)) for one in rest)
    if rec is None or not isinstance(target, Ref) or is_spread:
        return residual(ctx, f"{name}.{last}", args, keywords, site) if ctx.mode == "summary" else UNKNOWN
    if last == "__iter__":
        batch = batch_of(ctx, rec) if COLLATED in rec.fields else UNKNOWN
        return ctx.new(site, "list", None, {"*": batch}, tag="batches")
    fields = _fields(ctx, rest, keywords, site)
    if fields["*"] is None and _may_wait(ctx, rest, keywords):
        return residual(ctx, f"{name}.{last}", args, keywords, site)
    if _COLLATE in rec.fields:  # set behind this call, which waited for a caller
        del fields[_COLLATE]
    for key, content in fields.items():
        ctx.put(target, key, Term("element", unknown(site)) if content is None else content)
    return NONE


def batch_of(ctx: Context, rec: Rec) -> Value:
    """What a loader gives, by the function that collates now."""
    collate = rec.fields.get(_COLLATE, NONE)
    if collate == rec.fields[COLLATED]:
        return rec.at("*")
    is_single = rec.fields.get(".batch_size") == NONE
    batch = _collated(ctx, rec.fields.get(".dataset", UNKNOWN), collate, None, is_single=is_single)
    return UNKNOWN if batch is None else batch


def _fields(
    ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value], site: Site | None
) -> dict[Any, Value | None]:
    data = args[0] if args else keywords.get("dataset", UNKNOWN)
    collate = args[6] if len(args) > 6 else keywords.get("collate_fn", NONE)
    is_single = (args[1] if len(args) > 1 else keywords.get("batch_size")) == NONE
    item = _collated(ctx, data, collate, site, is_single=is_single)
    size = NONE if is_single else NUMBER
    return {"*": item, ".dataset": data, ".batch_size": size, _COLLATE: collate, COLLATED: collate}


def _may_wait(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """True where a caller tells of what the batches are made."""
    if ctx.mode != "summary":
        return False
    given = (*args[:1], *args[6:7], keywords.get("dataset", NONE), keywords.get("collate_fn", NONE))
    return any(map(waits, given))


def residual(ctx: Context, name: str, args: Sequence[Value], keywords: Mapping[str, Value], site: Site | None) -> Value:
    """A dataset or loader of what only a caller knows."""
    from torchdevlint.infer import calls

    return calls.residual(ctx, Ext(name), list(args), dict(keywords), site)


def _collated(ctx: Context, data: Value, collate: Value, site: Site | None, *, is_single: bool) -> Value | None:
    """What a loader gives; with `batch_size=None`, the samples one by one. None where nothing is known of the data."""
    if collate != NONE and not (isinstance(collate, Ext) and collate.name in DEFAULT_COLLATE):
        sample = reading.element(ctx, data)
        if is_single:
            return ctx.call(collate, [sample], {}, site)
        samples = ctx.new(site, "list", None, {"*": sample}, tag="samples")
        return _from_host(ctx, ctx.call(collate, [samples], {}, site), site)
    first = next(iter(alternatives(data)), UNKNOWN)
    if ctx.rec(first) is None and not isinstance(first, Tensor):
        return None
    item = reading.element(ctx, first)
    return item if is_single else batched(ctx, item, site)


def _from_host(ctx: Context, value: Value, site: Site | None, deep: int = _MOST_LEVELS) -> Value:
    """What a function has put together: tensors of samples that nobody knows, of a transform or of another library, are on the CPU."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is not None and rec.kind in ("dict", "list") and isinstance(value, Ref) and deep > 0:
        for key, item in rec.items.items():
            ctx.put(value, key, _from_host(ctx, item, site, deep - 1))
    if isinstance(value, Tup):
        return Tup(tuple(_from_host(ctx, item, site, deep) for item in value.items))
    place = value.device if isinstance(value, Tensor) else None
    if isinstance(value, Tensor) and isinstance(place, Term) and place.op == "device_of" and not place.waits:
        return Tensor(HOST, value.rank, site, "batch")
    return value


def transformed(ctx: Context, transform: Value, picture: Tensor, site: Site | None) -> Value:
    """What a callable of the project makes of a picture: two views of it, as a list, or one tensor, as far as one can tell."""
    rec = ctx.rec(transform)
    is_of_project = isinstance(transform, Func) or (rec is not None and isinstance(rec.cls, Cls))
    made = ctx.call(transform, [unknown(site)], {}, site) if is_of_project else picture
    several = ctx.rec(made)
    is_several = isinstance(made, Tup) or (several is not None and several.kind in ("list", "dict"))
    return made if is_several else picture


DEFAULT_COLLATE = frozenset(
    {
        "torch.utils.data.default_collate",
        "torch.utils.data.dataloader.default_collate",
        "torch.utils.data._utils.collate.default_collate",
    }
)


def batched(ctx: Context, value: Value, site: Site | None, deep: int = _MOST_LEVELS) -> Value:
    """Samples that `default_collate` stacks: on the CPU, and of rank one or more."""

    def part(value: Value) -> Value:
        made = batched(ctx, value, site, deep - 1)
        is_unknown = isinstance(made, Term) and not made.waits and made.op not in ("own", "near")
        return Tensor(HOST, None, site, "batch") if is_unknown else made  # a text is no operand of anything

    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is not None and rec.kind in ("dict", "list") and isinstance(value, Ref) and deep > 0:
        changed = {key: part(item) for key, item in rec.items.items()}
        return ctx.new(None, rec.kind, None, {**rec.fields, **changed}, tag=("batch", value.place))
    if isinstance(value, Tensor):
        rank = shifted(value.rank, 1)
        made = value.origin if value.origin is not None else site
        return Tensor(value.device, rank, made, "batch" if value.device == HOST else value.implicit)
    if isinstance(value, Tup) and not any(isinstance(one, Star) for one in value.items):  # it becomes a list
        held = {("k", at): part(item) for at, item in enumerate(value.items)}
        return ctx.new(site, "list", None, held, tag=("batch", value))
    is_number = isinstance(value, Const) and type(value.value) in (int, float)
    # It makes a tensor of these (torch/utils/data/_utils/collate.py).
    if is_number or value == NUMBER or isinstance(value, Array):
        rank = shifted(value.rank, 1) if isinstance(value, Array) else 1
        return Tensor(HOST, rank, site, "batch")
    is_choice = not isinstance(value, (Term, Ref)) and len(alternatives(value)) > 1
    return lift(lambda one: batched(ctx, one, site, deep - 1), value) if is_choice and deep > 0 else value
