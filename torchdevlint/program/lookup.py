"""The operations of one body by what they are and by what they name, so that a question about a few of them does not read them all.

A `Lookup` is made once for a body, when it is first asked for; each table is filled when somebody needs it. In every table the operations
stand in the order of the body, block by block. A body must not change once it was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, TypeVar, cast

from torchdevlint.program import ir

_Op = TypeVar("_Op", bound=ir.Op)
_Named = TypeVar("_Named", ir.Load, ir.Store, ir.Attribute, ir.StoreAttribute)
_NONE: tuple[ir.Op, ...] = ()


class Lookup:
    """The operations of one body."""

    def __init__(self, body: ir.Body) -> None:
        self._body = body
        self._by_name: dict[type[ir.Op], dict[str, tuple[Any, ...]]] = {}

    @staticmethod
    def of(body: ir.Body) -> Lookup:
        """The tables of a body, made once and kept with it."""
        found: Lookup | None = body.lookup
        if found is None:
            found = body.lookup = Lookup(body)
        return found

    @cached_property
    def all(self) -> tuple[ir.Op, ...]:
        """Every operation, block by block."""
        return tuple(op for block in self._body.blocks for op in block.ops)

    @cached_property
    def _kinds(self) -> Mapping[type[ir.Op], tuple[ir.Op, ...]]:
        found: dict[type[ir.Op], list[ir.Op]] = {}
        for op in self.all:
            found.setdefault(type(op), []).append(op)
        return {kind: tuple(ops) for kind, ops in found.items()}

    def kind(self, kind: type[_Op]) -> tuple[_Op, ...]:
        """The operations of one class."""
        return cast("tuple[_Op, ...]", self._kinds.get(kind, _NONE))

    def kinds(self, *kinds: type[ir.Op]) -> Iterable[ir.Op]:
        """The operations of several classes, in the order of the body."""
        wanted = frozenset(kinds)
        return (op for op in self.all if type(op) in wanted)

    def _named(self, kind: type[_Named], name: str) -> tuple[_Named, ...]:
        """The operations of a class with a name."""
        if kind not in self._by_name:
            self._by_name[kind] = _by_name(self.kind(kind))
        return self._by_name[kind].get(name, ())

    def loads(self, name: str) -> tuple[ir.Load, ...]:
        """The reads of a name."""
        return self._named(ir.Load, name)

    def stores(self, name: str) -> tuple[ir.Store, ...]:
        """What binds a name."""
        return self._named(ir.Store, name)

    def attribute_stores(self, name: str) -> tuple[ir.StoreAttribute, ...]:
        """What binds an attribute of anything."""
        return self._named(ir.StoreAttribute, name)

    @cached_property
    def _numbers(self) -> Mapping[int, int]:
        return {id(op): number for number, op in enumerate(self.all)}

    def number(self, op: ir.Op) -> int:
        """The place of an operation in the order of the body; that of the end for one of another body."""
        return self._numbers.get(id(op), len(self.all))

    def attributes(self, name: str) -> tuple[ir.Attribute, ...]:
        """The reads of an attribute of anything."""
        return self._named(ir.Attribute, name)

    def has_attribute(self, *names: str) -> bool:
        """True when one of the attributes is read of anything."""
        return any(self.attributes(name) for name in names)

    @cached_property
    def _readers(self) -> Mapping[ir.Register, tuple[ir.Op, ...]]:
        found: dict[ir.Register, list[ir.Op]] = {}
        for op in self.all:
            for register in dict.fromkeys(reads(op)):
                found.setdefault(register, []).append(op)
        return {register: tuple(ops) for register, ops in found.items()}

    def readers(self, register: ir.Register) -> tuple[ir.Op, ...]:
        """The operations that take the value of a register."""
        return self._readers.get(register, _NONE)

    @cached_property
    def _definitions(self) -> Mapping[ir.Register, ir.ValueOp]:
        return {op.dst: op for op in self.all if isinstance(op, ir.ValueOp)}

    def attributes_of(self, register: ir.Register) -> frozenset[str]:
        """The attributes that are read of the very value of a register."""
        return frozenset(
            op.name for op in self.readers(register) if isinstance(op, ir.Attribute) and op.object == register
        )

    def store_of(self, register: ir.Register) -> ir.Store | ir.StoreAttribute | None:
        """The first operation that gives the value of a register a name."""
        stores = (op for op in self.readers(register) if isinstance(op, (ir.Store, ir.StoreAttribute)))
        return next((op for op in stores if op.value == register), None)

    def definition(self, register: ir.Register | None) -> ir.ValueOp | None:
        """The operation that makes a register."""
        return None if register is None else self._definitions.get(register)

    def path(self, register: ir.Register) -> str:
        """The names that an expression is written with ("a.b.c"); "" for anything else."""
        parts: list[str] = []
        op = self._definitions.get(register)
        while isinstance(op, ir.Attribute):
            parts.append(op.name)
            op = self._definitions.get(op.object)
        return ".".join((op.name, *reversed(parts))) if isinstance(op, ir.Load) else ""

    def called(self, call: ir.Call) -> str:
        """The last name of a callee: "hf_hub_download" for `huggingface_hub.hf_hub_download(...)`."""
        written = self.definition(call.function)
        return written.name if isinstance(written, (ir.Load, ir.Attribute)) else ""

    def put_together(self, register: ir.Register | None) -> tuple[str, tuple[ir.Register, ...]] | None:
        """The text in front, and the values behind it, of `f"cuda:{n}"`, `"cuda:%d" % n`, `"cuda:{}".format(n)` and `"cuda:" + str(n)`; else None."""
        op = self.definition(register)
        if isinstance(op, ir.FormattedString):
            return op.prefix, op.parts
        if isinstance(op, ir.Binary) and op.operator in ("%", "+"):
            text = self._literal(op.left)
            given = self.definition(op.right)
            if isinstance(given, ir.Call) and self.called(given) == "str" and len(given.arguments) == 1:
                return None if text is None else (text, (given.arguments[0].value,))
            parts = tuple(one.value for one in given.elements) if isinstance(given, ir.Sequence) else (op.right,)
            return None if text is None else (text.partition("%")[0], parts)
        function = self.definition(op.function) if isinstance(op, ir.Call) else None
        if isinstance(op, ir.Call) and isinstance(function, ir.Attribute) and function.name == "format":
            text = self._literal(function.object)
            return None if text is None else (text.partition("{")[0], tuple(one.value for one in op.arguments))
        return None

    def _literal(self, register: ir.Register) -> str | None:
        made = self.definition(register)
        return made.value if isinstance(made, ir.Constant) and isinstance(made.value, str) else None

    def trail(self, *registers: ir.Register) -> Trail:
        """The operations that take one of the registers, in the order of the body; more registers may be added on the way."""
        return Trail(self, registers)

    @cached_property
    def _turns(self) -> Mapping[int, tuple[ir.Iterate, ...]]:
        found: dict[int, list[ir.Iterate]] = {}
        for block in self._body.blocks:
            for op in block.ops:
                if isinstance(op, ir.Iterate):
                    found.setdefault(block.index, []).append(op)
        return {number: tuple(ops) for number, ops in found.items()}

    def turns(self, block: ir.Block) -> tuple[ir.Iterate, ...]:
        """The turns of loops that begin in a block."""
        return self._turns.get(block.index, ())

    def is_of_turn(self, register: ir.Register) -> bool:
        """True for what is computed from something that each turn of the innermost loop around it sets anew: the loop's variable, a count."""
        if register not in self._of_turns:
            self._of_turns[register] = self._is_of_turn(register)
        return self._of_turns[register]

    @cached_property
    def _of_turns(self) -> dict[ir.Register, bool]:
        return {}

    def _is_of_turn(self, register: ir.Register) -> bool:
        made = self.definition(register)
        block = self.block(made) if made is not None else None
        if block is None or not block.loops:
            return False
        inside = {one.index for one in self._body.blocks if block.loops[-1] in one.loops}
        pending, seen = [register], {register}
        while pending:
            op = self.definition(pending.pop())
            if isinstance(op, ir.Iterate):
                return True
            if isinstance(op, ir.Load):
                stores = (self.block(store) for store in self.stores(op.name))
                if any(one is not None and one.index in inside for one in stores):
                    return True
            new = [one for one in reads(op) if one not in seen] if op is not None else []
            seen.update(new)
            pending += new
        return False

    @cached_property
    def entered(self) -> frozenset[ir.Register]:
        """The context managers of the `with` statements."""
        return frozenset(register for block in self._body.blocks for register in block.withs)

    @cached_property
    def tested(self) -> frozenset[ir.Register]:
        """The registers that blocks branch on."""
        return frozenset(block.test for block in self._body.blocks if block.test is not None)

    @cached_property
    def _blocks(self) -> Mapping[int, ir.Block]:
        return {id(op): block for block in self._body.blocks for op in block.ops}

    def block(self, op: ir.Op) -> ir.Block | None:
        """The block that an operation stands in; None for one of another body."""
        return self._blocks.get(id(op))


