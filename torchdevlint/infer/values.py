"""Abstract values. A value is known, or a `Term`: an operation that waits for what its parameters will be.

A `Term` is the residue of partial evaluation: `x + y` with an open `x` stays the term `binary(+, x, y)` and runs through the same
transfer functions again when a caller has said what `x` is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from torchdevlint.infer.units import Unit
    from torchdevlint.program import ir

MOST_DEPTH = 30  # of a term; what nests deeper is unknown
_MOST_TERMS = 200_000


class Site:
    """Where an operation stands. Equal by identity: a unit makes one for each operation.

    `is_part`: what the operation makes became a parameter or buffer, so that its module decides where it is.
    """

    __slots__ = ("_copied", "_copies", "_part", "_whole", "body", "op", "unit")

    def __init__(self, op: ir.Op, body: ir.Body | None, unit: Unit, whole: Site | None = None) -> None:
        self.op, self.body, self.unit = op, body, unit
        self._whole, self._part = whole, self if whole is not None else None
        self._copied: Site | None = None
        self._copies: dict[Site | None, Site] | None = None  # nearly no place has one

    @property
    def is_part(self) -> bool:
        """True for the place of a parameter or buffer of a module."""
        return self._whole is not None

    @property
    def part(self) -> Site:
        """The same place, as that of a parameter or buffer of a module."""
        if self._part is None:
            self._part = Site(self.op, self.body, self.unit, self)
        return self._part

    @property
    def whole(self) -> Site:
        """The same place, as that of a tensor by itself."""
        return self if self._whole is None else self._whole

    def copied(self, at: Site | None) -> Site:
        """The same place, as that of a module which was copied somewhere: who moves the one does not move the other. A copy of a copy is of the first."""
        first = self._copied or self
        if first._copies is None:
            first._copies = {}
        made = first._copies.get(at)
        if made is None:
            made = first._copies[at] = Site(self.op, self.body, self.unit)
            made._copied = first
        return made


class Term:
    """An open operation. Interned: equal terms are one object as long as the table lives; equality does not depend on it.

    Operations: `parameter(body, name)`, `unknown(site)`, `own(x)` (the device of something of whom only its use is known), `default` (the
    default device, in files of programs that set one), `attribute`, `item`, `element`, `unpack`, `call`, `binary`, `device_of`, `as_device`,
    `moved`, `carried` (what a module holds that is moved), `length`, `no_tensor`, `enter`, `is_none`, `isinstance`, `equal`, `not`, ...

    `waits` is False where no caller will ever say more: what is computed from something unknown alone. `subject` is what a condition compares with
    constants, None for any other term.
    """

    __slots__ = ("_hash", "args", "depth", "op", "subject", "waits")
    table: dict[tuple[Any, ...], Term] = {}

    op: str
    args: tuple[Any, ...]
    depth: int
    waits: bool
    subject: Value | None
    _hash: int

    def __new__(cls, op: str, *args: Any) -> Term:
        key = (op, *args)
        found = cls.table.get(key)
        if found is not None:
            return found
        depth = 1 + max(map(depth_of, args), default=0)
        if depth > MOST_DEPTH:
            return UNKNOWN
        made = object.__new__(cls)
        made.op, made.args, made.depth, made._hash = op, args, depth, hash(key)
        made.waits = op in ("parameter", "default") or any(map(waits, args))
        made.subject = _subject_of(op, args) if op in _CONDITIONS else None
        if len(cls.table) > _MOST_TERMS:
            cls.table.clear()
        return cls.table.setdefault(key, made)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Term) and self._hash == other._hash and self.op == other.op and self.args == other.args

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})"


def _make_unknown() -> Term:
    made = object.__new__(Term)
    made.op, made.args, made.depth, made._hash, made.waits = "top", (), 1, hash("top"), False
    made.subject = None
    return made


_CONDITIONS = frozenset({"all", "binary", "call", "contains", "equal", "is_none"})


def _subject_of(op: str, args: tuple[Any, ...]) -> Value | None:
    """What a condition compares with constants: `x` of `x is None`, `x == "a"`, `x in ("a", "b")`, `x < 3` and `x.startswith("a")`."""
    if op == "is_none":
        return args[0]  # type: ignore[no-any-return]
    if op == "equal":
        return args[0] if isinstance(args[1], Const) else None
    if op == "contains":
        is_known = isinstance(args[1], Tup) and all(isinstance(one, Const) for one in args[1].items)
        return args[0] if is_known else None
    if op == "binary":
        known = [isinstance(one, Const) for one in args[1:]]
        return args[1 + known.index(False)] if args[0] in ("lt", "eq") and sum(known) == 1 == len(known) - 1 else None
    if op == "all":
        several = [(one.args[0] if one.op == "not" else one).subject for one in args]
        return several[0] if several and all(one == several[0] for one in several) else None
    is_method = (
        isinstance(args[0], Term) and args[0].op == "attribute" and args[0].args[1] in ("startswith", "endswith")
    )
    return args[0].args[0] if is_method and len(args[1]) == 1 and isinstance(args[1][0], Const) else None


UNKNOWN: Term = _make_unknown()
"""A value of which nothing is known and nothing will be."""


def unknown(site: Site | None) -> Term:
    """A value of its own of which nothing is known."""
    return Term("unknown", site) if site is not None else UNKNOWN


HOST, ACCELERATOR, CHOSEN, NOWHERE = "host", "accelerator", "chosen", "unknown"
"""Places: the CPU; an accelerator; the accelerator where there is one, by the program's choice; nobody knows.

