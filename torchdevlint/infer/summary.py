"""What is kept of a body: its summary as a residual program, the claims in it, and the faults that were decided."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from torchdevlint.infer.state import NO_FACTS, Facts, Heap
from torchdevlint.infer.values import NONE, Place, Rec, Site, Tensor, Term, Value
from torchdevlint.program.roles import is_public
from torchdevlint.source.grounds import Ground

if TYPE_CHECKING:
    from torchdevlint.infer.stored import Read, Write
    from torchdevlint.program import ir

LEAF = "leaf"
"""The role of what an optimizer is given: it must be a leaf, which a move to another device has made none of."""

ClaimKind = Literal["same", "index", "host"]
Verdict = Literal["broken", "open"]


class Given(NamedTuple):
    """The call by which something came into a function (`body`), and the parameter that it came as."""

    call: Site
    body: ir.Body
    parameter: str


class Operand(NamedTuple):
    """One operand of a claim. `tolerant`: a zero-dimensional CPU tensor is let through, "all": where the others have no dimension either.

    `role` is its part, for the words of a finding. `given` is the outermost call that hands it on, `bound` where the function gave it the name that it goes by.
    `is_placed`: of a module that the function has made and shown to nobody, so that it is where it was then, whatever is done with the module later;
    `holder` is where the outermost module was made that this one is a part of.

    Roles: "operand", "argument", "target" (written in place), "index", "indexed", "element" (of a sequence), "weight" (of a loss), "input"
    (of a module), "module", "out", "self", "returned" (from a function, together).
    """

    value: Value
    tolerant: bool | Literal["all"] = False
    role: str = "operand"
    given: Given | None = None
    bound: Site | None = None
    is_placed: bool = False
    holder: Site | None = None


class Claim(NamedTuple):
    """What must hold at `site`, or it fails.

    "same": the operands share a device. "index": the second may stay on the CPU where the first does not. "host": the operand is on the CPU.
    """

    kind: ClaimKind
    operands: tuple[Operand, ...]
    site: Site
    chain: tuple[Site, ...] = ()


class Event(NamedTuple):
    """A claim or a call that waits for a caller, the conditions that must hold for it to be reached, and the calls that lead to it. `default`: the default
    device that stands around a call, `with torch.device(device): return build(size)`.
    """

    facts: Facts
    what: Claim | Term
    chain: tuple[Site, ...] = ()
    default: Place | None = None


@dataclass(slots=True)
class Summary:
    """A body as a residual program: `events` in their order, then `effects`, then `result`.

    `heap` holds the objects that it makes, whose places are `locals`; `proven` the terms whose use only a tensor survives. `heard` is what was
    told while it was made, `raised` the exceptions that it raises, `cycle` the function itself and those that call it and that it calls. `trained` says who trains
    in it, `passed` which conditions hold wherever it comes back. `turns` has where the events of a loop begin, and where they end; `goes_over` the parameters, and
    attributes of them, that its loops go over.
    """

    events: list[Event] = field(default_factory=list)
    effects: dict[Any, Rec] = field(default_factory=dict)
    result: Value = NONE
    locals: set[Any] = field(default_factory=set)
    proven: set[Term] = field(default_factory=set)
    heap: Heap = field(default_factory=dict)
    heard: Heard = field(default_factory=lambda: Heard())
    cycle: frozenset[ir.Body] = frozenset()
    raised: tuple[Value, ...] = ()
    ground: Ground | None = None
    trained: Facts = NO_FACTS
    passed: Facts = NO_FACTS
    turns: dict[int, int] = field(default_factory=dict)
    goes_over: tuple[tuple[str, ...], ...] = ()


class Fault(NamedTuple):
    """A claim that is broken, or that a caller from outside may break.

    `host` is the tensor on the CPU (None for a claim on the host alone), `other` the one that is elsewhere; `chain` the calls that led here.
    `beside`: no tensor is on the CPU, and this one is on another accelerator. `sometimes`: on another path one of the two is elsewhere.
    `may_differ`: whether what brings the one here and the other there goes together is not known. `is_settled`: other files call the function that it is
    open for, and none of these calls breaks it.
    `is_brought`: made in one file and met in another, neither of which tells of it, or to be told of in a file that does not ask, so that the file does
    which brings the two together.
    `told`: where a file that is called tells of it, which brings the two together for any caller. `is_entered_at_module`: a method of a module is what
    somebody from outside would call. Of what is to be moved, `given` is the outermost call that hands it on, `bound` where it got its name, `holder`
    where the outermost module was made that it is a part of. `left` is the move by which a turn of a loop has left a module on the CPU for the next one.
    """

    verdict: Verdict
    kind: ClaimKind
    site: Site
    host: Tensor | None
    other: Tensor
    roles: tuple[str, str]
    chain: tuple[Site, ...]
    beside: Tensor | None = None
    seen_inside: Tensor | None = None  # `other` as a function sees it for any caller, where one breaks its claim
    sometimes: bool = False
    may_differ: bool = False
    is_settled: bool = False  # open, and the calls in other files of the project do not break it
    is_reached: bool = False  # the function that somebody from outside would call is called, here or elsewhere
    is_called: bool = False  # ... and no call names a device
    is_entered_at_module: bool = False
    is_passed_on: bool = False  # open, as it is in those of the project's functions that call its entry
    is_met: bool = False  # open, and met by calls that are known
    is_shown: bool = False  # open, and met by what the file runs as a program, or by a program that calls it
    is_brought: bool = False
    told: Site | None = None
    given: Given | None = None
    bound: Site | None = None
    holder: Site | None = None
    left: Site | None = None

    @property
    def place(self) -> Site:
        """Where to tell of it: where the tensor was made, or else where it meets the other; of a module that was never moved, the call that
        stands beside its construction, that hands it on, or that leads there.
        """
        made = self.host.origin if self.host is not None else None
        if self.left is not None:
            return self.left
        if self.roles[1] == LEAF and self.other.moved is not None and self.other.moved.unit is self.site.unit:
            return self.other.moved
        if self.is_brought:
            return next(way for way in self.chain if way.unit is self.chain[-1].unit)
        if self.is_of_module:
            ways = (self.site, *self.chain)
            held = self.given.call if self.given is not None else ways[-1]
            if held.unit is not ways[-1].unit:
                held = next(way for way in ways if way.unit is ways[-1].unit)
            for at in (made, self.holder):
                beside = next((way for way in ways if at is not None and way.body is at.body), None)
                if beside is not None:
                    return beside
            return next((way for way in ways if self.holder is not None and _is_of_maker(way, self.holder)), held)
        if self.kind == "host" and self.given is not None and not self.site.unit.is_looked_at:
            return self.given.call  # a helper that knows nothing of tensors
        is_sample = self.host is not None and self.host.implicit == "batch"
        # Samples belong on the CPU, and are moved by whoever takes them out of their loader.
        used = self.given.call if self.given is not None and is_sample else self.site
        if is_sample and used is self.site and self.chain and self.chain[-1].unit is not used.unit:
            return next(way for way in self.chain if way.unit is self.chain[-1].unit)
        if made is None or is_sample or self.is_left_behind:
            return used
        # What one file makes and another lets meet is moved by the file that brings it there.
        together = self.chain[-1].unit if self.chain else self.site.unit
        is_handed_on = self.given is not None and self.given.call.unit is together
        if is_handed_on and self.beside is None and made.unit is not together and self.site.unit is not together:
            return self.given.call  # type: ignore[union-attr]
        return made

    @property
    def is_of_module(self) -> bool:
        """True where what is on the CPU is a module that nobody moved, or is computed from a parameter or buffer of one."""
        made = self.host.origin if self.host is not None else None
        if self.beside is not None or made is None or self.roles[0] in ("weight", "kept weight"):
            return False
        if self.is_left_behind:
            return False
        return self.roles[0] == "module" or (made.is_part and _is_made_with_its_module(made))

    @property
    def is_left_behind(self) -> bool:
        """True for what was computed from a parameter of a module, which has moved since: it meets one of that module."""
        made = self.host.origin if self.host is not None else None
        return made is not None and made.is_part and self.roles[0] != "module" and self.other.origin == made

    @property
    def told_at(self) -> Site:
        """Where the finding stands: at the place, where the tensors meet in that file; or else in the file that brings them together."""
        if self.told is not None:
            return self.told
        place = self.place
        if place.unit is self.site.unit and self.beside is None:
            return place
        together = self.chain[-1] if self.chain else self.site
        return next(site for site in (place, self.site, *self.chain) if site.unit is together.unit)

    def joined(self, other: Fault | None) -> Fault:
        """One fault for two of the same places; what is broken stands above what is open."""
        if other is None:
            return self
        if other.verdict == self.verdict and other.sometimes != self.sometimes:
            return other if self.sometimes else self
        if other.verdict == self.verdict and other.may_differ != self.may_differ:
            return other if self.may_differ else self
        if other.verdict == self.verdict:  # where more is known: in a caller
            return self if len(self.chain) > len(other.chain) else other
        broken, is_open = (self, other) if self.verdict == "broken" else (other, self)
        return broken._replace(seen_inside=is_open.other, told=broken.told if broken.may_be_mended else is_open.told_at)

    @property
    def may_be_mended(self) -> bool:
        """True where the finding stands at a place where a repair is possible: what else is on the way is no fault of its own."""
        return self.beside is not None or self.told_at in (self.place, self.site)

    @property
    def is_given(self) -> bool:
        """True where the tensor is an operand of the meeting, and no weight of what is called."""
        return self.roles[0] != "kept weight" and not self.is_of_module

    @property
    def entry(self) -> ir.Body | None:
        """The function that somebody from outside calls to come to the fault."""
        return self.chain[-1].body if self.chain else self.site.body

    @property
    def is_entered_in_private(self) -> bool:
        """True where a leading underscore says that nobody from outside calls the entry, or uses its class."""
        entry = self.entry
        names = [entry.name, entry.owner.name if entry.owner is not None else ""] if entry is not None else []
        return not all(map(is_public, names))

    @property
    def key(self) -> tuple[int, int, str]:
        """The same for what is told once."""
        return id(self.place.op), id(self.site.op), self.kind


def _is_made_with_its_module(made: Site) -> bool:
    """False for a parameter that a method makes anew, where its module may have been moved before."""
    body = made.body
    return body is None or body.owner is None or body.name == "__init__" or made.unit.is_of_constructors(body.name)


@dataclass(slots=True, eq=False)
class Heard:
    """What one evaluation told beside its result: faults, claims that are met, bodies that were asked for and called, limits that were hit.

    `placed` are the classes of modules that a program moves, with whether that is to the CPU. `told` are the faults in their order,
    `looked_at` the bodies that were read and not asked for, `writes` and `reads` what was saved and loaded.
    """

    faults: dict[tuple[int, int, str], Fault] = field(default_factory=dict)
    met: set[tuple[Site, Site | None]] = field(default_factory=set)
    placed: set[tuple[ir.Class, bool]] = field(default_factory=set)
    lists: set[Site] = field(default_factory=set)  # calls of modules of unknown classes that are given a list
    # where a claim was asked, and the functions that a caller came through
    passed: set[tuple[Site, ir.Body]] = field(default_factory=set)
    asked: dict[ir.Body, None] = field(default_factory=dict)
    called: set[ir.Body] = field(default_factory=set)
    bounds: Counter[str] = field(default_factory=Counter)
    replays: int = 0
    recursive: int = 0
    steps: int = 0
    scale: int = 1  # of the limits on work
    told: list[Fault] = field(default_factory=list)
    looked_at: set[ir.Body] = field(default_factory=set)
    writes: list[Write] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)

    def keep(self, fault: Fault) -> None:
        """Keeps a fault, one for each pair of places; what is broken stands above what is open."""
        self.told.append(fault)
        self.faults[fault.key] = fault.joined(self.faults.get(fault.key))

    def add(self, other: Heard) -> None:
        """What another evaluation told, as if this one had gone on with it."""
        for fault in other.told:
            self.keep(fault)
        self.met |= other.met
        self.placed |= other.placed
        self.lists |= other.lists
        self.passed |= other.passed
        self.asked.update(other.asked)
        self.called |= other.called
        self.bounds += other.bounds
        self.looked_at |= other.looked_at
        self.writes += other.writes
        self.reads += other.reads
        self.replays += other.replays
        self.recursive += other.recursive
        self.steps += other.steps

    def rests_on(self, bodies: set[ir.Body]) -> bool:
        """True where one of these was asked for or read; what the summaries asked for is told by themselves."""
        return not (bodies.isdisjoint(self.asked) and bodies.isdisjoint(self.looked_at))


def _is_of_maker(way: Site, made: Site) -> bool:
    """True for a call in a method of the class whose constructor makes something: `self.loss(x)`, where `__init__` has made `self.loss`."""
    maker, body = made.body, way.body
    if maker is None or body is None or maker.owner is None:
        return False
    return maker.name == "__init__" and body.owner is maker.owner and not body.is_static