class Trail:
    """Follows values through a body: gives the operations that take a register of the trail, in the order of the body.

    Whoever follows it adds the registers that it leads on to. What stands before the present operation is not gone back to.
    """

    def __init__(self, lookup: Lookup, registers: Iterable[ir.Register]) -> None:
        self._lookup = lookup
        self._at = -1
        self._pending: list[int] = []
        self._followed: set[ir.Register] = set()
        for register in registers:
            self.add(register)

    def add(self, register: ir.Register) -> None:
        """Follow a register as well, from the present operation on."""
        if register not in self._followed:
            self._followed.add(register)
            for op in self._lookup.readers(register):
                if (number := self._lookup.number(op)) > self._at:
                    heappush(self._pending, number)

    def __contains__(self, register: ir.Register | None) -> bool:
        return register in self._followed

    def __iter__(self) -> Iterator[ir.Op]:
        while self._pending:
            number = heappop(self._pending)
            if number > self._at:
                self._at = number
                yield self._lookup.all[number]


def _by_name(ops: Iterable[_Named]) -> dict[str, tuple[_Named, ...]]:
    found: dict[str, list[_Named]] = {}
    for op in ops:
        found.setdefault(op.name, []).append(op)
    return {name: tuple(of_name) for name, of_name in found.items()}