An accelerator that is not the first, and not just the current one, has its index behind a colon ("accelerator:1"), or a question mark.
"""
DEFAULT = "default"  # `device=None`: no device is named
UNMOVED = "as it was"  # of a module of a caller, where one path moves it and another one does not
Place: TypeAlias = str | Term


def indexed(kind: str, index: str) -> str:
    """ACCELERATOR or CHOSEN with an index; the first device is taken for the current one."""
    return kind if index in ("", "0") else f"{kind}:{index}"


def is_accelerator(place: Place) -> bool:
    """True for an accelerator of any index."""
    return isinstance(place, str) and place.partition(":")[0] == ACCELERATOR


def is_elsewhere(place: Place) -> bool:
    """True for an accelerator, also one that the program chooses where there is one, or where a condition holds."""
    if isinstance(place, Term):
        return is_choice(place) or (place.op == EITHER and any(is_elsewhere(one) for _, one in places_of(place)))
    return place.partition(":")[0] in (ACCELERATOR, CHOSEN)


def choice_of(chosen: Place, guards: frozenset[Guard]) -> Place:
    """The device that the program chose, which is no CPU only where all of the conditions hold."""
    away = OneOf(((guards, Device(chosen)), (NO_GUARDS, Device(HOST))))
    return Term(CHOICE, away) if guards else chosen


def is_choice(place: Place) -> bool:
    """True for the device that the program chose, with the conditions of its choice."""
    return isinstance(place, Term) and place.op == CHOICE


def as_chosen(place: Place) -> Place:
    """A device without the conditions of the choice that the program made."""
    found: Place = place.args[0].options[0][1].place if isinstance(place, Term) and place.op == CHOICE else place
    return found


def conditions_of(place: Place) -> frozenset[Guard]:
    """The conditions under which the device that the program chose is no CPU."""
    found: frozenset[Guard] = (
        place.args[0].options[0][0] if isinstance(place, Term) and place.op == CHOICE else NO_GUARDS
    )
    return found


def index_of(place: Place) -> str:
    """The index of an accelerator: "" for the current or first one, "?" where nobody knows."""
    place = as_chosen(place)
    if isinstance(place, Term) and place.op == EITHER:
        place = next((one for _, one in places_of(place) if is_elsewhere(one)), place)
    return place.partition(":")[2] if isinstance(place, str) else UNKNOWN_INDEX


ALL = "all"  # the operation of a term: whether all of several conditions hold
EITHER = "either"  # the operation of a term: one of several places, each under its conditions; its argument has them as devices
CHOICE = "choice"  # ... the device that the program chose, which is no CPU under conditions; its argument has both as devices
UNKNOWN_INDEX = "?"
NO_TENSOR = "no_tensor"  # the operation of a term: what of a value is no tensor
SENT = "@sent"
"""The name, as of a parameter, of what is sent into a generator."""
MANY = -1
"""A rank of one or more; -2 is one of two or more, and so on."""
_MOST_DIMENSIONS = 5  # that are told apart


def at_least(dimensions: int) -> int | None:
    """A rank of so many dimensions or more."""
    return -min(dimensions, _MOST_DIMENSIONS) if dimensions > 0 else None


def least(rank: int | None) -> int:
    """How many dimensions a tensor of a rank has for certain."""
    return abs(rank) if rank is not None else 0


def shifted(rank: int | None, by: int) -> int | None:
    """The rank of a tensor with more dimensions, or with fewer."""
    is_exact = rank is not None and rank >= 0
    return max(least(rank) + by, 0) if is_exact else at_least(least(rank) + by)


class Like(NamedTuple):
    """What a caller may give, which is taken to have dimensions until then: a tensor has at least `by` more than it. None where that is not known."""

    of: Term
    by: int | None

    def moved_by(self, by: int | None) -> Like:
        """The same of what has other dimensions."""
        return Like(self.of, None if by is None or self.by is None else self.by + by)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor. `rank` is a number, MANY or less, or None where nothing is known. `origin` is where it was made on the CPU.

    `implicit`: it is there because nobody said where ("default": the default device would change it; "import": that of the time when its
    module was imported did; "always": nothing would; "batch": a loader gives it, whatever made its samples).
    `follows`: a parameter or buffer, which goes where its module goes. `kept`: the attribute that a module keeps it under.
    `moved` is the last move that brought it where it is, for who tells of it: two tensors are equal whichever did.
    `leaf`: "wanted" of what a program trains, as a parameter or with `requires_grad`; "copied" of what a move has made of it, which autograd has
    computed, so that no optimizer takes it. Two tensors are equal whatever it says. `like` tells of whom a caller
    learns more of its rank.
    """

    device: Place
    rank: int | None = MANY
    origin: Site | None = None
    implicit: Literal["", "default", "import", "always", "batch"] = ""
    follows: bool = False
    kept: str = ""
    moved: Site | None = field(default=None, compare=False)
    leaf: Literal["", "wanted", "copied"] = field(default="", compare=False)
    like: Like | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A `torch.device`."""

    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A number, a string, a bool, None, ..."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and type(self.value) is type(other.value) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Tup:
    """A tuple whose items are known one by one; an item may be a `Star`. Values share their parts: the hash is computed once."""

    items: tuple[Value, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(self.items))

    def __hash__(self) -> int:
        return self._hash


Guard = tuple[Term, bool]
"""A condition and how it came out."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several values; each is had under its guards alone. The hash is computed once, as that of `Tup`."""

    options: tuple[tuple[frozenset[Guard], Value], ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(self.options))

    def __hash__(self) -> int:
        return self._hash


