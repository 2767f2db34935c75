"""Where things are: which device a value names or has, and what a move does to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import classes, conditions, gradients, tensors
from torchdevlint.infer.guards import consistent
from torchdevlint.infer.joins import one_of
from torchdevlint.infer.options import is_told
from torchdevlint.infer.state import LEFT, OF_DATA, PLACED, Facts, asked
from torchdevlint.infer.values import (
    ACCELERATOR,
    ACCELERATOR_NAME,
    BATCH_ENCODING,
    CHOICE,
    CHOSEN,
    DEFAULT,
    DTYPE,
    EITHER,
    HOST,
    NONE,
    NOWHERE,
    OTHER,
    UNKNOWN,
    UNKNOWN_INDEX,
    Cls,
    Const,
    Device,
    Ext,
    Func,
    OneOf,
    Partial,
    Place,
    Rec,
    Ref,
    Site,
    Sort,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    alternatives,
    as_chosen,
    choice_of,
    conditions_of,
    index_of,
    indexed,
    is_accelerator,
    is_choice,
    is_elsewhere,
    options_of,
    places_of,
    waits,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

ACCELERATORS = ("cuda", "mps", "xpu", "npu", "hpu", "xla", "tpu")
_HAVE_DTYPES = ("torch", "numpy", "builtins")  # what other libraries and files name may be a device
MOVES = frozenset({"to", "cpu", "cuda", "xpu", "mps", "npu", "hpu"})
GENERATOR = Ext("torch.Generator")
HELD = "@held"  # the modules that something unknown was made with
_MOST_GIVEN = 60  # objects that are looked into for modules
MOVED = "@moved"  # the last move of a module itself
_OF_MODULES = frozenset({"torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Sequential"})
PARTS_MOVED = "@parts moved"  # what parts of something unknown were moved, as the batches of a loader are


def as_device(ctx: Context, value: Value) -> Place:
    """The device that a value names; DEFAULT for None."""
    possible = [(guards, one) for guards, one in options_of(value) if consistent(guards, ctx.facts)]
    found = [(guards, _named(ctx, one)) for guards, one in possible or options_of(value)]
    several = {place for _, place in found}
    if len(several) == 2 and (followed := _followed(ctx, value)) is not None:
        return followed
    if len(several) > 1:
        found = [(guards, place) for guards, place in found if place != DEFAULT]
    return _one_place(ctx, found, "as_device", value)


def _followed(ctx: Context, value: Value) -> Place | None:
    """The device of `x` for `"cuda" if x.is_cuda else "cpu"`; None for any other choice."""
    asked: dict[Value, None] = {}
    for guards, one in options_of(value):
        tests = [(term.args[0], outcome) for term, outcome in guards if conditions.asks_for_cuda(term)]
        place = _named(ctx, one)
        if len(tests) != 1 or not (is_accelerator(place) if tests[0][1] else place == HOST):
            return None
        asked[tests[0][0]] = None
    return device_of(ctx, next(iter(asked))) if len(asked) == 1 else None


def _named(ctx: Context, value: Value) -> Place:
    if isinstance(value, Const):
        if isinstance(value.value, str):
            name = value.value
            if name.startswith(ACCELERATORS):
                index = name.partition(":")[2]
                return indexed(ACCELERATOR, index if index.isdigit() or not index else UNKNOWN_INDEX)
            return HOST if name.startswith("cpu") else NOWHERE
        if type(value.value) is int:
            return indexed(ACCELERATOR, str(value.value))
        return DEFAULT if value.value is None else NOWHERE
    if isinstance(value, Device):
        return value.place
    if isinstance(value, Tensor):
        return value.device
    begin = value.parts[0] if isinstance(value, Text) else None
    if isinstance(begin, Const) and str(begin.value).startswith(ACCELERATORS):
        waits_here = ctx.mode == "summary" and waits(value)
        return Term("as_device", value) if waits_here else indexed(ACCELERATOR, UNKNOWN_INDEX)
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is not None and isinstance(rec.cls, Cls) and isinstance(rec.fields.get(".value"), Const):
        return _named(ctx, rec.fields[".value"]) if classes.is_enum(ctx.analysis, rec.cls.cls) else NOWHERE
    if value == ACCELERATOR_NAME:
        return indexed(ACCELERATOR, UNKNOWN_INDEX)
    if isinstance(value, Term) and value is not UNKNOWN:
        return Term("as_device", value)
    return NOWHERE


def device_of(ctx: Context, value: Value) -> Place:
    """The device that a value is on."""
    found: list[tuple[Facts, Place]] = []
    for guards, option in options_of(value):
        one = tensors.as_tensor(ctx, option)
        rec = ctx.heap.get(one) if isinstance(one, Ref) else None
        if isinstance(one, Tensor):
            found.append((guards, one.device))
        elif isinstance(one, Term) and one is not UNKNOWN:
            found.append((guards, Term("device_of", one)))
        elif rec is not None and "@device" in rec.fields:
            found.append((guards, rec.fields["@device"]))
        elif not isinstance(one, (Const, Sort)):
            # A number is on no device: where one is asked for, it is another alternative.
            found.append((guards, NOWHERE))
    return _one_place(ctx, found, "device_of", value)


def _one_place(ctx: Context, options: list[tuple[Facts, Place]], op: str, value: Value) -> Place:
    """The one device of several: what is the same for all of them, the choice of the program, or of whoever calls."""
    found = list(dict.fromkeys(place for _, place in options))
    if len(found) <= 1:
        return found[0] if found else NOWHERE
    terms = [place for place in found if isinstance(place, Term) and place.op not in (EITHER, CHOICE)]
    if ctx.mode == "summary" and any(term.waits for term in terms):
        return Term(op, value)
    indices = {index_of(place) for place in found if is_elsewhere(place)}
    chosen = indexed(CHOSEN, indices.pop() if len(indices) == 1 else UNKNOWN_INDEX)
    is_away = any(is_elsewhere(place) or is_told(place) for place in found)
    if HOST in found and not terms and not any(guards for guards, _ in options):
        return NOWHERE  # one of a table, under a key that nobody knows
    if is_away and NOWHERE not in found:
        return chosen if terms else _choice(options, chosen)
    if op == "as_device" and terms and all(term.op == "as_device" for term in terms):
        # What whoever calls names; the others are for those who name none.
        return next((term for term in terms if waits(term)), terms[0])
    if terms and HOST not in found:
        return next((place for place in terms if place.op == "own"), terms[0])
    if not is_away or op != "as_device":
        return NOWHERE
    away_under = [guards for guards, place in options if is_elsewhere(place) or is_told(place)]
    return choice_of(chosen, asked(frozenset.intersection(*away_under)))


def _choice(options: list[tuple[Facts, Place]], chosen: str) -> Place:
    """The device that the program chose, with the conditions under which it is no CPU, where there are some."""
    away = [(guards, place) for guards, one in options for guards, place in _told_apart(guards, one)]
    guards = frozenset.intersection(*(guards for guards, place in away if place != HOST))
    return choice_of(chosen, asked(guards))


def _told_apart(guards: Facts, place: Place) -> list[tuple[Facts, Place]]:
    if is_choice(place):
        return [(guards | conditions_of(place), as_chosen(place))]
    return [(guards | inner, one) for inner, one in places_of(place)]


def target_of(ctx: Context, name: str, args: list[Value], keywords: dict[str, Value]) -> Place | None:
    """Where a move goes; None for a cast, and where no device is named."""
    if name == "cpu":
        return HOST
    if name in MOVES and name != "to":
        given = args[0] if args else keywords.get("device", NONE)
        place = as_device(ctx, given)
        if place in (DEFAULT, ACCELERATOR):
            return _accelerator(ctx)
        return place if is_accelerator(place) else indexed(ACCELERATOR, UNKNOWN_INDEX)
    value = keywords.get("device", keywords.get("other", args[0] if args else None))
    if value is None or all(is_dtype(one) for one in alternatives(value)):
        return None
    place = as_device(ctx, value)
    return None if place == DEFAULT else _accelerator(ctx) if place == ACCELERATOR else place


def _accelerator(ctx: Context) -> Place:
    """Where `m.cuda()` moves to: behind `if x.is_cuda`, to the device of `x`."""
    asked = [term.args[0] for term, outcome in ctx.facts if outcome and conditions.asks_for_cuda(term)]
    return device_of(ctx, asked[0]) if len(asked) == 1 else ACCELERATOR


def is_dtype(value: Value) -> bool:
    """True for a data type, which names no device, and for an attribute or argument that is named as one."""
    if isinstance(value, Term):
        return value.op in ("attribute", "parameter") and "dtype" in value.args[1]
    if isinstance(value, Sort):
        return value in (DTYPE, OTHER)
    if not isinstance(value, Ext):
        return False
    return value.name.partition(".")[0] in _HAVE_DTYPES or "dtype" in value.name.lower()


def is_device(value: Value) -> bool:
    """True for a value that may be a `torch.device`."""
    return any(isinstance(one, Device) for one in alternatives(value))


DEFAULT_INSIDE = ".@default"
"""The field of a context manager that says which default device there is inside of `with`."""


def of_context(ctx: Context, manager: Value) -> Value:
    """The default device inside of `with manager`: a `torch.device`, or the one that a manager has entered; None for any other manager."""
    if isinstance(manager, OneOf):
        return one_of([(guards, of_context(ctx, one)) for guards, one in manager.options])
    if isinstance(manager, Device):
        return manager
    rec = ctx.rec(manager) if isinstance(manager, Ref) else None
    if rec is not None:
        return rec.at(DEFAULT_INSIDE, NONE)
    if isinstance(manager, Term) and manager.waits:
        return Term("of_context", manager) if ctx.mode == "summary" else UNKNOWN
    return NONE


def move(ctx: Context, value: Value, place: Place, site: Site | None) -> Value:
    """`value.to(place)`: a tensor gives another, a module goes itself, anything else stays open."""
    found = []
    for guards, one in options_of(value):
        with ctx.under(guards):
            moved = _moved(ctx, one, place, site)
        if moved is not None:
            found.append((guards, moved))
    return one_of(found)


def _moved(ctx: Context, value: Value, place: Place, site: Site | None) -> Value | None:
    if isinstance(value, Tensor):
        if place == value.device:
            return value
        if place == NOWHERE:
            return Tensor(NOWHERE, value.rank, value.origin, kept=value.kept, moved=site, like=value.like)
        is_leaf = value.leaf == "wanted" and not gradients.are_off(ctx, site)
        origin = site if place == HOST else value.origin
        return Tensor(place, value.rank, origin, moved=site, leaf="copied" if is_leaf else "", like=value.like)
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is not None and rec.kind == "module" and isinstance(value, Ref):
        move_itself(ctx, value, place, site)
        return value
    if rec is not None and rec.cls == BATCH_ENCODING:
        for key, content in rec.fields.items():
            ctx.put(value, key, move(ctx, content, place, site))
        return value
    if rec is not None and rec.kind in ("object", "dict") and rec.kind != "overlay":
        return Term("moved", value, place, site)
    if value is UNKNOWN:
        return Term("moved", Term("unknown", site), place, site)
    if isinstance(value, Term) and value.op == "moved" and value.args[1:] == (place, site):
        return value  # in the second turn of a loop
    if isinstance(value, (Term, Ref)):
        if ctx.analysis.is_receiver_of_module(value):
            ctx.put(value, "@device", place)
            ctx.put(value, MOVED, site)
            return value
        moved = Term("moved", value, place, site)
        if place != NOWHERE:
            ctx.emit(moved)  # a module moves here and now, before what the callee does with it
            if isinstance(value, Term):
                _move_held(ctx, value, place)
                ctx.put(value, PLACED, place)
                ctx.put(value, MOVED, site)
                if place != HOST and whole(value) is not value:
                    ctx.put(whole(value), PARTS_MOVED, True)
        return moved
    return None


def hold(ctx: Context, holder: Value, given: Sequence[Value]) -> None:
    """Remembers the modules that something unknown was made with: it may hold them, and take them along where it is moved."""
    kinds = ("module", "list", "dict")
    held = [one for one in given if isinstance(one, Ref) and (rec := ctx.rec(one)) is not None and rec.kind in kinds]
    if held and isinstance(holder, Term) and holder.op == "unknown":
        ctx.put(holder, HELD, Tup(tuple(held)))


def _move_held(ctx: Context, holder: Term, place: Place) -> None:
    """What was put into something open moves with it, and what an object of it was made with may: `REGISTRY[name](agent).cuda()`."""
    rec = ctx.heap.get(holder)
    for key, content in list(rec.fields.items()) if rec is not None else ():
        if isinstance(key, str) and key.startswith("."):
            carry(ctx, content, place)  # `net.encoder = encoder; net.cuda()`
    held = rec.fields.get(HELD) if rec is not None else None
    pending = list(held.items) if isinstance(held, Tup) else []
    if holder.op == "call":
        pending += [*holder.args[1], *dict(holder.args[2]).values()]
    for _ in range(_MOST_GIVEN):
        if not pending:
            return
        one = pending.pop()
        rec = ctx.heap.get(one) if isinstance(one, Ref) else None
        if rec is not None and rec.kind == "module":
            move_module(ctx, one, NOWHERE)
        elif rec is not None and rec.kind in ("object", "list", "dict"):
            pending += [part for content in rec.fields.values() for part in alternatives(content)]


def whole(value: Term) -> Term:
    """What a part is a part of: a batch or a checkpoint that was moved takes its parts along."""
    while value.op in ("item", "element", "unpack") and isinstance(value.args[0], Term):
        value = value.args[0]
    return value


def move_itself(ctx: Context, module: Ref, place: Place, site: Site | None) -> None:
    """Moves a module that a program moves itself, and notes by which operation."""
    move_module(ctx, module, place)
    ctx.put(module, MOVED, site)
    if place == HOST:
        ctx.put(module, LEFT, site)
    elif LEFT in ctx.heap[module].fields:
        ctx.heap[module] = ctx.heap[module].without(LEFT)


BUFFER = "@buffer "
"""Before the field of a buffer, which is another tensor once its module has moved."""

REPLACED = "@replaced "
"""Before the field of a parameter that took the place of another one: who holds that one does not follow the module."""

TIED = "@tied"
"""The field of a layer whose weight is that of another one, which was made there."""

HIDDEN = "@hidden"
"""Before the field of an attribute that `nn.Module.__setattr__` has not seen: `object.__setattr__(self, "teacher", teacher)`."""


MOVER = "torch.nn.Module._apply.fn"
"""What `to`, `cuda` and their like give to `_apply`: with a device before its argument, it moves a tensor there."""


def move_module(
    ctx: Context, value: Value, place: Place, seen: set[Value] | None = None, *, is_raw: bool = False
) -> None:
    """Moves a module in place, with its parameters, buffers and submodules. `is_raw`: by the `_apply` of `nn.Module`, and not by that of its class."""
    if isinstance(value, Term):
        ctx.put(value, "@device", place)
        return
    if not is_raw and place != NOWHERE and _moves_by_itself(ctx, value, place):
        return
    seen = set() if seen is None else seen
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or value in seen:
        return
    seen.add(value)
    fields: dict[Any, Any] = dict(rec.fields)
    if rec.kind == "module" or rec.kind == "overlay":
        ctx.note_move(value)
        fields["@device"] = place
        fields.pop("@implicit", None)
        made = rec.fields.get("@origin")
        data = of_data(made.part, follows=True) if made is not None else None
        if data is not None and data in ctx.heap:
            ctx.put(data, OF_DATA, place)
        if made is not None:
            _move_tied(ctx, value, made, place)
        if ctx.mode == "module" and isinstance(rec.cls, Cls) and place != NOWHERE:
            classes_of = classes.bases_of(ctx.analysis, rec.cls.cls)
            ctx.analysis.heard.placed |= {(one, place == HOST) for one in classes_of}
    ctx.heap[value] = Rec(rec.kind, rec.cls, fields)
    for key, content in rec.fields.items():
        if (
            (isinstance(key, str) and key.startswith("@"))
            or key == "default"
            or rec.fields.get(f"{HIDDEN}{key}") is True
        ):
            continue
        fields[key] = _moved_with(ctx, content, place, seen)
        if isinstance(rec.cls, Ext) and rec.cls.name in _OF_MODULES:
            _place_held(ctx, content, place)
    ctx.heap[value] = Rec(rec.kind, rec.cls, fields)
    filling = ctx.open_call_with(value)
    if filling is not None:
        ctx.emit(Term("carried", value, place, filling))


def _move_tied(ctx: Context, moved: Value, made: Site, place: Place) -> None:
    """The layers whose weight is that of a module that is moved: it is moved in place."""
    tied = [ref for ref, rec in ctx.heap.items() if rec.kind == "module" and rec.fields.get(TIED) is made.whole]
    for ref in tied:
        weight = ctx.heap[ref].fields.get(".weight")
        if ref != moved and isinstance(weight, Tensor):
            ctx.note_move(ref)
            ctx.put(ref, "@device", place)
            ctx.put(ref, ".weight", Tensor(place, weight.rank, weight.origin, "", True, weight.kept))


def _moves_by_itself(ctx: Context, value: Value, place: Place) -> bool:
    """Runs a class's own `_apply`, where it has one (torch/nn/modules/module.py)."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or rec.kind != "module" or not isinstance(rec.cls, Cls) or ctx.running.count(value):  # type: ignore[arg-type]
        return False
    method = classes.attribute_of(ctx, rec.cls, "_apply", value)
    if not isinstance(method, Func) or not ctx.analysis.may_replay():
        return False
    ctx.running.append(value)  # type: ignore[arg-type]
    try:
        given: Value = place if isinstance(place, Term) else Device(place)
        ctx.call(method, [Partial(Ext(MOVER), (given,), ())], {}, None)
    finally:
        ctx.running.pop()
    return True