# The fields of each class of operation that name one register, and those that name several.
_ONE: dict[type[ir.Op], tuple[str, ...]] = {
    ir.Attribute: ("object",),
    ir.Binary: ("left", "right"),
    ir.Unary: ("operand",),
    ir.Subscript: ("object", "index"),
    ir.Slice: ("lower", "upper", "step"),
    ir.Unpack: ("source",),
    ir.Iterate: ("iterable",),
    ir.Enter: ("manager",),
    ir.Await: ("value",),
    ir.Yield: ("value",),
    ir.AugmentedAssign: ("target", "value"),
    ir.Comprehension: ("key", "value"),
    ir.Store: ("value",),
    ir.StoreAttribute: ("object", "value"),
    ir.StoreSubscript: ("object", "index", "value"),
    ir.DeleteAttribute: ("object",),
    ir.DeleteSubscript: ("object", "index"),
    ir.Discard: ("value",),
    ir.Return: ("value",),
    ir.Raise: ("value", "cause"),
}


def _asked(tests: tuple[tuple[Any, ...], ...]) -> list[ir.Register]:
    """The registers that the tests of a pattern compare with."""
    found: list[ir.Register] = []
    for kind, _, *given in tests:
        if kind != "sized":
            found += [one for several in given for one in _asked(several)] if kind == "any" else given
    return found


def reads(op: ir.Op | None) -> list[ir.Register]:
    """The registers that an operation takes, in the order in which they are written."""
    fields = _ONE.get(type(op)) if op is not None else None
    if fields is not None:
        return [register for field in fields if (register := getattr(op, field)) is not None]
    if isinstance(op, ir.Call):
        return [op.function, *(argument.value for argument in op.arguments)]
    if isinstance(op, ir.Compare):
        return [op.left, *op.comparators]
    if isinstance(op, ir.Choice):
        return [*op.values] if op.test is None else [op.test, *op.values]
    if isinstance(op, ir.Sequence):
        return [element.value for element in op.elements]
    if isinstance(op, ir.Mapping):
        return [register for register in (*op.keys, *op.values) if register is not None]
    if isinstance(op, ir.FormattedString):
        return [*op.parts]
    if isinstance(op, ir.Matches):
        return [op.subject, *_asked(op.tests)]
    if isinstance(op, ir.Opaque):
        return [*op.operands]
    return []
