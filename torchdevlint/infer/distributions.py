"""torch.distributions: a distribution is where its parameters are, and so is what is drawn from it (torch/distributions/utils.py, `broadcast_all`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchdevlint.infer import claims, tensors
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    MANY,
    SIZE,
    Args,
    Const,
    Ext,
    Keywords,
    Rec,
    Ref,
    Site,
    Sort,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    unknown,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

HOME = "torch.distributions."
_DRAWS = frozenset({"sample", "rsample", "sample_n"})
_TAKES_VALUE = frozenset({"log_prob", "cdf", "icdf", "log_abs_det_jacobian", "__call__", "forward"})
_PROPERTIES = frozenset(
    "mean mode stddev variance loc scale probs logits rate concentration low high covariance_matrix precision_matrix scale_tril cov_factor "
    "cov_diag concentration0 concentration1 temperature df total_count alpha a b".split()
)
_ITSELF = frozenset({"expand", "inv", "base_dist", "component_distribution", "mixture_distribution"})
_NO_CLASS = frozenset({"kl_divergence", "kl.kl_divergence", "register_kl"})
# Their last dimension is one event: what is computed of a draw, and for some a draw too, has fewer dimensions than their parameters.
_DRAW_NUMBERS = frozenset({"Categorical", "MixtureSameFamily"})
_OF_EVENTS = frozenset(
    "Categorical Dirichlet Independent LKJCholesky LowRankMultivariateNormal MixtureSameFamily Multinomial MultivariateNormal OneHotCategorical "
    "OneHotCategoricalStraightThrough RelaxedOneHotCategorical TransformedDistribution Wishart".split()
)


def make(ctx: Context, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """A distribution with its parameters, or the divergence of two."""
    last = name.removeprefix(HOME)
    if last.endswith(("biject_to", "transform_to")):
        args, keywords, last = [], {}, "Transform"
    if last.endswith("kl_divergence"):
        several = [one for value in args for one in _parameters(ctx, value)]
        of_events = any(rec is not None and _is_of_events(rec) for rec in map(ctx.rec, args))
        return _met(ctx, [Operand(one, True) for one in several], site, of_events=of_events)
    if last in _NO_CLASS or not last.rpartition(".")[2][:1].isupper():
        return unknown(site)
    given = [value for key, value in keywords.items() if key != "validate_args"]
    parts = tuple(part for value in (*args, *given) for part in _parameters(ctx, value))
    return ctx.new(site, "object", Ext(name), {".@parameters": Tup(parts)}, tag=name)


def _is_of_events(rec: Rec, several: frozenset[str] = _OF_EVENTS) -> bool:
    return isinstance(rec.cls, Ext) and rec.cls.name.rpartition(".")[2] in several


def _parameters(ctx: Context, value: Value) -> tuple[Value, ...]:
    """The parameters of a distribution, also of one that another one wraps."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    held = rec.fields.get(".@parameters") if rec is not None else None
    return held.items if isinstance(held, Tup) else (value,)


def _met(ctx: Context, operands: list[Operand], site: Site | None, *, of_events: bool = False) -> Value:
    several = [one for one in operands if any(not isinstance(o, (Const, Sort)) for o in alternatives(one.value))]
    if len(several) > 1:
        claims.claim(ctx, "same", several, site)
    if not several:
        return tensors.made(ctx, site, None)
    parts = [part for one in several for part in alternatives(one.value)]
    ranks = {part.rank if isinstance(part, Tensor) else -1 for part in parts if not isinstance(part, Ref)}
    may_be_number = ranks <= {0, None} or (of_events and 1 in ranks)
    return tensors.combined(ctx, several, 0 if ranks == {0} else None if may_be_number else -1)


def method(ctx: Context, ref: Ref, rec: Rec, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`distribution.name(...)`."""
    held = rec.fields[".@parameters"]
    operands = [Operand(one, True) for one in (held.items if isinstance(held, Tup) else ())]
    of_events = _is_of_events(rec)
    if name in _DRAWS:
        given = args or list(keywords.values())
        made = _met(ctx, operands, site, of_events=_is_of_events(rec, _DRAW_NUMBERS))
        size = tensors.rank_of_size(ctx, given) if given else 0
        if isinstance(made, Tensor) and made.rank in (None, 0) and size not in (0, None):
            return Tensor(made.device, -1, made.origin, made.implicit)
        return made
    if name in _TAKES_VALUE and args:
        return _met(ctx, [*operands, Operand(args[0], True)], site, of_events=of_events)
    if name in ("entropy", "perplexity", "enumerate_support"):
        return _met(ctx, operands, site, of_events=of_events)
    if name == "expand" and isinstance(held, Tup):
        rank = tensors.rank_of_size(ctx, list(args[:1]))
        parts = tuple(_expanded(ctx, one, MANY if rank is None else rank, site) for one in held.items)
        return ctx.new(site, "object", rec.cls, {**rec.fields, ".@parameters": Tup(parts)}, tag=name)
    if name in _ITSELF:
        return ref
    return unknown(site)


def _expanded(ctx: Context, parameter: Value, rank: int, site: Site | None) -> Value:
    """A parameter with the shape of the batch: of a number it is a tensor on the CPU, of which each constructor makes one (`broadcast_all`)."""
    if isinstance(parameter, Const) and isinstance(parameter.value, (int, float)):
        return tensors.made(ctx, site, rank)
    return replace(parameter, rank=rank) if isinstance(parameter, Tensor) else parameter


def attribute(ctx: Context, ref: Ref, rec: Rec, name: str) -> Value | None:
    """`distribution.mean`; None where nothing is known."""
    held = rec.fields.get(".@parameters")
    if name in ("batch_shape", "event_shape"):
        return SIZE
    if name in _ITSELF and name != "expand":
        return ref
    if name not in _PROPERTIES or not isinstance(held, Tup):
        return None
    known = [one for one in held.items if isinstance(one, (Tensor, Term))]
    return tensors.combined(ctx, [Operand(one) for one in known], -1) if known else None
