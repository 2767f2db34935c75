"""Tensors: their attributes and methods, arithmetic, indexing, and how they are made."""

from __future__ import annotations

import operator as python_operators
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from torchdevlint.infer import (
    annotated,
    arrays,
    claims,
    containers,
    devices,
    host_libraries,
    lookups,
    modules,
    opaque,
    operators,
    paths,
    reading,
    samples,
    stored,
)
from torchdevlint.infer.classes import has_caller_outside, special, wrapped
from torchdevlint.infer.conditions import negated, on_accelerator
from torchdevlint.infer.guards import consistent
from torchdevlint.infer.joins import for_each, join, lift, one_of
from torchdevlint.infer.places import is_computed_elsewhere
from torchdevlint.infer.reading import holds_tensor
from torchdevlint.infer.state import NO_FACTS, RENEWED, Facts, renewal
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    ACCELERATOR,
    ARRAY,
    CLOCK,
    DTYPE,
    EXPECTED_ERROR,
    HOST,
    MANY,
    NONE,
    NOTHING,
    NOWHERE,
    NUMBER,
    SIZE,
    SLICE,
    TRUE,
    UNKNOWN,
    Args,
    Array,
    Bound,
    Const,
    Device,
    DoubleStar,
    Ext,
    Keywords,
    Like,
    OneOf,
    Place,
    Rec,
    Ref,
    Site,
    SliceValue,
    Star,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    array,
    as_key,
    asked_for_type,
    at_least,
    device_at,
    is_array,
    is_elsewhere,
    is_open,
    is_partial,
    least,
    options_of,
    place_in,
    shifted,
    type_of,
    typed_at,
    unknown,
    varies,
    waits,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs import loader
from torchdevlint.stubs.knowledge.tensor_attributes import TENSOR_ATTRIBUTES

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_MOST_CASES = 6  # that conditions make of the operands of one operation
# Methods of dicts and texts that change nothing, by how many arguments they take: who needs the result asks for it, as for an item.
_READS = {
    **dict.fromkeys("items keys values lower upper isdigit".split(), (0,)),
    **dict.fromkeys("strip lstrip rstrip encode decode".split(), (0, 1)),
    **dict.fromkeys("get startswith endswith replace".split(), (1, 2)),
    "join": (1,),
}
PROOF_ATTRIBUTES = frozenset({"is_cuda", "requires_grad", "grad_fn", "is_sparse", "is_leaf"})
_SAME = frozenset({"T", "mT", "data", "real", "imag", "grad", "H"})
_NUMBERS = frozenset({"ndim", "requires_grad", "layout", "itemsize", "nbytes", "is_leaf", "grad_fn", "names"})
# Methods that give no tensor (torch/_tensor_docs.py).
_TO_PYTHON = frozenset(
    "item dim ndimension numel nelement stride storage_offset element_size is_contiguous is_floating_point data_ptr "
    "__len__ tolist size is_complex storage untyped_storage is_pinned is_shared retain_grad __hash__".split()
)
_CASTS = frozenset("float double half bfloat16 int long short bool byte char type to cuda cpu".split())
_CASTS_OF_MODULES = frozenset({"float", "double", "half", "bfloat16"})
_SAME_TENSOR = frozenset(
    "detach detach_ requires_grad_ share_memory_ pin_memory contiguous refine_names rename".split()
)
_NEW = frozenset("new_zeros new_ones new_full new_empty new_tensor new_empty_strided new".split())
# Operators that arrays, numbers, frames, modules and containers have methods of the same names for: no proof of a tensor.
_OTHERS_HAVE = (
    frozenset(dir(dict))
    | frozenset(dir(list))
    | frozenset(dir(str))
    | frozenset(dir(set))
    | frozenset(dir(float))
    | frozenset(
        "T all any clone argmax argmin argpartition argsort astype base byteswap choose clip compress conj conjugate copy ctypes cumprod "
        "cumsum data diagonal dot dtype dump dumps fill flags flat flatten imag item itemset itemsize max mean min nbytes ndim "
        "nonzero partition prod ptp put ravel real repeat reshape resize round searchsorted setfield setflags shape size sort squeeze "
        "std strides sum swapaxes take tobytes tofile tolist tostring trace transpose var view device abs add sub mul div divide "
        "multiply subtract eq ne lt le gt ge mod where mask diff rank unique apply values index quantile median mode corr cov type "
        "to cuda cpu pin_memory record_stream float double half bfloat16 int long bool short grad log log_ set_ expand split normal_ new "
        "select sample unfold "
        "stride chunk roll gather scatter sign equal map_ solve lu qr svd eig inverse det diag align_to norm relu softmax "
        "conv1d dropout embedding batch_norm layer_norm storage concat stack replace isin isna numpy fix negative positive power "
        "requires_grad_ bincount histogram kron inner outer cross vdot block_diag cholesky pad rename refine_names retain_grad one_hot trunc rot90 "
        "square sqrt exp sinc".split()
    )
)
_PYTHON_HAS = frozenset().union(*map(dir, (dict, list, str, set, float)))
_OVER_DIMENSIONS = frozenset(
    "mean std var softmax log_softmax max min argmax argmin norm squeeze unsqueeze view reshape permute flatten".split()
)
_MODULES_HAVE = frozenset("values apply_ type float double half requires_grad_".split())
_ALSO_PROOF = frozenset({"exp", "sqrt", "detach", "pow", "backward", "sqrt_", "norm", "square"})


def proves_tensor(name: str) -> bool:
    """True for a method that tensors have and hardly anything else."""
    return (
        (name in loader.tensor_methods() and name not in _OTHERS_HAVE) or name in _ALSO_PROOF or name in _NEW - {"new"}
    )


def attribute(ctx: Context, value: Tensor, name: str) -> Value:
    """`tensor.name`."""
    value = now(ctx, value)
    if name == "device":
        return device_at(value.device)
    if name in _SAME:
        return plain(value)
    if name in ("is_cuda", "is_cpu"):
        return on_accelerator(value) if name == "is_cuda" else negated(on_accelerator(value))
    if name == "shape":
        return SIZE
    if name == "dtype":
        return DTYPE
    if name in _NUMBERS:
        return NUMBER
    if name in ("batch_sizes", "sorted_indices", "unsorted_indices"):  # of a `PackedSequence`
        return Tensor(HOST, 1) if name == "batch_sizes" else plain(value)
    return Bound(value, name)


def now(ctx: Context, value: Tensor) -> Tensor:
    """A tensor that was read before, where it is by now: what is computed of a parameter stays behind when its module moves."""
    here = as_tensor(ctx, value)
    return here if isinstance(here, Tensor) else value


def plain(value: Tensor) -> Tensor:
    """The tensor for itself: no parameter or buffer, so that no module takes it along, and no leaf."""
    if not value.follows:
        return replace(value, leaf="") if value.leaf else value
    return derived(value, value.rank, 0)


# What a caller gives, and what is taken out of it.
_GIVEN = frozenset({"parameter", "item", "element", "unpack", "attribute"})


