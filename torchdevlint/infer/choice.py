"""One of several functions or modules is called, and the program chooses which: what is broken whichever it is."""

from __future__ import annotations

from torchdevlint.infer.summary import Fault
from torchdevlint.infer.values import Guard, Site

# Conditions that no option of the program decides, as far as one can tell.
_OF_DATA = frozenset({"undecided", "isinstance", "has", "test", "all"})


class Choice:
    """The faults of each of several callees, which nobody tells yet.

    A call may suit one callee and not the other: `model(x, lengths)` is for the model with packed sequences, and the condition that says so has
    another name than the one that chose the model. So a fault of one of them alone is none, unless an option of the program says which it is and the
    call stands under no other condition.
    """

    __slots__ = ("_each", "outer")

    def __init__(self, outer: Choice | None) -> None:
        self.outer = outer
        self._each: list[list[Fault]] = []

    def next(self, guards: frozenset[Guard], facts: frozenset[Guard]) -> Choice | None:
        """Where the faults of the next callee go, which is called under `guards` where `facts` hold."""
        if guards and facts <= guards and not is_of_data(guards):
            return self.outer
        self._each.append([])
        return self

    def keep(self, fault: Fault) -> None:
        """A fault of the callee that is being run."""
        self._each[-1].append(fault)

    def certain(self) -> list[Fault]:
        """The faults that each callee has of one tensor."""
        first, *others = self._each or [[]]
        several = [{_tensor_of(fault) for fault in found} for found in others]
        return [fault for fault in first if all(_tensor_of(fault) in found for found in several)] if others else []


def is_of_data(guards: frozenset[Guard]) -> bool:
    """True for conditions that tell of what the program is given, and of no option of it."""
    return any(term.op in _OF_DATA for term, _ in guards)


def _tensor_of(fault: Fault) -> tuple[str, Site | None]:
    tensor = fault.host if fault.host is not None else fault.other
    return fault.kind, tensor.origin
