"""torch.distributions: a distribution is where its parameters are, and so is what is drawn from it (torch/distributions/utils.py, `broadcast_all`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer import claims, tensors
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    NONE,
    NUMBER,
    UNKNOWN,
    Const,
    Ext,
    Rec,
    Ref,
    Site,
    Sort,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

HOME = "torch.distributions."
_DRAWS = frozenset({"sample", "rsample", "sample_n"})
_TAKES_VALUE = frozenset({"log_prob", "cdf", "icdf"})
_PROPERTIES = frozenset(
    "mean mode stddev variance loc scale probs logits rate concentration low high covariance_matrix".split()
)
_NO_CLASS = frozenset({"kl_divergence", "kl.kl_divergence", "register_kl", "biject_to", "transform_to"})


def make(ctx: Context, name: str, args: list[Value], keywords: dict[str, Value], site: Site | None) -> Value:
    """A distribution with its parameters, or the divergence of two."""
    last = name.removeprefix(HOME)
    if last.endswith("kl_divergence"):
        several = [one for value in args for one in _parameters(ctx, value)]
        return _met(ctx, [Operand(one, True) for one in several], site)
    if last in _NO_CLASS or not last.rpartition(".")[2][:1].isupper():
        return Term("unknown", site) if site is not None else UNKNOWN
    given = [value for key, value in keywords.items() if key != "validate_args"]
    parts = tuple(part for value in (*args, *given) for part in _parameters(ctx, value))
    return ctx.new(site, "object", Ext(name), {".@parameters": Tup(parts)}, tag=name)


def _parameters(ctx: Context, value: Value) -> tuple[Value, ...]:
    """The parameters of a distribution, also of one that another one wraps."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    held = rec.fields.get(".@parameters") if rec is not None else None
    return held.items if isinstance(held, Tup) else (value,)


def _met(ctx: Context, operands: list[Operand], site: Site | None) -> Value:
    several = [one for one in operands if any(not isinstance(o, (Const, Sort)) for o in alternatives(one.value))]
    if len(several) > 1:
        claims.claim(ctx, "same", several, site)
    if not several:
        return tensors.made(ctx, site, None)
    parts = [part for one in several for part in alternatives(one.value)]
    ranks = {part.rank if isinstance(part, Tensor) else -1 for part in parts}
    return tensors.combined(ctx, several, 0 if ranks == {0} else None if ranks <= {0, None} else -1)


def method(
    ctx: Context, ref: Ref, rec: Rec, name: str, args: list[Value], keywords: dict[str, Value], site: Site | None
) -> Value:
    """`distribution.name(...)`."""
    held = rec.fields[".@parameters"]
    operands = [Operand(one, True) for one in (held.items if isinstance(held, Tup) else ())]
    if name in _DRAWS:
        given = args or list(keywords.values())
        made = _met(ctx, operands, site)
        size = tensors.rank_of_size(ctx, given) if given else 0
        if isinstance(made, Tensor) and made.rank in (None, 0) and size not in (0, None):
            return Tensor(made.device, -1, made.origin, made.implicit)
        return made
    if name in _TAKES_VALUE and args:
        return _met(ctx, [*operands, Operand(args[0], True)], site)
    if name == "entropy":
        return _met(ctx, operands, site)
    return NUMBER if name in ("batch_shape", "event_shape") else Term("unknown", site) if site is not None else UNKNOWN


def attribute(ctx: Context, rec: Rec, name: str) -> Value | None:
    """`distribution.mean`; None where nothing is known."""
    held = rec.fields.get(".@parameters")
    if name not in _PROPERTIES or not isinstance(held, Tup):
        return None
    known = [one for one in held.items if isinstance(one, (Tensor, Term))]
    return tensors.combined(ctx, [Operand(one) for one in known], -1) if known else None


__all__ = ["HOME", "NONE", "attribute", "make", "method"]
