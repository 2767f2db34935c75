"""Arrays of NumPy: how many dimensions a function, a method or an index gives. What has none is a number to PyTorch.

Sources: NumPy itself; tests/infer/test_arrays.py runs what the tables below say of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer import operators, reading, tensors
from torchdevlint.infer.values import (
    ARRAY,
    ARRAY_NUMBER,
    FALSE,
    MANY,
    NONE,
    NUMBER,
    NUMERIC,
    TRUE,
    Args,
    Array,
    Const,
    Ext,
    Keywords,
    Ref,
    Site,
    SliceValue,
    Sort,
    Star,
    Term,
    Tup,
    Value,
    array,
    at_least,
    least,
    shifted,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context


def _names(words: str, rank: int | None) -> dict[str, int | None]:
    return dict.fromkeys(words.split(), rank)


# Functions whose result has so many dimensions, or more, whatever they are given.
_FIXED = {
    **_names(
        "arange bartlett bincount blackman flatnonzero frombuffer fromiter fromstring geomspace hamming hanning kaiser",
        1,
    ),
    **_names("linspace logspace ravel trim_zeros union1d intersect1d setdiff1d", 1),
    **_names("argwhere eye identity outer tri", 2),
    **_names("atleast_1d diag fromfile genfromtxt loadtxt pad random.multinomial random.permutation", MANY),
    **_names("ascontiguousarray random.dirichlet random.multivariate_normal diff convolve", MANY),
    **_names("atleast_2d column_stack row_stack vstack tril triu", at_least(2)),
    **_names("atleast_3d dstack", at_least(3)),
    **_names("float16 float32 float64 int32 int64 uint8 bool_", 0),
}
# By place the argument that says of what shape a random array is.
_SIZES = {
    **dict.fromkeys(("rand", "randn", "random", "random_sample", "standard_normal"), 0),
    **dict.fromkeys(("choice", "poisson", "exponential"), 1),
    **dict.fromkeys(("uniform", "normal", "randint", "beta", "gamma", "binomial", "laplace", "integers"), 2),
}
# As many as the first argument has.
_LIKE = frozenset(
    "angle argsort around clip conj digitize empty_like flip fliplr flipud full_like interp isfinite isinf isnan nan_to_num ones_like "
    "argpartition partition real roll rot90 round sort swapaxes moveaxis take_along_axis transpose zeros_like".split()
)
# As many as those of their arguments that has most: they work element by element.
_BROADCAST = frozenset(
    "abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil copysign cos cosh deg2rad divide equal exp exp2 expm1 fabs "
    "floor floor_divide fmax fmin fmod greater greater_equal hypot isclose less less_equal log log10 log1p log2 logaddexp logical_and logical_not "
    "logical_or logical_xor maximum minimum mod multiply negative not_equal power rad2deg reciprocal remainder rint sign sin sinc sinh sqrt square "
    "subtract tan tanh true_divide trunc where".split()
)
# One dimension less for each axis; `axis` is the argument behind so many others.
_REDUCED = {
    **dict.fromkeys(
        "all amax amin any argmax argmin average count_nonzero max mean median min nanargmax nanargmin nanmax nanmean nanmedian nanmin nanstd "
        "nansum nanvar prod ptp std sum var".split(),
        1,
    ),
    **dict.fromkeys("linalg.norm percentile quantile nanpercentile nanquantile".split(), 2),
}
_QUANTILES = frozenset("percentile quantile nanpercentile nanquantile".split())
# Without an axis they give one dimension, else as many as their argument has; `axis` is the argument behind so many others.
_FLAT = {
    **dict.fromkeys("cumprod cumsum nancumsum".split(), 1),
    **dict.fromkeys("append delete repeat".split(), 2),
    "insert": 3,
    "unique": 4,
}
_SHAPED = frozenset("reshape broadcast_to resize".split())
_REDUCTIONS = frozenset("mean sum max min std var prod argmax argmin any all ptp".split())
_SAME = frozenset("astype copy clip round view conj byteswap argsort transpose swapaxes".split())
_NUMBERS = frozenset("item tobytes fill sort tofile".split())


def rank_of(ctx: Context, value: Value) -> int | None:
    """The dimensions that NumPy finds in a value."""
    return value.rank if isinstance(value, Array) else tensors.rank_of_data(ctx, value)


def function(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """What a function of NumPy gives, by its name below `numpy`."""
    first = args[0] if args else keywords.get("a", NONE)
    rank = rank_of(ctx, first)
    if name in ("array", "asarray", "copy", "asanyarray"):
        is_open = rank is None and not isinstance(first, (Const, Sort))
        return left(ctx, MANY if is_open else rank, Ext(f"numpy.{name}"), args, keywords, site)
    if name in ("where", "nonzero") and len(args) == 1:
        return ctx.new(site, "list", None, {"*": array(1)}, tag="indices")
    if name == "unique" and any(
        keywords.get(one, NONE) != NONE for one in ("return_index", "return_inverse", "return_counts")
    ):
        more = sum(keywords.get(one) == TRUE for one in ("return_index", "return_inverse", "return_counts"))
        return Tup((array(_flat(name, rank, args, keywords)), *[array(1)] * more))
    if name == "histogram":
        return Tup((array(1), array(1)))
    if name == "meshgrid":
        return ctx.new(
            site,
            "list",
            None,
            {"*": array(MANY if any(isinstance(one, Star) for one in args) else len(args))},
            tag="grid",
        )
    if name in ("split", "array_split"):
        return ctx.new(site, "list", None, {"*": array(at_least(least(rank)) or MANY)}, tag="parts")
    if name in ("vsplit", "hsplit", "dsplit"):
        return ctx.new(site, "list", None, {"*": ARRAY}, tag="parts")
    return left(ctx, _rank(ctx, name, first, rank, args, keywords), Ext(f"numpy.{name}"), args, keywords, site)


def left(ctx: Context, rank: int | None, function: Value, args: Args, keywords: Keywords, site: Site | None) -> Array:
    """The array that a call gives; of how many dimensions it is a caller may tell."""
    if ctx.mode != "summary" or (rank is not None and rank >= 0):
        return array(rank)
    return array(rank, Term("call", function, tuple(args), tuple(sorted(keywords.items())), site))


def _rank(ctx: Context, name: str, first: Value, rank: int | None, args: Args, keywords: Keywords) -> int | None:
    if name in _FIXED:
        return _FIXED[name]
    if name in ("zeros", "ones", "empty", "full"):
        return tensors.rank_of_size(ctx, [keywords.get("shape", first)])
    if name.startswith("random."):
        at = _SIZES.get(name.removeprefix("random."), len(args))
        size = (
            [keywords["size"]]
            if "size" in keywords
            else [one for one in args[at : None if at == 0 else at + 1] if one != NONE]
        )
        if size:
            return tensors.rank_of_size(ctx, size)
        return None if name not in ("random.rand", "random.randn", "random.random") else 0
    if name in _LIKE:
        return rank
    if name in _BROADCAST:
        return broadcast([rank_of(ctx, one) for one in args])
    if name in _REDUCED:
        axis = keywords.get("axis", args[_REDUCED[name]] if len(args) > _REDUCED[name] else NONE)
        reduced = _reduced(ctx, rank, axis, keywords)
        several = rank_of(ctx, args[1]) if name in _QUANTILES and len(args) > 1 else 0  # one for each of them
        return reduced if several == 0 else None if several is None else at_least(least(reduced) + least(several))
    if name in _FLAT:
        return _flat(name, rank, args, keywords)
    if name in _SHAPED:
        return tensors.rank_of_size(ctx, [args[1]] if len(args) > 1 else [*keywords.values()][:1])
    if name in ("concatenate", "hstack"):
        return 1 if keywords.get("axis") == NONE else _of_items(ctx, first) or MANY
    if name == "searchsorted":
        return rank_of(ctx, args[1]) if len(args) > 1 else None
    if name == "stack":
        return shifted(_of_items(ctx, first), 1)
    if name == "expand_dims":
        return at_least(least(rank) + 1)
    if name == "tile":
        return at_least(max(least(rank), 1))
    if name in ("matmul", "dot"):
        return operators.product([rank_of(ctx, one) for one in args[:2]])
    return None


def _of_items(ctx: Context, value: Value) -> int | None:
    """The dimensions of the arrays in a list."""
    known = reading.items(ctx, value)
    ranks = [rank_of(ctx, one) for one in known] if known else [rank_of(ctx, reading.element(ctx, value))]
    found = next((one for one in ranks if one is not None and one > 0), None)  # all have as many
    return found if found is not None else at_least(max(map(least, ranks)))


def broadcast(ranks: list[int | None]) -> int | None:
    """The dimensions of what is computed element by element."""
    most = max(map(least, ranks), default=0)
    return most if all(one is not None and one >= 0 for one in ranks) else at_least(most)


def _flat(name: str, rank: int | None, args: Args, keywords: Keywords) -> int | None:
    has_axis = "axis" in keywords or len(args) > _FLAT[name]
    return at_least(max(least(rank), 1)) if has_axis else 1


def _reduced(ctx: Context, rank: int | None, axis: Value, keywords: Keywords) -> int | None:
    keeps = keywords.get("keepdims", FALSE)
    if keeps != FALSE:
        return rank if isinstance(keeps, Const) and keeps.value else None
    if axis == NONE:
        return 0
    known = reading.items(ctx, axis)
    if known is None and axis != NUMBER and not isinstance(axis, Const):
        return None
    return shifted(rank, -1 if known is None else -len(known))


def method(ctx: Context, value: Array, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """What a method of an array gives."""
    found = _method(ctx, value, name, args, keywords, site)
    if isinstance(found, Array) and found is not value:
        return left(ctx, found.rank, Term("attribute", value, name), args, keywords, site)
    return found


def _method(ctx: Context, value: Array, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    if name in _REDUCTIONS:
        return array(_reduced(ctx, value.rank, keywords.get("axis", args[0] if args else NONE), keywords))
    if name == "trace":
        return array(shifted(value.rank, -2))
    if name in ("cumsum", "cumprod"):
        return array(at_least(max(least(value.rank), 1)) if args or keywords else 1)
    if name in ("ravel", "flatten"):
        return array(1)
    if name in _SAME:
        return value
    if name == "reshape":
        return array(tensors.rank_of_size(ctx, args or [*keywords.values()][:1]))
    if name == "repeat":
        return array(at_least(max(least(value.rank), 1)) if len(args) > 1 or "axis" in keywords else 1)
    if name == "dot":
        return array(operators.product([value.rank, rank_of(ctx, args[0])]) if args else None)
    if name == "nonzero":
        return ctx.new(site, "list", None, {"*": array(1)}, tag="indices")
    if name == "tolist" and value.rank not in (0, None):
        inner = array(shifted(value.rank, -1))
        return ctx.new(site, "list", None, {"*": NUMBER if inner == ARRAY_NUMBER else inner}, tag=name)
    if name in ("tolist", "squeeze"):
        return NUMERIC
    return NUMBER if name in _NUMBERS else NUMERIC


def index(value: Array, parts: tuple[Value, ...]) -> Array:
    """What an array gives at an index: a number takes a dimension away, a slice leaves it, another array brings its own."""
    slices = sum(isinstance(part, SliceValue) or part == NONE for part in parts)
    rank, is_exact = least(value.rank), value.rank is not None and value.rank >= 0
    arrays = 0
    for part in parts:
        if part == NONE:
            rank += 1
        elif isinstance(part, SliceValue) or part == Const(Ellipsis):
            continue
        elif (isinstance(part, Const) and type(part.value) is int) or part in (NUMBER, ARRAY_NUMBER):
            rank -= 1
        elif isinstance(part, Ref) or (isinstance(part, Array) and part.rank not in (0, None)):
            arrays += 1
            is_exact = is_exact and isinstance(part, Array) and part.rank == 1 and arrays == 1
        elif isinstance(part, (Term, Sort)) or not isinstance(part, Const):
            return array(at_least(slices + min(arrays, 1)))
        else:
            return NUMERIC  # a name of a record array, or of a file of arrays
    if is_exact:
        return array(max(rank, 0))
    return array(at_least(max(rank - arrays, slices) if not arrays else max(1, slices)))


def element(value: Array) -> Array:
    """What an array gives turn by turn."""
    return array(shifted(value.rank, -1), Term("element", value) if value.of is not None else None)
