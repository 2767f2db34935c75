"""Which claims that do not hold are worth more than a note: by how often readers called such findings true."""

from __future__ import annotations

from torchdevlint.infer.analysis import OWN_SELF
from torchdevlint.infer.places import is_computed_elsewhere
from torchdevlint.infer.relevance import moves_with_module
from torchdevlint.infer.summary import Fault
from torchdevlint.infer.values import Place, Term, Value, is_accelerator

DOUBTFUL = (
    "What is broken where the conditions of two tensors may not hold together, or far away; what only a caller from outside would break, "
    "unless the function names the device or makes the tensor."
)
_FARTHEST = 5  # calls


def is_doubtful(fault: Fault) -> bool:
    """True for what is hardly ever true in code that nobody has looked at.

    Of what is broken: what is so on some paths alone, where nobody knows whether the conditions of the two hold together, but for a module that a turn of a
    loop leaves on the CPU; and what is many calls away. Of what somebody else may break all but the clear cases, one call away at most: the function names the other's
    device, or it makes a tensor without one and computes with it and an argument, or something of the module.

    Of 104 such findings in repositories that were read for it, readers called 32 true of the 56 that this leaves, and 4 of the other 48
    (benchmarks/judged.jsonl: `claims`, `blind4`, `blind5`).
    """
    if fault.verdict == "broken":
        return (fault.may_differ and fault.left is None) or _distance(fault) > _FARTHEST
    host, place = fault.host, fault.other.device
    if len(fault.chain) > 1 or fault.is_settled or fault.is_passed_on:
        return True
    is_own = isinstance(place, Term) and place.op == "own"
    if moves_with_module(fault) and (place == OWN_SELF or is_own):
        return True  # a parameter that a method makes anew moves with its module, if it is made before that moves
    if _names_device(place) or (isinstance(place, Term) and place.op == "own" and _is_moved_here(place.args[0])):
        return False
    is_shown = place == OWN_SELF or (isinstance(place, Term) and place.op == "own" and _is_parameter(place.args[0]))
    is_made_here = host is not None and host.implicit in ("default", "always")
    is_of_samples = fault.roles == ("element", "element") and not (host is not None and host.kept)
    return not (is_shown and is_made_here) or is_of_samples


def is_certain(fault: Fault) -> bool:
    """True for what is broken on every path, and not too many calls away from where the program begins: the more there are, the less is sure of what they give."""
    return fault.verdict == "broken" and not fault.sometimes and len(fault.chain) <= _FARTHEST


def _distance(fault: Fault) -> int:
    """The calls from where the finding stands to where the tensors meet: how a program comes to the first is not in doubt."""
    return fault.chain.index(fault.told_at) + 1 if fault.told_at in fault.chain else len(fault.chain)


def _names_device(place: Place) -> bool:
    """True for an accelerator, a device that an argument or an attribute names, and for what is brought together with something there."""
    if not isinstance(place, Term):
        return is_accelerator(place)
    if place.op == "near":
        return _names_device(place.args[0])
    return (
        place.op == "as_device" and isinstance(place.args[0], Term) and place.args[0].op in ("parameter", "attribute")
    )


def _is_moved_here(value: object) -> bool:
    """True for what is computed from something that is moved: `model(x.to(device))["logits"]`."""
    return isinstance(value, Term) and is_computed_elsewhere(value, _names_device)


def _is_parameter(value: Value) -> bool:
    return isinstance(value, Term) and value.op == "parameter"
