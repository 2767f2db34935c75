"""One body over its control-flow graph: two passes where it loops, one where not. Claims are taken in the last pass."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.infer import (
    calls,
    claims,
    classes,
    conditions,
    containers,
    devices,
    foreign,
    library,
    modules,
    reading,
    tensors,
)
from torchdevlint.infer.context import Context
from torchdevlint.infer.guards import consistent, each_of
from torchdevlint.infer.joins import MOST_ALTERNATIVES, join, lift, one_of
from torchdevlint.infer.narrowing import Left, narrowed
from torchdevlint.infer.state import (
    CELL,
    MOST_FACTS,
    NO_FACTS,
    Cell,
    Env,
    Facts,
    Heap,
    Moving,
    State,
    join_states,
    moved_in_turn,
    of_turn,
)
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    ACCELERATOR_NAME,
    ALL,
    EXPECTED_ERROR,
    FALSE,
    KEPT_AS,
    NONE,
    NOTHING,
    NUMBER,
    SENT,
    SLICE,
    TRUE,
    UNKNOWN,
    Cls,
    Const,
    Device,
    DoubleStar,
    Ext,
    Func,
    Guard,
    OneOf,
    Partial,
    Place,
    Rec,
    Ref,
    Site,
    SliceValue,
    Star,
    Super,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    as_key,
    is_member,
    literal,
    of_key,
    options_of,
    terms_in,
    text_of,
    varies,
)
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.source import deadline

if TYPE_CHECKING:
    from typing_extensions import Self

_FORMS = {"property": "property", "cached_property": "property", "contextmanager": "contextmanager"}
# What `x.get_device()` is compared with, and whether that holds of a tensor on a GPU: it is -1 on the CPU.
_ON_GPU = {(">", -1): True, (">=", 0): True, ("!=", -1): True, ("<", 0): False, ("==", -1): False, ("<=", -1): False}
_OPPOSITES = {"is not": "is", "not in": "in", "!=": "=="}
_BINDING = frozenset({"classmethod", "staticmethod"})
_SUPER, _LEN, _TYPE = Ext("builtins.super"), Ext("builtins.len"), Ext("builtins.type")
# What `type(value).__name__` is compared with.
_TYPES_BY_NAME = {
    "Tensor": "torch.Tensor",
    "ndarray": "numpy.ndarray",
    **{name: f"builtins.{name}" for name in ("list", "tuple", "dict", "set", "str", "int", "float", "bool")},
}


def _is_made_of(value: Value, container: Term) -> bool:
    """True for what was moved and is part of a container: what takes it back is no tensor, which would copy it to where it is."""
    several = [one for _, one in options_of(value)]
    return all(isinstance(one, Term) and one.op == "moved" and container in terms_in(one.args) for one in several)


def _named_types(names: Value) -> Value | None:
    """The types that a name, or a tuple of names, is of; None for any that is not in the table."""
    several = names.items if isinstance(names, Tup) else (names,)
    found = [_TYPES_BY_NAME.get(str(one.value)) if isinstance(one, Const) else None for one in several]
    types = tuple(Ext(name) for name in found if name is not None)
    if len(types) < len(several):
        return None
    return Tup(types) if isinstance(names, Tup) else types[0]


class _Pass(NamedTuple):
    """What blocks are run with: the states behind others, those of the turn before, those that come from elsewhere, and the block into which no others come."""

    out: dict[int, State]
    before: dict[int, State]
    given: dict[int, list[State]]
    begins: int = -1


class _Entry(NamedTuple):
    """What a turn of a comprehension gives, and under which conditions."""

    facts: Facts
    key: Value
    value: Value


class Evaluation:
    """Runs a body from a state of its names; afterwards `returns`, `yields`, `env` and the context's heap are those of its end."""

    def __init__(
        self,
        ctx: Context,
        body: ir.Body,
        env: Env,
        frame: Value | None,
        *,
        is_of_call: bool = False,
        around: Value | None = None,
    ) -> None:
        """`is_of_call`: of one call of a function, of which others are recorded. `around`: the variables of the function that it is defined in."""
        self.ctx, self.body, self.frame = ctx, body, frame
        self._around: Value = Term("parameter", body, "@frame") if around is None else around
        self.env = env
        first = body.parameters[0].name if body.parameters else ""
        self._receiver: Value = env.get(first, UNKNOWN)  # of a method, whatever its name is bound to later
        self.returns: list[tuple[Any, Value, Heap | None]] = []
        self._at = body.blocks[0]
        self.yields: list[tuple[Any, Value]] = []
        self.in_order: list[Value] | None = []  # what is yielded one by one, where no loop does it
        self.registers: dict[ir.Register, Value] = {}
        self._turns: dict[ir.Register, tuple[Term, ...]] = {}  # of the comprehensions over known items
        self._owners: dict[ir.Register, Value] = {}  # whose attribute a register holds
        self.unit = ctx.unit
        self._captured = self.unit.captured(body)
        self._recorder = ctx.analysis.recorder if not is_of_call else None
        self._closed: set[tuple[int, int]] = set()
        self._cfg = Cfg.of(body)
        self._items: dict[ir.Register, Value] = {}  # of this turn, of the loops over known items
        self._in_turns: set[int] = set()  # their headers
        self._gathered: dict[ir.Comprehension, dict[int, _Entry]] = {}  # by turn, of those over known items
        self._cells: dict[str, set[Value]] = {}  # by variable, the containers of which an item is known by it
        self._early: dict[int, State] = {}  # of a block in a `try`: in front of its last call, which may raise

    @classmethod
    def of_call(cls, ctx: Context, body: ir.Body, parameters: Env) -> Self:
        """One call of a function, from what its parameters are given."""
        env = {name: value for name, value in parameters.items() if name != "@frame"}
        around = parameters.get("@frame", UNKNOWN)
        return cls(ctx, body, env, ctx.frame(body, env, around), is_of_call=True, around=around)

    def run(self, begins: Mapping[int, State] | None = None) -> Evaluation:
        """All blocks in reverse postorder, those of an outermost loop twice. `begins`: with which state it begins, other than at the entry."""
        ctx, body = self.ctx, self.body
        cfg = self._cfg
        starts = begins if begins is not None else {0: State(self.env, dict(ctx.heap), ctx.facts)}
        muted, facts, saved_loop = ctx.mute, ctx.facts, ctx.in_loop
        out: dict[int, State] = {}
        given = {number: [state] for number, state in starts.items()}
        at = _Pass(out, {}, given)  # breaks of loops over known items are given to what follows
        for blocks in cfg.components:
            self._component(blocks, at)
        ctx.mute, ctx.facts, ctx.in_loop = muted, facts, saved_loop
        order = [number for number in cfg.loops_first if number in out and not body.blocks[number].successors]
        falls = [out[number] for number in order if not _ends(body.blocks[number], ir.Return, ir.Raise)]
        states = [State({}, heap, guards) for guards, _, heap in self.returns if heap is not None] + falls
        if states:
            _, ctx.heap, self.passed = join_states(states)
        for name in self._cells:
            self._forget_cells(name)
        last = [out[number] for number in order if not _ends(body.blocks[number], ir.Raise)]
        self.env = join_states(last).env if last else {}
        return self

    def returned(self) -> Value:
        """What a function gives back, each value under the conditions of its path; that it may give nothing at all is left out."""
        return under_conditions([(facts, value) for facts, value, _ in self.returns], is_once=True)

    passed: Facts = NO_FACTS  # what holds on each path to the end

    def _component(self, blocks: Sequence[int], at: _Pass) -> None:
        """The blocks of an outermost loop, or a block that stands in none."""
        items = self._known_items(blocks[0], blocks) if len(blocks) > 1 else None
        if items is not None:
            self._item_by_item(blocks, items, at)
            return
        trained_before, self.ctx.trained = self.ctx.trained, NO_FACTS
        loops = len(blocks) > 1 or blocks[0] in self.body.blocks[blocks[0]].successors
        self._several(blocks, at, twice=loops)
        if loops and self.ctx.trained:  # a turn that goes backward is one of many: the loop does
            for number in blocks:
                if number in at.out:
                    at.out[number] = at.out[number]._replace(facts=at.out[number].facts | self.ctx.trained)
        self.ctx.trained |= trained_before

    def _several(self, blocks: Sequence[int], at: _Pass, *, twice: bool) -> None:
        """Blocks in their order; `twice`: first without a word, for what a turn leaves to the next one."""
        muted = self.ctx.mute
        returned, yielded = len(self.returns), len(self.yields)
        moving: Moving = {}
        reads = dict(self.ctx.reads)
        for turn in range(2 if twice else 1):
            self.ctx.reads = dict(reads)  # what the turn before has read is no reading in front of this one's moves
            self.ctx.mute = muted or (twice and turn == 0)
            before = at.before
            if turn:
                before = {number: at.out.pop(number) for number in blocks if number in at.out}
                del self.returns[returned:], self.yields[yielded:]
            if not twice:
                self._once(blocks, at)
                continue
            with self.ctx.turn() as moved:
                self._once(blocks, at._replace(before=before, given=dict(at.given)))
            moving = {**moved, **moving}  # as it was before the loop, where the first turn moves it
        self.ctx.mute = muted
        if moving and not muted:
            self._as_later_turn(blocks, at, moving)

    def _as_later_turn(self, blocks: Sequence[int], at: _Pass, moving: Moving) -> None:
        """A turn of a loop that moves modules, with the modules where the turn before has left them. It claims, and what it leaves is known already."""
        header, inside = blocks[0], frozenset(blocks)
        turned = self._into(header, at, inside)
        left = join_states(turned) if turned else None
        moved = moved_in_turn(moving, left.heap) if left is not None else None
        if left is None or moved is None:
            return
        ctx, registers = self.ctx, dict(self.registers)
        kept = len(self.returns), len(self.yields)
        is_later, ctx.is_later_turn = ctx.is_later_turn, True
        out = {number: state for number, state in at.out.items() if number not in inside}
        self._once(blocks, _Pass(out, {}, {header: [left._replace(heap=moved)]}, header))
        ctx.is_later_turn = is_later
        self.registers = registers
        del self.returns[kept[0] :], self.yields[kept[1] :]

    def _once(self, blocks: Sequence[int], at: _Pass) -> None:
        place = 0
        while place < len(blocks):
            number = blocks[place]
            inside = [other for other in blocks[place:] if number in self.body.blocks[other].loops] if place else []
            items = self._known_items(number, inside) if inside else None
            if items is not None:
                self._item_by_item(inside, items, at)
                place += len(inside)
                continue
            states = [*at.given.get(number, ())]
            if number != at.begins:
                states += (
                    self._into_loop(number, at) if number in self.body.blocks[number].loops else self._into(number, at)
                )
            if states:
                self._block(self.body.blocks[number], join_states(states))
                at.out[number] = State(self.env, self.ctx.heap, self.ctx.facts)
            place += 1

    def _into_loop(self, header: int, at: _Pass) -> list[State]:
        """The states that come into the header of a loop, which the first turn and the others tell apart."""
        inside = {other for other in self._cfg.predecessors[header] if header in self.body.blocks[other].loops}
        entered = self._into(header, at, [other for other in self._cfg.predecessors[header] if other not in inside])
        turned = self._into(header, at, inside)
        if not entered or not turned:
            return [*entered, *turned]
        return [
            *(of_turn(self.body, header, state, is_first=True) for state in entered),
            *(of_turn(self.body, header, state, is_first=False) for state in turned),
        ]

    def _into(self, number: int, at: _Pass, inside: Container[int] | None = None) -> list[State]:
        """The states that come into a block, of some blocks alone."""
        others = [other for other in self._cfg.predecessors[number] if inside is None or other in inside]
        return [state for other in others for state in self._along(other, number, at)]

    def _known_items(self, header: int, blocks: Sequence[int]) -> list[Value] | None:
        """What a `for` loop or comprehension goes over item by item: all is known, and is more than numbers; None for any other block."""
        turn = self._cfg.iterations.get(header)
        comprehension, _ = self._cfg.comprehensions.get(header, (None, 0))
        if comprehension is not None:
            self._gathered.pop(comprehension, None)
        if turn is None or turn.is_async or not (turn.is_of_statement or comprehension is not None):
            return None
        operations = sum(len(self.body.blocks[number].ops) for number in blocks)
        return reading.one_by_one(self.ctx, self.registers.get(turn.iterable, UNKNOWN), operations)

    def _item_by_item(self, blocks: Sequence[int], items: list[Value], at: _Pass) -> None:
        """A loop over known items: each turn begins with what the one before has left."""
        header, inside = blocks[0], frozenset(blocks)
        turn, around = self._cfg.iterations[header], self.ctx.turns
        outside = [other for other in self._cfg.predecessors[header] if other not in inside]
        states = [*at.given.get(header, ()), *self._into(header, at, outside)]
        depth = len(self.body.blocks[header].loops)
        nests = any(len(self.body.blocks[other].loops) > depth for other in blocks)
        self._in_turns.add(header)
        comprehension, made_in = self._cfg.comprehensions.get(header, (None, 0))
        gathered: dict[int, _Entry] = {}
        for position, item in enumerate(items):
            if not states:
                break
            self._items[turn.dst] = item
            self.ctx.turns = (*around, (turn, position))
            for number in blocks:
                at.out.pop(number, None)
            self._several(blocks, _Pass(at.out, {}, {header: states}, header), twice=nests)
            made = at.out.get(made_in)
            if comprehension is not None and made is not None:
                key = UNKNOWN if comprehension.key is None else self._get(comprehension.key)
                gathered[position] = _Entry(made.facts, key, self._get(comprehension.value))
            self._end_of_turn(blocks)
            states = self._into(header, at, inside)
            if states and position + 1 < len(items):
                self._leave(blocks, inside, at)
        self._end_of_turns(blocks)
        if comprehension is not None:
            self._gathered[comprehension] = gathered
        self._in_turns.discard(header)
        self._items.pop(turn.dst, None)
        self.ctx.turns = around

    def _leave(self, blocks: Sequence[int], inside: Container[int], at: _Pass) -> None:
        """What leaves a loop by `break` in a turn behind which others follow."""
        for number in blocks[1:]:
            for target in self.body.blocks[number].successors:
                if target not in inside and number in at.out:
                    at.given[target] = [*at.given.get(target, ()), *self._along(number, target, at)]

    def _end_of_turn(self, blocks: Sequence[int]) -> None:
        """After each turn of a loop over known items."""

    def _end_of_turns(self, blocks: Sequence[int]) -> None:
        """After the last one."""

    def _block(self, block: ir.Block, state: State) -> None:
        ctx, self._at = self.ctx, block
        self.env, ctx.heap, ctx.facts = state
        ctx.in_loop = not self._in_turns.issuperset(block.loops)
        saved, muted = ctx.default_device, ctx.mute
        inside = self.default_in(block)
        if inside is not None:
            ctx.default_device = inside
        ctx.mute = ctx.mute or any(self._is_silent_in(self.registers.get(manager)) for manager in block.withs)
        last = _last_call(block) if block.tries else None
        for op in self.operations(block):
            if op is last:
                self._early[block.index] = State(dict(self.env), dict(ctx.heap), ctx.facts)
            self._step(op)
        ctx.default_device, ctx.mute = saved, muted

    def _is_silent_in(self, manager: Value | None) -> bool:
        """True for a manager of errors that a test expects, and for one that stands in front of every function of torch (torch/overrides.py)."""
        rec = self.ctx.rec(manager) if isinstance(manager, Ref) else None
        if rec is None or not isinstance(rec.cls, Cls):
            return manager == EXPECTED_ERROR
        bases = classes.foreign_bases_of(self.ctx.analysis, rec.cls.cls)
        return any(base.rpartition(".")[2] in ("TorchFunctionMode", "TorchDispatchMode") for base in bases)

    def default_in(self, block: ir.Block) -> Place | None:
        """The default device that the `with` statements around a block set; None where none does."""
        found = [devices.of_context(self.ctx, self.registers[one]) for one in block.withs if one in self.registers]
        told = [one for one in found if one != NONE]
        return devices.as_device(self.ctx, told[-1]) if told else None

    def operations(self, block: ir.Block) -> Sequence[ir.Op]:
        """The operations of a block that are run."""
        return block.ops

    def leads_on(self, source: int, target: int) -> bool:
        """Whether an edge is followed."""
        return True

    def _along(self, source: int, target: int, at: _Pass) -> list[State]:
        """The states that come along an edge; a `for` loop is taken to run at least once."""
        block, out, before = self.body.blocks[source], at.out, at.before
        if not self.leads_on(source, target):
            return []
        if not block.ops and source in block.loops and source not in self.body.blocks[target].loops:
            turns = [
                state
                for other in self._cfg.predecessors[source]
                if source in self.body.blocks[other].loops
                and (state := out.get(other) or before.get(other)) is not None
            ]
            if turns:
                return turns
        state = out.get(source) or before.get(source)
        if state is None:
            return []
        tried = self._cfg.tried(source, target)
        if tried is not None:
            identity, is_raised = tried
            if is_raised and (early := self._early.get(source)) is not None:  # what was raised lives in the heap too
                state = State(early.env, {**state.heap, **early.heap}, early.facts)
            if not block.loops:
                state = state._replace(facts=state.facts | conditions.of_try(self.body, identity, is_raised))
        if block.test is None or len(block.successors) != 2 or block.successors[0] == block.successors[1]:
            return [state]
        outcome = block.successors[0] == target
        test = conditions.as_test(self.ctx, self.registers.get(block.test, UNKNOWN), state.facts)
        leaves = any(loop not in self.body.blocks[target].loops for loop in block.loops)
        known = None if leaves and isinstance(test, Ref) else self._known(test, state)
        if known is not None:
            return [state] if known == outcome else []
        left = narrowed(self.ctx, state.env, self.body, block.test, self.registers, outcome)
        if isinstance(left, Left):
            state = state._replace(heap=self._with_cell(state.heap, left.read, left.value))
        elif left is not state.env:
            state = state._replace(env=left)
        if len(state.facts) >= MOST_FACTS or leaves:  # what a loop asks may be another thing in its last turn
            return [state]
        guards = conditions.sides_of(test, outcome, (self.body, block.test))
        return [State(state.env, state.heap, state.facts | guards)]

    # ------------------------------------------------------------------------------------------------ items under variables

    def _key_name(self, register: ir.Register) -> str:
        """The local variable that is the key of an item, where nobody knows what it holds; "" for any other key."""
        read, body = Lookup.of(self.body).definition(register), self.body
        if not isinstance(read, ir.Load) or read.name in body.global_names or read.name in body.nonlocal_names:
            return ""
        name = read.name
        if name not in body.local_names or "@" in name or (name in self._captured and body.kind != "module"):
            return ""
        key = self._get(register)
        is_open = not isinstance(key, (Const, Tensor, Tup, SliceValue)) and not isinstance(as_key(key), Const)
        return name if is_open else ""

    def _cell(self, op: ir.Subscript, target: Value) -> Cell | None:
        """What is known of an item since it was stored, or tested, under the same variable."""
        rec = self.ctx.rec(target)
        cell: Cell | None = rec.fields.get(CELL) if rec is not None else None
        is_same = cell is not None and cell.body is self.body and cell.name == self._key_name(op.index)
        return cell if is_same else None

    def _with_cell(self, heap: Heap, op: ir.Subscript | ir.StoreSubscript, value: Value) -> Heap:
        """The heap with what is known of an item from now on."""
        target, name = self._get(op.object), self._key_name(op.index)
        rec = heap.get(target) if isinstance(target, (Ref, Term)) and name else None
        if isinstance(target, Term) and name and _is_made_of(value, target):
            rec = rec or Rec("overlay")
            before: Value = Term("item", target, self._get(op.index))
        elif rec is not None and rec.kind in ("list", "dict"):
            before = UNKNOWN
        else:
            return heap
        self._cells.setdefault(name, set()).add(target)
        return {**heap, target: rec.put(CELL, Cell(self.body, name, before, value))}

    def _forget_cells(self, name: str) -> None:
        """A variable is bound anew: nothing is known by it."""
        heap = self.ctx.heap
        for target in self._cells.get(name, ()):
            rec = heap.get(target)
            cell = rec.fields.get(CELL) if rec is not None else None
            if rec is not None and cell is not None and (cell.body, cell.name) == (self.body, name):
                heap[target] = rec.without(CELL)

    # ------------------------------------------------------------------------------------------------ conditions

    def _known(self, test: Value, state: State) -> bool | None:
        saved, self.ctx.facts = self.ctx.facts, state.facts
        found = conditions.known_outcome(self.ctx, test)
        self.ctx.facts = saved
        return found

    # ------------------------------------------------------------------------------------------------ operations

    def _get(self, register: ir.Register | None) -> Value:
        return NONE if register is None else self.registers.get(register, UNKNOWN)

    def _site(self, op: ir.Op) -> Site:
        return self.unit.site(op, self.body)

    def _step(self, op: ir.Op) -> None:
        deadline.check()
        handler = _HANDLERS.get(type(op))
        if isinstance(op, ir.ValueOp):
            value = self.registers[op.dst] = handler(self, op) if handler is not None else UNKNOWN
            if self._recorder is not None:
                self._recorder(op, value, self.ctx)
        elif handler is not None:
            handler(self, op)

    def constant(self, op: ir.Constant) -> Value:
        """A literal."""
        return literal(op)

    def load(self, op: ir.Load) -> Value:
        """Reads a name."""
        name, body, ctx = op.name, self.body, self.ctx
        if "@" in name:
            return self.env.get(name, UNKNOWN)
        is_local = name in body.local_names and name not in body.global_names and name not in body.nonlocal_names
        if body.kind == "module" or is_local:
            if name in self._captured and self.frame is not None:
                rec = ctx.rec(self.frame)
                if rec is not None and "." + name in rec.fields:
                    return rec.at("." + name)
            if body.kind == "module" and name in self.unit.global_stores:
                rec = ctx.heap.get(self.unit.globals)
                if rec is not None and "." + name in rec.fields:
                    return rec.at("." + name)
            if name in self.env:
                return self.env[name]
            if body.kind == "module":
                return self._builtin(name)
            if body.kind != "class":
                return UNKNOWN
        return self._outer(name)

    def _outer(self, name: str) -> Value:
        ctx, body = self.ctx, self.body
        up = body.parent
        frame = self._enclosing()
        while up is not None and up.kind != "module":
            if up.kind in ("function", "lambda"):
                if name in up.local_names and name not in up.global_names | up.nonlocal_names | body.global_names:
                    return reading.attribute(ctx, frame, name) if frame is not None else UNKNOWN
                frame = reading.attribute(ctx, frame, "@parent") if frame is not None else None
            up = up.parent
        static = self.unit.decorated.get(name) if ctx.mode == "summary" else None
        static = self.unit.statics.get(name) if static is None else static
        if static is not None:
            return ctx.imported(self.unit, static.name) if isinstance(static, Ext) else static
        if name in self.unit.program.module.local_names or name in self.unit.global_stores:
            return reading.attribute(ctx, self.unit.globals, name)
        return self._builtin(name)

    def _enclosing(self) -> Value | None:
        """The variables of the function around this body."""
        return self.ctx.class_frame if self.body.kind == "class" else self._around

    def _builtin(self, name: str) -> Value:
        """A name that the file does not bind: a builtin, or one of a module of which it imports every name."""
        starred = self.ctx.analysis.starred(self.unit, name)
        return self.ctx.imported(self.unit, starred) if starred else Ext("builtins." + name)

    def store(self, op: ir.Store) -> None:
        """Binds a name."""
        value, name = self._get(op.value), op.name
        if isinstance(value, Func) and value.body.decorators and self._is_defined_by(op, value.body):
            value = self._decorated(value)
            if self.body.kind == "module" and isinstance(value, Func):
                self.unit.decorated[name] = value
        elif isinstance(value, Cls) and value.cls.body.decorators and self._is_defined_by(op, value.cls.body):
            value = self._decorate_class(value)
            if self.body.kind == "module":
                self.unit.decorated[name] = value
        if isinstance(value, (Tensor, Term)) and "@" not in name:
            self.ctx.bound.setdefault((self.body, value), []).append(op)
        self._bind(name, value)

    def _is_defined_by(self, op: ir.Store, body: ir.Body) -> bool:
        """True for the name that a definition binds, whose decorators are values of this body; an import of it is none."""
        is_definition = isinstance(Lookup.of(self.body).definition(op.value), (ir.MakeFunction, ir.MakeClass))
        return is_definition and body.parent is self.body and body.name == op.name

    def _bind(self, name: str, value: Value) -> None:
        body, ctx = self.body, self.ctx
        if name in body.global_names:
            ctx.put(self.unit.globals, "." + name, value)
            return
        if name in body.nonlocal_names:
            self._store_outside(name, value)
            return
        self.env[name] = value
        if name in self._cells:
            self._forget_cells(name)
        if body.kind == "module" and "@" not in name:
            ctx.put(self.unit.globals, "." + name, value)
        elif name in self._captured and self.frame is not None:
            ctx.put(self.frame, "." + name, value)

    def _store_outside(self, name: str, value: Value) -> None:
        up, frame = self.body.parent, Term("parameter", self.body, "@frame") if self.body.kind != "class" else UNKNOWN
        holder: Value = frame
        while up is not None and up.kind != "module":
            if name in up.local_names and name not in up.nonlocal_names:
                self.ctx.put(holder, "." + name, value)
                return
            holder, up = reading.attribute(self.ctx, holder, "@parent"), up.parent

    def _decorated(self, function: Func) -> Value:
        body = function.body
        for name, register in reversed(list(zip(body.decorators, body.decorator_registers, strict=False))):
            last = name.rpartition(".")[2]
            if last in _FORMS:
                function = Func(function.body, function.frame, function.receiver, function.defaults, _FORMS[last])
                continue
            if last in _BINDING and function.body is not body:
                return calls.call(self.ctx, Ext("builtins." + last), [function], {}, None)
            decorator = self._get(register)
            if last not in _BINDING and isinstance(decorator, (Func, Cls, Ref, Partial)):
                made = calls.call(self.ctx, decorator, [function], {}, self._site_of(register))
                if isinstance(made, Func):
                    function = made
                    self._remember_closure(made.frame)
                elif isinstance(decorator, Func) or isinstance(made, (Ref, Partial)):
                    return made
        return function

    def _site_of(self, decorator: ir.Register) -> Site | None:
        """Where a decorator is applied: each function that it decorates has a closure of its own."""
        made = Lookup.of(self.body).definition(decorator)
        return None if made is None else self._site(made)

    def _remember_closure(self, frame: Value | None) -> None:
        """What a decorator closes over, for who calls the function before the module has run: functions, classes and texts do not change."""
        while frame is not None and frame not in self.unit.closures and (rec := self.ctx.rec(frame)) is not None:
            if frame == self.unit.globals:
                return
            fields = rec.fields
            self.unit.closures[frame] = {key: one for key, one in fields.items() if _stays(one) or key == ".@parent"}
            frame = fields.get(".@parent")

    def _decorate_class(self, cls: Cls) -> Cls:
        """A decorator of a class may enter it somewhere, and give another class back."""
        body, given = cls.cls.body, cls
        for register in reversed(body.decorator_registers):
            decorator = self._get(register)
            if isinstance(decorator, Func):
                made = calls.call(self.ctx, decorator, [given], {}, self._site_of(register))
                given = made if isinstance(made, Cls) else given
        rec = self.ctx.rec(cls)
        if rec is not None:
            self.unit.class_fields[cls.cls] = dict(rec.fields)  # with what they put there
        return given

    def make_function(self, op: ir.MakeFunction) -> Value:
        """A function object, with its defaults and the frame it closes over."""
        defaults = tuple((p.name, self._get(p.default)) for p in op.function.parameters if p.default is not None)
        frame = {"module": self.unit.globals, "class": self.ctx.class_frame}.get(self.body.kind, self.frame)
        return Func(op.function, frame, None, defaults)

    def make_class(self, op: ir.MakeClass) -> Value:
        """A class object; its body is run."""
        ctx, cls = self.ctx, op.cls
        made = Cls(cls, self.unit.globals if self.body.kind == "module" else self.frame)
        saved, facts = ctx.class_frame, ctx.facts
        ctx.class_frame = made.frame
        inner = Evaluation(ctx, cls.body, {}, None).run()
        ctx.class_frame, ctx.facts = saved, facts
        meta = classes.metaclass_of(ctx, cls) if cls.keywords or cls.bases else None
        space = self._namespace(meta, made, inner.env, self._site(op)) if meta is not None else None
        held = containers.entries(ctx, space) if space is not None else None
        bound = inner.env if held is None else {key[1]: one for key, one in held.items() if isinstance(key, tuple)}
        fields: dict[Any, Value] = {f".{name}": value for name, value in bound.items()}
        ctx.heap[made] = Rec("overlay" if ctx.mode == "summary" else "object", None, fields)
        self.unit.class_fields[cls] = fields
        for key, value in fields.items():
            naming = reading.attribute(ctx, value, "__set_name__") if isinstance(value, Ref) else None
            if isinstance(naming, Func):
                calls.call(ctx, naming, [made, Const(key[1:])], {}, self._site(op))
        for base in map(self._get, cls.base_registers):
            if isinstance(base, Partial):
                self.unit.rows[cls] = base
        keywords = {name: self._get(register) for name, register in cls.keywords if name not in ("metaclass", "**")}
        told = classes.told_of_subclass(ctx, made)
        if told is not None:
            calls.call(ctx, told, [], keywords, self._site(op))
        if meta is not None and space is not None:
            for name in ("__new__", "__init__"):
                self._told_of_class(meta, name, made, space, self._site(op))
        self.unit.class_fields[cls] = ctx.heap[made].fields  # with what they put there
        return made

    def _namespace(self, meta: Cls, made: Cls, bound: Env, site: Site) -> Value:
        """What a class body has bound: in the dict that `__prepare__` of the metaclass gives, where it has one."""
        ctx = self.ctx
        prepare = classes.attribute_of(ctx, meta, "__prepare__", None)
        if not isinstance(prepare, Func):
            return ctx.new(site, "dict", None, {("k", name): value for name, value in bound.items()}, tag="namespace")
        space = calls.call(ctx, prepare, [Const(made.cls.name), Tup(())], {}, site)
        for name, value in bound.items():
            tensors.store_item(ctx, space, Const(name), value, site)
        return space

    def _told_of_class(self, meta: Cls, name: str, made: Cls, space: Value, site: Site) -> None:
        """A metaclass makes a class; the one that its `super().__new__` gives is the one of the statement."""
        ctx = self.ctx
        method = classes.attribute_of(ctx, meta, name, None)
        if isinstance(method, Func):
            saved, ctx.class_made = ctx.class_made, made
            of = meta if name == "__new__" else made
            calls.call(ctx, method, [of, Const(made.cls.name), Tup(()), space], {}, site)
            ctx.class_made = saved

    def call(self, op: ir.Call) -> Value:
        """A call."""
        function = self._get(op.function)
        args: list[Value] = []
        keywords: dict[str, Value] = {}
        for argument in op.arguments:
            value = self._get(argument.value)
            if argument.star:
                args.append(Star(value) if argument.star == "*" else DoubleStar(value))
            elif argument.keyword is not None:
                keywords[argument.keyword] = value
            else:
                args.append(value)
        if function == _SUPER:
            given = [one for one in args if not isinstance(one, (Star, DoubleStar))]
            return Super(given[0].cls, given[1]) if len(given) == 2 and isinstance(given[0], Cls) else self._super()
        if calls.raises(self.ctx, function, args, keywords):
            return NOTHING
        return calls.call(self.ctx, function, args, keywords, self._site(op))

    def _super(self) -> Value:
        body: ir.Body | None = self.body
        while body is not None and body.owner is None:
            body = body.parent
        if body is None or body.owner is None or not body.parameters or body is not self.body:
            return UNKNOWN
        return Super(body.owner, self._receiver)

    def attribute(self, op: ir.Attribute) -> Value:
        """Reads an attribute."""
        value = self._get(op.object)
        if isinstance(value, Super):
            return classes.attribute_of_super(self.ctx, value, op.name)
        self._owners[op.dst] = value
        return reading.attribute(self.ctx, value, op.name, self._site(op))

    def choice(self, op: ir.Choice) -> Value:
        """`a if c else b`, `a and b`, `a or b`."""
        values = [self._get(register) for register in op.values]
        if op.shape == "if":
            test = conditions.as_test(self.ctx, self._get(op.test), self.ctx.facts)
            known = conditions.known_outcome(self.ctx, test)
            if known is not None:
                return values[0 if known else 1]
            asked = self.body, op.dst if op.test is None else op.test
            guards = [conditions.sides_of(test, outcome, asked) for outcome in (True, False)]
            return one_of(list(zip(guards, values, strict=True)))
        return _and_or(op.shape, values)

    def compare(self, op: ir.Compare) -> Value:
        """A comparison; of tensors, it is an operation like others."""
        registers = [op.left, *op.comparators]
        found = [self._compared(op, *pair) for pair in zip(registers, op.operators, registers[1:], strict=False)]
        return conditions.all_of(found)

    def _compared(self, op: ir.Compare, first: ir.Register, operator: str, second: ir.Register) -> Value:
        plain = _OPPOSITES.get(operator, operator)
        if plain != operator and operator != "!=":
            return conditions.negated(self._compared(op, first, plain, second))
        left, right = self._counted(first), self._counted(second)
        if isinstance(left, Device) and isinstance(right, Const) and (operator, right.value) in _ON_GPU:
            found = conditions.on_accelerator(Tensor(left.place))  # `x.get_device() >= 0`
            return found if _ON_GPU[operator, right.value] else conditions.negated(found)
        if plain in ("is", "==") and right == NONE:
            found = conditions.is_none(left)
            return found if plain == operator else conditions.negated(found)
        of, by_name = self._type_asked(first)
        named = _named_types(right) if by_name else right
        if of is not None and named is not None and plain in ("is", "==", "in"):
            found = conditions.is_exactly(self.ctx, of, named)
            return found if plain == operator else conditions.negated(found)
        if operator == "in":
            return conditions.contains(self.ctx, left, right)
        if operator == "is":
            return conditions.identical(left, right)
        is_name = isinstance(right, Const) and isinstance(right.value, (str, bool, type(None)))
        asks = (_names_device, devices.is_device, conditions.is_text_of_device, is_member, _holds_device)
        if plain == "==" and (is_name or any(ask(one) for ask in asks for one in (left, right))):
            if isinstance(right, Term) or (isinstance(left, Const) and not isinstance(right, Const)):
                left, right = right, left
            found = conditions.equal(left, right)
            if found != NUMBER:
                return found if operator == "==" else conditions.negated(found)
        return tensors.binary(self.ctx, tensors.COMPARISONS[operator], left, right, self._site(op))

    def _counted(self, register: ir.Register) -> Value:
        """What is compared; `len(x)` of what a caller gives is a length that the caller decides."""
        made = Lookup.of(self.body).definition(register)
        if isinstance(made, ir.Call) and len(made.arguments) == 1 and self._get(made.function) == _LEN:
            counted = self._get(made.arguments[0].value)
            if isinstance(counted, Term) and counted is not UNKNOWN:
                return Term("length", counted)
        return reading.of_member(self.ctx, self._get(register))

    def _type_asked(self, register: ir.Register) -> tuple[Value | None, bool]:
        """The value of which `type(value)` is in a register, None for anything else; and whether it is `type(value).__name__`."""
        lookup = Lookup.of(self.body)
        made = lookup.definition(register)
        by_name = isinstance(made, ir.Attribute) and made.name == "__name__"
        if isinstance(made, ir.Attribute) and by_name:
            made = lookup.definition(made.object)
        if isinstance(made, ir.Call) and len(made.arguments) == 1 and self._get(made.function) == _TYPE:
            return self._get(made.arguments[0].value), by_name
        return None, by_name

    def sequence(self, op: ir.Sequence) -> Value:
        """A tuple, list or set display."""
        elements = [(self._get(element.value), element.starred) for element in op.elements]
        values, complete = calls.spread(self.ctx, [Star(value) if starred else value for value, starred in elements])
        if op.shape == "tuple" and (complete or not any(starred for _, starred in elements)):
            return Tup(tuple(values))
        if complete and (op.shape != "set" or all(isinstance(value, Const) for value in values)):
            fields: dict[Any, Value] = {("k", at): value for at, value in enumerate(values)}
        else:
            parts = [reading.element(self.ctx, one.value) if isinstance(one, Star) else one for one in values]
            named = (
                {} if op.shape == "set" else {("k", at): one for at, one in enumerate(values) if type(one) is not Star}
            )
            several = [one for at, one in enumerate(parts) if ("k", at) not in named]
            fields = {**named, **({"*": join(*several)} if several else {})}
        if op.shape == "set":
            fields[KEPT_AS] = Const("set")
        return self.ctx.new(self._site(op), "list", None, fields)

    def mapping(self, op: ir.Mapping) -> Value:
        """A dict display."""
        ctx = self.ctx
        open_at = [at for at, key in enumerate(op.keys) if key is None and self._is_open_mapping(op.values[at])]
        if open_at:
            return self._left_open(op, open_at[-1] + 1)
        return ctx.new(self._site(op), "dict", None, self._entries(op, 0, len(op.keys)))

    def _is_open_mapping(self, register: ir.Register) -> bool:
        """True for what only a caller knows the entries of."""
        held = self._get(register)
        is_open = self.ctx.mode == "summary" and isinstance(held, Term) and held.waits
        return is_open and containers.entries(self.ctx, held) is None

    def _left_open(self, op: ir.Mapping, end: int) -> Value:
        """`{**defaults, **options, "x": x}` of what only a caller knows: a copy of the parts up to the last of those, of which items are replaced."""
        ctx, site = self.ctx, self._site(op)
        parts: list[Value] = []
        for is_spread, several in itertools.groupby(range(end), lambda at: op.keys[at] is None):
            here = list(several)
            if is_spread:
                parts += [self._get(op.values[at]) for at in here]
            else:
                parts.append(
                    ctx.new(site, "dict", None, self._entries(op, here[0], here[-1] + 1), tag=("part", here[0]))
                )
        merged = Term("call", Ext(library.MERGED), tuple(parts), (), site)
        ctx.emit(merged)
        for name, value in self._entries(op, end, len(op.keys)).items():
            key = of_key(name[1]) if isinstance(name, tuple) else UNKNOWN
            tensors.store_item(ctx, merged, key, value, site)
        return merged

    def _entries(self, op: ir.Mapping, begin: int, end: int) -> dict[Any, Value]:
        """What some of the entries of a display are."""
        ctx = self.ctx
        fields: dict[Any, Value] = {}
        for key_register, value_register in zip(op.keys[begin:end], op.values[begin:end], strict=True):
            value = self._get(value_register)
            if key_register is None:
                held = containers.entries(ctx, value)
                if held is not None:
                    fields.update(held)
                else:
                    _add(fields, reading.item(ctx, value, SLICE))
                continue
            key = as_key(reading.of_member(ctx, self._get(key_register)))
            if isinstance(key, Const):
                fields["k", key.value] = value
            else:
                _add(fields, value)
                containers.add_key(fields, key)
        return fields

    def comprehension(self, op: ir.Comprehension) -> Value:
        """What a comprehension gives: item by item, where it goes over items that are known."""
        gathered = self._gathered.get(op)
        if gathered is not None:
            return self._gathered_as(op, list(gathered.values()))
        value = self._get(op.value)
        turns = self._turns.get(op.turn) if op.turn is not None else None
        if op.shape != "dict":
            items = [_in_turn(value, turns, at) for at in range(len(turns))] if turns else []
            named = {("k", at): one for at, one in enumerate(items)}
            return self.ctx.new(self._site(op), "list", None, named or {"*": value})
        if turns:
            pairs = [(_in_turn(self._get(op.key), turns, at), _in_turn(value, turns, at)) for at in range(len(turns))]
            if all(isinstance(as_key(key), Const) for key, _ in pairs):
                return self._mapping_of(op, pairs)
        return self._mapping_of(op, [(self._get(op.key), value)])

    def _gathered_as(self, op: ir.Comprehension, entries: list[_Entry]) -> Value:
        """What the turns have made. Of what some of them may leave out, the others may be at any place."""
        is_certain = all(one.facts <= self.ctx.facts for one in entries)
        values = [one.value if is_certain else one_of([(one.facts - self.ctx.facts, one.value)]) for one in entries]
        if op.shape == "dict":
            return self._mapping_of(op, [(one.key, value) for one, value in zip(entries, values, strict=True)])
        if is_certain:
            fields: dict[Any, Value] = {("k", at): one for at, one in enumerate(values)}
        else:
            fields = {"*": one_of([(one.facts - self.ctx.facts, one.value) for one in entries])}
        return self.ctx.new(self._site(op), "list", None, fields)

    def _mapping_of(self, op: ir.Comprehension, pairs: Sequence[tuple[Value, Value]]) -> Value:
        """A dict of what each turn has made, or of what all of them have."""
        fields: dict[Any, Value] = {}
        for key, value in pairs:
            keys = [as_key(one) for one in alternatives(key)]
            known = [one for one in keys if isinstance(one, Const)]
            if len(known) == len(keys):
                fields.update({("k", one.value): value for one in known})
                continue
            fields["*"] = join(fields["*"], value) if "*" in fields else value
            for one in keys:
                containers.add_key(fields, one)
            if len(pairs) == 1:
                fields[containers.KEY_OF_TURN] = key
        return self.ctx.new(self._site(op), "dict", None, fields)

    def augmented(self, op: ir.AugmentedAssign) -> Value:
        """`target operator= value`."""
        left, right = self._get(op.target), self._get(op.value)
        rec = self.ctx.heap.get(left) if isinstance(left, Ref) else None
        if rec is not None and rec.kind == "list" and isinstance(left, Ref):
            containers.extend(self.ctx, left, right)
            return left
        return tensors.binary(self.ctx, op.operator, left, right, self._site(op), in_place=True)

    def yield_(self, op: ir.Yield) -> Value:
        """Remembers what is yielded."""
        value = self._get(op.value)
        is_in_order = self.in_order is not None and not op.delegates and not self.ctx.in_loop
        self.in_order = [*(self.in_order or ()), value] if is_in_order else None
        self.yields.append((self.ctx.facts, reading.element(self.ctx, value) if op.delegates else value))
        if op.delegates:
            rec = self.ctx.rec(value)
            return rec.at("return") if rec is not None else UNKNOWN
        return Term("parameter", self.body, SENT)

    def return_(self, op: ir.Return) -> None:
        """Remembers what is returned, the heap then, and under which conditions."""
        is_last = not self._at.successors  # what a `finally` does comes behind it
        self.returns.append((self.ctx.facts, self._get(op.value), self.ctx.heap if is_last else None))

    def subscript(self, op: ir.Subscript) -> Value:
        """Reads an item."""
        target = self._get(op.object)
        if self._cells and (cell := self._cell(op, target)) is not None:
            return cell.value
        index = reading.of_member(self.ctx, self._get(op.index))
        return reading.item(self.ctx, target, index, self._site(op))

    def store_subscript(self, op: ir.StoreSubscript) -> None:
        """Writes an item."""
        index = reading.of_member(self.ctx, self._get(op.index))
        value = self._get(op.value)
        tensors.store_item(self.ctx, self._get(op.object), index, value, self._site(op))
        self.ctx.heap = self._with_cell(self.ctx.heap, op, value)

    def delete_attribute(self, op: ir.DeleteAttribute) -> None:
        """Takes an attribute away: nothing is held under its name then."""
        modules.store_attribute(self.ctx, self._get(op.object), op.name, NOTHING, by="del")

    def delete_subscript(self, op: ir.DeleteSubscript) -> None:
        """Takes an item out."""
        for one in alternatives(self._get(op.object)):
            containers.delete(self.ctx, one, self._get(op.index), self._site(op))

    def store_attribute(self, op: ir.StoreAttribute) -> None:
        """Writes an attribute. A gradient must be where its tensor is (torch/csrc/autograd/python_variable.cpp)."""
        if op.name == "grad":
            target, value = self._get(op.object), self._get(op.value)
            if any(isinstance(one, Tensor) for one in alternatives(target)) and value != NONE:
                operands = [Operand(target, False, "target"), Operand(value)]
                claims.claim(self.ctx, "same", operands, self._site(op))
        if op.name == "data":
            self._replace_data(op)
        modules.store_attribute(self.ctx, self._get(op.object), op.name, self._get(op.value))

    def _replace_data(self, op: ir.StoreAttribute) -> None:
        """`x.data = value`: the tensor is where its new values are, for all who hold it."""
        target, value = self._get(op.object), self._get(op.value)
        modules.replace_data(self.ctx, self._owners.get(op.object), target, value)
        if isinstance(target, Term) and target.op in ("attribute", "element", "item") and target.waits:
            # of an object that only a caller knows: there it is done before what the function calls next
            self.ctx.emit(Term("set", target, Const("data"), value))
        read = Lookup.of(self.body).definition(op.object)
        is_object = any(
            isinstance(one, Ref) or self.ctx.analysis.class_of_receiver(one) for one in alternatives(target)
        )
        if isinstance(read, ir.Load) and self.env.get(read.name) == target and not is_object:
            follows = any(isinstance(one, Tensor) and one.follows for one in alternatives(target))
            self._bind(read.name, modules.followed(self.ctx, value) if follows else value)

    def binary(self, op: ir.Binary) -> Value:
        """Arithmetic."""
        return tensors.binary(self.ctx, op.operator, self._get(op.left), self._get(op.right), self._site(op))

    def unary(self, op: ir.Unary) -> Value:
        """`not`, `-`, `+`, `~`."""
        value = self._get(op.operand)
        if op.operator != "not":
            return lift(lambda one: tensors.unary(self.ctx, one, op.operator, self._site(op)), value)
        value = conditions.as_test(self.ctx, value, self.ctx.facts)
        known = conditions.known_outcome(self.ctx, value) if isinstance(value, Ref) else None
        return conditions.negated(value) if known is None else Const(not known)

    def import_(self, op: ir.Import) -> Value:
        """An imported thing."""
        return self.ctx.imported(self.unit, op.qualified)

    def unpack(self, op: ir.Unpack) -> Value:
        """Part of what is unpacked."""
        return reading.unpacked(self.ctx, self._get(op.source), op.index, op.count, op.starred)

    def iterate(self, op: ir.Iterate) -> Value:
        """The next element; in a comprehension over known items, each of them under guards that tell its turn."""
        if op.dst in self._items:
            return self._items[op.dst]
        iterable = self._get(op.iterable)
        if not op.is_alone:
            return reading.element(self.ctx, iterable)
        known = reading.items(self.ctx, iterable)
        self._turns.pop(op.dst, None)
        if known is None or not 0 < len(known) <= MOST_ALTERNATIVES:
            return reading.element(self.ctx, iterable)
        site = self._site(op)
        turns = self._turns[op.dst] = tuple(Term("turn", site, at) for at in range(len(known)))
        return one_of([(_only(turns, at), one) for at, one in enumerate(known)]) if len(known) > 1 else known[0]

    def enter(self, op: ir.Enter) -> Value:
        """What `with` binds."""
        return foreign.entered(self.ctx, self._get(op.manager), self._site(op))

    def exit_(self, op: ir.Exit) -> None:
        """What the managers of a `with` do at its end."""
        for manager in op.managers:
            foreign.left(self.ctx, self._get(manager), self._site(op))

    def await_(self, op: ir.Await) -> Value:
        """`await value`."""
        return self._get(op.value)

    def slice_(self, op: ir.Slice) -> Value:
        """A slice; bounds that are numbers are kept."""
        written = [None if register is None else self._get(register) for register in (op.lower, op.upper, op.step)]
        bounds = [one if one is None or isinstance(one, Const) else UNKNOWN for one in written]
        return SLICE if bounds == [None, None, None] else SliceValue(*bounds)

    def formatted(self, op: ir.FormattedString) -> Value:
        """An f-string; of a device's name the beginning is enough."""
        if op.prefix.startswith(devices.ACCELERATORS):
            return ACCELERATOR_NAME
        behind = [one for part, text in zip(op.parts, op.texts, strict=True) for one in (self._get(part), Const(text))]
        return text_of(Const(op.prefix), *behind)

    def opaque(self, op: ir.Opaque) -> Value:
        """What a pattern captures, an exception that is caught, or something newer than this program."""
        if len(op.operands) != 1:
            return UNKNOWN
        value = self._get(op.operands[0])
        if op.path is None:
            return self._caught(value)
        for step in op.path:
            value = self._part(value, step)
        return value

    def matches(self, op: ir.Matches) -> Value:
        """Whether a subject fits a pattern."""
        return conditions.all_of([self._fits(self._get(op.subject), test) for test in op.tests])

    def _fits(self, value: Value, test: tuple[Any, ...]) -> Value:
        kind, path, *given = test
        if kind == "any":
            several = [conditions.all_of([self._fits(value, one) for one in tests]) for tests in given]
            return conditions.negated(conditions.all_of([conditions.negated(one) for one in several]))
        for step in path:
            value = self._part(value, step)
        if kind == "sized":
            return conditions.is_sized(self.ctx, value, *given)
        if kind == "mapping":
            return conditions.is_instance(self.ctx, value, Ext("collections.abc.Mapping"))
        asked = reading.of_member(self.ctx, self._get(given[0]))
        if kind == "key":
            return conditions.contains(self.ctx, asked, value)
        if kind == "class":
            return conditions.is_instance(self.ctx, value, asked)
        value = reading.of_member(self.ctx, value)
        return conditions.is_none(value) if asked == NONE else conditions.equal(value, asked)

    def _part(self, value: Value, step: tuple[str | int, ...]) -> Value:
        ctx, (kind, *given) = self.ctx, step
        if kind == "item":
            return reading.item(ctx, value, Const(given[0]))
        if kind == "rest":
            return reading.unpacked(ctx, value, int(given[0]), int(given[0]) + 1 + int(given[1]), starred=True)
        if kind == "key":
            return reading.item(ctx, value, self._get(int(given[0])))
        if kind == "others":
            return ctx.call(Ext(library.OTHERS), [value, *(self._get(int(one)) for one in given)], {}, None)
        if kind == "attribute":
            return reading.attribute(ctx, value, str(given[0]))
        if kind == "position":
            return lift(lambda one: classes.positional(ctx, one, int(given[0])), value)
        return value

    def _caught(self, cls: Value) -> Value:
        """What `except cls as name` binds: what this body raises of that class, or of one that derives from it."""
        wanted = cls.items if isinstance(cls, Tup) else (cls,)
        found = [one for one in self.ctx.raised if any(_is_of(self.ctx, one, each) for each in wanted)]
        for one in found:
            for place, rec in self.ctx.raised[one].items():
                self.ctx.heap.setdefault(place, rec)
        return join(*found) if found else UNKNOWN

    def raise_(self, op: ir.Raise) -> None:
        """Remembers what is raised here."""
        if op.value is not None:
            for one in alternatives(self._get(op.value)):
                if op.cause is not None and isinstance(one, Ref):
                    self.ctx.put(one, ".__cause__", self._get(op.cause))
                self.ctx.raise_(one)


