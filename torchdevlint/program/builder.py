"""Builds the bodies and graphs of a Program, whatever the syntax that is lowered.

A `ProgramBuilder` holds what belongs to the file, a `BodyBuilder` the state of one body while it is lowered: the block that is
being written, the loops, `with` statements and `try` statements around it, and the ways out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from torchdevlint.program.ir import (
    Block,
    Body,
    Class,
    Import,
    MakeClass,
    MakeFunction,
    Matches,
    Op,
    Opaque,
    Program,
    Register,
    Store,
    TryContext,
    ValueOp,
)
from torchdevlint.program.ir import Exit as ExitWith

Exit = Literal["break", "continue", "return"]


@dataclass(slots=True, eq=False)
class LoopExit:
    """Where `break` and `continue` of a loop lead; `withs` is how many managers are open around it."""

    header: Block
    after: Block
    withs: int


@dataclass(slots=True, eq=False)
class FinallyExit:
    """A `finally` that every way out passes; `exits` are those that were taken and go on behind it, `withs` as for a loop."""

    entry: Block
    withs: int
    exits: set[Exit] = field(default_factory=set)


class ProgramBuilder:
    """What a front end collects over a whole file."""

    __slots__ = ("bodies", "classes", "imported", "module", "pending", "words")

    def __init__(self, node: Any) -> None:
        self.bodies: list[Body] = []
        self.classes: list[Class] = []
        self.imported: set[str] = set()
        self.words: set[str] = set()
        self.pending: list[BodyBuilder] = []
        self.module = BodyBuilder(self, Body("module", "<module>", "<module>", node, None))

    def finish(self, handlers: Mapping[type[Any], Callable[[BodyBuilder, Any], None]]) -> Program:
        """The Program, once the module's body was lowered; `handlers` lower the bodies of functions, by the type of their node."""
        self.module.finish()
        for builder in self.pending:  # grows while it is walked
            node = builder.body.node
            handlers[type(node)](builder, node)
            builder.finish()
        module = self.module.body
        return Program(
            module, self.bodies, self.classes, frozenset(self.imported), frozenset(self.words), node=module.node
        )


def property_role(name: str, decorators: Sequence[str]) -> str:
    """ "setter" or "deleter" for a function that `@name.setter` or `@Base.name.deleter` makes a part of a property, "" for any other."""
    roles = ("setter", "deleter")
    return next((role for role in roles if any(f".{one}".endswith(f".{name}.{role}") for one in decorators)), "")


def _private_prefix(body: Body | None) -> str:
    """What Python writes in front of private names in a body: an underscore and the name of the class around it; "" where there is none."""
    while body is not None and body.kind != "class":
        body = body.parent
    name = body.name.lstrip("_") if body is not None else ""
    return f"_{name}" if name else ""


