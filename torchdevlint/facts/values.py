"""What a value is and where it lives: the values that rules see."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from torchdevlint.facts.devices import CPU, TOP, Device
from torchdevlint.program import ir


class Kind(enum.Enum):
    """What a value is. UNKNOWN is anything; a rule is silent on it."""

    UNKNOWN = "unknown"
    TENSOR = "tensor"
    MODULE = "module"
    OPTIMIZER = "optimizer"
    PARAMETERS = "parameters"  # what `module.parameters()` gives, also in lists
    STATE_DICT = "state dict"
    BATCH_ENCODING = "batch encoding"  # Hugging Face BatchEncoding / BatchFeature: moves in place
    BATCH = "batch"  # an element of a DataLoader
    LOADER = "data loader"
    TOKENIZER = "tokenizer"
    CHECKPOINT = "checkpoint"  # what torch.load returns
    DEVICE = "device"
    DTYPE = "dtype"
    NDARRAY = "ndarray"
    GENERATOR = "generator"
    SCALAR = "scalar"  # int, float, bool
    STRING = "string"
    SIZE = "size"
    NONE = "none"
    TUPLE = "tuple"
    LIST = "list"
    DICT = "dict"
    SYMBOL = "symbol"  # an imported module, function or class, by its dotted name
    FUNCTION = "function"  # defined in this file
    CLASS = "class"  # defined in this file
    INSTANCE = "instance"  # of a class of this file that is no nn.Module
    CONDITION = "condition"  # tells whether an accelerator is there
    OTHER = "other"  # known to be no tensor and nothing else of interest


class Evidence(enum.IntEnum):
    """How well it is known that a value is a tensor (or module) that may live on an accelerator."""

    NONE = 0
    NAME = 1  # by its name or by `.shape` alone
    USAGE = 2  # by tensor-only methods, or as an argument of a torch function
    STRONG = 3  # annotated, made by torch, a submodule's output, moved here


class _Nothing:
    """Marks the absence of a constant: None is a constant."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Any = _Nothing()

AT_LEAST_ONE = -1  # rank: one dimension or more


@dataclass(slots=True, eq=True)
class Value:
    """An abstract value; treat it as immutable.

    `rank` is a tensor's number of dimensions, AT_LEAST_ONE, or None when unknown. `origin` is the operation that made a tensor on the
    CPU (kept through moves; `moved` tells whether it was moved since). `others` are further possibilities that a join left, each
    a plain Value: rank and origin belong to each possibility.

    For a DEVICE, `device` is the device it names. `symbol` is the dotted name of a SYMBOL, the class of a MODULE, the tested
    accelerator of a CONDITION. `ref` names the object behind a mutable value (module, optimizer), for facts that hold whatever name
    is used.
    """

    kind: Kind = Kind.UNKNOWN
    device: Device = TOP
    rank: int | None = None
    origin: ir.Op | None = None
    moved: ir.Op | None = None
    evidence: Evidence = Evidence.NONE
    symbol: str = ""
    constant: Any = NOTHING
    items: tuple[Value, ...] | None = None
    element: Value | None = None
    entries: tuple[tuple[Any, Value], ...] = ()
    ref: str = ""
    definition: Any = None  # the ir.Body of a FUNCTION, the ir.Class of a CLASS, MODULE or INSTANCE
    negated: bool = False  # a CONDITION that is true when there is no accelerator
    parameter: str = ""  # the function parameter that it is (or is a part of)
    attribute: str = ""  # the attribute of self that it was read from
    group: ir.Op | str | None = None  # the unpacking, batch or name that it came from together with its siblings
    needs_grad: bool = False
    others: tuple[Value, ...] = ()

    @property
    def parts(self) -> tuple[Value, ...]:
        """Every possibility of the value."""
        return (self, *self.others) if self.others else (self,)

    @property
    def is_tensor(self) -> bool:
        """True when it is known to be a tensor."""
        return self.kind is Kind.TENSOR

    @property
    def held(self) -> tuple[Value, ...]:
        """What a container is known to hold."""
        others = () if self.element is None else (self.element,)
        return (*(self.items or ()), *(value for _, value in self.entries), *others)

    @property
    def is_fresh_cpu(self) -> bool:
        """True for a tensor that an operation of this file made on the CPU and nothing moved since."""
        return self.kind is Kind.TENSOR and self.origin is not None and self.moved is None and self.device is CPU

    def entry(self, key: object) -> Value | None:
        """The value stored under a constant key of a DICT, or None."""
        for name, value in self.entries:
            if name == key and type(name) is type(key):
                return value
        return None