PROBED = 4  # a rank for which is asked what an operation makes of it


def derived(value: Tensor, rank: int | None, by: int | None = None) -> Tensor:
    """What is computed from a tensor, where that is. `by`: it has at least so many dimensions more."""
    like = value.like.moved_by(by) if value.like is not None else None
    return Tensor(value.device, rank, value.origin, value.implicit, kept=value.kept, like=like)


def as_tensor(ctx: Context, value: Value, known: dict[Term, Value] | None = None) -> Value:
    """An operand that must be a tensor: what was moved somewhere is there, and a module is where its weights are.

    `known`: sums that were asked already; `x = x + f(x)`, again and again, holds the first `x` exponentially often.
    """
    if type(value) is Tensor:
        return claims.where_now(ctx, value) if value.follows else value
    if isinstance(value, Term):
        if (
            ctx.mode == "root"
            and value.op in _GIVEN
            and (value in ctx.proven or annotated.is_tensor(ctx.analysis, value))
        ):
            return Tensor(Term("own", value), MANY)
        if value.op == "moved":
            place = value.args[1]
            may_be_host = place == HOST or (isinstance(place, Term) and place.op == "as_device")
            dimensions = 0 if is_reduced(value.args[0]) else MANY
            return Tensor(place, dimensions, value.args[2] if may_be_host else None)
        if value.op == "sample" and (ctx.mode == "root" or not value.waits):
            stored = ctx.heap.get(value.args[0])
            if stored is not None and any(isinstance(key, tuple) and isinstance(key[1], str) for key in stored.fields):
                return value  # a dict of tensors: `batch["x"] = batch["x"].cuda()`
            if samples.is_input(ctx, value.args[0]):
                return as_tensor(ctx, value.args[0], known)
            return Tensor(HOST, MANY, value.args[1], "batch")
        if value.op in ("item", "element"):
            moved = devices.whole(value)
            if moved.op == "moved" and (moved.args[1] == HOST or value in ctx.proven):
                rank = MANY if moved.args[1] == HOST and value in ctx.proven else None
                return Tensor(moved.args[1], rank, moved.args[2] if moved.args[1] == HOST else None)
        if value.op == "attribute" and value in ctx.proven and isinstance(value.args[0], Term):
            moved = devices.whole(value.args[0])
            if moved.op == "moved" and isinstance(moved.args[1], Term) and moved.args[1].op == "near":
                return Tensor(moved.args[1], None)  # a part of what a model gives back
        if value.op == "binary" and (ctx.mode != "summary" or not value.waits):
            # nothing more will be known: the other operand may be a number
            known = {} if known is None else known
            if value not in known:
                known[value] = _of_sum(ctx, value, known)
            return known[value]
    if isinstance(value, Ref):
        rec = ctx.heap.get(value)
        if rec is not None and rec.kind == "module":
            where = rec.fields.get("@device", NOWHERE)
            implicit: Literal["", "default"] = "default" if where == HOST and "@implicit" in rec.fields else ""
            return Tensor(where, MANY, rec.fields.get("@origin"), implicit)
        if rec is not None and rec.cls == devices.GENERATOR:  # it draws where it is, as a tensor computes
            device = rec.fields.get(".device")
            place = device.place if isinstance(device, Device) else NOWHERE
            return Tensor(place, MANY, rec.fields.get("@origin"), "always")
    return value


_REDUCES = frozenset(
    "mean sum max min prod std var median norm all any amax amin logdet trace det argmax argmin".split()
)
_LEAVES_SHAPE = frozenset("detach clone float double half bfloat16 abs sqrt neg exp log contiguous".split())


def is_reduced(value: Value) -> bool:
    """True for `x.mean()`, and `x.mean().detach()`, of what is a tensor if it has such a method: no dimension is left."""
    while isinstance(value, Term) and value.op == "call" and not value.args[1] and not value.args[2]:
        method = value.args[0]
        if not isinstance(method, Term) or method.op != "attribute":
            return False
        if method.args[1] in _REDUCES:
            return True
        if method.args[1] not in _LEAVES_SHAPE:
            return False
        value = method.args[0]
    return False


def _of_sum(ctx: Context, value: Term, known: dict[Term, Value]) -> Value:
    """The tensor that an operation on two operands gives where one of them is known; the value itself where none is."""
    sides = [as_tensor(ctx, one, known) for side in (value.args[1], value.args[2]) for one in alternatives(side)]
    tensors = [one for one in sides if isinstance(one, Tensor)]
    tensor = next((one for one in tensors if one.rank not in (0, None)), tensors[0] if tensors else None)
    is_certain = tensor is not None and (
        tensor.device != HOST
        or tensor.rank not in (0, None)
        or not any(is_open(one) and not annotated.is_number(one) for one in sides)
    )
    return tensor if tensor is not None and is_certain else value


def flattened(ctx: Context, value: Value, deep: int = 4) -> list[Value]:
    """The tensors in tuples and lists. Of several lists of which one is given, the parts at one position are one operand."""
    options = options_of(value)
    if len(options) > 1 and sum(_is_container(ctx, one) for _, one in options) > 1:
        several = [(guards, flattened(ctx, one, deep), _is_of_any_length(ctx, one)) for guards, one in options]
        longest = max(len(parts) for _, parts, _ in several)
        return [_at(position, several) for position in range(longest)]
    found: list[Value] = []
    changed = False
    for one, rec in ctx.each(value):
        if isinstance(one, Tup) and deep:
            changed = True
            for item in one.items[:12]:
                found += flattened(ctx, item.value if isinstance(item, Star) else item, deep - 1)
        elif rec is not None and deep and rec.kind in ("list", "generator"):
            changed = True
            for key, item in list(rec.items.items())[:12]:
                for part in _of_turns(item) if key == "*" else (item,):
                    found += flattened(ctx, part, deep - 1)
        else:
            found.append(one)
    if not changed:
        return [value]
    # Of a list and of something else, nobody knows which is given.
    return found if len(options) == 1 else [one_of([(NO_FACTS, one), (NO_FACTS, UNKNOWN)]) for one in found]


def _at(position: int, several: list[tuple[Facts, list[Value], bool]]) -> Value:
    """The part at a position of one of several lists, of which some are shorter."""
    found = [
        (g, parts[min(position, len(parts) - 1)]) for g, parts, is_any in several if position < len(parts) or is_any
    ]
    return one_of(found if len(found) == len(several) else [*found, (NO_FACTS, UNKNOWN)])


def _is_of_any_length(ctx: Context, value: Value) -> bool:
    """True for a list of which only the kind of its items is known: `tuple(h.cuda() for h in hidden)`."""
    rec = ctx.rec(value)
    return rec is not None and rec.kind in ("list", "generator") and set(rec.items) == {"*"}


