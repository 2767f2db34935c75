"""What is kept of a body: its summary as a residual program, the claims in it, and the faults that were decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from torchdevlint.infer.state import Facts, Heap
from torchdevlint.infer.values import NONE, Rec, Site, Tensor, Term, Value

if TYPE_CHECKING:
    from torchdevlint.infer.units import Unit

ClaimKind = Literal["same", "index", "host"]
Verdict = Literal["broken", "open"]


class Operand(NamedTuple):
    """One operand of a claim. `tolerant`: a zero-dimensional CPU tensor is let through. `role` is its part, for the words of a finding.

    Roles: "operand", "argument", "target" (written in place), "index", "indexed", "element" (of a sequence), "weight" (of a loss), "input"
    (of a module), "module", "out", "self".
    """

    value: Value
    tolerant: bool = False
    role: str = "operand"


class Claim(NamedTuple):
    """What must hold at `site`, or it fails.

    "same": the operands share a device. "index": the second may stay on the CPU where the first does not. "host": the operand is on the CPU.
    """

    kind: ClaimKind
    operands: tuple[Operand, ...]
    site: Site
    chain: tuple[Site, ...] = ()


class Event(NamedTuple):
    """A claim or a call that waits for a caller, and the conditions that must hold for it to be reached."""

    facts: Facts
    what: Claim | Term


@dataclass(slots=True)
class Summary:
    """A body as a residual program: `events` in their order, then `effects`, then `result`.

    `heap` holds the objects that it makes, whose places are `locals`; `proven` the terms whose use only a tensor survives.
    """

    events: list[Event] = field(default_factory=list)
    effects: dict[Any, Rec] = field(default_factory=dict)
    result: Value = NONE
    locals: set[Any] = field(default_factory=set)
    proven: set[Term] = field(default_factory=set)
    heap: Heap = field(default_factory=dict)


class Fault(NamedTuple):
    """A claim that is broken, or that a caller from outside may break.

    `host` is the tensor on the CPU (None for a claim on the host alone), `other` the one that is elsewhere; `chain` the calls that led here.
    """

    verdict: Verdict
    kind: ClaimKind
    site: Site
    host: Tensor | None
    other: Tensor
    roles: tuple[str, str]
    chain: tuple[Site, ...]

    def seen_from(self, unit: Unit) -> Site | None:
        """Where a file tells of it: the first of its place, its meeting and its calls that stands in that file."""
        several = (self.place, self.site, *self.chain)
        return next((site for site in several if site.unit is unit), None)

    @property
    def place(self) -> Site:
        """Where to tell of it: where the tensor was made, or else where it meets the other; of a module that was never moved, the call."""
        if self.roles[0] == "module":
            return self.chain[-1] if self.chain else self.site
        made = self.host.origin if self.host is not None else None
        return made or self.site