def under_conditions(values: list[tuple[Facts, Value]], *, is_once: bool) -> Value:
    """The join of what paths give, under the conditions that tell them apart. Not `is_once`: what goes through a loop may take several paths."""
    some = [(facts, value) for facts, value in values if value != NONE]
    if not some:
        return NONE
    if len(some) == 1:
        return some[0][1]
    shared = frozenset.intersection(*(facts for facts, _ in some))
    denied = {one for facts, _ in values for fact in facts for one in _denied_by(fact)}
    several = {fact for facts, _ in some for fact in facts if fact[0].op == ALL and not fact[1]}
    denied |= {fact for fact in several if any(each_of(fact[0]) <= facts for facts, _ in values)}
    opposed = {fact for facts, _ in some for fact in facts if fact in denied and (is_once or not varies(fact[0]))}
    return one_of([((facts - shared) & opposed, value) for facts, value in some])


def _denied_by(fact: Guard) -> Iterator[Guard]:
    """What cannot hold beside a fact: its opposite, and each of several conditions of which not all hold."""
    term, outcome = fact
    yield term, not outcome
    if term.op == ALL and not outcome:
        yield from each_of(term)


def _only(turns: Sequence[Term], at: int) -> Facts:
    """That it is this turn and no other."""
    return frozenset((term, number == at) for number, term in enumerate(turns))