def _of_turns(value: Value) -> Sequence[Value]:
    """What the turns of a loop have put into a list: where a turn adds a tensor that is made on the CPU, and another turn may not, there are both."""
    options = options_of(value)
    made = [(guards, one) for guards, one in options if _is_made_here(one) and any(varies(term) for term, _ in guards)]
    lasting = [frozenset((term, outcome) for term, outcome in guards if not varies(term)) for guards, _ in made]
    others = [
        (guards, one)
        for guards, one in options
        if (guards, one) not in made and any(consistent(guards, both) for both in lasting)
    ]
    if not others or len(made) + len(others) < len(options):
        return (value,)
    return [one_of([(NO_FACTS, one) for _, one in (*several, (NO_FACTS, UNKNOWN))]) for several in (made, others)]


def _is_made_here(value: Value) -> bool:
    return isinstance(value, Tensor) and value.device == HOST and value.implicit == "default"


def _is_container(ctx: Context, value: Value) -> bool:
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    return isinstance(value, Tup) or (rec is not None and rec.kind in ("list", "generator"))


# ---------------------------------------------------------------------------------------------------- results


def by_case(values: Sequence[Value], result: Callable[[list[Value]], Value]) -> Value:
    """The result of an operation under each of the conditions that tell alternatives of its operands apart.

    So what is moved under a flag, and everything computed from it, stays together: `if cuda: x = x.cuda()`.
    """
    cases: list[tuple[Facts, list[Value]]] = [(NO_FACTS, list(values))]
    for at, value in enumerate(values):
        if not isinstance(value, OneOf) or not (
            any(guards for guards, _ in value.options) or _is_left_to_caller(value)
        ):
            continue
        cases = [
            (reached | guards, [*given[:at], option, *given[at + 1 :]])
            for reached, given in cases
            for guards, option in value.options
            if consistent(reached, guards)
        ]
        if not 0 < len(cases) <= _MOST_CASES:
            return result(list(values))
    return one_of([(reached, result(given)) for reached, given in cases])


def _is_left_to_caller(value: OneOf) -> bool:
    """True for what a caller knows, or a tensor that the body has put elsewhere: `if flag: x = torch.ones(3, device="cuda")` for a part of an argument."""
    return any(isinstance(one, Term) and one.waits for _, one in value.options) and any(
        isinstance(one, Tensor) and is_elsewhere(one.device) for _, one in value.options
    )


def combined(ctx: Context, operands: list[Operand], rank: int | None) -> Value:
    """What comes out of operands that share a device: on that of the first that is no zero-dimensional CPU tensor."""

    def result(values: list[Value]) -> Value:
        together = _together(values)
        if together is None:
            return UNKNOWN
        given = [operand._replace(value=value) for operand, value in zip(operands, together, strict=True)]
        return _combined(ctx, given, rank)

    return by_case([operand.value for operand in operands], result)


def _together(values: list[Value]) -> list[Value] | None:
    """What operands may be where the operation succeeds: all on the CPU, or none; None where it cannot, so that nothing comes out of it."""
    sides = [{_side(one) for one in alternatives(value)} for value in values]
    known = [side for side in sides if "" not in side]
    common = frozenset.intersection(_SIDES, *known)
    if common == _SIDES:
        return values
    return (
        [join(*(one for one in alternatives(value) if _side(one) in common or not _side(one))) for value in values]
        if common
        else None
    )


def _side(value: Value) -> str:
    """The side of a transfer where an operand certainly is; "" for what may be on both, as a CPU tensor without dimensions may."""
    if not isinstance(value, Tensor):
        return ""
    if value.device == HOST:
        return "" if value.rank in (0, None) else HOST
    return ACCELERATOR if isinstance(value.device, str) and is_elsewhere(value.device) else ""


_SIDES = frozenset((HOST, ACCELERATOR))


def _combined(ctx: Context, operands: list[Operand], rank: int | None) -> Value:
    best, pending = _best(ctx, [operand.value for operand in operands])
    if best is not None:
        if best.device == HOST and pending and ctx.mode == "summary":
            proven = [term for term in pending if term in ctx.proven]
            if proven:
                return Tensor(Term("device_of", proven[0]), MANY if rank is None else rank)
            if best.rank in (0, None) or any(operand.tolerant for operand in operands):
                return _open_binary(operands)
        if pending and len(operands) == 2 and all(one.tolerant for one in operands) and _is_left_open(ctx, best):
            return _open_binary(operands)
        return _from_moved(ctx, operands, best) if rank is None else derived(best, rank)
    if pending:
        if pending[0] in ctx.proven:
            return Tensor(Term("device_of", pending[0]), MANY if rank is None else rank)
        return _open_binary(operands)
    return UNKNOWN


def _from_moved(ctx: Context, operands: list[Operand], best: Tensor) -> Tensor:
    """What is computed of something that a caller gives and that was moved: as a caller may tell, it is a tensor with dimensions, as most are."""
    for operand in operands:
        value = operand.value
        if isinstance(value, Term) and value.op == "moved" and value.waits and as_tensor(ctx, value) == best:
            return replace(derived(best, MANY), like=Like(value.args[0], 0))
    return derived(best, None)


def _is_left_open(ctx: Context, best: Tensor) -> bool:
    """True for what is where a parameter is: a caller may give a number there, and the other operand tells where the result is."""
    place = best.device
    if not isinstance(place, Term) or ctx.mode != "summary":
        return False
    if best.like is not None:
        return True
    asked = place.args[0] if place.op == "as_device" else None  # of `device=x.device`
    return place.op in ("own", "device_of") or (isinstance(asked, Term) and asked.op == "attribute")


def _open_binary(operands: list[Operand]) -> Value:
    first = operands[0].value
    return Term("binary", "+", first, operands[1].value if len(operands) > 1 else NUMBER)


def _best(ctx: Context, values: list[Value]) -> tuple[Tensor | None, list[Term]]:
    best: Tensor | None = None
    pending: list[Term] = []
    for value in values:
        found: Tensor | None = None
        for option in alternatives(value):
            one = as_tensor(ctx, option)
            if isinstance(one, Tensor):
                if found is None or found.device == HOST or (found.rank == 0 and one.rank != 0):
                    found = one
            elif isinstance(one, Term) and one is not UNKNOWN:
                pending.append(one)
        if found is not None and (best is None or _gives_way(best, found)):
            best = found
    return best, pending


def _gives_way(best: Tensor, other: Tensor) -> bool:
    """True where the result is rather on the other's device."""
    if best.device == HOST and (best.rank in (0, None) or other.device != HOST):
        return True
    return (best.rank == 0 and other.rank != 0) or (
        _is_of_attribute(best) and isinstance(other.device, Term) and not _is_of_attribute(other)
    )


def _is_of_attribute(value: Tensor) -> bool:
    """True for what is where `self.scale` is, which may be a tensor of no dimension on the CPU: what it meets tells where the result is."""
    asked = value.device.args[0] if isinstance(value.device, Term) and value.device.op == "device_of" else None
    return isinstance(asked, Term) and asked.op == "attribute"


# ---------------------------------------------------------------------------------------------------- arithmetic