class Ref:
    """An object of the abstract heap, by where it was made. Heaps are asked for it all the time, and places nest: its hash is computed once."""

    __slots__ = ("_hash", "place")

    def __init__(self, place: Any) -> None:
        self.place = place
        self._hash = hash(place)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Ref) and self._hash == other._hash and bool(self.place == other.place)

    def __repr__(self) -> str:
        return f"Ref(place={self.place!r})"


@dataclass(frozen=True, slots=True)
class Func:
    """A function of the project, with the frame it closes over, and the object it is bound to."""

    body: ir.Body
    frame: Value | None = None
    receiver: Value | None = None
    defaults: tuple[tuple[str, Value], ...] = ()
    form: str = ""  # "property" or "contextmanager"


@dataclass(frozen=True, slots=True)
class Cls:
    """A class of the project."""

    cls: ir.Class
    frame: Value | None = None


@dataclass(frozen=True, slots=True)
class Ext:
    """Something foreign by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Sort:
    """A value of which only its sort is known.

    "number", "size", "dtype", "other", "accelerator" (a string that names one), ...
    """

    name: str


@dataclass(frozen=True, slots=True)
class Array(Sort):
    """An array of NumPy, or of what reads like one. `rank` as that of a tensor: 0 for its numbers, None for what may be one.

    `of` is what it is computed by where a caller may tell more of its rank.
    """

    rank: int | None
    of: Term | None = None


@dataclass(frozen=True, slots=True)
class Text(Sort):
    """A string, or a path, by what it is put together of: literals, and values that are written into it. See `text_of`."""

    parts: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """A method of a known object."""

    object: Value
    name: str


@dataclass(frozen=True, slots=True)
class Partial:
    """A call with some arguments given before."""

    function: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Star:
    """`*value` in a call or a display."""

    value: Value


@dataclass(frozen=True, slots=True)
class DoubleStar:
    """`**value` in a call."""

    value: Value


@dataclass(frozen=True, slots=True)
class SliceValue:
    """A slice. Its bounds matter for tuples and lists alone; None where nobody wrote one."""

    lower: Value | None = None
    upper: Value | None = None
    step: Value | None = None


@dataclass(frozen=True, slots=True)
class Super:
    """`super()` in a method of `owner`."""

    owner: ir.Class
    receiver: Value


Value: TypeAlias = (
    Term
    | Tensor
    | Device
    | Const
    | Tup
    | OneOf
    | Ref
    | Func
    | Cls
    | Ext
    | Sort
    | Bound
    | Partial
    | Star
    | DoubleStar
    | SliceValue
    | Super
)

Args: TypeAlias = list[Value]
Keywords: TypeAlias = dict[str, Value]

NONE, TRUE, FALSE = Const(None), Const(True), Const(False)
NUMBER, SIZE, OTHER = Sort("number"), Sort("size"), Sort("other")
DATA = Sort("data")  # of a test: the truth of a tensor decides it
ARRAY, ARRAY_NUMBER, NUMERIC = Array("array", MANY), Array("array number", 0), Array("array or number", None)
CLOCK = Sort("clock")  # a time: what is computed with it is a number, or raises
ACCELERATOR_NAME = Sort("accelerator")
BATCH_ENCODING = Ext("transformers.BatchEncoding")  # its `to` moves what it holds, and gives itself back
DTYPE = Sort("dtype")
EXPECTED_ERROR = Sort("expected error")  # `with pytest.raises(...)`: what is in it is meant to fail
SLICE = SliceValue()
UNKNOWN_TEXT = Text("text", (UNKNOWN,))
_MOST_PARTS = 8  # of a text
_NO_TEXT = Const("")


def text_of(*parts: Value) -> Value:
    """What a string is that is put together of these; a literal where all of them are."""
    flat: list[Value] = []
    for part in parts:
        for one in part.parts if isinstance(part, Text) else (part,):
            if one == _NO_TEXT:
                continue
            if isinstance(one, Const) and flat and isinstance(flat[-1], Const):
                flat[-1] = Const(f"{flat[-1].value}{one.value}")
            else:
                flat.append(Const(str(one.value)) if isinstance(one, Const) else one)
    if not flat:
        return _NO_TEXT
    if len(flat) > _MOST_PARTS:
        flat = [UNKNOWN, *flat[1 - _MOST_PARTS :]]  # its end tells a file's name
    whole = Text("text", tuple(flat))
    if len(flat) == 1 and isinstance(flat[0], Const):
        return flat[0]
    return UNKNOWN_TEXT if depth_of(whole) > MOST_DEPTH else whole


_TYPE = " type"


def type_of(place: Place) -> Text:
    """`x.type()`: the text "torch.cuda.FloatTensor" names the device of `x` as well."""
    return Text("text", (Device(place), Const(_TYPE)))


def typed_at(value: Value) -> Device | None:
    """The device that such a text names; None for any other value."""
    is_type = isinstance(value, Text) and len(value.parts) == 2 and value.parts[1] == Const(_TYPE)
    first = value.parts[0] if isinstance(value, Text) and is_type else None
    return first if isinstance(first, Device) else None


def asked_for_type(value: Value) -> Term | None:
    """What only a caller knows, and of which `x.type()` was asked."""
    method = value.args[0] if isinstance(value, Term) and value.op == "call" and not value.args[1] else None
    is_type = isinstance(method, Term) and method.op == "attribute" and method.args[1] == "type"
    of = method.args[0] if isinstance(method, Term) and is_type else None
    return of if isinstance(of, Term) else None


NOTHING = OneOf(())
"""No value at all: the element of an empty list."""
NO_GUARDS: frozenset[Guard] = frozenset()


KEPT_AS = ".@kind"
"""The field that says what a container is that is kept as a list: a set, or a deque."""


class Rec:
    """What a heap object holds. Treated as immutable.

    `kind`: "list", "dict", "object", "module", "frame", "generator", "manager" (infer/managers.py), or "overlay" (an object from outside: only what was written).
    Fields: `.name` attributes, `("k", key)` items of a constant key, `*` the other items, `@device` where a module is. Which items may be lacking
    infer/presence.py tells.
    """

    __slots__ = ("cls", "fields", "kind")

    def __init__(self, kind: str, cls: Value | None = None, fields: dict[Any, Any] | None = None) -> None:
        self.kind, self.cls = kind, cls
        self.fields: dict[Any, Any] = fields if fields is not None else {}

    @property
    def is_named_tuple(self) -> bool:
        """True for an object of a class that `collections.namedtuple` has made."""
        return self.kind == "object" and self.cls is None and ("k", 0) in self.fields

    @property
    def items(self) -> dict[Any, Value]:
        """The items of a container, by their fields."""
        return {key: one for key, one in self.fields.items() if isinstance(key, tuple) or key == "*"}

    @property
    def attributes(self) -> dict[str, Value]:
        """The attributes, by their names."""
        return {key[1:]: one for key, one in self.fields.items() if isinstance(key, str) and key.startswith(".")}

    def at(self, key: Any, otherwise: Value = UNKNOWN) -> Value:
        """What a field holds."""
        found: Value = self.fields.get(key, otherwise)
        return found

    def put(self, key: Any, value: Any) -> Rec:
        """The same with one field set."""
        return Rec(self.kind, self.cls, {**self.fields, key: value})

    def without(self, key: Any) -> Rec:
        """The same with one field less."""
        return Rec(self.kind, self.cls, {name: one for name, one in self.fields.items() if name != key})


def literal(op: ir.Constant) -> Value:
    """The value of a literal; NaN equals nothing and is just a number."""
    return Const(op.value) if op.value == op.value else NUMBER


MEMBER = "member"
"""The tag of an object that is a member of an `Enum`."""


ANY_PART = "@any"
"""What stands in a key for a part that nobody knows, beside one that is known: `(length, x.device)`."""


def as_key(value: Value, *, is_final: bool = False) -> Value:
    """What a value is as the key of a dict: classes, functions, members of an `Enum`, devices and tuples of these are told apart as constants are.

    `is_final`: nobody will say more of a device that is known by what is there.
    """
    if isinstance(value, Ext):
        return Const((Ext, value.name))
    if isinstance(value, Device):
        is_open = isinstance(value.place, Term) and not is_final
        return value if is_open or value.place == NOWHERE else Const((Device, value.place))
    if is_final and isinstance(value, Term) and value.op == "attribute" and value.args[1] == "device":
        return Const((Device, value))  # of something of which no more is known
    if isinstance(value, (Cls, Func)):
        return Const((type(value), value.cls if isinstance(value, Cls) else value.body))
    if isinstance(value, Ref):
        place = value.place
        while isinstance(place, tuple) and place[0] == "at":
            place = place[2]
        tag = place[1] if isinstance(place, tuple) and len(place) == 3 else None
        return Const(tag) if isinstance(tag, tuple) and tag[:1] == (MEMBER,) else value
    if not isinstance(value, Tup):
        return value
    keys = [as_key(one, is_final=is_final) for one in value.items]
    parts = tuple(one.value if isinstance(one, Const) else ANY_PART for one in keys)
    is_device = any(isinstance(one, Const) and is_key_of(Device, one.value) for one in keys)
    return Const(parts) if ANY_PART not in parts or (is_device and (is_final or not waits(value))) else value


def is_key_of(kind: type, key: object) -> bool:
    """True for what `as_key` makes of a value of this type."""
    return isinstance(key, tuple) and key[:1] == (kind,)


def is_partial(key: object) -> bool:
    """True for a key of which a part is not known, so that it stands for several."""
    return isinstance(key, tuple) and ANY_PART in key


def holds_partial(rec: Rec) -> bool:
    """True for a dict with such a key."""
    return any(isinstance(field, tuple) and is_partial(field[1]) for field in rec.fields)


def may_be_same(key: object, other: object) -> bool:
    """True for keys that agree in all parts that are known of both."""
    if not (is_partial(key) or is_partial(other)):
        return key == other
    if not isinstance(key, tuple) or not isinstance(other, tuple) or len(key) != len(other):
        return False
    return all(ANY_PART in (one, two) or one == two for one, two in zip(key, other, strict=True))


def is_member(value: Value) -> bool:
    """True for a member of an `Enum`."""
    return isinstance(value, Ref) and isinstance(as_key(value), Const)


def of_key(key: Any) -> Value:
    """What a loop over a dict gives for a key that `as_key` has made a constant of."""
    if not isinstance(key, tuple):
        return OTHER if key == ANY_PART else Const(key)
    if key and isinstance(key[0], type):
        return Ext(key[1]) if key[0] is Ext else Device(key[1]) if key[0] is Device else OTHER
    return OTHER if key[:1] == (MEMBER,) else Tup(tuple(map(of_key, key)))


def depth_of(value: Any) -> int:
    """How deep the terms in a value nest."""
    if type(value) is Term:
        return value.depth
    inside = _TERMS_IN.get(type(value))
    return max(map(depth_of, inside(value)), default=0) if inside is not None else 0


# The values that a value consists of, by its type.
_PARTS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Tup: lambda value: value.items,
    Text: lambda value: value.parts,
    OneOf: lambda value: alternatives(value),
    Star: lambda value: (value.value,),
    DoubleStar: lambda value: (value.value,),
    Bound: lambda value: (value.object,),
    Func: lambda value: (value.frame, value.receiver, *(one for _, one in value.defaults)),
    Partial: lambda value: (value.function, *value.args, *(one for _, one in value.keywords)),
}
# What of a value may hold terms. The defaults of a function are none of its own.
_TERMS_IN: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    **_PARTS,
    tuple: lambda value: value,
    Tensor: lambda value: (value.device, value.like),
    Device: lambda value: (value.place,),
    Array: lambda value: (value.of,),
    Func: lambda value: (value.frame, value.receiver),
}
_LIVES_IN_HEAP = frozenset({Ref, Func, Cls, Partial, Super})


def waits(value: Any) -> bool:
    """True for a value that may be another one for some caller: what is computed from a parameter, and what lives in the heap."""
    kind = type(value)
    if kind is Term:
        return bool(value.waits)
    if kind in _LIVES_IN_HEAP:
        return True
    inside = _TERMS_IN.get(kind)
    if inside is None:
        return False
    is_asked = kind is OneOf and any(term.waits for guards, _ in value.options for term, _ in guards)
    return is_asked or any(map(waits, inside(value)))


def parts_of(value: object) -> tuple[Any, ...]:
    """The values that a value consists of."""
    inside = _PARTS.get(type(value))
    return inside(value) if inside is not None else ()


def terms_in(value: object) -> Iterator[Term]:
    """The terms in a value, whatever it is made of."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, Term):
            yield one
            pending += one.args
        elif isinstance(one, tuple):
            pending += one
        else:
            pending += parts_of(one)


