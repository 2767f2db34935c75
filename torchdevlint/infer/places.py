"""Where values are, as far as they tell themselves."""

from __future__ import annotations

from collections.abc import Callable

from torchdevlint.infer.values import Place, Tensor, Term, Value, alternatives, is_elsewhere

_PARTS = frozenset({"attribute", "item", "element", "unpack"})


def is_computed_elsewhere(value: Term, is_there: Callable[[Place], bool] = is_elsewhere) -> bool:
    """True for `model(x.cuda())`, and for its parts: what is computed from tensors on an accelerator alone is there, if nobody says otherwise."""
    whole = _whole(value)
    places = _places_given(whole) if isinstance(whole, Term) and whole.op == "call" else set()
    return bool(places) and all(map(is_there, places))


def _whole(value: Value) -> Value:
    """What a value is a part of."""
    while isinstance(value, Term) and value.op in _PARTS:
        value = value.args[0]
    return value


def _places_given(call: Term) -> set[Place]:
    """Where the tensors are that a call is given, and those that what it is given is computed from."""
    found: set[Place] = set()
    function = call.args[0]
    receiver = [function.args[0]] if isinstance(function, Term) and function.op == "attribute" else []
    for one in (option for given in (*receiver, *given_to(call)) for option in alternatives(given)):
        whole = _whole(one)
        if isinstance(whole, Term) and whole.op == "call":
            found |= _places_given(whole)
        elif (place := where(one)) is not None:
            found.add(place)
    return found


def where(value: Value) -> Place | None:
    """Where a tensor is, or what was moved; None for anything else."""
    if isinstance(value, Term) and value.op == "moved":
        found: Place = value.args[1]
        return found
    return value.device if isinstance(value, Tensor) else None


def given_to(call: Term) -> list[Value]:
    """The arguments of a call that a caller decides."""
    return [*call.args[1], *(value for _, value in call.args[2])]