def binary(
    ctx: Context, operator: str, left: Value, right: Value, site: Site | None, *, in_place: bool = False
) -> Value:
    """`left operator right`; a comparison has its operator in words (`COMPARISONS`)."""
    is_comparison = operator in _IN_WORDS
    if CLOCK in (left, right):
        return CLOCK
    if operator == "%" and isinstance(left, Const) and isinstance(left.value, str):
        return paths.of_percent(left.value, right)
    if isinstance(left, Ref) or isinstance(right, Ref):
        overloaded = _overloaded(ctx, operator, left, right, site, in_place=in_place)
        if overloaded is not None:
            return overloaded
    if operator == "+" and isinstance(left, Tup) and is_open(right):  # nothing but a tuple is added to one
        return Tup((*left.items, Star(right)))
    if operator == "+" and isinstance(right, Tup) and is_open(left):
        return Tup((Star(left), *right.items))
    for one, other in ((left, right), (right, left)):
        if is_array(other) and isinstance(one, Tensor) and site is not None:
            claims.claim(ctx, "host", [Operand(one, False, "numpy")], site)  # through `ndarray.__array_priority__`
    if claims.may_be_module(ctx, left) or claims.may_be_module(ctx, right):
        return unknown(site)  # its class says what the operator does
    values = (left, right)
    several = [one for value in values for one in alternatives(value)]
    known = [one for one in several if not isinstance(one, Ref) and isinstance(as_tensor(ctx, one), Tensor)]
    terms = [one for one in several if isinstance(one, Term) and one is not UNKNOWN]
    if not known and not terms:
        return one_of(
            [
                (reached | guards, _of_python_values(ctx, operator, first, second, site))
                for reached, first in options_of(left)
                for guards, second in options_of(right)
                if consistent(reached, guards)
            ]
        )
    if not known and is_comparison and len(terms) == 1 and all(isinstance(o, Const) or o in terms for o in several):
        is_name = isinstance(right, Const) and isinstance(right.value, (str, type(None)))
        return NUMBER if is_name else Term("binary", operator, left, right)
    if known:
        for term in terms:
            # What an unknown function gives may be a sparse matrix of SciPy, or an operator that is no tensor.
            is_matrix = operator == "@" and (term.op != "call" or _is_call_of_method(term))
            for one in {term} if is_matrix else _arrays_in(ctx, term):
                if one.op != "moved":
                    ctx.prove(one)
    if site is not None and all(
        any(isinstance(one, (Tensor, Term)) and one is not UNKNOWN for one in alternatives(v)) for v in values
    ):
        tolerant = operator != "@"
        role = "target" if in_place else "operand"
        claims.claim(ctx, "same", [Operand(left, tolerant and not in_place, role), Operand(right, tolerant)], site)
    return by_case(values, lambda given: _result_of_binary(ctx, operator, given, site, in_place=in_place))


def _arrays_in(ctx: Context, term: Term, deep: int = 4) -> set[Term]:
    """What an operand is computed from that is an array, and no number: beside a tensor it is one as well."""
    if term in ctx.weak:
        return {term}
    if not deep or term is UNKNOWN:
        return set()
    holder: object = term.args[0] if term.args else None
    if term.op == "item":
        key = term.args[1]
        is_cut = any(map(_is_cut, key.items if isinstance(key, Tup) else [key]))  # `x[:, None]`
        is_size = isinstance(holder, Term) and holder.op == "attribute" and holder.args[1] in ("shape", "size")
        return {holder} if is_cut and isinstance(holder, Term) and holder is not UNKNOWN and not is_size else set()
    if term.op == "binary":
        sides = [one for one in term.args[1:] if isinstance(one, Term) and one is not UNKNOWN]
        if holder == "@":
            return set(sides)
        return {found for one in sides for found in _arrays_in(ctx, one, deep - 1)}
    if _is_call_of_method(term) and isinstance(holder, Term) and isinstance(holder.args[0], Term):
        return _arrays_in(ctx, holder.args[0], deep - 1)
    if term.op == "attribute" and term.args[1] in _SAME and isinstance(holder, Term):
        return _arrays_in(ctx, holder, deep - 1)
    return set()


def _is_call_of_method(term: Term) -> bool:
    """True for a call of a method that tensors have: `x.softmax(-1)`."""
    called = term.args[0] if term.op == "call" else None
    if not isinstance(called, Term) or called.op != "attribute":
        return False
    return called.args[1] in loader.tensor_methods() or called.args[1] in _CASTS


def _is_cut(part: Value) -> bool:
    return isinstance(part, SliceValue) or part in (NONE, Const(Ellipsis))


def _result_of_binary(
    ctx: Context, operator: str, values: list[Value], site: Site | None, *, in_place: bool = False
) -> Value:
    together = _together(values)
    if together is None and not in_place:
        return UNKNOWN
    left, right = values = values if together is None else together
    several = [one for value in values for one in alternatives(value)]
    terms = [one for one in several if isinstance(one, Term) and one is not UNKNOWN]
    best, _ = _best(ctx, values)
    if best is None and not terms:
        return _of_python_values(ctx, operator, left, right, site)
    if all(term.op == "moved" for term in terms):
        if best is None:
            return UNKNOWN
        if in_place and isinstance(left, (Tensor, OneOf)):
            return left
        ranks = [one.rank for one in (as_tensor(ctx, option) for option in several) if isinstance(one, Tensor)]
        if operator == "@":
            return derived(best, operators.product(ranks))
        return derived(best, operators.broadcast(ranks, all_known=True), 0)
    if best is not None and best.device != HOST and best.rank not in (0, None) and not _is_left_open(ctx, best):
        return Tensor(best.device, best.rank, best.origin)
    if in_place:
        return Term("binary", operator + "=", left, right)
    return Term("binary", operator, *(lift(lambda one: _as_computed(ctx, one), value) for value in values))


def _as_computed(ctx: Context, value: Value) -> Value:
    """An operand of what is computed now: it stays where it is when the module of a parameter moves."""
    if not isinstance(value, Tensor) or not value.follows or isinstance(value.device, Term):
        return value
    return plain(now(ctx, value))


COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_IN_WORDS = frozenset(COMPARISONS.values())
_TURNED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_DUNDERS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and",
    "|": "or",
    "^": "xor",
    ">>": "rshift",
    "<<": "lshift",
}


def _overloaded(
    ctx: Context, operator: str, left: Value, right: Value, site: Site | None, *, in_place: bool
) -> Value | None:
    """What a class of the project makes of an operator; None where neither operand is of one."""
    name = _DUNDERS.get(operator)
    held = ctx.heap.get(left) if isinstance(left, Ref) and in_place and operator == "+" else None
    if held is not None and held.kind == "module" and isinstance(held.cls, Ext):  # a `ModuleList`
        modules.method(ctx, left, held, "extend", [right], {}, site)  # type: ignore[arg-type]
        return left
    ways = (*(((left, right, "i"),) if in_place else ()), (left, right, ""), (right, left, "r"))
    if operator in _TURNED:
        return special(ctx, left, f"__{operator}__", [right], site) or special(
            ctx, right, f"__{_TURNED[operator]}__", [left], site
        )
    for one, other, prefix in ways if name else ():
        made = special(ctx, one, f"__{prefix}{name}__", [other], site)
        if made is not None:
            return made
    return None