def alternatives(value: Value) -> tuple[Value, ...]:
    """What a value may be, one by one."""
    return tuple([option for _, option in value.options]) if type(value) is OneOf else (value,)


def options_of(value: Value) -> tuple[tuple[frozenset[Guard], Value], ...]:
    """What a value may be, and under which guards."""
    return value.options if type(value) is OneOf else ((NO_GUARDS, value),)


def places_of(place: Place) -> tuple[tuple[frozenset[Guard], Place], ...]:
    """Where something may be, and under which guards."""
    if not isinstance(place, Term) or place.op != EITHER:
        return ((NO_GUARDS, place),)
    return tuple((guards, one.place) for guards, one in options_of(place.args[0]) if isinstance(one, Device))


def device_at(place: Place) -> Value:
    """The `torch.device` of a place."""
    return place.args[0] if isinstance(place, Term) and place.op == EITHER else Device(place)


def place_in(device: Value) -> Place | None:
    """The place that a `torch.device`, or one of several under conditions, names; None for anything else."""
    if isinstance(device, Device):
        return device.place
    if isinstance(device, OneOf) and all(isinstance(one, Device) for _, one in device.options):
        return Term(EITHER, device)
    return None


def varies(value: object) -> bool:
    """True for what may be another value in each turn of a loop."""
    if isinstance(value, Term):
        return value.op in ("element", "unknown", "turn") or DATA in value.args or any(map(varies, value.args))
    return isinstance(value, tuple) and any(map(varies, value))