def _in_turn(value: Value, turns: Sequence[Term], at: int) -> Value:
    """What a value is in one turn of a comprehension."""
    if not isinstance(value, OneOf):
        return value
    now, either = _only(turns, at), {(term, outcome) for term in turns for outcome in (True, False)}
    found = [(guards - either, one) for guards, one in value.options if consistent(guards, now)]
    return one_of(found) if found else value


def _is_of(ctx: Context, value: Value, cls: Value) -> bool:
    """Whether an exception may be of a class: `except Exception` takes each."""
    if isinstance(cls, Ext):
        return True
    return conditions.is_instance(ctx, value, cls) == TRUE


def _stays(value: Value) -> bool:
    return isinstance(value, (Func, Cls, Ext, Device)) or (isinstance(value, Const) and isinstance(value.value, str))


def _last_call(block: ir.Block) -> ir.Op | None:
    """The last operation of a block that may well raise."""
    return next((op for op in reversed(block.ops) if isinstance(op, ir.Call)), None)


def _ends(block: ir.Block, *by: type[ir.Op]) -> bool:
    return bool(block.ops) and isinstance(block.ops[-1], by)


def _and_or(shape: str, values: list[Value]) -> Value:
    """The operands are evaluated in blocks of their own; what is known to be true or false ends the chain."""
    found: list[tuple[Any, Value]] = []
    reached: frozenset[Any] = frozenset()
    for at, value in enumerate(values):
        known = conditions.truth(value)
        if at == len(values) - 1:
            found.append((reached, value))
            break
        stops = shape == "or"
        if known is stops or (known is None and stops and isinstance(value, (Tensor, Ref))):
            found.append((reached, value))
            break
        if known is None:
            found.append((reached | conditions.guards_of(value, stops), value))
            reached |= conditions.guards_of(value, not stops)
    if shape == "or":
        return one_of([(guards, value) for guards, value in found if value != NONE] or found)
    last = found[-1:]
    return one_of(
        [
            *((g, v) for g, v in found[:-1] if not isinstance(v, Term) or not last),
            *((g, FALSE) for g, v in found[:-1] if isinstance(v, Term)),
            *last,
        ]
    )


