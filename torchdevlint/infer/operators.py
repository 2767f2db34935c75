"""Operators by their stubs: arguments are bound, tensors of one device variable are claimed to share a device, a result is made."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.infer import annotated, claims, devices, reading, tensors
from torchdevlint.infer.joins import for_each, one_of
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    ACCELERATOR,
    ARRAY,
    DEFAULT,
    FALSE,
    HOST,
    MANY,
    NONE,
    NOWHERE,
    NUMBER,
    UNKNOWN,
    Args,
    Array,
    Const,
    Ext,
    Keywords,
    Like,
    Place,
    Ref,
    Site,
    Sort,
    Star,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    array,
    at_least,
    is_open,
    least,
    shifted,
    unknown,
    waits,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge.functions import RANKS
from torchdevlint.stubs.loader import Parameter, Result, Signature

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_IGNORED_KEYWORDS = frozenset(
    {"out", "dtype", "generator", "memory_format", "names", "device", "layout", "pin_memory", "requires_grad"}
)
_NO_TENSORS: dict[str, Value] = {"number": NUMBER, "none": NONE}
_INDEX_NAMES = frozenset({"index", "indices"})
# Functions that take a number for a tensor that may be zero-dimensional: for any (torch/csrc/utils/python_arg_parser.cpp,
# `should_allow_numbers_as_tensors`, and overloads of the name that the stubs do not tell apart), or for those behind the first.
TAKE_NUMBERS = frozenset(
    "add sub subtract mul multiply div divide true_divide floor_divide remainder pow xlogy xlog1py zeta bitwise_and bitwise_or "
    "bitwise_xor bitwise_left_shift bitwise_right_shift where to copy".split()
)
TAKE_NUMBERS_BEHIND = frozenset(
    "eq ne not_equal ge greater_equal gt greater le less_equal lt less copysign fmod fill lerp masked_fill index_fill rsub max min "
    "narrow bernoulli float_power ldexp".split()
)


_MOST_NESTED = 4  # containers in containers, as batches are


class Binding(NamedTuple):
    """What each parameter of a signature gets."""

    signature: Signature
    given: dict[str, Value]
    starred: tuple[Value, ...]


Operands = dict[str, list[Operand]]  # by device variables


def fitting(signatures: tuple[Signature, ...], args: Args, keywords: Keywords) -> Binding | None:
    """The first overload that takes these arguments."""
    for signature in signatures:
        found = _bound(signature, args, keywords)
        if found is not None:
            return found
    return None


def _bound(signature: Signature, args: Args, keywords: Keywords) -> Binding | None:
    given: dict[str, Value] = {}
    rest = list(args)
    starred: list[Value] = []
    is_spread = any(isinstance(one, Star) for one in args)
    for parameter in signature.parameters:
        if parameter.starred:
            starred, rest = rest, []
        elif not parameter.keyword_only and rest:
            value = rest.pop(0)
            given[parameter.name] = value.value if isinstance(value, Star) else value
    for name, value in keywords.items():
        target = {"self": "input", "axis": "dim"}.get(name, name)
        if signature.parameter(target) is None:
            if target not in _IGNORED_KEYWORDS:
                return None
        elif target in given:
            return None
        given[target] = value
    if rest and not is_spread:
        return None
    for parameter in signature.parameters:
        found = given.get(parameter.name)
        if found is None:
            if not (parameter.optional or parameter.starred or is_spread):
                return None
        elif not _takes(parameter, found):
            return None
    return Binding(signature, given, tuple(starred))


def _takes(parameter: Parameter, value: Value) -> bool:
    several = alternatives(value)
    if parameter.kind == "number":
        return not any(isinstance(one, (Tensor, Tup)) for one in several)
    if parameter.kind == "tensors":
        return not any(isinstance(one, (Const, Sort)) and one != NONE for one in several)
    if parameter.kind == "tensor" and not parameter.optional and not parameter.tolerant:
        return not any(isinstance(one, Const) and isinstance(one.value, str) for one in several)
    return True


def apply(ctx: Context, signatures: tuple[Signature, ...], args: Args, keywords: Keywords, site: Site | None) -> Value:
    """A call of an operator."""
    binding = fitting(signatures, args, keywords) or _bound_loosely(signatures[0], args, keywords)
    if ctx.mode == "summary" and _is_open_choice(signatures, binding, args, keywords):
        left = Term("call", Ext(signatures[0].name), tuple(args), tuple(sorted(keywords.items())), site)
        ctx.emit(left)
        return left
    if ctx.mode == "summary" and _is_of_open_data(ctx, binding):
        return Term("call", Ext(signatures[0].name), tuple(args), tuple(sorted(keywords.items())), site)
    if any(tensors.is_of_part(one) for given in binding.given.values() for one in alternatives(given)):
        _prove(ctx, signatures, binding)
        binding = binding._replace(given={name: _proven_parts(ctx, one) for name, one in binding.given.items()})
    operands = _operands(ctx, binding)
    receiver = Operand(_first(binding), False, "module")
    for device, several in operands.items():
        if device == "cpu":
            for operand in several:
                claims.claim(ctx, "host", [operand._replace(role="lengths")], site)
        elif device == "self":
            for operand in several:
                claims.claim(ctx, "same", [operand._replace(role="input"), receiver], site)
        elif len(several) > 1:
            claims.claim(ctx, "same", several, site)
    operands["self"] = [receiver]
    for parameter in binding.signature.parameters:
        if parameter.kind == "module":
            for one in alternatives(binding.given.get(parameter.name, NONE)):
                if one is not UNKNOWN:
                    devices.move_module(ctx, one, NOWHERE)
    _prove(ctx, signatures, binding)
    result = _result(ctx, binding, binding.signature.result, operands, site)
    generator = keywords.get("generator", binding.given.get("generator", NONE))
    if generator != NONE:
        drawn = Operand(result, False, "drawn")
        claims.claim(ctx, "same", [Operand(generator, False, claims.GENERATOR), drawn], site)
    return result


def _is_of_open_data(ctx: Context, binding: Binding) -> bool:
    """True for `torch.tensor(config.low)`: only a caller knows whether it has a dimension."""
    data = binding.given.get("data", binding.given.get("ndarray"))
    is_of_data = binding.signature.result.rank == "data" and not binding.starred
    if not is_of_data or data is None or not waits(data) or ctx.default() is not None:  # which is that of this place
        return False
    may_be_open = (Array, Term) if "data" in binding.given else Array
    return any(isinstance(one, may_be_open) for one in alternatives(data)) and tensors.rank_of_data(ctx, data) is None


def _is_open_choice(signatures: tuple[Signature, ...], binding: Binding, args: Args, keywords: Keywords) -> bool:
    """True where only a caller knows which overload is called, and they give different things: `torch.max(x, self.low)`, a dimension or a tensor."""
    chosen = binding.signature
    numbers = {one.name for one in chosen.parameters if one.kind == "number"}
    if not any(waits(value) for name, value in binding.given.items() if name in numbers):
        return False
    for other in signatures:
        found = _bound(other, args, keywords) if other.result.shape != chosen.result.shape else None
        for parameter in other.parameters if found is not None else ():
            value = found.given.get(parameter.name) if found is not None else None
            is_open = isinstance(value, Term) and value.waits and not annotated.is_number(value)
            if parameter.kind == "tensor" and is_open and value in [binding.given.get(name) for name in numbers]:
                return True
    return False


def _bound_loosely(signature: Signature, args: Args, keywords: Keywords) -> Binding:
    names = [parameter.name for parameter in signature.parameters if not parameter.keyword_only]
    return Binding(signature, {**dict(zip(names, args)), **keywords}, ())  # noqa: B905 - what is too much is left


def _operands(ctx: Context, binding: Binding) -> Operands:
    """The tensors of each device variable, lists taken apart."""
    found: Operands = {}
    is_loss = "loss" in binding.signature.name or "cross_entropy" in binding.signature.name
    first = True
    for parameter in binding.signature.parameters:
        values = binding.starred if parameter.starred else (binding.given.get(parameter.name, NONE),)
        if parameter.kind not in ("tensor", "tensors") or parameter.device == "any":
            continue
        for value in values:
            parts = tensors.flattened(ctx, value)
            is_list = parameter.kind == "tensors" or parameter.starred
            is_list = is_list or (isinstance(value, (Ref, Tup)) and any(isinstance(one, Tensor) for one in parts))
            parts = parts if is_list else [value]
            for part in parts[:1] if parameter.device == "first" else parts:
                if _may_be_tensor(part):
                    role = "element" if is_list else _role(binding.signature, parameter, first=first, is_loss=is_loss)
                    found.setdefault(parameter.device, []).append(Operand(part, parameter.tolerant, role))
        first = False
    out = binding.given.get("out")
    for part in tensors.flattened(ctx, out) if out is not None and out != NONE else ():
        found.setdefault("d", []).append(Operand(part, False, "out"))
    return found


def _role(signature: Signature, parameter: Parameter, *, first: bool, is_loss: bool) -> str:
    if first:
        return "target" if signature.result.shape == "self" else "operand"
    if parameter.name in ("weight", "pos_weight") and is_loss:
        return "weight"
    return "index argument" if parameter.name in _INDEX_NAMES else "operand"


def _may_be_tensor(value: Value) -> bool:
    return any(not isinstance(one, (Const, Sort)) and one is not UNKNOWN for one in alternatives(value))


def _prove(ctx: Context, signatures: tuple[Signature, ...], binding: Binding) -> None:
    """What a tensor must be given for is one."""
    name = binding.signature.name.rpartition(".")[2].rstrip("_")
    for at, parameter in enumerate(binding.signature.parameters):
        if parameter.starred and parameter.kind in ("tensor", "tensors"):
            for one in (one for part in binding.starred for one in alternatives(part)):
                ctx.prove(one)
        value = binding.given.get(parameter.name)
        if value is None or parameter.device == "any":
            continue
        if parameter.tolerant and (_takes_number(name, at) or not _is_tensor_in_all(signatures, parameter.name)):
            continue
        if parameter.kind == "tensor" and not parameter.optional:
            for one in alternatives(value):
                ctx.prove(one)
        elif parameter.kind == "tensors":
            alone = [one for one in alternatives(value) if one in ctx.weak]  # one tensor in the place of several
            for one in alone or alternatives(reading.element(ctx, value)):
                ctx.prove(one)


def _proven_parts(ctx: Context, given: Value) -> Value:
    """A part of what was brought to the CPU is a tensor there, once its use proves that it is one."""
    return for_each(
        lambda one: tensors.as_tensor(ctx, one) if one in ctx.proven and tensors.is_of_part(one) else one, given
    )


def _takes_number(name: str, position: int) -> bool:
    return name in TAKE_NUMBERS or "polynomial" in name or (position > 0 and name in TAKE_NUMBERS_BEHIND)


def _is_tensor_in_all(signatures: tuple[Signature, ...], name: str) -> bool:
    """True for a parameter that is a tensor in each overload that has it: no other one takes a number there."""
    found = [signature.parameter(name) for signature in signatures]
    return all(one.kind == "tensor" for one in found if one is not None)


def _result(
    ctx: Context, binding: Binding, result: Result, operands: Operands, site: Site | None, position: int = 0
) -> Value:
    if result.shape == "self":
        return _first(binding)
    if result.shape == "moved":
        place = _place(ctx, binding, result)
        return _first(binding) if place == DEFAULT else _moved(ctx, _first(binding), place, site)
    if result.shape == "same":
        return binding.starred[0] if len(binding.starred) == 1 else Tup(binding.starred)
    if result.shape in _NO_TENSORS:
        return _NO_TENSORS[result.shape]
    if result.shape == "array":
        return array(result.rank) if isinstance(result.rank, int) else ARRAY
    if result.shape == "list":
        return ctx.new(site, "list", None, {"*": _result(ctx, binding, result.parts[0], operands, site)}, tag="parts")
    if result.shape == "tuple":
        parts = [_result(ctx, binding, part, operands, site, at) for at, part in enumerate(result.parts)]
        fields: dict[Any, Value] = {
            **{("k", at): part for at, part in enumerate(parts)},
            **{"." + n: p for n, p in zip(result.names, parts, strict=True)},
        }
        return ctx.new(site, "object", None, fields, tag="result")
    if result.shape != "tensor":
        return unknown(site)
    return _tensor(ctx, binding, result, operands, site, position)


def _first(binding: Binding) -> Value:
    """The argument of the first parameter."""
    name = binding.signature.parameters[0].name if binding.signature.parameters else ""
    found = binding.given.get(name)
    return found if found is not None else next(iter(binding.given.values()), UNKNOWN)


def _place(ctx: Context, binding: Binding, result: Result) -> Place:
    """The device that a result is moved to; DEFAULT where the argument that names it is not given."""
    if result.device in ("cpu", "accelerator"):
        return HOST if result.device == "cpu" else ACCELERATOR
    return devices.as_device(ctx, binding.given.get(result.device, NONE))


def _moved(ctx: Context, value: Value, place: Place, site: Site | None, path: tuple[Any, ...] = ()) -> Value:
    """What a function that moves tensors, modules and containers of them gives back; `path` leads to a part of what it is given."""
    if isinstance(value, (Const, Sort)) or len(path) > _MOST_NESTED:
        return value if isinstance(value, (Const, Sort)) else UNKNOWN
    if isinstance(value, Tup):
        return Tup(tuple(_moved(ctx, one, place, site, (*path, at)) for at, one in enumerate(value.items)))
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or rec.kind not in ("list", "dict"):
        return devices.move(ctx, value, place, site)
    parts = {key: _moved(ctx, one, place, site, (*path, key)) for key, one in rec.fields.items()}
    return ctx.new(site, rec.kind, rec.cls, parts, tag=("moved", path))


def _tensor(
    ctx: Context, binding: Binding, result: Result, operands: Operands, site: Site | None, position: int
) -> Value:
    out = binding.given.get("out")
    if out is not None and out != NONE and all(isinstance(one, (Tensor, Term)) for one in alternatives(out)):
        return out  # what is written to is what comes back
    rank = _rank(ctx, binding, result, operands, position)
    named = binding.signature.parameter(result.device)
    names_device = named is not None and named.kind == "device"
    given = binding.given.get(result.device if names_device else "device")
    if given is not None and given != NONE:
        place = devices.as_device(ctx, given)
        if place != DEFAULT:
            is_named = place != HOST and not isinstance(place, Term)
            there = Tensor(place, MANY if rank is None else rank, None if is_named else site)
            follows = operands.get(result.device, ()) if not names_device else ()
            if not (follows and isinstance(given, Term) and given.waits):
                return there
            # `torch.zeros_like(x, device=device)`: a caller may leave the device to `x`
            like = binding._replace(given={**binding.given, "device": NONE})
            asked = Term("is_none", given)
            as_operands = _tensor(ctx, like, result, operands, site, position)
            return one_of([(frozenset({(asked, True)}), as_operands), (frozenset({(asked, False)}), there)])
    if result.device in ("cpu", "accelerator"):
        always = result.device == "cpu"
        if binding.signature.name == "torch.FloatTensor" and _is_placeholder(ctx, binding, site):
            return Tensor(NOWHERE, rank)
        return Tensor(HOST if always else ACCELERATOR, rank, site if always else None, "always" if always else "")
    if names_device or result.device == "device":
        return Tensor(NOWHERE, rank) if _is_placeholder(ctx, binding, site) else tensors.made(ctx, site, rank)
    several = [operand for operand in operands.get(result.device, ()) if operand.role not in ("out", "weight")]
    if not several:
        return unknown(site)
    found = tensors.combined(ctx, _elements(ctx, binding, several), rank)
    if ctx.mode == "summary" and (rank is None or rank < 0):
        of = _like(ctx, binding, result, operands, position)
        found = for_each(lambda one: replace(one, like=of) if isinstance(one, Tensor) else one, found)
    is_made = found is UNKNOWN and binding.signature.parameter("device") is not None
    return tensors.made(ctx, site, rank) if is_made else found  # lists of numbers


def _like(ctx: Context, binding: Binding, result: Result, operands: Operands, position: int) -> Like | None:
    """Of which operand a caller learns more of the rank of a result, and how many dimensions more it has: asked of an operand with many."""
    several = operands.get("d", ())
    for at, operand in enumerate(several):
        of = _like_operand(operand.value)
        if of is None:
            continue
        ranks = [
            tensors.PROBED if at == other else one.rank if isinstance(one, Tensor) and one.like is None else 1
            for other, one in enumerate(each.value for each in several)
        ]
        probed = [one._replace(value=Tensor(HOST, rank)) for one, rank in zip(several, ranks, strict=True)]
        rank = _rank(ctx, binding, result, {**operands, "d": probed}, position)
        return of.moved_by(least(rank) - tensors.PROBED)
    return None


def _like_operand(value: Value) -> Like | None:
    if isinstance(value, Tensor):
        return value.like
    if isinstance(value, Term) and value.waits:
        return Like(value.args[0] if value.op == "moved" else value, 0)
    return None


def _elements(ctx: Context, binding: Binding, several: list[Operand]) -> list[Operand]:
    """The operands; for a sequence that a caller gives, its elements."""
    named = [one.name for one in binding.signature.parameters if one.kind == "tensors" and not one.starred]
    given = [binding.given.get(name) for name in named]
    values = [one.value for one in several]
    found = [reading.element(ctx, one) if is_open(one) and one in given else one for one in values]
    return [operand._replace(value=one) for operand, one in zip(several, found, strict=True)]


def _is_placeholder(ctx: Context, binding: Binding, site: Site | None) -> bool:
    """True for `torch.empty(0)`, `torch.Tensor()` and `torch.tensor([])` that stand for what another line puts there.

    Not for a variable that is computed with as it is.
    """
    if site is None or site.body is None or not _is_empty(ctx, binding):
        return False
    lookup = Lookup.of(site.body)
    readers = lookup.readers(site.op.dst) if isinstance(site.op, ir.ValueOp) else ()
    stores = [op for op in readers if isinstance(op, ir.Store)]
    reads = [use for store in stores for load in lookup.loads(store.name) for use in lookup.readers(load.dst)]
    return (
        not stores
        or any(isinstance(op, ir.StoreAttribute) for op in readers)
        or any(_asks_size(op, lookup) for op in reads)
    )


def _asks_size(op: ir.Op, lookup: Lookup) -> bool:
    """True for `x.numel` and `len(x)`."""
    if isinstance(op, ir.Attribute):
        return op.name in ("numel", "nelement")
    called = lookup.definition(op.function) if isinstance(op, ir.Call) else None
    return isinstance(called, ir.Load) and called.name == "len"


def _is_empty(ctx: Context, binding: Binding) -> bool:
    if "data" in binding.given:
        return reading.items(ctx, binding.given["data"]) == []
    if not binding.starred and not binding.given:
        return True  # `torch.Tensor()`
    size = binding.starred or (binding.given.get("size", UNKNOWN),)
    return len(size) == 1 and size[0] == Const(0)


def _rank(ctx: Context, binding: Binding, result: Result, operands: Operands, part: int) -> int | None:
    given, name = binding.given, binding.signature.name.removeprefix("torch.").removeprefix("Tensor.")
    if result.rank == "size":
        size = list(binding.starred) or [given.get("size", UNKNOWN)]
        return tensors.rank_of_size(ctx, size)
    if result.rank == "data" and "ndarray" in given:
        rank = tensors.rank_of_data(ctx, given["ndarray"])
        is_known = any(isinstance(one, Array) for one in alternatives(given["ndarray"]))
        return rank if is_known else MANY
    if result.rank == "data":
        data = binding.starred[0] if len(binding.starred) == 1 else given.get("data", UNKNOWN)
        rank = tensors.rank_of_data(ctx, data) if len(binding.starred) <= 1 else len(binding.starred)
        # `torch.FloatTensor(n)` takes sizes, or data that are a sequence: it never makes a tensor without dimensions.
        return (1 if rank == 0 else MANY if rank is None else rank) if binding.starred else rank
    if result.rank == "any":
        return None
    several = operands.get("d", [])
    ranks = [one.rank for operand in several for one in alternatives(operand.value) if isinstance(one, Tensor)]
    if result.rank == "stacked":
        ranks += [MANY for operand in several for one in alternatives(operand.value) if is_open(one)]
        return shifted(ranks[0], 1) if len(set(ranks)) == 1 else at_least(1 + min(map(least, ranks), default=0))
    all_known = len(ranks) == len(several) > 0
    rules = ["loss"] if result.rank == "reduced" else RANKS.get(name, "").split()
    if rules:
        rank = _ruled(ctx, binding, rules[min(part, len(rules) - 1)], ranks, all_known=all_known)
        # whatever the operands are, `torch.cat` gives no number
        return at_least(result.rank) if isinstance(result.rank, int) and least(rank) < result.rank else rank
    if isinstance(result.rank, int):
        return (at_least(result.rank) or 0) if several else result.rank  # of what is made, it is exact
    return ranks[0] if len(several) == len(ranks) == 1 else broadcast(ranks, all_known=all_known)


def _ruled(ctx: Context, binding: Binding, rule: str, ranks: list[int | None], *, all_known: bool) -> int | None:
    """The rank of a result by a word of `RANKS`."""
    given, first = binding.given, ranks[0] if all_known else None
    word, sign, by = rule.partition("+") if "+" in rule else rule.partition("-")
    is_of_two = len(ranks) > 1 and binding.signature.parameter("dim") is None  # `torch.max(x, y)`
    if word == "joined" or (word.startswith("reduced") and is_of_two):
        return shifted(broadcast(ranks, all_known=all_known), int(sign + by) if by else 0)
    if word.startswith("reduced"):
        return _reduced(ctx, first, given, int(rule[7:]))
    if word == "loss":
        return MANY if given.get("reduction") == Const("none") or given.get("reduce") == FALSE else 0
    if word == "product":
        return product(ranks) if all_known else None
    if word == "pattern":
        several = (given.get("equation"), given.get("pattern"), *binding.starred[-1:])
        return _of_pattern(next((one.value for one in several if isinstance(one, Const)), ""))
    if word == "size":
        size = list(binding.starred) or [given[key] for key in ("size", "shape", "repeats", "dims") if key in given]
        return tensors.rank_of_size(ctx, size)
    if word == "squeezed":
        is_exact = first is not None and first > 0
        is_one = isinstance(given.get("dim"), Const)
        return at_least(least(first) - 1) if is_exact and is_one else None if is_exact else first and MANY
    if word in ("first", "last"):
        rank = first if word == "first" or not all_known else ranks[-1]
        return at_least(least(rank)) if rule == "first+" else shifted(rank, int(sign + by)) if by else rank
    return at_least(int(word)) if sign else int(word)


def _of_pattern(pattern: object) -> int | None:
    """The rank that `einsum("ij->i")` or `rearrange(x, "b h w -> b (h w)")` gives: as many dimensions as the result has letters, or groups."""
    left, arrow, result = str(pattern).partition("->")
    groups = re.sub(r"\([^)]*\)", "g", result).replace("...", "").split()
    has_words = any(" " in one.strip() for one in left.split(","))
    count = len(groups) if has_words else len("".join(groups))
    return count if arrow and "..." not in result else at_least(count)


def product(ranks: list[int | None]) -> int | None:
    """The rank of a matrix product: vectors lose their dimension."""
    if 1 not in ranks or len(ranks) != 2:
        return None if None in ranks else broadcast(ranks, all_known=len(ranks) == 2)
    first, second = ranks
    return 0 if first == second else shifted(first if second == 1 else second, -1)


def _reduced(ctx: Context, rank: int | None, given: dict[str, Value], default: int) -> int | None:
    """The rank of what is left of a tensor that is reduced over `dim`: where none is named, over the `default` last ones, or over all for 0."""
    keeps, dim = given.get("keepdim", FALSE), given.get("dim", NONE)
    if keeps != FALSE:
        return rank if isinstance(keeps, Const) and keeps.value else None
    known = reading.items(ctx, dim)
    taken = default if dim == NONE else 1 if known is None else len(known)
    if taken == 0 or rank == 0:
        return 0
    if known is None and dim != NUMBER and not isinstance(dim, Const):
        return None
    return MANY if rank == MANY and taken == 1 else shifted(rank, -taken)


def broadcast(ranks: list[int | None], *, all_known: bool) -> int | None:
    """The rank of an element-wise result."""
    if not ranks or not all_known:
        return at_least(max(map(least, ranks), default=0))
    if all(rank is not None and rank >= 0 for rank in ranks):
        return max(rank for rank in ranks if rank is not None)
    return at_least(max(map(least, ranks)))