def array(rank: int | None, of: Term | None = None) -> Array:
    """An array of so many dimensions, or of at least so many until a caller tells more."""
    if of is not None and of.waits and (rank is None or rank < 0):
        return Array("array or number" if rank is None else "array", rank, of)
    return ARRAY_NUMBER if rank == 0 else NUMERIC if rank is None else Array("array", rank)


def is_array(value: Value) -> TypeGuard[Array]:
    """True for what is an array and no number."""
    return isinstance(value, Array) and value.rank not in (0, None)


def is_open(value: Value) -> TypeGuard[Term]:
    """True for a term that a caller may still decide."""
    return isinstance(value, Term) and value is not UNKNOWN


def _said_of(value: object) -> str:
    """What names a device, in words: an argument, a part of one, or an option of the program."""
    names: list[str] = []
    while isinstance(value, Term) and value.op == "attribute":
        names.insert(0, value.args[1])
        value = value.args[0]
    if isinstance(value, Term) and value.op == "parameter":
        return f"`{'.'.join([value.args[1], *names])}`"
    if not names or not isinstance(value, Term) or value.op != "call":
        return ""
    from torchdevlint.infer.paths import is_of_options

    if is_of_options(value) and value.args[0].name.startswith(("accelerate.", "lightning.")):
        return "the device that the launcher chose"
    if is_of_options(value):
        return f"the device of option `{names[-1]}`"
    return f"the device of `{names[-2]}`" if len(names) > 1 and names[-1] == "device" else ""


def said(place: Place, name: str = "") -> str:
    """A place in words."""
    place = as_chosen(place)
    if isinstance(place, Term):
        if place.op == "near":
            return said(place.args[0], name)
        if place.op == "own":
            what = place.args[0]
            if what == "self":
                return "the module's device"
            if isinstance(what, Term) and what.op == "parameter":
                return f"the device of `{what.args[1]}`"
            return f"the device of `{name}`" if name else "the device of its input"
        given = place.args[0] if place.op == "as_device" else None
        return _said_of(given) or "the device that it was given"
    kind, _, index = place.partition(":")
    words = {ACCELERATOR: "an accelerator", CHOSEN: "the device that the program chose", HOST: "the CPU"}
    return f"accelerator {index}" if index.isdigit() else words.get(kind, kind)
