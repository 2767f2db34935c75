"""Conditions: what a test says, what is known of it, and what follows for the code behind it."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeGuard

from torchdevlint.infer import presence
from torchdevlint.infer.guards import consistent, each_of, not_all, outcome_of
from torchdevlint.infer.host_libraries import ROOTS
from torchdevlint.infer.joins import for_each, one_of
from torchdevlint.infer.options import is_option, is_told
from torchdevlint.infer.state import NO_FACTS, Facts
from torchdevlint.infer.values import (
    ACCELERATOR_NAME,
    ALL,
    DATA,
    FALSE,
    HOST,
    KEPT_AS,
    NONE,
    NUMBER,
    SIZE,
    TRUE,
    UNKNOWN,
    Cls,
    Const,
    Device,
    Ext,
    Func,
    Guard,
    OneOf,
    Place,
    Ref,
    SliceValue,
    Sort,
    Star,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    as_key,
    asked_for_type,
    conditions_of,
    holds_partial,
    is_accelerator,
    is_array,
    is_elsewhere,
    is_member,
    is_partial,
    places_of,
    typed_at,
    varies,
    waits,
)
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.loader import libraries

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context
    from torchdevlint.program import ir

_TENSOR_CLASSES = frozenset({"torch.Tensor", "torch.nn.Parameter", "torch.autograd.Variable", "torch.FloatTensor"})
TENSOR_ATTRIBUTES = frozenset({"device", "dtype", "shape", "grad", "to", "cuda", "cpu", "is_cuda"})
_OF_TENSORS = frozenset(map(Const, TENSOR_ATTRIBUTES))
ZERO = Const(0)
_HOST = (Const("cpu"), Device(HOST))
_CONTAINERS = {
    "builtins.list": ("list",),
    "builtins.dict": ("dict",),
    "collections.abc.Mapping": ("dict",),
    "typing.Mapping": ("dict",),
    "collections.OrderedDict": ("dict",),
}


def truth(value: Value) -> bool | None:
    """Whether a value is true, None where that is not known."""
    kind = type(value)
    if kind is Term or kind is Tensor or kind is Ref:
        return None
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Tup):
        return bool(value.items)
    if isinstance(value, (Func, Cls, Device)):
        return True
    if isinstance(value, Ext):
        return None if is_unbound(value) else value.name not in _ONLY_FOR_CHECKERS
    if isinstance(value, OneOf) and value.options:
        first = truth(value.options[0][1])
        for _, option in value.options if first is not None else ():
            if truth(option) is not first:
                return None
        return first
    return None


_ONLY_FOR_CHECKERS = ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING")


def is_unbound(value: Ext) -> bool:
    """True for a name that nothing seen binds, such as one that `from config import *` brings or another cell of a notebook sets: it may be a flag.

    So may be what a module gives that nobody has seen, but for a class, as its name tells.
    """
    root, _, rest = value.name.partition(".")
    if root == "builtins":
        return not hasattr(builtins, rest)
    last = rest.rpartition(".")[2]
    is_class = last[:1].isupper() and not last.isupper()
    return bool(rest) and not is_class and root not in sys.stdlib_module_names and root not in _known_libraries()


@cache
def _known_libraries() -> frozenset[str]:
    return libraries() | ROOTS | {"torch"}


def _asked(value: Value) -> Value:
    """What a test asks: an unbound name stands for itself, and says the same at each test."""
    return Term("unknown", value) if isinstance(value, Ext) and is_unbound(value) else value


def negated(value: Value) -> Value:
    """`not value`."""
    value = _asked(value)
    known = truth(value)
    if known is not None:
        return FALSE if known else TRUE
    if isinstance(value, OneOf):
        return one_of([(guards, negated(option)) for guards, option in value.options])
    if isinstance(value, Term) and value is not UNKNOWN:
        return value.args[0] if value.op == "not" else Term("not", value)
    return NUMBER


def guards_of(value: Value, outcome: bool) -> Facts:
    """What holds where a test comes out one way."""
    if type(value) is not Term:
        value = _asked(value)
    if type(value) is Term:
        return _guard(value, outcome) if value is not UNKNOWN else NO_FACTS
    if isinstance(value, OneOf):
        held = [(guards, guards_of(option, outcome)) for guards, option in value.options if _may_be(option, outcome)]
        # Of a true `a and b`, both are true.
        fitting = [guards | own for guards, own in held if consistent(guards, own)]
        if len(fitting) == 1 and len(fitting[0]) < 2:
            return fitting[0]
        is_settled = any(map(_compares_devices, value.options)) or any(_asks_option(one) for _, one in value.options)
        test = Term("test", value) if waits(value) or is_settled else UNKNOWN
        itself: Facts = frozenset({(test, outcome)}) if test is not UNKNOWN else NO_FACTS
        # Where several things hold together, one of them does not where it comes out the other way: that is known by the test itself.
        return fitting[0] | itself if len(fitting) == 1 else itself | _ruled_out(value, outcome)
    return NO_FACTS


def _asks_option(value: Value) -> bool:
    """True for an option of the program, and for what is asked of one."""
    return is_option(value) or (isinstance(value, Term) and any(map(is_option, value.args)))


def _ruled_out(value: OneOf, outcome: bool) -> Facts:
    """The conditions of alternatives that would make a test come out the other way, and of no other alternative: they do not hold."""
    return frozenset(
        not_all(guards) if len(guards) > 1 else next((term, not held) for term, held in guards)
        for guards, one in value.options
        if guards
        and truth(one) is (not outcome)
        and not any(consistent(guards, other) for other, held in value.options if held is not one)
    )


def _may_be(value: Value, outcome: bool) -> bool:
    return truth(value) in (outcome, None)


@lru_cache(maxsize=50_000)
def _guard(term: Term, outcome: bool) -> Facts:
    """What holds where an open term comes out one way."""
    term, outcome = _without_not(term, outcome)
    if term.op == ALL and outcome:
        return frozenset({(term, True), *each_of(term)})
    return frozenset({(term, outcome)})


def known_outcome(ctx: Context, value: Value) -> bool | None:
    """How a test comes out, by its value or by what every path to here has passed."""
    if type(value) is not Term:
        value = _asked(value)
        found = truth(value)
        if found is not None:
            return found
        if isinstance(value, Ref):
            return True if _holds_something(ctx, value) else _truth_of_object(ctx, value)
    if not ctx.facts:
        return None
    if isinstance(value, Term) and value is not UNKNOWN:
        term, outcome = _without_not(value, outcome=True)
        if (term, True) in ctx.facts:
            return outcome
        if (term, False) in ctx.facts:
            return not outcome
        found = outcome_of(term, ctx.facts)
        return found if found is None else found is outcome
    return None


def as_test(ctx: Context, value: Value, facts: Facts) -> Value:
    """What a test of a value asks: of a list or dict that is filled on some paths alone, whether one of those was taken."""
    from torchdevlint.infer import reading

    several = reading.ways(ctx, value, facts)
    return value if several is None else one_of([(guards, Const(bool(held))) for guards, held in several])


def _truth_of_object(ctx: Context, value: Ref) -> bool | None:
    """What the `__bool__` of a class of the project says, or its `__len__`."""
    from torchdevlint.infer.classes import special

    saved, ctx.mute, ctx.heap = (ctx.mute, ctx.heap), True, dict(ctx.heap)
    asked = special(ctx, value, "__bool__", [])
    found = special(ctx, value, "__len__", []) if asked is None else asked
    ctx.mute, ctx.heap = saved
    return None if found is None else truth(found)


def all_of(values: Sequence[Value]) -> Value:
    """Whether all of several conditions hold."""
    known = [truth(value) for value in values]
    if False in known:
        return FALSE
    left = [value for value, outcome in zip(values, known, strict=True) if outcome is None]
    if len(left) < 2:
        return left[0] if left else TRUE
    asked = [Term("test", one) if isinstance(one, OneOf) and waits(one) else one for one in left]
    is_open = all(isinstance(one, Term) and one is not UNKNOWN for one in asked)
    return Term(ALL, *asked) if is_open else NUMBER


def is_sized(ctx: Context, value: Value, count: int, may_be_more: bool) -> Value:
    """Whether a value is a sequence with so many items: what a pattern of items matches."""
    from torchdevlint.infer import reading

    if isinstance(value, Term):
        return UNKNOWN if value is UNKNOWN else Term("sized", value, count, may_be_more)
    known = reading.items(ctx, value) if isinstance(value, (Tup, Ref)) else None
    if known is not None:
        return Const(len(known) >= count if may_be_more else len(known) == count)
    rec = ctx.rec(value)
    is_other = isinstance(value, (Tensor, Const, Device)) or (rec is not None and rec.kind in ("dict", "module"))
    return FALSE if is_other else NUMBER


def contains(ctx: Context, left: Value, right: Value) -> Value:
    """`left in right`."""
    from torchdevlint.infer import reading
    from torchdevlint.infer.classes import special, wrapped

    asked = special(ctx, right, "__contains__", [left])
    if asked is not None:
        return asked
    place = _named(right)
    is_text = place is not right or right == ACCELERATOR_NAME or isinstance(right, (Device, OneOf))
    if is_text and isinstance(left, Const) and left.value in _TEXTS_OF_DEVICES:
        on_gpu = TRUE if right == ACCELERATOR_NAME else _is_on_accelerator(place)
        if on_gpu is not None:
            return on_gpu if left.value != "cpu" else negated(on_gpu)
    written, key = ctx.rec(right) if isinstance(right, Term) else None, as_key(left)
    if (
        written is not None
        and isinstance(key, Const)
        and ("k", key.value) in written.fields
        and not is_partial(key.value)
    ):
        return TRUE
    if ctx.mode == "summary" and (waits(left) or isinstance(right, Term)) and not is_member(left):
        return Term("contains", left, right)
    right, left = wrapped(ctx, right), as_key(left, is_final=ctx.mode != "summary")
    if isinstance(right, Const) and isinstance(right.value, str) and isinstance(left, Const):
        return Const(str(left.value) in right.value)
    known = reading.items(ctx, right)
    keys = [as_key(one) for one in known] if known is not None else [UNKNOWN]
    rec = ctx.heap.get(right) if isinstance(right, Ref) else None
    if isinstance(left, Const) and (is_partial(left.value) or (rec is not None and holds_partial(rec))):
        return NUMBER
    if isinstance(left, Const) and all(isinstance(one, Const) for one in keys):
        return Const(left in keys)
    if known and is_option(left) and all(isinstance(one, Const) for one in keys):
        return Term("contains", left, Tup(tuple(keys)))
    if rec is not None and rec.kind == "dict" and "*" not in rec.fields and isinstance(left, Const) and not ctx.in_loop:
        field = "k", left.value
        return presence.is_there(rec, field, ctx.facts) if field in presence.marks(rec) else Const(field in rec.fields)
    return NUMBER


_TEXTS_OF_DEVICES = frozenset({"cuda", "cpu"})


def _is_on_accelerator(place: Value) -> Value | None:
    """Whether a device, of which a text is known, is no CPU; None for a text that may be of something else."""
    if isinstance(place, OneOf):
        several = [(guards, _is_on_accelerator(one)) for guards, one in place.options]
        known = [(guards, one) for guards, one in several if one is not None]
        return one_of(known) if len(known) == len(several) else None
    if isinstance(place, Device):
        return on_accelerator(Tensor(place.place))
    is_asked = isinstance(place, Term) and place.op == "attribute" and place.args[1] == "device"
    return Term("is_cuda", place.args[0]) if isinstance(place, Term) and is_asked else None


def _holds_something(ctx: Context, value: Ref) -> bool:
    """True for a list or dict with items that are known. Of an empty one it is not certain: somebody may have filled it where nobody looks.

    What it holds in a loop it may not hold in the first turn: `if not self.cache: self.cache["mask"] = ...`.
    """
    rec = None if ctx.in_loop else ctx.heap.get(value)
    if rec is None or rec.kind not in ("list", "dict"):
        return False
    may_be_lacking = presence.marks(rec)
    return any(isinstance(key, tuple) and key not in may_be_lacking for key in rec.fields)


def _without_not(term: Term, outcome: bool) -> Guard:
    while term.op == "not":
        term, outcome = term.args[0], not outcome
    if term.op == "binary" and term.args[0] in _AS_LESS:
        operator, left, right = term.args
        name, is_turned, is_same = _AS_LESS[operator]
        left, right = (right, left) if is_turned else (left, right)
        term, outcome = Term("binary", name, left, right), outcome is is_same
    compared = _compared_truth(term)
    if compared is not None:
        return _without_not(compared[0], outcome is compared[1])
    return _without_length(term, outcome)


def _compared_truth(term: Term) -> Guard | None:
    """What `flag > 0` and `flag == True` ask where `flag` is a truth value: the flag itself, and whether the outcome is the same."""
    if term.op not in ("binary", "equal"):
        return None
    operator, left, right = term.args if term.op == "binary" else ("eq", *term.args)
    if (operator, left) == ("lt", ZERO) and _is_truth(right):
        return right, True
    if (operator, right) == ("lt", Const(1)) and _is_truth(left):
        return left, False
    if operator == "eq" and _is_truth(left) and right in (ZERO, Const(1)):  # as True and False are
        return left, right == Const(1)
    return None


def _is_truth(value: Value) -> TypeGuard[Term]:
    """True for what is True or False, and not only taken as one: a comparison, `not x`, `isinstance(x, int)`."""
    return isinstance(value, Term) and (value.op in _TRUTHS or (value.op == "binary" and value.args[0] in _COMPARISONS))


def _without_length(term: Term, outcome: bool) -> Guard:
    """`len(x) > 0`, `len(x) != 0` and `len(x) >= 1` ask what `x` asks."""
    if term.op == "binary":
        operator, left, right = term.args
        if isinstance(right, Term) and right.op == "length" and (operator, left) in (("lt", ZERO), ("eq", ZERO)):
            return right.args[0], outcome is (operator == "lt")
        if isinstance(left, Term) and left.op == "length" and (operator, right) in (("lt", Const(1)), ("eq", ZERO)):
            return left.args[0], not outcome
    return term, outcome


_TRUTHS = frozenset({"not", "equal", "isinstance", "is_none", "contains", "is_cuda"})
# How a comparison is said by `<` or `==`: the operator, whether its operands change places, whether the outcome is the same.
_AS_LESS = {
    "ne": ("eq", False, False),
    "gt": ("lt", True, True),
    "le": ("lt", True, False),
    "ge": ("lt", False, False),
}
_COMPARISONS = frozenset({"lt", "eq", *_AS_LESS})


def asks_for_cuda(term: Term) -> bool:
    """`x.is_cuda`, of a tensor or of what may be one."""
    return term.op == "is_cuda" or (term.op == "attribute" and term.args[1] == "is_cuda")


def _as_asked(term: Term) -> Term:
    """What a summary asks, of a test whose outcome nothing tells here."""
    what = term.args[0].what if term.op == "undecided" else term
    return what if isinstance(what, Term) else term


def is_for_the_host(facts: Facts) -> bool:
    """True where control comes only if a tensor is on the CPU, if there is no accelerator, or for what is no tensor."""
    for term, outcome in facts:
        if term.op == "has" and not outcome and term.args[1] in _OF_TENSORS:
            return True
        if not outcome and asks_for_cuda(_as_asked(term)):
            return True
        if term.op == "equal":
            first, second = term.args
            if second in _HOST:
                if outcome:
                    return True
            elif not outcome and _is_device_type(first) and isinstance(second, Const):
                return True  # no GPU: `x.device.type == "cuda"` is false
    return False


def _is_device_type(value: Value) -> bool:
    if not isinstance(value, Term):
        return False
    return value.op == "device_type" or (value.op == "attribute" and value.args[1] == "type")


# ---------------------------------------------------------------------------------------------------- tests


def is_none(value: Value) -> Value:
    """`value is None`."""
    if isinstance(value, OneOf):
        return one_of([(guards, is_none(option)) for guards, option in value.options])
    if value == NONE:
        return TRUE
    if isinstance(value, Term):
        return UNKNOWN if value is UNKNOWN else FALSE if value.op in ("moved", "binary") else Term("is_none", value)
    return FALSE


def equal(first: Value, second: Value) -> Value:
    """`first == second` of values that are no tensors. The text of something equals what it does: `str(x.device) == device`."""
    places = _typed(first), _typed(second)
    if places[0] is not None and places[1] is not None:
        found = equal(places[0], places[1])
        return NUMBER if found == TRUE else found  # the data types may differ
    first, second = _named(first), _named(second)
    if isinstance(first, OneOf):
        return one_of([(guards, equal(option, second)) for guards, option in first.options])
    if isinstance(second, OneOf) and isinstance(first, (Device, Term)):
        return one_of([(guards, equal(first, option)) for guards, option in second.options])
    if isinstance(first, Const) and isinstance(second, Const):
        return Const(bool(first.value == second.value))
    if isinstance(first, Tup) and isinstance(second, Tup):
        return _equal_tuples(first, second)
    if isinstance(first, Device) and first == second and isinstance(first.place, Term):
        return TRUE  # where one and the same tensor is
    if isinstance(first, Device) and isinstance(second, Device) and HOST in (first.place, second.place):
        is_known = first == second or is_elsewhere(first.place) or is_elsewhere(second.place)
        return Const(first == second) if is_known else _of_open_place(first, second)
    if isinstance(second, (Ext, Cls)) or is_member(first) or is_member(second):
        return identical(first, second)
    if isinstance(second, (Const, Device, Term)) and isinstance(first, Term) and first is not UNKNOWN:
        return NUMBER if second is UNKNOWN else Term("equal", first, second)
    if isinstance(second, Term) and second is not UNKNOWN and isinstance(first, (Const, Device)):
        return Term("equal", second, first)
    if isinstance(first, Device) and isinstance(first.place, Term) and isinstance(second, (Const, Device)):
        return Term("equal", first.place, second)
    if isinstance(first, Const) and isinstance(second, Device):
        first, second = second, first
    if isinstance(first, Device) and isinstance(second, Const) and isinstance(second.value, str):
        is_host = second.value.startswith("cpu")
        return (
            FALSE
            if (first.place == HOST) is not is_host and (first.place == HOST or is_elsewhere(first.place))
            else NUMBER
        )
    if first == ACCELERATOR_NAME and isinstance(second, Const):
        return FALSE if str(second.value).startswith("cpu") else TRUE if second.value == "cuda" else NUMBER
    return NUMBER


def _typed(value: Value) -> Value | None:
    """Where a tensor is of which `x.type()` was asked; None for any other value."""
    of = asked_for_type(value)
    return typed_at(value) if of is None else Term("attribute", of, "device")


def _equal_tuples(first: Tup, second: Tup) -> Value:
    if any(isinstance(one, Star) for one in (*first.items, *second.items)):
        return NUMBER
    if len(first.items) != len(second.items):
        return FALSE
    return all_of([equal(*pair) for pair in zip(first.items, second.items, strict=True)])


def _named(value: Value) -> Value:
    """What `str(x)` and `f"{x}"` are the text of, where that is open or a device."""
    part = value.parts[0] if isinstance(value, Text) and len(value.parts) == 1 else None
    return part if isinstance(part, (Device, Term)) and part is not UNKNOWN else value


def is_text_of_device(value: Value) -> bool:
    """True for `str(x.device)`, and for `x.type()`."""
    if _typed(value) is not None:
        return True
    named = _named(value)
    is_open = isinstance(named, Term) and named.op == "attribute" and named.args[1] == "device"
    return named is not value and (is_open or isinstance(named, Device))


def _of_open_place(first: Device, second: Device) -> Value:
    place, other = (first, second) if isinstance(first.place, Term) else (second, first)
    return Term("equal", place.place if isinstance(place.place, Term) else place, other)


def _compares_devices(option: tuple[Facts, Value]) -> bool:
    value = option[1]
    return isinstance(value, Term) and value.op == "equal" and any(isinstance(side, Device) for side in value.args)


def are_together(facts: Facts, one: Place, other: Place) -> bool:
    """True behind `x.device == y.device`, for tensors on these devices.

    Of a test of several possible values those count that can be where all these facts hold.
    """
    wanted = {_device_in(one), _device_in(other)}
    return any(outcome and _says_together(term, facts, wanted) for term, outcome in facts)


def _says_together(term: Term, facts: Facts, wanted: set[object]) -> bool:
    if term.op == "test":
        possible = [option for guards, option in term.args[0].options if consistent(guards, facts)]
        return any(isinstance(option, Term) and _says_together(option, facts, wanted) for option in possible)
    return term.op == "equal" and {_device_in(side) for side in term.args} == wanted


def _device_in(value: Value | Place) -> object:
    """What tells a device in a comparison: of whose it is, or its place."""
    place = value.place if isinstance(value, Device) else value
    if isinstance(place, Term) and place.op in ("device_of", "own", "as_device"):
        return place.args[0]
    if isinstance(place, Term) and place.op == "attribute" and place.args[1] == "device":
        return place.args[0]
    return place


def identical(first: Value, second: Value) -> Value:
    """`first is second`: of modules and classes, which have names, and of what a caller gives."""
    if isinstance(first, OneOf):
        return one_of([(guards, identical(option, second)) for guards, option in first.options])
    if isinstance(first, (Ext, Cls)) and isinstance(second, (Ext, Cls)):
        return TRUE if first == second else FALSE if _is_another(first, second) else NUMBER
    if isinstance(first, Ref) and isinstance(second, Ref) and is_member(first) and is_member(second):
        return Const(as_key(first) == as_key(second))
    if isinstance(first, Term) and first is not UNKNOWN and (isinstance(second, (Ext, Cls)) or is_member(second)):
        return Term("equal", first, second)
    if isinstance(second, Term) and (isinstance(first, (Ext, Cls)) or is_member(first)):
        return identical(second, first) if second is not UNKNOWN else NUMBER
    if isinstance(first, Const) and isinstance(second, Const) and isinstance(second.value, bool):
        return Const(first.value is second.value)
    return NUMBER


def _is_another(first: Ext | Cls, second: Ext | Cls) -> bool:
    """True for two of the project, and for what two libraries define; within one, names can mean the same: `torch.float` and `torch.float32`."""
    if isinstance(first, Ext) and isinstance(second, Ext):
        return first.name.partition(".")[0] != second.name.partition(".")[0]
    return True


_EXACT = Const("exact")


def is_instance(ctx: Context, value: Value, cls: Value, exact: Value = NONE) -> Value:
    """`isinstance(value, cls)`, or `type(value) is cls`, where it says so."""
    if isinstance(value, OneOf):
        return one_of([(guards, is_instance(ctx, option, cls, exact)) for guards, option in value.options])
    classes = cls.items if isinstance(cls, Tup) else (cls,)
    if exact == NONE and _is_of_torch(ctx, value) and all(isinstance(o, Ext) and o.name in _BUILTIN for o in classes):
        return FALSE
    if all(isinstance(one, Ext) and _LEGACY_CUDA.fullmatch(one.name) for one in classes):
        return on_accelerator(value)
    if isinstance(value, Term):
        known = ctx.is_proven_here(value) or value.op == "moved"
        if known and all(_is_tensor_class(one) for one in classes):
            return TRUE
        if value.op == "moved" and all(isinstance(o, Ext) and o.name.startswith(_UNMOVABLE) for o in classes):
            return FALSE
        return UNKNOWN if value is UNKNOWN else Term("isinstance", value, cls, *((exact,) if exact != NONE else ()))
    if isinstance(cls, Term) and cls.waits and ctx.mode == "summary":
        return Term("isinstance", value, cls, *((exact,) if exact != NONE else ()))
    if isinstance(cls, Ref):  # `type(value) in cls`
        from torchdevlint.infer.python_calls import class_of

        return contains(ctx, class_of(ctx, value), cls)
    if exact != NONE and all(isinstance(one, Ext) for one in classes) and _is_of_derived(ctx, value):
        return FALSE
    found = [_is_one(ctx, value, one) for one in classes]
    if True in found:
        return TRUE
    return NUMBER if None in found else FALSE


_UNMOVABLE = ("builtins.", "numpy.")  # neither an array nor anything of Python itself has a `to`
_BUILTIN = frozenset(
    f"builtins.{name}" for name in "list tuple dict set frozenset str bytes int float bool complex".split()
)


def _is_of_torch(ctx: Context, value: Value) -> bool:
    """True for an object of a class of torch that is no container: a generator, an optimizer."""
    rec = ctx.rec(value) if isinstance(value, Ref) else None
    return rec is not None and rec.kind == "object" and isinstance(rec.cls, Ext) and rec.cls.name.startswith("torch.")


def is_exactly(ctx: Context, value: Value, cls: Value) -> Value:
    """`type(value) is cls`, or `type(value) in (cls, ...)`."""
    return is_instance(ctx, value, cls, _EXACT)


def _is_of_derived(ctx: Context, value: Value) -> bool:
    """True for an object of a class of the project, and of one that `namedtuple` has made."""
    rec = ctx.rec(value) if isinstance(value, Ref) else None
    return rec is not None and (isinstance(rec.cls, Cls) or rec.is_named_tuple)


# `torch.cuda.FloatTensor` and its like; of a tensor on a GPU it is taken that the test asks for its own data type.
_LEGACY_CUDA = re.compile(r"torch\.cuda\.\w+Tensor")


def _is_tensor_class(cls: Value) -> bool:
    return isinstance(cls, Ext) and cls.name in ("torch.Tensor", "torch.autograd.Variable")


def _is_one(ctx: Context, value: Value, cls: Value) -> bool | None:
    if not isinstance(cls, (Ext, Cls)):
        return None
    name = cls.name if isinstance(cls, Ext) else ""
    if name == "builtins.object":
        return True
    if isinstance(value, Tensor):
        if name in _TENSOR_CLASSES:
            return True if name in ("torch.Tensor", "torch.autograd.Variable") else None
        if isinstance(cls, Cls):
            return False if _is_no_tensor_class(ctx, cls) else None
        return False if name.startswith(_NO_TENSORS) and "Parameter" not in name else None
    if isinstance(value, Tup):
        return name in _TUPLES
    if isinstance(value, SliceValue):
        return name == "builtins.slice"
    if isinstance(value, Const):
        kind = type(value.value).__name__
        if name == "builtins." + kind:
            return True
        return False if name.startswith(("builtins.", "torch.", "numpy.", "collections.")) else None
    if isinstance(value, Sort):
        if is_array(value):
            return True if name == "numpy.ndarray" else False if name.startswith(("builtins.", "torch.")) else None
        if value in (NUMBER, SIZE) or isinstance(value, Text):
            is_other = name in _TENSOR_CLASSES or name in ("builtins.list", "builtins.dict")
            return False if is_other or name.startswith("torch.nn.") else None
        return None
    if isinstance(value, Ref):
        return _is_object_of(ctx, value, cls, name)
    return None


_NO_TENSORS = ("builtins.", "numpy.", "collections.", "torch.nn.", "torch.optim.", "torch.utils.data.")
# What is no dict or list, though it acts as one (Lib/collections/__init__.py).
_WRAPPERS = {
    "collections.UserDict": ("collections.abc.Mapping", "collections.abc.MutableMapping", "collections.abc.Iterable"),
    "collections.UserList": ("collections.abc.Sequence", "collections.abc.MutableSequence", "collections.abc.Iterable"),
}
# What containers are instances of that are kept as lists.
_ARE = {
    "set": ("builtins.set", "collections.abc.Iterable"),
    "deque": ("collections.deque", "collections.abc.Sequence", "typing.Sequence", "collections.abc.Iterable"),
}
_TUPLES = ("builtins.tuple", "collections.abc.Sequence", "typing.Sequence", "collections.abc.Iterable")


def _is_no_tensor_class(ctx: Context, cls: Cls) -> bool:
    """True for a class of the project that inherits from no class that may be one of tensors, and does not say itself what its instances are."""
    from torchdevlint.infer.classes import foreign_bases_of, is_base, metaclass_of

    names = foreign_bases_of(ctx.analysis, cls.cls)
    is_known = all(is_base(name) or name == "object" or name.startswith(_NO_TENSORS) for name in names)
    return is_known and metaclass_of(ctx, cls.cls) is None


def _is_object_of(ctx: Context, value: Ref, cls: Ext | Cls, name: str) -> bool | None:
    rec = ctx.rec(value)
    if rec is None or rec.kind == "overlay":
        return None
    if rec.kind in ("list", "dict", "generator"):
        kept_as = rec.fields.get(KEPT_AS)
        if isinstance(kept_as, Const) and name in (*_CONTAINERS, *_TUPLES, "builtins.set", "collections.deque"):
            return name in _ARE.get(str(kept_as.value), ())
        if name in _CONTAINERS:
            return rec.kind in _CONTAINERS[name]
        if name in _TUPLES:
            return rec.kind == "list" and name != "builtins.tuple"
        return False if name.startswith(("builtins.", "torch.", "numpy.")) or isinstance(cls, Cls) else None
    if rec.is_named_tuple:
        return name in _TUPLES if name.startswith(("builtins.", "collections.abc.", "torch.", "numpy.")) else None
    if isinstance(rec.cls, Cls):
        from torchdevlint.infer.classes import bases_of, foreign_bases_of, is_base, is_tuple

        if name in _TUPLES and is_tuple(ctx.analysis, rec.cls.cls):
            return True
        if isinstance(cls, Cls):
            return cls.cls in bases_of(ctx.analysis, rec.cls.cls)
        names = foreign_bases_of(ctx.analysis, rec.cls.cls)
        if name in names or (name == "torch.nn.Module" and rec.kind == "module"):
            return True
        if set(names) <= _WRAPPERS.keys() and names and name.startswith(("builtins.", "collections.abc.")):
            return any(name in _WRAPPERS[one] for one in names)
        is_plain = all(map(is_base, names)) and name.startswith("torch.nn.")  # of a class with no other base
        return False if (not names or is_plain) and name else None
    if rec.kind == "module" and name in _TENSOR_CLASSES:
        return False
    if rec.kind == "module" and isinstance(rec.cls, Ext):
        if name in ("torch.nn.Module", rec.cls.name):
            return True
        return False if isinstance(cls, Cls) or name.startswith(("torch.nn.", "builtins.")) else None
    return None


def device_type(place: object) -> Value:
    """`device.type`."""
    if place == HOST:
        return Const("cpu")
    if isinstance(place, str) and is_accelerator(place):
        return ACCELERATOR_NAME
    return Term("device_type", place)


def on_accelerator(value: Value) -> Value:
    """`tensor.is_cuda`."""

    def one(value: Value) -> Value:
        if isinstance(value, Tensor) and value.device == HOST:
            return FALSE
        # What breaks where the user names a GPU is asked for, and the CPU breaks nothing.
        if isinstance(value, Tensor) and (is_accelerator(value.device) or is_told(value.device)):
            return TRUE
        if isinstance(value, Tensor) and (away := conditions_of(value.device)):
            return one_of([(away, TRUE), (opposite(away), FALSE)])
        if isinstance(value, Tensor) and len(several := places_of(value.device)) > 1:
            return one_of([(guards, one(replace(value, device=place))) for guards, place in several])
        return UNKNOWN if value is UNKNOWN else Term("is_cuda", value)

    return for_each(one, value)


@dataclass(frozen=True, slots=True)
class Asked:
    """A condition whose outcome nothing tells: a term of a summary, a register of a body, or (negative) the number of one of its `try`s."""

    what: Term | tuple[ir.Body, ir.Register]


def sides_of(value: Value, outcome: bool, asked: Term | tuple[ir.Body, ir.Register]) -> Facts:
    """What holds where a test comes out one way. A test of which nothing is known comes out the same wherever it is asked.

    What numbers decide says so: no such test asks for a device. So does what the data decides, or a count: each turn of a loop has its own.
    """
    is_of_turn = not isinstance(asked, Term) and Lookup.of(asked[0]).is_of_turn(asked[1])
    of = (*([NUMBER] if value == NUMBER else []), *([DATA] if is_of_turn or isinstance(value, Tensor) else []))
    known = guards_of(value, outcome)
    if known and (not is_of_turn or any(varies(term) for term, _ in known)):
        return known
    return known | {(Term("undecided", Asked(asked), *of), outcome)}


def is_kept_from_before(guards: Facts, others: Collection[Guard]) -> bool:
    """True for what is found in a table that is filled where it lacks a key: `if key not in cache: cache[key] = ...`. Another call has made it.

    `others` are the conditions of what is made where it is lacking.
    """
    for term, outcome in guards:
        asked = term.args[0].what if term.op == "undecided" and isinstance(term.args[0], Asked) else term
        is_found = isinstance(asked, Term) and (asked.op == "contains" if outcome else get_of(asked) is not None)
        if is_found and (term, not outcome) in others:
            return True
    return False


def get_of(term: Term) -> Term | None:
    """The method in `cache.get(key) is None`; None for any other test."""
    called = term.args[0] if term.op == "is_none" else None
    method = called.args[0] if isinstance(called, Term) and called.op == "call" else None
    is_get = isinstance(method, Term) and method.op == "attribute" and method.args[1] == "get"
    return method if is_get else None


def opposite(facts: Facts) -> Facts:
    """What holds where not all of several conditions do."""
    if len(facts) < 2:
        return frozenset((term, not outcome) for term, outcome in facts)
    return frozenset({not_all(facts)})


def of_try(body: ir.Body, identity: int, is_raised: bool) -> Facts:
    """What holds behind a `try` of a body: that what it tries has raised, or has not."""
    return frozenset({(Term("undecided", Asked((body, -identity))), not is_raised)})


def residual(ctx: Context, guards: Iterable[tuple[Value, bool, Term]]) -> Facts | None:
    """The conditions that are still open, None where one does not hold. Each is given as it is known here, and as the summary asks it: what is not
    known here either comes out the same wherever the summary asks it. They hold together: of one that has alternatives, those count that fit the others.
    """
    found: set[Guard] = set()
    chosen: list[tuple[OneOf, bool, Term]] = []
    for value, outcome, asked in guards:
        known = known_outcome(ctx, value) if ctx.facts or type(value) is not Term else None
        if known is not None:
            if known != outcome:
                return None
        elif isinstance(value, OneOf):
            chosen.append((value, outcome, asked))
        else:
            found |= sides_of(value, outcome, asked)
    for value, outcome, asked in chosen:
        others = frozenset(found)
        if others and not any(_may_be(option, outcome) for own, option in value.options if consistent(own, others)):
            return None
        left = one_of([(own - others, option) for own, option in value.options if consistent(own, others)])
        found |= sides_of(left if isinstance(left, Term) else value, outcome, asked)
    return frozenset(found)