class BodyBuilder:
    """One body while it is lowered."""

    __slots__ = (
        "block",
        "body",
        "comprehensions",
        "exits",
        "live",
        "loops",
        "ops",
        "private",
        "program",
        "reached",
        "registers",
        "renames",
        "tries",
        "try_count",
        "withs",
        "words",
    )

    def __init__(self, program: ProgramBuilder, body: Body) -> None:
        self.program = program
        self.words = program.words
        self.body = body
        self.private = _private_prefix(body)
        self.registers: Register = 0
        self.loops: tuple[int, ...] = ()
        self.withs: tuple[Register, ...] = ()
        self.tries: tuple[TryContext, ...] = ()
        self.exits: list[LoopExit | FinallyExit] = []
        self.reached: set[int] = {0}
        self.renames: dict[str, str] = {}
        self.comprehensions = 0
        self.try_count = 0
        self.live = True
        self.block = self.new_block()
        self.ops: list[Op] = self.block.ops
        program.bodies.append(body)

    def mangled(self, name: str) -> str:
        """An attribute's name as it is kept: `self.__x` in a class `Net` is `self._Net__x` (Python's language reference, 6.2.1)."""
        is_private = name[:2] == "__" and self.private and name[-2:] != "__"
        return f"{self.private}{name}" if is_private else name

    def finish(self) -> None:
        """Closes the body: how many registers it has and which of its names are its own."""
        body = self.body
        body.register_count = self.registers
        body.local_names -= body.global_names
        body.local_names -= body.nonlocal_names

    # ------------------------------------------------------------------------------------------------ operations

    def register(self) -> Register:
        """The register of the next operation that makes a value."""
        found = self.registers
        self.registers = found + 1
        return found

    def add(self, op: ValueOp) -> Register:
        """Adds an operation; the register that it makes."""
        self.ops.append(op)
        return op.dst

    def opaque(self, node: Any, *operands: Register) -> Register:
        """A value that nothing is known of; also what an expression newer than this program becomes."""
        return self.add(Opaque(node, self.register(), operands))

    def capture(self, node: Any, subject: Register, path: tuple[tuple[str | int, ...], ...]) -> Register:
        """What a pattern captures of a subject."""
        return self.add(Opaque(node, self.register(), (subject,), path))

    def matches(self, node: Any, subject: Register, tests: Sequence[tuple[Any, ...]]) -> Register:
        """Whether a subject fits a pattern."""
        return self.add(Matches(node, self.register(), subject, tuple(tests)))

    def bind(self, node: Any, name: str, value: Register) -> None:
        """Binds a name that no comprehension renames."""
        self.words.add(name)
        self.body.local_names.add(name)
        self.ops.append(Store(node, name, value))

    def import_(self, node: Any, qualified: str, target: Any, name: str) -> None:
        """Binds `name`, which the node `target` spells, to what `qualified` names."""
        dst = self.add(Import(node, self.register(), qualified, name))
        self.bind(target, name, dst)

    def make_function(self, node: Any, inner: BodyBuilder) -> Register:
        """The function object of the body that `inner` lowers."""
        return self.add(MakeFunction(node, self.register(), inner.body))

    def make_class(self, node: Any, inner: BodyBuilder) -> Register:
        """The class object of the body that `inner` has lowered."""
        inner.finish()
        assert inner.body.owner is not None
        return self.add(MakeClass(node, self.register(), inner.body.owner))

    # ------------------------------------------------------------------------------------------------ bodies

    def qualified(self, name: str) -> str:
        """The `__qualname__` of a function or class called `name` that is made in this body."""
        body = self.body
        if body.kind == "module":
            return name
        return f"{body.qualname}.{name}" if body.kind == "class" else f"{body.qualname}.<locals>.{name}"

    def function(self, kind: Literal["function", "lambda"], name: str, node: Any, role: str = "") -> BodyBuilder:
        """A function made here; its body is lowered later, when all names of the outer bodies are known.

        `role` is "setter" or "deleter" for a part of a property, which leaves the getter under the property's name.
        """
        body = self.body
        made = Body(kind, name, self.qualified(name), node, body)
        body.functions.append(made)
        if kind == "function" and body.kind == "class":
            assert body.owner is not None
            made.owner = body.owner
            body.owner.methods[name if role == "" else f"{name}.{role}"] = made
        builder = BodyBuilder(self.program, made)
        if self.renames:
            # A lambda in a comprehension sees its variables; counting on keeps `name@N` unique between the two bodies.
            builder.renames = dict(self.renames)
            builder.comprehensions = self.comprehensions
        self.program.pending.append(builder)
        return builder

    def class_(
        self,
        name: str,
        node: Any,
        bases: tuple[str, ...],
        registers: tuple[Register, ...],
        keywords: tuple[tuple[str, Register], ...],
    ) -> BodyBuilder:
        """A class made here; its body is lowered at once."""
        qualname = self.qualified(name)
        made = Body("class", name, qualname, node, self.body)
        cls = Class(name, qualname, node, bases, registers, made, self.body)
        made.owner, cls.keywords = cls, keywords
        self.body.classes.append(cls)
        self.program.classes.append(cls)
        return BodyBuilder(self.program, made)

    # ------------------------------------------------------------------------------------------------ graph

    def new_block(self) -> Block:
        """A block in the present surroundings; nothing leads to it yet."""
        blocks = self.body.blocks
        block = Block(len(blocks), [], [], None, self.loops, self.withs, self.tries)
        blocks.append(block)
        return block

    def begin(self, block: Block) -> None:
        """Goes on writing in `block`."""
        self.block = block
        self.ops = block.ops
        self.live = True

    def begin_if_reached(self, block: Block) -> None:
        """Goes on in `block` when something leads to it; else what follows cannot be reached."""
        self.begin(block)
        self.live = block.index in self.reached

    def revive(self) -> None:
        """Starts a block without predecessors for code that cannot be reached."""
        self.begin(self.new_block())

    def edge(self, source: Block, target: Block) -> None:
        """Adds the way from `source` to `target` once."""
        if target.index not in source.successors:
            source.successors.append(target.index)
            self.reached.add(target.index)

    def jump(self, target: Block) -> None:
        """Leads from the present block to `target`, if its end is reached at all."""
        if self.live:
            self.edge(self.block, target)

    def enter(self) -> Block:
        """Starts a new block behind the present one, in the present surroundings."""
        block = self.new_block()
        self.jump(block)
        self.begin(block)
        return block

    def branch(self, test: Register, on_true: Block, on_false: Block) -> None:
        """Ends the present block in a branch on `test`."""
        if self.tries and self.ops:
            # A branching block has exactly two successors, so what may raise stands in a block before it.
            self.enter()
        block = self.block
        block.test = test
        block.successors = [on_true.index, on_false.index]
        self.reached.update(block.successors)

    def join(self, ends: list[Block]) -> None:
        """Goes on where all of `ends` meet."""
        if not ends:
            self.live = False
        elif len(ends) == 1 and self._surroundings_match(ends[0]):
            self.begin(ends[0])
        else:
            block = self.new_block()
            for end in ends:
                self.edge(end, block)
            self.begin(block)

    def _surroundings_match(self, block: Block) -> bool:
        return block.tries == self.tries and block.withs == self.withs and block.loops == self.loops

    # ------------------------------------------------------------------------------------------------ ways out

    def enter_loop(self, after: Block) -> Block:
        """Starts the header of a loop, which belongs to the loop itself; `after` is where `break` leads."""
        self.loops = (*self.loops, len(self.body.blocks))
        header = self.enter()
        self.exits.append(LoopExit(header, after, len(self.withs)))
        return header

    def leave_loop(self) -> None:
        """Ends the surroundings that `enter_loop` made."""
        self.loops = self.loops[:-1]
        self.exits.pop()

    def close(self, kind: Exit) -> None:
        """Leaves the managers that `break`, `continue` or `return` leaves on its way to the innermost `finally`."""
        frames = [frame for frame in self.exits if kind != "return" or isinstance(frame, FinallyExit)]
        managers = self.withs[frames[-1].withs if frames else 0 :]
        if managers:
            self.ops.append(ExitWith(None, managers[::-1]))

    def leave_behind(self, kind: Exit) -> None:
        """What goes on behind a `finally` that it passed, beside control that falls out of it."""
        block, is_live = self.block, self.live
        self.enter()
        self.close(kind)
        self.leave(kind)
        self.begin(block)
        self.live = is_live

    def leave(self, kind: Exit) -> None:
        """Leads out of the present block by `break`, `continue` or `return`, through the innermost `finally` on the way."""
        for frame in reversed(self.exits):
            if isinstance(frame, FinallyExit):
                self.jump(frame.entry)
                frame.exits.add(kind)
                return
            if kind != "return":
                self.jump(frame.header if kind == "continue" else frame.after)
                return

    def raise_into(self, sources: Iterable[Block], target: Block) -> None:
        """Leads from every block that does something to the handler (or `finally`) that catches what it raises."""
        for source in sources:
            if source.ops and source.test is None:
                self.edge(source, target)


class Handlers(dict[type[Any], Callable[[BodyBuilder, Any], Register]]):
    """What lowers each type of expression; an expression newer than this program is opaque."""

    def __missing__(self, kind: type[Any]) -> Callable[[BodyBuilder, Any], Register]:
        return BodyBuilder.opaque
