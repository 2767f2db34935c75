"""Questions about order that several rules ask: what runs before what, and what runs as soon as the file is imported."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import lru_cache

from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup


def reachable(
    body: ir.Body, start: int, without: tuple[int, int] | None = None, beyond: Container[int] = ()
) -> set[int]:
    """The blocks that control may reach from block `start` (itself included), not by the edge `without`, nor on from one of the blocks `beyond`."""
    found: set[int] = set()
    stack = [start]
    while stack:
        number = stack.pop()
        if number in found:
            continue
        found.add(number)
        if number in beyond:
            continue
        stack += [next_ for next_ in body.blocks[number].successors if (number, next_) != without]
    return found


def reachable_by_turns(body: ir.Body, start: int, beyond: Container[int], has_turns: Callable[[int], bool]) -> set[int]:
    """The same where a `for` loop that `has_turns`, asked of its header, is left behind a turn of it alone."""
    found: set[tuple[int, bool]] = set()
    stack = [(start, True)]
    while stack:
        number, is_behind_turn = stack.pop()
        if (number, is_behind_turn) in found:
            continue
        found.add((number, is_behind_turn))
        if number in beyond:
            continue
        for next_ in body.blocks[number].successors:
            if not is_behind_turn and number not in body.blocks[next_].loops:
                continue
            is_entered = next_ in body.blocks[next_].loops and next_ not in body.blocks[number].loops
            stack.append((next_, not (is_entered and has_turns(next_))))
    return {number for number, _ in found}


@lru_cache(maxsize=4)
def import_time_blocks(module: ir.Body) -> frozenset[int]:
    """The blocks of a module that run when it is imported: all but those behind `if __name__ == "__main__":`."""
    definition = Lookup.of(module).definition
    for block in module.blocks:
        test = definition(block.test)
        if isinstance(test, ir.Compare) and len(block.successors) == 2:
            sides = (definition(test.left), definition(test.comparators[0]))
            if any(isinstance(side, ir.Load) and side.name == "__name__" for side in sides):
                return frozenset(reachable(module, 0, without=(block.index, block.successors[0])))
    return frozenset(reachable(module, 0))


def block_of(body: ir.Body, op: ir.Op) -> ir.Block | None:
    """The block that an operation stands in."""
    return Lookup.of(body).block(op)


def leads_through(body: ir.Body, first: ir.Block, second: ir.Block) -> bool:
    """True when every way from the start of the body to the second block passes the first."""
    graph = Cfg.of(body)
    return graph.block_dominates(first.index, second.index) or second.index not in graph.dominator


def is_unconditional(block: ir.Block, body: ir.Body) -> bool:
    """True when every way through the body passes the block."""
    graph = Cfg.of(body)
    return graph.last_certain is None or graph.block_dominates(block.index, graph.last_certain)


def deciding_tests(body: ir.Body, block: ir.Block) -> Iterator[ir.Register]:
    """The conditions that control must pass in one sense to reach the block."""
    for test, _ in deciding_sides(body, block):
        yield test


def deciding_sides(body: ir.Body, block: ir.Block, *kinds: type[ir.Op]) -> Iterator[tuple[ir.Register, bool]]:
    """The conditions that control must pass in one sense to reach the block, each with that sense.

    With `kinds` only those that are an operation of one of these classes, or the negation of one.
    """
    return Cfg.of(body).deciding(block.index, kinds)


def follows(body: ir.Body, first: tuple[ir.Block, ir.Op], second: tuple[ir.Block, ir.Op]) -> bool:
    """True when control can come from `first` to `second`, both given with their blocks."""
    if first[0] is second[0]:
        number = Lookup.of(body).number
        return number(first[1]) < number(second[1]) or bool(first[0].loops)
    # Dominators answer most questions without a walk.
    graph, start, end = Cfg.of(body), first[0].index, second[0].index
    return graph.block_dominates(start, end) or end in graph.behind(start)


def is_read_inside(body: ir.Body, name: str) -> bool:
    """True for a name that a function inside a body may read at any time."""
    return any(Lookup.of(inner).loads(name) or is_read_inside(inner, name) for inner in body.functions)


def is_read_after(body: ir.Body, op: ir.Op, name: str) -> bool:
    """True when control may come from an operation to a read of a name before the name is bound again, and where others may read it: a function
    inside, or whoever imports the module.
    """
    if body.kind in ("module", "class"):
        return True
    if is_read_inside(body, name):
        return True
    graph = Cfg.of(body)
    return graph.position(op) is None or graph.is_read_after(name, op)