def _place_held(ctx: Context, content: Value, place: Place) -> None:
    """What a container of modules holds is one (`Module.add_module` refuses all else), also where nothing is known of it."""
    for one in alternatives(content):
        if isinstance(one, Term) and place != NOWHERE:
            ctx.put(one, PLACED, place)


def carry(ctx: Context, content: Value, place: Place) -> None:
    """What a module held where it was moved, and of what a caller knows more: if it is a module, it went along."""
    for one in alternatives(content):
        if isinstance(one, Ref):
            _moved_with(ctx, one, place, set())
        elif isinstance(one, Term):
            ctx.emit(Term("carried", one, place))
            if place == NOWHERE:
                ctx.put(one, PLACED, place)


def of_data(origin: Site | None, *, follows: bool) -> Ref:
    """What keeps where `x.data = value` has brought the tensors that were made at a line: parameters, or others. What was computed of a parameter before
    is none.
    """
    return Ref(("data", origin, follows))


def _moved_with(ctx: Context, content: Value, place: Place, seen: set[Value]) -> Value:
    found = []
    for guards, one in options_of(content):
        kept = one
        if isinstance(one, Tensor) and one.follows:
            kept = Tensor(place, one.rank, one.origin, "", True, one.kept)
            data = of_data(one.origin, follows=True)
            if data in ctx.heap:
                ctx.put(data, OF_DATA, place)
        elif isinstance(one, Ref):
            inner = ctx.heap.get(one)
            if inner is not None and inner.kind in ("module", "list", "dict"):
                # Layers in a plain list stay behind; TDL602 tells of the list, and what follows from that is not told again.
                move_module(ctx, one, place, seen)
            elif inner is not None and inner.kind == "object" and one not in seen:
                _move_shared(ctx, one, inner, place, seen)
        elif isinstance(one, Tup):
            kept = Tup(tuple(_moved_with(ctx, item, place, seen) for item in one.items))
        elif isinstance(one, Term) and one.waits:
            ctx.emit(Term("carried", one, place))
        found.append((guards, kept))
    return one_of(found) if isinstance(content, OneOf) else found[0][1]


def _move_shared(ctx: Context, value: Ref, rec: Rec, place: Place, seen: set[Value]) -> None:
    """An object that a module keeps, and that is none: the parameters of a module that it keeps as well are the same objects, and move with it."""
    seen.add(value)
    fields = dict(rec.fields)
    for key, content in rec.fields.items():
        if any(
            isinstance(one, Tensor) and one.origin is not None and one.origin.is_part for one in alternatives(content)
        ):
            fields[key] = _moved_with(ctx, content, place, seen)
    ctx.heap[value] = Rec(rec.kind, rec.cls, fields)
