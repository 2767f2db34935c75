"""Questions about the control-flow graph of one body: dominators, the branches that decide, and which names are bound where.

A `Cfg` is made once for a body, when it is first asked for, and computes each answer when somebody needs it. Operations are those of the
body itself; a name of an enclosing body is a question to the `Cfg` of that body.

An exception may leave a block between any two of its operations. What a block binds is therefore not bound on the way to a handler or a
`finally`, nor behind a `with` whose manager swallows exceptions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from typing import NamedTuple, TypeAlias

from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

_Decider: TypeAlias = tuple[int, ir.Register, bool]  # a block, its test, and the sense in which that was passed

# Context managers that swallow an exception of their block, by the last part of their name (contextlib, pytest, unittest).
_SWALLOWING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})


class Position(NamedTuple):
    """Where an operation stands: the index of its block, and its own in that block."""

    block: int
    offset: int


class Bindings(NamedTuple):
    """What may have bound a name: stores of this body, one of its parameters, or nothing on some path."""

    stores: tuple[ir.Store, ...] = ()
    parameter: ir.Parameter | None = None
    unbound: bool = False


class Cfg:
    """The control-flow graph of one body."""

    def __init__(self, body: ir.Body) -> None:
        self.body = body
        self._behind: dict[int, set[int]] = {}

    @staticmethod
    def of(body: ir.Body) -> Cfg:
        """The graph of a body, made once and kept with it."""
        found: Cfg | None = body.cfg
        if found is None:
            found = body.cfg = Cfg(body)
        return found

    # ------------------------------------------------------------------------------------------------ shape

    @cached_property
    def order(self) -> list[int]:
        """The blocks that the entry leads to, in reverse postorder."""
        return self._reverse_postorder([block.successors for block in self.body.blocks])

    @cached_property
    def loops_first(self) -> list[int]:
        """The same in a reverse postorder that comes to the body of a loop before what follows the loop."""
        return self._reverse_postorder([block.successors[::-1] for block in self.body.blocks])

    @staticmethod
    def _reverse_postorder(successors: Sequence[Iterable[int]]) -> list[int]:
        seen, postorder = {0}, []
        stack = [(0, iter(successors[0]))]
        while stack:
            number, following = stack[-1]
            other = next((other for other in following if other not in seen), None)
            if other is None:
                stack.pop()
                postorder.append(number)
            else:
                seen.add(other)
                stack.append((other, iter(successors[other])))
        return postorder[::-1]

    @cached_property
    def components(self) -> list[list[int]]:
        """The same, with the blocks of each outermost loop together: the strongly connected components (Kosaraju and Sharir, 1981)."""
        position = {number: at for at, number in enumerate(self.loops_first)}
        found: list[list[int]] = []
        seen: set[int] = set()
        for number in self.loops_first:
            if number in seen:
                continue
            seen.add(number)
            component = [number]
            for member in component:  # grows while it is walked
                new = [other for other in self.predecessors[member] if other not in seen]
                seen.update(new)
                component += dict.fromkeys(new)
            found.append(sorted(component, key=position.__getitem__))
        return found

    @cached_property
    def turns(self) -> dict[int, ir.Iterate]:
        """By the header of each `for` statement, the operation that begins a turn."""
        return {number: turn for number, turn in self.iterations.items() if turn.is_of_statement}

    @cached_property
    def iterations(self) -> dict[int, ir.Iterate]:
        """By the header of each `for`, of a statement or a comprehension, the operation that begins a turn."""
        found: dict[int, ir.Iterate] = {}
        for number in self.order:
            block = self.body.blocks[number]
            first = (
                self.body.blocks[block.successors[0]] if number in block.loops and len(block.successors) == 2 else None
            )
            turn = first.ops[0] if first is not None and first.ops and not block.ops else None
            if isinstance(turn, ir.Iterate):
                found[number] = turn
        return found

    @cached_property
    def comprehensions(self) -> dict[int, tuple[ir.Comprehension, int]]:
        """By the header of their loop, the comprehensions with one `for`, each with the block in which a turn has made its value."""
        blocks = {op.dst: block for block in self.body.blocks for op in block.ops if isinstance(op, ir.ValueOp)}
        found: dict[int, tuple[ir.Comprehension, int]] = {}
        for block in self.body.blocks:
            for op in block.ops:
                if isinstance(op, ir.Comprehension):
                    made = blocks[op.value]
                    own = [header for header in made.loops if header not in block.loops]
                    if len(own) == 1:
                        found[own[0]] = op, made.index
        return found

    @cached_property
    def predecessors(self) -> dict[int, list[int]]:
        """The blocks that lead to each block that can be reached."""
        found: dict[int, list[int]] = {number: [] for number in self.order}
        for number in self.order:
            for successor in self.body.blocks[number].successors:
                found[successor].append(number)
        return found

    @cached_property
    def _positions(self) -> dict[int, Position]:
        return {
            id(op): Position(block.index, index) for block in self.body.blocks for index, op in enumerate(block.ops)
        }

    def position(self, op: ir.Op) -> Position | None:
        """Where an operation stands; None for one of another body."""
        return self._positions.get(id(op))

    # ------------------------------------------------------------------------------------------------ dominators

    @cached_property
    def dominator(self) -> dict[int, int]:
        """The immediate dominator of each block that can be reached; the entry is its own (Cooper, Harvey and Kennedy, 2001)."""
        rank = {number: at for at, number in enumerate(self.order)}
        found = {0: 0}
        changed = True
        while changed:
            changed = False
            for number in self.order[1:]:
                common = -1
                for other in self.predecessors[number]:
                    if other not in found:
                        continue
                    while common not in (-1, other):
                        if rank[common] > rank[other]:
                            common = found[common]
                        else:
                            other = found[other]
                    common = other
                if found.get(number) != common:
                    found[number] = common
                    changed = True
        return found

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        """Each block's entry and exit numbers in a walk over the dominator tree: an ancestor's enclose those of its descendants."""
        children: dict[int, list[int]] = {number: [] for number in self.order}
        for number in self.order[1:]:
            children[self.dominator[number]].append(number)
        entered, found, clock = {0: 0}, {}, 0
        stack = [(0, iter(children[0]))]
        while stack:
            number, below = stack[-1]
            child = next(below, None)
            clock += 1
            if child is None:
                stack.pop()
                found[number] = (entered[number], clock)
            else:
                entered[child] = clock
                stack.append((child, iter(children[child])))
        return found

    def block_dominates(self, first: int, second: int) -> bool:
        """True when every path from the entry to block `second` passes block `first` (or they are one); False for unreachable blocks."""
        spans = self._spans
        if first not in spans or second not in spans:
            return False
        return spans[first][0] <= spans[second][0] and spans[second][1] <= spans[first][1]

    def dominates(self, first: ir.Op, second: ir.Op) -> bool:
        """True when `first` has run whenever control comes to `second`."""
        before, after = self.position(first), self.position(second)
        if before is None or after is None:
            return False
        if before.block == after.block:
            return before.offset < after.offset
        if not self.block_dominates(before.block, after.block):
            return False
        early = [
            other for other in self.body.blocks[before.block].successors if self._may_be_left_early(before.block, other)
        ]
        # By an exception control may leave the block before `first`, and still come to `second`.
        return after.block not in self.reachable(early, avoiding=before.block)

    def behind(self, block: int) -> Set[int]:
        """The blocks that control may reach from the end of a block: this one among them, where it is in a loop."""
        if block not in self._behind:
            self._behind[block] = self.reachable(self.body.blocks[block].successors)
        return self._behind[block]

    def reachable(self, starts: Iterable[int], avoiding: int = -1) -> set[int]:
        """The blocks that control may reach from some blocks (these included) without passing block `avoiding`."""
        found: set[int] = set()
        pending = list(starts)
        while pending:
            number = pending.pop()
            if number != avoiding and number not in found:
                found.add(number)
                pending += self.body.blocks[number].successors
        return found

    def may_follow(self, first: ir.Op, second: ir.Op, without: ir.Op) -> bool:
        """True where control may come from `first` to `second` without passing `without`."""
        start, end, barred = self.position(first), self.position(second), self.position(without)
        if start is None or end is None or barred is None:
            return False
        if start.block == end.block and start.offset < end.offset:
            return not (barred.block == start.block and start.offset < barred.offset < end.offset)
        if barred.block == start.block and barred.offset > start.offset:
            return False
        passed = self.reachable(self.body.blocks[start.block].successors, avoiding=barred.block)
        if end.block == barred.block and end.offset < barred.offset:
            return any(number in passed for number in self.predecessors.get(end.block, ()))
        return end.block in passed

    @cached_property
    def last_certain(self) -> int | None:
        """The last block that every way through the body passes; None for a body that control never leaves."""
        rank = {number: at for at, number in enumerate(self.order)}
        common: int | None = None
        for number in self.order:
            if self.body.blocks[number].successors:
                continue
            other = number
            while common is not None and common != other:
                if rank[common] > rank[other]:
                    common = self.dominator[common]
                else:
                    other = self.dominator[other]
            common = other
        return common

    @cached_property
    def _deciders(self) -> dict[int, _Decider | None]:
        """For each block that can be reached the nearest block above it with a test that decides, the test, and its sense."""
        found: dict[int, _Decider | None] = {0: None}
        for number in self.order[1:]:
            above = self.dominator[number]
            block = self.body.blocks[above]
            found[number] = found[above]
            if block.test is not None and block.successors.count(number) == 1:
                others = (other for other in self.predecessors[number] if other != above)
                if all(self.block_dominates(number, other) for other in others):
                    found[number] = above, block.test, block.successors[0] == number
        return found

    def decider(self, number: int) -> _Decider | None:
        """The nearest block above one with a test that control must pass in one sense to reach it, the test, and that sense."""
        return self._deciders.get(number)

    def deciding(self, number: int, kinds: tuple[type[ir.Op], ...] = ()) -> Iterator[tuple[ir.Register, bool]]:
        """The conditions that control must pass in one sense to reach a block, each with that sense, the nearest first.

        With `kinds` only those that are an operation of one of these classes, or the negation of one.
        """
        deciders = self._deciders_of(kinds) if kinds else self._deciders
        nearest = deciders.get(number)
        while nearest is not None:
            above, test, sense = nearest
            yield test, sense
            nearest = deciders[above]

    def _deciders_of(self, kinds: tuple[type[ir.Op], ...]) -> dict[int, _Decider | None]:
        """The same as `_deciders` for tests of some classes alone: many assertions of another kind are not walked through."""
        found = self._deciders_by_kind.get(kinds)
        if found is None:
            definition = Lookup.of(self.body).definition
            found = self._deciders_by_kind[kinds] = {}
            for number in self.order:
                nearest = self._deciders[number]
                if nearest is not None:
                    above, test, _ = nearest
                    written = definition(test)
                    while isinstance(written, ir.Unary):
                        written = definition(written.operand)
                    nearest = nearest if isinstance(written, kinds) else found[above]
                found[number] = nearest
        return found

    @cached_property
    def _deciders_by_kind(self) -> dict[tuple[type[ir.Op], ...], dict[int, _Decider | None]]:
        return {}

    def decided_by(self, op: ir.Op) -> Iterator[tuple[ir.Register, bool]]:
        """The conditions that control must pass in one sense to reach `op`, each with that sense, the nearest first."""
        at = self.position(op)
        if at is not None:
            yield from self.deciding(at.block)

    # ------------------------------------------------------------------------------------------------ names

    @cached_property
    def _paths(self) -> dict[int, str]:
        """What each operation that binds, deletes or reads a name or `name.attribute` speaks of, by the identity of the operation."""
        loaded: dict[ir.Register, str] = {}
        found: dict[int, str] = {}
        for block in self.body.blocks:
            for op in block.ops:
                if isinstance(op, ir.Load):
                    loaded[op.dst] = found[id(op)] = op.name
                elif isinstance(op, (ir.Store, ir.Delete)):
                    found[id(op)] = op.name
                elif isinstance(op, (ir.Attribute, ir.StoreAttribute)) and op.object in loaded:
                    found[id(op)] = f"{loaded[op.object]}.{op.name}"
        return found

    @cached_property
    def _bits(self) -> dict[str, int]:
        """A bit for each name, and each `name.attribute`, that the body binds, deletes or reads."""
        names = {parameter.name: None for parameter in self.body.parameters}
        names.update(dict.fromkeys(self._paths.values()))
        return {name: 1 << at for at, name in enumerate(names)}

    @cached_property
    def _masks(self) -> dict[str, int]:
        """The bits of each name together with those of its attributes, which a new binding of the name forgets."""
        found: dict[str, int] = {}
        for name, bit in self._bits.items():
            root = name.partition(".")[0]
            found[root] = found.get(root, 0) | bit
        return found

    @cached_property
    def _effects(self) -> list[tuple[int, int]]:
        """For each block the names that it forgets, and those that are bound behind it whatever was before."""
        bits, paths, masks = self._bits, self._paths, self._masks
        found = []
        for block in self.body.blocks:
            forgotten = bound = 0
            for op in block.ops:
                path = paths.get(id(op))
                if path is None:
                    continue
                if isinstance(op, (ir.Store, ir.Delete)):
                    forgotten |= masks[path]
                    bound &= ~masks[path]
                if not isinstance(op, ir.Delete):
                    bound |= bits[path]
            found.append((forgotten, bound))
        return found

    @cached_property
    def _known(self) -> dict[str, dict[int, list[int]]]:
        """For each name, by block: where it is bound or read."""
        found: dict[str, dict[int, list[int]]] = {}
        for block in self.body.blocks:
            for at, op in enumerate(block.ops):
                path = self._paths.get(id(op))
                if path is not None and not isinstance(op, ir.Delete):
                    found.setdefault(path, {}).setdefault(block.index, []).append(at)
        return found

    @cached_property
    def _rebound(self) -> dict[str, dict[int, list[int]]]:
        """For each name, by block: where it is bound or deleted, and its attributes are forgotten."""
        found: dict[str, dict[int, list[int]]] = {}
        for block in self.body.blocks:
            for at, op in enumerate(block.ops):
                if isinstance(op, (ir.Store, ir.Delete)):
                    found.setdefault(op.name, {}).setdefault(block.index, []).append(at)
        return found

    @cached_property
    def _bound(self) -> dict[int, int]:
        """The names that are bound on every path to the start of each block that can be reached."""
        entry = sum(self._bits[name] for name in {parameter.name for parameter in self.body.parameters})
        found = dict.fromkeys(self.order, -1)
        found[0] = entry
        changed = True
        while changed:
            changed = False
            for number in self.order:
                bound = entry if number == 0 else -1
                for other in self.predecessors[number]:
                    bound &= self._along(other, number, found)
                if bound != found[number]:
                    found[number] = bound
                    changed = True
        return found

    def _along(self, source: int, target: int, bound: dict[int, int]) -> int:
        """The names that are bound on the way from one block to the next."""
        forgotten, new = self._effects[source]
        after = bound[source] & ~forgotten | new
        if self._may_be_left_early(source, target):
            after &= bound[source]
        for manager in self._swallowed(source, target):
            after &= bound.get(self._first_within[manager], -1)
        for name in self._unbound_behind(source, target):
            after &= ~self._masks[name]
        return after

    def _may_be_left_early(self, source: int, target: int) -> bool:
        """True for an edge that an exception in the middle of `source` may take: to a handler or a `finally` of a `try` around it."""
        inside = self.body.blocks[source].tries
        if not inside:
            return False
        parts = {context.identity: context.part for context in inside}
        return any(
            parts.get(context.identity, context.part) != context.part and context.part in ("handler", "finally")
            for context in self.body.blocks[target].tries
        )

    def tried(self, source: int, target: int) -> tuple[int, bool] | None:
        """The `try` that an edge decides, and whether by an exception: True to one of its handlers, False to what runs if nothing was raised.

        None for an edge that decides none, such as one to a `finally`, or out of a handler.
        """
        blocks = self.body.blocks
        inside = {context.identity: context.part for context in blocks[source].tries}
        parts = {context.identity: context.part for context in blocks[target].tries}
        for identity, part in parts.items():
            if part == "handler" and inside.get(identity) != "handler":
                return identity, True
        for identity, part in inside.items():
            if part == "body" and parts.get(identity) in (None, "else"):
                return identity, False
        return None

    @cached_property
    def _swallowing(self) -> frozenset[ir.Register]:
        """The registers of context managers that swallow exceptions."""
        lookup = Lookup.of(self.body)
        made = {register: lookup.definition(register) for register in lookup.entered}
        return frozenset(
            register
            for register, call in made.items()
            if isinstance(call, ir.Call) and lookup.called(call) in _SWALLOWING
        )

    @cached_property
    def _first_within(self) -> dict[ir.Register, int]:
        """The block that each `with` begins with."""
        found: dict[ir.Register, int] = {}
        for number in self.order:
            for register in self.body.blocks[number].withs:
                found.setdefault(register, number)
        return found

    def _swallowed(self, source: int, target: int) -> Iterator[ir.Register]:
        """The swallowing managers whose `with` an edge leaves."""
        inside = self.body.blocks[source].withs
        if inside and self._swallowing:
            outside = self.body.blocks[target].withs
            yield from (register for register in inside if register in self._swallowing and register not in outside)

    @cached_property
    def _caught(self) -> dict[int, set[str]]:
        """The names that Python deletes at the end of the handlers of each `try`."""
        found: dict[int, set[str]] = {}
        for block in self.body.blocks:
            context = block.tries[-1] if block.tries else None
            if context is None or context.part != "handler":
                continue
            for first, second in zip(block.ops, block.ops[1:], strict=False):
                if isinstance(first, ir.Opaque) and isinstance(second, ir.Store) and second.value == first.dst:
                    found.setdefault(context.identity, set()).add(second.name)
                    break
        return found

    def _unbound_behind(self, source: int, target: int) -> Iterator[str]:
        """The names of `except ... as name` that an edge out of their handler deletes."""
        inside = self.body.blocks[source].tries
        if not inside or not self._caught:
            return
        outside = {context.identity for context in self.body.blocks[target].tries if context.part == "handler"}
        for context in inside:
            if context.part == "handler" and context.identity not in outside:
                yield from self._caught.get(context.identity, ())

    def definitely_bound(self, name: str, op: ir.Op) -> bool:
        """True when every path to `op` has bound (or read) the name in this body, and not deleted it since.

        `name` may be `name.attribute`: then the attribute was stored or read on every path since the name was bound.
        False for a name that the body never mentions. Code that cannot be reached has every name that the body binds.
        """
        at = self.position(op)
        return at is not None and self._is_bound(name, at.block, at.offset)

    def bound_behind(self, name: str, op: ir.Op) -> bool:
        """The same for the point behind `op`."""
        at = self.position(op)
        return at is not None and self._is_bound(name, at.block, at.offset + 1)

    def bound_at_end(self, name: str) -> bool:
        """True when the name is bound wherever the body is left by its end or by `return`."""
        ends = [number for number in self.order if not self.body.blocks[number].successors]
        ends = [number for number in ends if not _raises(self.body.blocks[number])]
        return bool(ends) and all(self._is_bound(name, number, None) for number in ends)

    def _is_bound(self, name: str, number: int, stop: int | None) -> bool:
        bit = self._bits.get(name)
        if bit is None:
            return False
        last = _last_before(self._known.get(name, {}).get(number, ()), stop)
        renewed = _last_before(self._rebound.get(name.partition(".")[0], {}).get(number, ()), stop)
        if last >= renewed:
            return last >= 0 or bool(self._bound.get(number, -1) & bit)
        return False

    def is_read_after(self, name: str, op: ir.Op) -> bool:
        """True where control may come from an operation to one that reads the name before another value is bound to it: the name is live there."""
        at = self.position(op)
        pending, seen = [(at.block, at.offset + 1)] if at is not None else [], set[int]()
        while pending:
            number, first = pending.pop()
            for other in self.body.blocks[number].ops[first:]:
                if isinstance(other, ir.Load) and other.name == name:
                    return True
                if isinstance(other, (ir.Store, ir.Delete)) and other.name == name:
                    break
            else:
                following = [after for after in self.body.blocks[number].successors if after not in seen]
                seen.update(following)
                pending += [(after, 0) for after in following]
        return False

    def bindings(self, name: str, op: ir.Op) -> Bindings:
        """What may have bound the name that `op` would read (its reaching definitions)."""
        at = self.position(op)
        if at is None:
            return Bindings(unbound=True)
        found: dict[int, ir.Store] = {}
        parameter = next((known for known in self.body.parameters if known.name == name), None)
        if name not in self._rebound and at.block in self.predecessors:
            return Bindings(parameter=parameter, unbound=parameter is None)
        reaches_entry = unbound = False
        pending = [(at.block, at.offset)]
        seen: set[int] = set()
        while pending:
            number, stop = pending.pop()
            last = self._last_binding(name, number, stop)
            if isinstance(last, ir.Store):
                found[id(last)] = last
                continue
            if isinstance(last, ir.Delete):
                unbound = True
                continue
            if number == 0:
                reaches_entry = True
            for other in self.predecessors.get(number, ()):
                if self._may_be_left_early(other, number):
                    # Whatever the block binds may be the last, and so may what comes into it.
                    ops = [self.body.blocks[other].ops[place] for place in self._rebound[name].get(other, ())]
                    found.update((id(op), op) for op in ops if isinstance(op, ir.Store))
                    unbound = unbound or any(isinstance(op, ir.Delete) for op in ops)
                    if (other, 0) not in pending and -other - 1 not in seen:
                        seen.add(-other - 1)
                        pending.append((other, 0))
                elif other not in seen:
                    seen.add(other)
                    pending.append((other, len(self.body.blocks[other].ops)))
        return Bindings(
            tuple(found.values()),
            parameter if reaches_entry else None,
            unbound or (reaches_entry and parameter is None),
        )

    def _last_binding(self, name: str, number: int, stop: int) -> ir.Store | ir.Delete | None:
        last = _last_before(self._rebound.get(name, {}).get(number, ()), stop)
        found = self.body.blocks[number].ops[last] if last >= 0 else None
        return found if isinstance(found, (ir.Store, ir.Delete)) else None


def _last_before(places: Sequence[int], stop: int | None) -> int:
    """The last of some places in ascending order that stands before `stop`; -1 where there is none."""
    before = len(places) if stop is None else bisect_left(places, stop)
    return places[before - 1] if before else -1


def _raises(block: ir.Block) -> bool:
    return bool(block.ops) and isinstance(block.ops[-1], ir.Raise)