def _compared(operator: str, left: Any, right: Any) -> Value:
    """How a comparison of two literals comes out. What is counted is a number of which nobody knows which: arithmetic gives no literal."""
    is_ordered = isinstance(left, (int, float)) and isinstance(right, (int, float))
    if not is_ordered and operator not in ("eq", "ne"):
        return NUMBER
    return Const(bool(_COMPARES[operator](left, right)))


_COMPARES: dict[str, Callable[[Any, Any], Any]] = {name: getattr(python_operators, name) for name in _IN_WORDS}


def _of_python_values(ctx: Context, operator: str, left: Value, right: Value, site: Site | None) -> Value:
    if operator in _IN_WORDS and isinstance(left, Const) and isinstance(right, Const):
        return _compared(operator, left.value, right.value)
    if operator == "|" and isinstance(left, Ref) and isinstance(right, Ref):
        recs = [ctx.heap.get(one) for one in (left, right)]
        if all(rec is not None and rec.kind == "dict" for rec in recs):
            fields = {key: value for rec in recs if rec is not None for key, value in rec.fields.items()}
            return ctx.new(site, "dict", None, fields, tag="merged")
    text = paths.binary(operator, left, right)
    if text is not None:
        return text
    if operator == "+" and isinstance(left, Ref) and isinstance(right, Ref):
        first, second = reading.items(ctx, left), reading.items(ctx, right)
        if first is not None and second is not None:
            fields = {("k", at): one for at, one in enumerate([*first, *second])}
            return ctx.new(site, "list", None, fields, tag="sum") if site is not None else left
        both = one_of([(frozenset(), reading.element(ctx, left)), (frozenset(), reading.element(ctx, right))])
        return ctx.new(site, "list", None, {"*": both}, tag="sum") if site is not None else left
    if operator in ("*", "-", "&") and isinstance(left, Ref):
        return left
    if operator in ("|", "^") and isinstance(left, Ref) and isinstance(right, Ref):  # of sets
        inner = join(reading.element(ctx, left), reading.element(ctx, right))
        return ctx.new(site, "list", None, {"*": inner}, tag="union") if site is not None else left
    if operator == "+" and isinstance(left, Tup) and isinstance(right, Tup):
        return Tup(left.items + right.items)
    if isinstance(left, Array) or isinstance(right, Array):
        ranks = [arrays.rank_of(ctx, one) for one in (left, right)]
        rank = operators.product(ranks) if operator == "@" else arrays.broadcast(ranks)
        return array(rank, Term("binary", operator, left, right) if ctx.mode == "summary" else None)
    return UNKNOWN if UNKNOWN in (left, right) else NUMBER


_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def unary(ctx: Context, value: Value, operator: str, site: Site | None) -> Value:
    """`-value`, `+value`, `~value`."""
    made = special(ctx, value, _UNARY[operator], [], site)
    if made is not None:
        return made
    if operator == "-" and isinstance(value, Const) and type(value.value) in (int, float):
        return Const(-value.value)
    return NUMBER if isinstance(value, Const) and type(value.value) not in (int, float) else value


# ---------------------------------------------------------------------------------------------------- indexing


def index(ctx: Context, value: Value, key: Value, site: Site | None, *, is_left: bool = False) -> Value:
    """`tensor[key]`: index tensors may stay on the CPU where the tensor does not, not the other way round.

    `is_left`: it is on the CPU on a path alone that does not move it.
    """
    parts: list[Value] = list(key.items) if isinstance(key, Tup) else [key]
    if isinstance(key, Const) and isinstance(key.value, str):
        return UNKNOWN  # a dict, and no tensor
    if not is_left:
        claim_index(ctx, value, parts, site)
    is_on_way = isinstance(value, Term) and (value.op == "moved" or is_part_on_host(value))
    if is_on_way and any(isinstance(part, Tensor) or _is_cut_of_array(part) for part in parts):
        ctx.prove(value)  # nothing else that is moved is indexed so
        moved = as_tensor(ctx, value)
        value = moved if isinstance(moved, Tensor) else value
    if isinstance(value, Tensor):
        value = now(ctx, value)
    if not isinstance(value, Tensor):
        return Term("item", value, key)
    if value.rank == 0 and isinstance(key, Const) and type(key.value) is int:
        return NUMBER  # `loss.data[0]`: a number before torch 0.4, and no other torch comes behind it
    by = least(_rank_of_index(PROBED, parts)) - PROBED
    return derived(value, _rank_of_index(value.rank, parts), by)


def _is_cut_of_array(part: Value) -> bool:
    """True for an index that no list, text or dict takes: `None`, `...`."""
    return part in (NONE, Const(Ellipsis))


def claim_index(ctx: Context, value: Value, parts: Sequence[Value], site: Site | None, role: str = "indexed") -> bool:
    """Asks the parts of an index to fit what is indexed; whether any of them is known to be a tensor."""
    found = False
    for part in parts:
        if part in ctx.weak and isinstance(value, Tensor):
            ctx.prove(part)
        known = [as_tensor(ctx, one) for one in alternatives(part)]
        is_tensor = any(isinstance(one, Tensor) for one in known)
        may_be = is_tensor or any(is_open(one) for one in known)
        is_held = isinstance(value, Term) and value.op == "attribute" and is_open(value.args[0])  # a table of an object
        if may_be and (is_tensor or isinstance(value, Tensor) or is_held):
            claims.claim(ctx, "index", [Operand(value, False, role), Operand(part, False, "index")], site)
        found = found or is_tensor
    return found


def claim_arrays(ctx: Context, values: Sequence[Value], site: Site | None, *, indices: Sequence[Value] = ()) -> None:
    """What an array is indexed with, or what is written to its items, is made an array of; a number is not.

    NumPy asks an index for `__index__` first, which a tensor of one element answers wherever it is (numpy/core/src/multiarray/mapping.c): it is not certain
    that another fails.
    """
    for one in values:
        if isinstance(one, Tensor) and one.rank not in (0, None):
            claims.claim(ctx, "host", [Operand(one, False, "numpy")], site, weak=one in indices)


