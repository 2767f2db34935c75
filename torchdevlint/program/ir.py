"""The Program: what a file says, as small operations in control-flow graphs.

A front end (`from_libcst`) lowers syntax to these classes in one pass. Everything behind it (inference, rules) reads operations
and never a syntax node; `node` is kept for edits and positions alone and may be `None`.

Values inside a body are registers: small integers, numbered per body, each written by one operation. Names are not registers:
`Store` binds a name to a register's value and `Load` reads the name, so the inference decides what a name holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Register = int


@dataclass(slots=True, eq=False)
class Op:
    """One operation. `node` is the syntax node it was lowered from (for edits only)."""

    node: Any


@dataclass(slots=True, eq=False)
class ValueOp(Op):
    """An operation that writes register `dst`."""

    dst: Register


# ---------------------------------------------------------------------------------------------------- values


@dataclass(slots=True, eq=False)
class Constant(ValueOp):
    """A literal: str, bytes, int, float, complex, bool, None or Ellipsis (implicitly joined strings are one)."""

    value: Any


@dataclass(slots=True, eq=False)
class Load(ValueOp):
    """Reads a name. Names bound by a comprehension are spelled `name@N`, N counting comprehensions in the body."""

    name: str


@dataclass(slots=True, eq=False)
class Attribute(ValueOp):
    """`object.name` as a value."""

    object: Register
    name: str


class Argument(NamedTuple):
    """One argument of a call, in source order. `star` is "" for plain and keyword arguments, "*" or "**" for splats."""

    value: Register
    keyword: str | None = None
    star: Literal["", "*", "**"] = ""


@dataclass(slots=True, eq=False)
class Call(ValueOp):
    """`function(arguments)`; the callee is the register `function` (usually an Attribute or a Load)."""

    function: Register
    arguments: tuple[Argument, ...]

    def positional(self, index: int) -> Register | None:
        """The register of positional argument `index`, or None when it is absent or hidden behind a `*` splat."""
        seen = 0
        for argument in self.arguments:
            if argument.star == "*":
                return None
            if argument.keyword is None and not argument.star:
                if seen == index:
                    return argument.value
                seen += 1
        return None

    def keyword(self, name: str) -> Register | None:
        """The register of keyword argument `name`, or None."""
        for argument in self.arguments:
            if argument.keyword == name:
                return argument.value
        return None

    def argument(self, name: str, position: int | None = None) -> Register | None:
        """The register given for a parameter by keyword or, when `position` is named, by position."""
        found = self.keyword(name)
        if found is None and position is not None:
            found = self.positional(position)
        return found

    @property
    def has_splat(self) -> bool:
        """True when `*args` or `**kwargs` may carry arguments that are not seen here."""
        return any(argument.star for argument in self.arguments)

    @property
    def positional_count(self) -> int:
        """How many plain positional arguments are written."""
        return sum(1 for argument in self.arguments if argument.keyword is None and not argument.star)


@dataclass(slots=True, eq=False)
class Binary(ValueOp):
    """`left operator right`; the operator as written ("+", "@", "//", ...)."""

    operator: str
    left: Register
    right: Register


@dataclass(slots=True, eq=False)
class Unary(ValueOp):
    """`operator operand`; operator is "not", "-", "+" or "~"."""

    operator: str
    operand: Register


@dataclass(slots=True, eq=False)
class Compare(ValueOp):
    """`left op a op b ...`; operators as written ("==", "is not", "not in", ...)."""

    left: Register
    operators: tuple[str, ...]
    comparators: tuple[Register, ...]


@dataclass(slots=True, eq=False)
class Choice(ValueOp):
    """One of several registers, by the path taken: the value of `a if c else b`, `a and b`, `a or b`.

    The operands are evaluated in blocks of their own, so that conditions refine them. `shape` tells which form it was;
    `test` is the condition's register of a conditional expression.
    """

    shape: Literal["if", "and", "or"]
    values: tuple[Register, ...]
    test: Register | None = None


@dataclass(slots=True, eq=False)
class Subscript(ValueOp):
    """`object[index]`; several indices are a `Sequence` of shape "tuple", a slice is a `Slice`."""

    object: Register
    index: Register


@dataclass(slots=True, eq=False)
class Slice(ValueOp):
    """`lower:upper:step` inside a subscript."""

    lower: Register | None
    upper: Register | None
    step: Register | None


class Element(NamedTuple):
    """One element of a display; `starred` for `*value`."""

    value: Register
    starred: bool = False


@dataclass(slots=True, eq=False)
class Sequence(ValueOp):
    """A tuple, list or set display."""

    shape: Literal["tuple", "list", "set"]
    elements: tuple[Element, ...]


@dataclass(slots=True, eq=False)
class Mapping(ValueOp):
    """A dict display; a key of None is a `**value` splat."""

    keys: tuple[Register | None, ...]
    values: tuple[Register, ...]


@dataclass(slots=True, eq=False)
class FormattedString(ValueOp):
    """An f-string or t-string; `parts` are the registers of its expressions, `prefix` the literal text before the first of them.

    `texts` are the literal texts behind each of them.
    """

    prefix: str
    parts: tuple[Register, ...]
    texts: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Comprehension(ValueOp):
    """The result of a comprehension, written after the loop blocks that evaluate it. `key` only for dict comprehensions.

    `turn` is the register of the element that it goes over, where it has one `for` and no `if`.
    """

    shape: Literal["list", "set", "generator", "dict"]
    key: Register | None
    value: Register
    turn: Register | None = None


@dataclass(slots=True, eq=False)
class MakeFunction(ValueOp):
    """A function object (`def`, followed by a `Store`, or `lambda`); default values are registers of this body."""

    function: Body


@dataclass(slots=True, eq=False)
class MakeClass(ValueOp):
    """A class object, followed by a `Store`."""

    cls: Class


@dataclass(slots=True, eq=False)
class Import(ValueOp):
    """An imported thing by its dotted name ("torch", "torch.nn.functional", ".models.Net" when relative).

    `import a.b` binds "a"; `import a.b as c` binds "a.b". A star import binds no name: `name` is "*" and `qualified` the module.
    """

    qualified: str
    name: str


@dataclass(slots=True, eq=False)
class Unpack(ValueOp):
    """Element `index` of a destructured value with `count` targets; behind a starred target the index is negative."""

    source: Register
    index: int
    count: int
    starred: bool = False


@dataclass(slots=True, eq=False)
class Iterate(ValueOp):
    """The next element of an iterable (`for`, comprehensions). `is_alone`: of a comprehension with one `for` and no `if`."""

    iterable: Register
    is_async: bool = False
    is_alone: bool = False
    is_of_statement: bool = True


@dataclass(slots=True, eq=False)
class Enter(ValueOp):
    """The value that a `with` item binds; `manager` is the context manager."""

    manager: Register


@dataclass(slots=True, eq=False)
class Await(ValueOp):
    """`await value`."""

    value: Register


@dataclass(slots=True, eq=False)
class Yield(ValueOp):
    """`yield value` or `yield from value`; `dst` is what is sent in."""

    value: Register | None
    delegates: bool = False


@dataclass(slots=True, eq=False)
class AugmentedAssign(ValueOp):
    """`target operator= value` (operator without the "="); a Store of `dst` to the same place follows."""

    operator: str
    target: Register
    value: Register


@dataclass(slots=True, eq=False)
class Opaque(ValueOp):
    """A value that nothing is known of (pattern captures, syntax newer than this program).

    A capture of `match` has the subject as its operand and a `path` of steps to the part that it captures: ("item", index), ("rest", first,
    how many follow), ("key", register), ("others", registers of keys) of a mapping, ("attribute", name), ("position", index) of a class pattern.
    """

    operands: tuple[Register, ...] = ()
    path: tuple[tuple[str | int, ...], ...] | None = None


@dataclass(slots=True, eq=False)
class Matches(ValueOp):
    """Whether a subject of `match` fits a pattern: all of the tests hold.

    A test has its kind, the path to a part of the subject (see `Opaque`), and what it asks: ("equal", path, register), ("class", path,
    register), ("mapping", path), ("key", path, register), ("sized", path, count, whether there may be more), ("any", path, tests, tests, ...).
    """

    subject: Register
    tests: tuple[tuple[Any, ...], ...]


# ---------------------------------------------------------------------------------------------------- effects


class Annotation(NamedTuple):
    """A parsed annotation: `Optional[torch.Tensor]` is Annotation("Optional", (Annotation("torch.Tensor"),)).

    `name` is the dotted name as written; `X | Y` has the name "|"; a list (as in Callable[[A], B]) has the name "[]"; anything else "?".
    """

    name: str
    arguments: tuple[Annotation, ...] = ()


@dataclass(slots=True, eq=False)
class Store(Op):
    """Binds a name. `annotation` is that of `name: T = value`."""

    name: str
    value: Register
    annotation: Annotation | None = None


@dataclass(slots=True, eq=False)
class Declare(Op):
    """`name: T` without a value."""

    name: str
    annotation: Annotation


@dataclass(slots=True, eq=False)
class StoreAttribute(Op):
    """`object.name = value`."""

    object: Register
    name: str
    value: Register
    annotation: Annotation | None = None


@dataclass(slots=True, eq=False)
class StoreSubscript(Op):
    """`object[index] = value`."""

    object: Register
    index: Register
    value: Register


@dataclass(slots=True, eq=False)
class Delete(Op):
    """`del name`."""

    name: str


@dataclass(slots=True, eq=False)
class DeleteAttribute(Op):
    """`del object.name`."""

    object: Register
    name: str


@dataclass(slots=True, eq=False)
class DeleteSubscript(Op):
    """`del object[index]`."""

    object: Register
    index: Register


@dataclass(slots=True, eq=False)
class Exit(Op):
    """Control falls out of the end of a `with` statement: its managers, the last one first, are left."""

    managers: tuple[Register, ...]


@dataclass(slots=True, eq=False)
class Discard(Op):
    """An expression statement: its value is thrown away."""

    value: Register


@dataclass(slots=True, eq=False)
class Return(Op):
    """`return value`; ends its block."""

    value: Register | None


@dataclass(slots=True, eq=False)
class Raise(Op):
    """`raise value from cause`; ends its block."""

    value: Register | None
    cause: Register | None = None


# ---------------------------------------------------------------------------------------------------- graph


class TryContext(NamedTuple):
    """One enclosing `try` of a block: which part of it the block is in, and the dotted names that its handlers catch.

    In part "handler", `catches` are the names of that handler alone. A bare `except` catches "BaseException".
    """

    identity: int
    part: Literal["body", "handler", "else", "finally"]
    catches: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Block:
    """Operations that run one after the other.

    `successors` are block indices. When `test` is a register, the block ends in a branch: successors are exactly (true, false).
    Otherwise several successors are ways of which nothing is known: a loop's turn or its end, a pattern that matches or not, an
    exception that a handler catches. A block that nothing leads to (but block 0) cannot be reached.
    `loops` are the identities of enclosing loops (header block indices), `withs` the registers of enclosing `with` managers,
    outermost first.
    """

    index: int
    ops: list[Op] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)
    test: Register | None = None
    loops: tuple[int, ...] = ()
    withs: tuple[Register, ...] = ()
    tries: tuple[TryContext, ...] = ()


def _last_name(dotted: str) -> str:
    return dotted.rpartition(".")[2]


class Parameter(NamedTuple):
    """A parameter; `default` is a register of the body that the function is made in."""

    name: str
    kind: Literal["positional-only", "positional", "*", "keyword-only", "**"]
    default: Register | None = None
    annotation: Annotation | None = None


@dataclass(slots=True, eq=False)
class Body:
    """A module, function, lambda or class body with its control-flow graph; block 0 is the entry."""

    kind: Literal["module", "function", "lambda", "class"]
    name: str
    qualname: str
    node: Any
    parent: Body | None
    owner: Class | None = None  # the class that a method is defined in, or that a class body belongs to
    parameters: tuple[Parameter, ...] = ()
    returns: Annotation | None = None
    decorators: tuple[str, ...] = ()  # dotted names; "?" for anything else, the callee's name for `@f(...)`
    decorator_registers: tuple[Register, ...] = ()  # in the parent body
    is_async: bool = False
    is_generator: bool = False
    blocks: list[Block] = field(default_factory=list)
    register_count: int = 0
    local_names: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    functions: list[Body] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    cfg: Any = field(default=None, repr=False)  # see torchdevlint.program.cfg, which makes it when somebody asks
    lookup: Any = field(default=None, repr=False)  # see torchdevlint.program.lookup, likewise
    index: Any = field(default=None, repr=False)  # see torchdevlint.facts.index, likewise

    @property
    def is_static(self) -> bool:
        """True for a static method."""
        return "staticmethod" in map(_last_name, self.decorators)

    @property
    def is_class_method(self) -> bool:
        """True for a method that is given its class."""
        return "classmethod" in map(_last_name, self.decorators)

    @property
    def is_cached(self) -> bool:
        """True for a function that gives the same object whenever it is given the same arguments."""
        return any(_last_name(name) in ("cache", "lru_cache") for name in self.decorators)

    @property
    def needs_no_object(self) -> bool:
        """True for a static method and a class method."""
        return self.is_static or self.is_class_method

    @property
    def is_bound(self) -> bool:
        """True for a method whose first parameter no call gives: it is the object, or the class."""
        return self.owner is not None and not self.is_static


@dataclass(slots=True, eq=False)
class Class:
    """A class statement. `bases` are dotted names as written ("?" for other expressions; `Base[T]` is "Base")."""

    name: str
    qualname: str
    node: Any
    bases: tuple[str, ...]
    base_registers: tuple[Register, ...]  # in the parent body
    body: Body
    parent: Body
    methods: dict[str, Body] = field(default_factory=dict)
    keywords: tuple[tuple[str, Register], ...] = ()  # likewise: its metaclass, and what `__init_subclass__` is given


class Row(NamedTuple):
    """The first and last row of a statement, from 1, with its decorators; `inner` those of the statements of a class."""

    first: int
    last: int
    inner: tuple[Row, ...] = ()


@dataclass(slots=True, eq=False)
class Program:
    """A whole file. `bodies` holds every body, outer before inner; `words` every identifier and attribute name that occurs in it."""

    module: Body
    bodies: list[Body]
    classes: list[Class]
    imported: frozenset[str]  # dotted names of imported modules and from-imported things ("torch.nn", "triton", ".ops")
    words: frozenset[str]
    node: Any = None
    rows: tuple[Row, ...] = ()  # of the statements of the module, where the front end knows them
    revision: int = 0  # counts the texts that it stood for (see torchdevlint.program.revision), and the stubs that it was asked about with
    stubs: Any = field(default=None, repr=False)  # those of the last question
    kept: Any = field(default=None, repr=False)  # see torchdevlint.infer.kept, for the document that an editor shows


def forget_nodes(program: Program) -> None:
    """Let go of the syntax tree: a Program is cyclic, and the tree, by far the larger part, need not wait for the garbage collector."""
    program.node = None
    for cls in program.classes:
        cls.node = None
    for body in program.bodies:
        body.node = None
        for block in body.blocks:
            for op in block.ops:
                op.node = None


def adopt_nodes(program: Program, other: Program) -> bool:
    """Takes over the nodes of a Program that another front end made of the same text; False, and nothing done, when they are not alike."""
    if not _are_alike(program, other):
        return False
    program.node = other.node
    for cls, other_cls in zip(program.classes, other.classes, strict=True):
        cls.node = other_cls.node
    for body, other_body in zip(program.bodies, other.bodies, strict=True):
        body.node = other_body.node
        for block, other_block in zip(body.blocks, other_body.blocks, strict=True):
            for op, other_op in zip(block.ops, other_block.ops, strict=True):
                op.node = other_op.node
    return True


def _are_alike(program: Program, other: Program) -> bool:
    """Whether two Programs have the same bodies, with the same blocks of the same kinds of operations on the same registers."""
    if len(program.classes) != len(other.classes) or len(program.bodies) != len(other.bodies):
        return False
    for body, other_body in zip(program.bodies, other.bodies, strict=True):
        if len(body.blocks) != len(other_body.blocks):
            return False
        for block, other_block in zip(body.blocks, other_body.blocks, strict=True):
            if list(map(_kind, block.ops)) != list(map(_kind, other_block.ops)):
                return False
    return True


def _kind(op: Op) -> tuple[type[Op], Register | None]:
    return type(op), getattr(op, "dst", None)