_of_fields = attrgetter(*Value.__slots__)


def replace(value: Value, **changes: Any) -> Value:
    """A copy with some fields changed (`dataclasses.replace` costs ten times as much, and this is the busiest function)."""
    copy = Value(*_of_fields(value))
    for name, changed in changes.items():
        setattr(copy, name, changed)
    return copy


UNKNOWN = Value()
OTHER = Value(Kind.OTHER)
SCALAR = Value(Kind.SCALAR)
STRING = Value(Kind.STRING)
NONE = Value(Kind.NONE, constant=None)
SIZE = Value(Kind.SIZE)
NDARRAY = Value(Kind.NDARRAY)
DTYPE = Value(Kind.DTYPE)

_MOST_PARTS = 4


def tensor(device: Device = TOP, **facts: Any) -> Value:
    """A tensor on `device`."""
    return Value(Kind.TENSOR, device, **facts)


def symbol(name: str) -> Value:
    """The imported thing called `name`."""
    return Value(Kind.SYMBOL, symbol=name)


def join(left: Value, right: Value) -> Value:
    """The value after two paths met: equal facts stay, tensors keep both possibilities, anything else is unknown."""
    if left is right or left == right:
        return left
    if left.kind is Kind.UNKNOWN and right.kind is Kind.UNKNOWN:
        return _join_unknown(left, right)
    # A name that is None on one path holds the other path's value wherever it is used as such.
    if left.kind is Kind.NONE:
        return right
    if right.kind is Kind.NONE:
        return left
    if left.kind is Kind.TENSOR and right.kind is Kind.TENSOR:
        return _join_tensors(left, right)
    if left.kind is right.kind:
        return _join_same_kind(left, right)
    if Kind.UNKNOWN in (left.kind, right.kind) and Kind.TENSOR in (left.kind, right.kind):
        # What is a fault on one path stays one, whatever the other path gives.
        known, unknown = (left, right) if left.kind is Kind.TENSOR else (right, left)
        placed = known.is_fresh_cpu or (known.evidence >= Evidence.STRONG and known.device.name.endswith(".device"))
        if placed and known.moved is None and unknown.moved is None and len(known.others) < _MOST_PARTS - 1:
            if any(part.kind is Kind.UNKNOWN for part in known.others):
                return known
            return replace(known, others=(*known.others, UNKNOWN), group=None)
        if unknown.parameter and unknown.device is TOP and unknown.moved is None and not known.others:
            return replace(known, others=(unknown,), group=None)  # `if y is None: y = ...`
    if Kind.CONDITION in (left.kind, right.kind) and Kind.SCALAR in (left.kind, right.kind):
        return left if left.kind is Kind.CONDITION else right  # `cuda = False` on one path, a test on the other
    if {left.kind, right.kind} == {Kind.DEVICE, Kind.STRING}:
        return Value(Kind.DEVICE, _join_device_values(left, right))
    return UNKNOWN


def _join_unknown(left: Value, right: Value) -> Value:
    if left.device == right.device and left.device is not TOP:
        return replace(left, origin=None, group=None, others=())
    return UNKNOWN


def _join_device_values(left: Value, right: Value) -> Device:
    """A device that is the CPU on one path and an accelerator on the other is one that the program chooses."""
    return left.device if left.device == right.device else TOP