def _rank_of_index(rank: int | None, parts: list[Value]) -> int | None:
    if rank is None or rank < 0:
        if all(isinstance(part, Tensor) or part == Const(Ellipsis) for part in parts):
            if rank is None:
                return rank
            numbers = sum(isinstance(part, Tensor) and part.rank in (0, None) for part in parts)  # or what may be one
            return at_least(max(least(rank) - numbers, 0)) if numbers else MANY
        # A slice leaves its dimension, and an array gives its own, whatever the other indices take away.
        left = sum(isinstance(part, SliceValue) or part == NONE for part in parts) + any(map(is_array, parts))
        if any(isinstance(part, (Tensor, Term, OneOf)) for part in parts):
            return at_least(min(left, 1))
        taken = sum(not isinstance(part, SliceValue) and part not in (NONE, Const(Ellipsis)) for part in parts)
        return at_least(max(least(rank) - taken + parts.count(NONE) + any(map(is_array, parts)), left))
    if rank == 0:
        return rank
    for part in parts:
        is_scalar = part.rank == 0 if isinstance(part, Tensor) else isinstance(part, Term) and annotated.is_number(part)
        if (isinstance(part, Const) and type(part.value) is int) or part == NUMBER or is_scalar:
            rank -= 1
        elif part == NONE:
            rank += 1
        elif isinstance(part, Tensor):
            return MANY if part.rank is not None or rank > 1 else None
        elif is_array(part):
            return MANY
        elif not isinstance(part, SliceValue) and part != Const(Ellipsis):
            return None
    return rank


def store_item(ctx: Context, target: Value, key: Value, value: Value, site: Site | None) -> None:
    """`target[key] = value`."""
    parts: list[Value] = list(key.items) if isinstance(key, Tup) else [key]
    if is_array(target):
        claim_arrays(ctx, [*parts, value], site, indices=parts)
        return
    for guards, one in placed(options_of(target)):
        known = as_tensor(ctx, one)
        opened = is_open(one) and any(isinstance(part, Tensor) for part in parts)
        if not (isinstance(known, Tensor) and not isinstance(one, Ref)) and not opened:
            store_in_container(ctx, one, key, value, site)
            continue
        with ctx.under(guards):
            if ctx.mode == "summary" and not opened and any(isinstance(part, Term) and part.waits for part in parts):
                ctx.emit(Term("stored", one, key, value, site))  # a caller tells whether a tensor is the index
            elif claim_index(ctx, one, parts, site, "assigned"):
                claims.claim(ctx, "same", [Operand(one, False, "indexed"), Operand(value, True, "stored")], site)


def trained(value: Value) -> Value:
    """A tensor of which a program wants the gradient: a leaf of the graph that autograd builds, unless autograd has computed it."""
    return for_each(lambda one: replace(one, leaf=one.leaf or "wanted") if isinstance(one, Tensor) else one, value)


def placed(options: Sequence[tuple[Facts, Value]]) -> list[tuple[Facts, Value]]:
    """The alternatives of a value, but those that are on the CPU because nobody moved them on one path: whoever moves them on another knew where they live."""
    moved = {
        one.origin for _, one in options if isinstance(one, Tensor) and one.device != HOST and one.origin is not None
    }
    return [
        (guards, one)
        for guards, one in options
        if not (isinstance(one, Tensor) and one.device == HOST and one.origin in moved)
    ]


def store_in_container(
    ctx: Context, target: Value, key: Value, value: Value, site: Site | None = None, *, is_raw: bool = False
) -> None:
    if isinstance(target, Bound) and target.name == "__dict__":
        modules.store_named(ctx, target.object, key, value, by="dict_set")
        return
    rec = ctx.rec(target)
    value = modules.part_of(ctx, rec.cls, value) if rec is not None and rec.kind == "module" else value
    if not is_raw and special(ctx, target, "__setitem__", [key, value], site) is not None:
        return
    target = wrapped(ctx, target)
    if not isinstance(key, Const) and stored.renews_all(site):
        renew(ctx, target, value)
        return
    if key == SLICE and _replace_all(ctx, target, value):
        return
    if isinstance(key, SliceValue):
        key, value = NUMBER, reading.element(ctx, value)
    key = as_key(key, is_final=ctx.mode != "summary")
    is_named = isinstance(key, Const) and not (ctx.in_loop and type(key.value) is int)
    if ctx.mode == "summary" and waits(key) and not is_named and (is_open(target) or isinstance(target, Ref)):
        rec = ctx.rec(target)
        if rec is None or rec.kind == "overlay":
            lookups.store(ctx, target, key, value, site)
            return
    if isinstance(key, Const) and not (ctx.in_loop and type(key.value) is int):
        several = ctx.rec(target) if is_partial(key.value) else None
        before = several.fields.get(("k", key.value)) if several is not None else None
        ctx.put(target, ("k", key.value), value if before is None else join(before, value))
        return
    rec = ctx.rec(target)
    keys = [as_key(one) for one in alternatives(key)]
    is_open_target = isinstance(target, Term) and target is not UNKNOWN
    if is_open_target and all(isinstance(one, Const) for one in keys):  # a loop over names
        for guards, one in options_of(key):
            field = "k", as_key(one).value  # type: ignore[union-attr]
            ctx.put(target, field, join(reading.item(ctx, target, one), value) if guards else value)
        return
    if is_open_target and ctx.mode == "summary" and (rec is None or rec.kind == "overlay"):
        # Nobody will know more of the key, and a caller of what it is stored in.
        ctx.emit(Term("stored", target, key, value, site))
        return
    if rec is None:
        return
    known = [one for one in keys if isinstance(one, Const) and ("k", one.value) in rec.fields]
    if known and len(known) == len(alternatives(key)):
        for one in known:
            ctx.put(target, ("k", one.value), value)
        return
    containers.store_anywhere(ctx, target, value)
    if rec.kind == "dict" and isinstance(key, (Ref, Tensor)):
        ctx.add(target, containers.KEYS, key)


def renew(ctx: Context, target: Value, value: Value) -> None:
    """A loop over the keys of a dict, or the positions in a list, gives each of them another value."""
    target = wrapped(ctx, target)
    rec = ctx.heap.get(target) if isinstance(target, (Ref, Term)) else None
    new = renewal(value)
    if new == NOTHING:
        return
    if rec is not None and rec.kind in ("dict", "list") and isinstance(target, Ref):
        known = {key: new for key in rec.fields if isinstance(key, tuple)}
        others = {key: content for key, content in rec.fields.items() if not isinstance(key, tuple) and key != "*"}
        ctx.heap[target] = Rec(rec.kind, rec.cls, {**known, **others, **({"*": new} if "*" in rec.fields else {})})
    elif isinstance(target, Term):
        for key in [key for key in rec.fields if isinstance(key, tuple)] if rec is not None else ():
            here = reading.renewal_of(value, Const(key[1]))
            if here != NOTHING:
                ctx.put(target, key, here)
        ctx.put(target, RENEWED, value)


def _replace_all(ctx: Context, target: Value, value: Value) -> bool:
    """`items[:] = others` of a list, whose items are those of the other one from then on; False for anything else."""
    rec = ctx.heap.get(target) if isinstance(target, Ref) else None
    if rec is None or rec.kind != "list":
        return False
    ctx.heap[target] = Rec(rec.kind, rec.cls, containers.contents(ctx, "list", [value], {}))
    return True


# ---------------------------------------------------------------------------------------------------- making