def _names_device(value: Value) -> bool:
    return isinstance(value, Term) and value.op == "attribute" and value.args[1] in ("device", "type")


def _holds_device(value: Value) -> bool:
    """True for `(x.device, x.dtype)`."""
    return isinstance(value, Tup) and any(_names_device(one) or devices.is_device(one) for one in value.items)


def _add(fields: dict[Any, Value], value: Value) -> None:
    fields["*"] = join(fields["*"], value) if "*" in fields else value


_HANDLERS: dict[type[ir.Op], Callable[[Evaluation, Any], Any]] = {
    ir.Constant: Evaluation.constant,
    ir.Load: Evaluation.load,
    ir.Store: Evaluation.store,
    ir.Attribute: Evaluation.attribute,
    ir.Call: Evaluation.call,
    ir.Binary: Evaluation.binary,
    ir.AugmentedAssign: Evaluation.augmented,
    ir.Unary: Evaluation.unary,
    ir.Compare: Evaluation.compare,
    ir.Choice: Evaluation.choice,
    ir.Subscript: Evaluation.subscript,
    ir.Slice: Evaluation.slice_,
    ir.Sequence: Evaluation.sequence,
    ir.Mapping: Evaluation.mapping,
    ir.FormattedString: Evaluation.formatted,
    ir.Comprehension: Evaluation.comprehension,
    ir.MakeFunction: Evaluation.make_function,
    ir.MakeClass: Evaluation.make_class,
    ir.Import: Evaluation.import_,
    ir.Unpack: Evaluation.unpack,
    ir.Iterate: Evaluation.iterate,
    ir.Enter: Evaluation.enter,
    ir.Exit: Evaluation.exit_,
    ir.Await: Evaluation.await_,
    ir.Yield: Evaluation.yield_,
    ir.StoreAttribute: Evaluation.store_attribute,
    ir.StoreSubscript: Evaluation.store_subscript,
    ir.DeleteAttribute: Evaluation.delete_attribute,
    ir.DeleteSubscript: Evaluation.delete_subscript,
    ir.Return: Evaluation.return_,
    ir.Raise: Evaluation.raise_,
    ir.Matches: Evaluation.matches,
    ir.Opaque: Evaluation.opaque,
}