def _join_tensors(left: Value, right: Value) -> Value:
    parts: list[Value] = []
    for part in (*left.parts, *right.parts):
        plain = replace(part, others=()) if part.others else part
        if plain not in parts:
            parts.append(plain)
    # A fresh value joined with its own moved self was moved on condition: whoever wrote that knew where it lives.
    unmoved = {
        id(part.origin) for part in parts if part.origin is not None and (part.moved is None or part.device is TOP)
    }
    moved = {id(part.origin) for part in parts if part.moved is not None and id(part.origin) in unmoved}
    for side, other in ((left, right), (right, left)):
        if side.moved is not None and not side.others and id(side.origin) in moved:
            moved |= {
                id(part.origin) for part in other.parts if part.origin is not None
            }  # it was the whole of the other that moved
    parts = [
        replace(part, device=TOP, moved=part.moved or part.origin, rank=part.rank)
        if part.origin is not None and id(part.origin) in moved
        else part
        for part in parts
    ]
    unique: list[Value] = []
    for part in parts:
        for at, known in enumerate(unique):
            if (
                known.device == part.device
                and known.origin is part.origin
                and known.attribute == part.attribute
                and known.symbol == part.symbol
            ):
                # The same tensor by two ways: only what both say stays.
                unique[at] = replace(
                    known,
                    rank=known.rank if known.rank == part.rank else AT_LEAST_ONE if known.rank and part.rank else None,
                    moved=known.moved or part.moved,
                    evidence=min(known.evidence, part.evidence),
                    parameter=known.parameter if known.parameter == part.parameter else "",
                    group=known.group if known.group == part.group else None,
                    needs_grad=known.needs_grad and part.needs_grad,
                )
                break
        else:
            unique.append(part)
    head = unique[0]
    if len(unique) == 1:
        return head
    return replace(head, others=tuple(unique[1:_MOST_PARTS]), group=head.group if left.group == right.group else None)


def _join_same_kind(left: Value, right: Value) -> Value:
    kind = left.kind
    if kind is Kind.MODULE:
        if left.ref == right.ref:
            return replace(left, definition=left.definition if left.definition is right.definition else None)
        return Value(
            kind, evidence=min(left.evidence, right.evidence), symbol=left.symbol if left.symbol == right.symbol else ""
        )
    if kind in (Kind.SYMBOL, Kind.FUNCTION, Kind.CLASS, Kind.INSTANCE):
        return UNKNOWN
    if kind is Kind.CONDITION:
        return left if left.negated == right.negated else UNKNOWN
    if kind in (Kind.DEVICE, Kind.STRING) and left.device != right.device:
        places = {left.device.place, right.device.place}
        if places == {"cpu", "acc"}:
            return Value(Kind.DEVICE if kind is Kind.DEVICE else Kind.STRING, Device("sym", "", chosen=True))
        return Value(kind)
    if kind in (Kind.PARAMETERS, Kind.OPTIMIZER):
        return Value(
            kind,
            origin=left.origin if left.origin is right.origin else None,
        )
    if (
        kind in (Kind.TUPLE, Kind.LIST)
        and left.items is not None
        and right.items is not None
        and len(left.items) == len(right.items)
    ):
        return Value(kind, items=tuple(join(a, b) for a, b in zip(left.items, right.items, strict=True)))
    if kind is Kind.LIST and left.symbol == right.symbol:
        return _join_lists(left, right)
    if kind is Kind.DICT and left.entries and right.entries:
        both = tuple(
            (key, join(value, other)) for key, value in left.entries if (other := right.entry(key)) is not None
        )
        return Value(kind, entries=both)
    if kind is Kind.DICT and not left.entries and not right.entries and (left.element or right.element):
        if left.element is None and left.items == ():
            return right
        if right.element is None and right.items == ():
            return left
        element = join(element_of(left), element_of(right))
        return Value(kind, element=element if element is not UNKNOWN else None)
    if kind is Kind.BATCH_ENCODING and left.moved is None and right.moved is None and left.device == right.device:
        return replace(left, ref="", evidence=min(left.evidence, right.evidence))
    return Value(
        kind, device=left.device if left.device == right.device else TOP, evidence=min(left.evidence, right.evidence)
    )


def _join_lists(left: Value, right: Value) -> Value:
    """A list that was filled on some paths: it holds what any of them gave it."""
    attribute = left.attribute if left.attribute == right.attribute else ""
    if left.items == () and left.element is None:
        return replace(right, attribute=attribute)
    if right.items == () and right.element is None:
        return replace(left, attribute=attribute)
    element = join(element_of(left), element_of(right))
    return Value(Kind.LIST, element=element if element is not UNKNOWN else None, attribute=attribute)


def element_of(value: Value) -> Value:
    """What iterating over a value gives."""
    if value.element is not None:
        return value.element
    if value.items:
        result = value.items[0]
        for item in value.items[1:]:
            result = join(result, item)
        return result
    return UNKNOWN