def made(ctx: Context, site: Site | None, rank: int | None) -> Tensor:
    """What a factory makes that is not told where."""
    default = ctx.default()
    if default is not None:
        return Tensor(default, rank, site if default == HOST or isinstance(default, Term) else None)
    if ctx.mode == "summary" and ctx.unit.sets_default:
        return Tensor(Term("default"), rank, site, "default")
    return Tensor(HOST, rank, site, "default")


def rank_of_size(ctx: Context, size: list[Value]) -> int | None:
    """The rank that a size gives: its items, or as many as there are arguments."""
    for one in size:
        known = reading.items(ctx, one)
        if known is not None:
            return len(known)
    if not size or any(isinstance(one, Star) for one in size):
        return MANY
    if len(size) == 1:
        return 1 if isinstance(size[0], Const) or size[0] == NUMBER else MANY
    return len(size)


def rank_of_data(ctx: Context, value: Value) -> int | None:
    """The rank of what `torch.tensor` makes of a value."""
    if isinstance(value, OneOf):
        ranks = {rank_of_data(ctx, one) for guards, one in value.options if consistent(guards, ctx.facts)}
        return ranks.pop() if len(ranks) == 1 else at_least(min(map(least, ranks), default=0))
    if isinstance(value, Tensor):
        return value.rank
    if isinstance(value, Term):
        return MANY if _is_sequence(value) or _is_of_array(value) else None
    if isinstance(value, Array):
        return value.rank
    if isinstance(value, Const) or value == NUMBER:
        return 0
    known = reading.items(ctx, value)
    if known is not None:
        inner = rank_of_data(ctx, known[0]) if known else None
        return shifted(inner, 1)
    return MANY if isinstance(value, Ref) else None


def _is_of_array(term: Term) -> bool:
    """True for `array ** self.power` and `... / x`: whatever the other operand is, an array has its dimensions still."""
    parts = term.args[1:] if term.op == "binary" else ()
    return any(is_array(one) or (isinstance(one, Term) and _is_of_array(one)) for one in parts)


_LISTING = frozenset(Ext(f"builtins.{name}") for name in ("list", "tuple", "sorted"))


def _is_sequence(term: Term) -> bool:
    """True for what has items, whatever it is: a slice, a sum with a list, and a parameter that is said to be a list."""
    if term.op == "item":
        return isinstance(term.args[1], SliceValue)
    if term.op == "binary":
        return term.args[0] == "+" and any(isinstance(one, (Ref, Tup)) for one in term.args[1:])
    if term.op == "call":
        return term.args[0] in _LISTING
    said = annotated.annotation_of(term)
    return said is not None and annotated.says_sequence(said)


# ---------------------------------------------------------------------------------------------------- methods


def _is_dtype_alone(value: Value) -> bool:
    """True for a data type that, unlike `torch.cuda.FloatTensor`, names no device."""
    return devices.is_dtype(value) and place_of_type(value) is None


def place_of_type(named: Value) -> Place | None:
    """Where `x.type(torch.FloatTensor)` brings a tensor or a module: a tensor type names a device, and a data type none (python_variable_methods.cpp,
    `THPVariable_type`; torch/nn/modules/module.py, `type`).
    """
    told = typed_at(named)
    if told is not None:
        return told.place
    if isinstance(named, Term):
        of = asked_for_type(named)
        if of is not None:
            return Term("device_of", of)
        is_of_tensor = named.op == "attribute" and devices.is_dtype(named)
        return None if is_of_tensor else NOWHERE  # of an argument it is not known which of the two it is
    if isinstance(named, OneOf):
        places = [(guards, place_of_type(one)) for guards, one in named.options]
        known = [(guards, device_at(place)) for guards, place in places if place is not None]
        return place_in(one_of(known)) if known and len(known) == len(places) else NOWHERE if known else None
    name = named.name if isinstance(named, Ext) else named.value if isinstance(named, Const) else None
    if not isinstance(name, str) or not (name.startswith("torch.") and name.endswith("Tensor")):
        return None
    return ACCELERATOR if name.startswith("torch.cuda.") else HOST if name.count(".") == 1 else None


def method(ctx: Context, value: Tensor, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`tensor.name(...)`."""
    value = now(ctx, value)
    first = args[0] if args else keywords.get("other", UNKNOWN)
    if name in devices.MOVES:
        place = devices.target_of(ctx, name, args, keywords)
        return devices.move(ctx, value, place, site) if place is not None else value
    if name == "type_as":
        return devices.move(ctx, value, devices.device_of(ctx, first), site)
    if name == "type":
        if not args:
            return type_of(value.device)
        place = place_of_type(first)
        if place is not None:
            return devices.move(ctx, value, place, site)
        is_place_kept = isinstance(first, Ext) or all(map(_is_dtype_alone, alternatives(first)))
        return value if is_place_kept else Tensor(NOWHERE, value.rank)
    if name == "numpy" and keywords.get("force", NONE) != NONE:
        return array(value.rank)
    if name in ("numpy", "__array__"):
        claims.claim(ctx, "host", [Operand(value, False, "method")], site)
        return array(value.rank)
    if name == "get_device":
        return device_at(value.device)  # its index, which names it as well
    if name == "tolist" and value.rank not in (0, None):
        return ctx.new(site, "list", None, {"*": NUMBER}, tag=name)
    if name in ("register_hook", "register_post_accumulate_grad_hook"):
        if not value.follows or value.device != HOST:
            # the module of a parameter may be moved before there is a gradient
            ctx.call(args[0] if args else keywords.get("hook", UNKNOWN), [plain(value)], {}, site)
        return UNKNOWN
    if name in _TO_PYTHON:
        return SIZE if name == "size" and not args else NUMBER
    if name == "backward":
        gradient = args[0] if args else keywords.get("gradient", NONE)
        if gradient != NONE:
            claims.claim(ctx, "same", [Operand(value, False, "operand"), Operand(gradient, True, "operand")], site)
        return NONE
    if name == "requires_grad_" and (not args or args[0] == TRUE):
        return trained(value)
    if name in ("requires_grad_", "share_memory_"):
        return value
    if name == "detach_":
        return replace(value, leaf="")
    if name == "float" and value.follows:
        return value  # a parameter is of that type as a rule, and comes back as it is
    if name in _SAME_TENSOR or name in _CASTS:
        return plain(value)
    if name in _NEW:
        return _new(ctx, value, name, args, keywords, site)
    if name in ("view", "expand", "repeat", "reshape", "permute"):
        is_cast = len(args) == 1 and isinstance(args[0], Ext)
        rank = value.rank if name == "permute" or is_cast else rank_of_size(ctx, args or list(keywords.values()))
        return derived(value, rank)
    if name in ("max", "min", "sum", "mean", "any", "all", "prod") and not args and not keywords:
        return derived(value, 0)
    if "torch." + name in MAY_GIVE_SEVERAL:
        return with_counts(derived(value, MANY), keywords)
    signatures = ctx.stubs.method(name)
    if signatures and operators.fitting(signatures, [value, *args], keywords) is not None:
        return operators.apply(ctx, signatures, [value, *args], keywords, site)
    rank = MANY if value.rank is not None and value.rank < 0 else None
    return derived(value, rank)


MAY_GIVE_SEVERAL = frozenset(
    ["torch.unique", "torch.unique_consecutive"]
    + [f"torch.nn.functional.{name}_pool{n}d" for name in ("max", "adaptive_max", "fractional_max") for n in (1, 2, 3)]
)


def with_counts(values: Value, keywords: Keywords) -> Value:
    """What `torch.unique(x, return_inverse=True, return_counts=True)` gives: one more tensor there for each of the keywords."""
    more = sum(keywords.get(name, NONE) == TRUE for name in ("return_inverse", "return_counts", "return_indices"))
    return Tup((values,) * (more + 1)) if more else values


def _new(ctx: Context, value: Tensor, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    size = args[:1] if name in ("new_full", "new_empty_strided") else args
    rank = (
        rank_of_data(ctx, args[0])
        if name == "new_tensor" and args
        else rank_of_size(ctx, size or list(keywords.values()))
    )
    given = keywords.get("device", NONE)
    if given != NONE:
        place: Place = devices.as_device(ctx, given)
        return Tensor(place, rank, site if place == HOST else None)
    return Tensor(value.device, rank, value.origin, value.implicit)


def _has_what_no_tensor_has(site: Site | None) -> bool:
    """True for a call of a method of a variable of which the function reads what no tensor has: `net.norm(net.features(x))`."""
    if site is None or site.body is None or not isinstance(site.op, ir.Call):
        return False
    lookup = Lookup.of(site.body)
    method = lookup.definition(site.op.function)
    held = lookup.definition(method.object) if isinstance(method, ir.Attribute) else None
    if not isinstance(held, ir.Load):
        return False
    is_given = any(parameter.name == held.name for parameter in site.body.parameters)
    if len(lookup.stores(held.name)) + is_given > 1:
        return False  # it may be something else by now
    readers = [op for load in lookup.loads(held.name) for op in lookup.readers(load.dst)]
    read = {op.name for op in readers if isinstance(op, ir.Attribute)}
    return not all(name in TENSOR_ATTRIBUTES or name.startswith("_") for name in read)


def _is_of_project(ctx: Context, value: Term) -> bool:
    """True for what is said to be an object of a class of the project, which may have a method of any name: `self`, and `space: Space` in `space.dim()`."""
    if ctx.analysis.class_of_receiver(value) is not None:
        return True
    cls = annotated.class_of(ctx.analysis, value)
    return cls is not None and not has_caller_outside(ctx.analysis, cls)


def open_method(ctx: Context, function: Term, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`value.name(...)` of something open."""
    from torchdevlint.infer.calls import residual

    if function is UNKNOWN:  # it nests too deeply
        return unknown(site)
    value: Value = function.args[0]
    name: str = function.args[1]
    if name in devices.MOVES:
        if name == "to" and ctx.mode == "summary" and any(isinstance(one, (Star, DoubleStar)) for one in args):
            return residual(ctx, function, args, keywords, site)  # `self.net.to(*args, **kwargs)`: a caller tells where
        place = devices.target_of(ctx, name, args, keywords)
        return devices.move(ctx, value, place, site) if place is not None else value
    is_settled = isinstance(value, Term) and (value.op == "moved" or (value.op == "binary" and ctx.mode != "summary"))
    is_part = not is_settled and is_part_on_host(value)
    moved = value if isinstance(value, Term) and value.op == "moved" else None
    if (is_part and name in _CASTS) or (moved is not None and name in _CASTS_OF_MODULES and not args):
        return value  # a module has the method, too, and what comes back is where it was
    if is_part and (proves_tensor(name) or "dim" in keywords or (name in _OVER_DIMENSIONS and args)):
        ctx.prove(value)
    is_settled = is_settled or (is_part and name not in _PYTHON_HAS)
    if is_settled and _is_method_of_tensors(name) and isinstance(known := as_tensor(ctx, value), Tensor):
        if moved is not None and moved.args[0].waits:
            known = replace(known, like=Like(moved.args[0], 0))
        return method(ctx, known, name, args, keywords, site)
    if name == "numpy" and not args:
        is_tensor = isinstance(value, Term) and is_computed_elsewhere(value)
        asked: Value = Tensor(Term("own", value), MANY) if is_tensor else value
        claims.claim(ctx, "host", [Operand(asked, False, "method")], site)
        return arrays.left(ctx, MANY, function, args, keywords, site)
    if name == "to_numpy" or (name in host_libraries.METHODS and opaque.is_of_host_library(value)):
        return ARRAY
    if name == "astype":  # of arrays, of matrices of SciPy and of tables; no tensor has it
        return arrays.left(ctx, MANY, function, args, keywords, site)
    if isinstance(value, Term) and not _is_of_project(ctx, value):
        if name == "size" and len(args) == 1 and isinstance(args[0], Const) and not keywords:
            ctx.prove(value)  # the size of an array or an image is no method, and that of a group takes no dimension
        is_reduction = ("dim" in keywords or "keepdim" in keywords) and name in loader.tensor_methods()
        is_proof = is_reduction or (proves_tensor(name) and _fits(ctx, name, args, keywords))
        if is_proof and not _has_what_no_tensor_has(site):
            ctx.prove(value)
            known = as_tensor(ctx, value)  # a part of what a model gives back
            if not isinstance(known, Tensor):
                known = Tensor(Term("device_of", value), MANY, like=Like(value, 0))
            return method(ctx, known, name, args, keywords, site)
        is_read = len(args) in _READS.get(name, ()) and not keywords and not any(map(holds_tensor, args))
        if is_read and ctx.mode == "summary":
            read = Term("call", function, tuple(args), (), site)
            if name in ctx.unit.methods:  # or one that a class of the file has, which may do anything
                ctx.emit(read)
            return read
    if name in ("assertRaises", "assertRaisesRegex"):
        return EXPECTED_ERROR
    return residual(ctx, function, args, keywords, site)


def is_part_on_host(value: Value) -> TypeGuard[Term]:
    """True for a part of a batch or a checkpoint that was brought to the CPU."""
    if not isinstance(value, Term):
        return False
    whole = devices.whole(value)
    return whole is not value and whole.op == "moved" and whole.args[1] == HOST


def is_of_part(value: Value, deep: int = 3) -> bool:
    """True for such a part, and for arithmetic with one."""
    if isinstance(value, Term) and value.op == "binary" and deep:
        return any(is_of_part(one, deep - 1) for one in value.args[1:])
    return is_part_on_host(value)


def _fits(ctx: Context, name: str, args: Args, keywords: Keywords) -> bool:
    signatures = ctx.stubs.method(name)
    return not signatures or name in _NEW or operators.fitting(signatures, [UNKNOWN, *args], keywords) is not None


def _is_method_of_tensors(name: str) -> bool:
    return name in loader.tensor_methods() and name not in _MODULES_HAVE
