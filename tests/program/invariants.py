"""What holds for every Program, whatever it was lowered from."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.program import ir

_READS: dict[type[ir.Op], tuple[str, ...]] = {
    ir.Attribute: ("object",),
    ir.Call: ("function", "arguments"),
    ir.Binary: ("left", "right"),
    ir.Unary: ("operand",),
    ir.Compare: ("left", "comparators"),
    ir.Choice: ("values", "test"),
    ir.Subscript: ("object", "index"),
    ir.Slice: ("lower", "upper", "step"),
    ir.Sequence: ("elements",),
    ir.Mapping: ("keys", "values"),
    ir.FormattedString: ("parts",),
    ir.Comprehension: ("key", "value"),
    ir.Unpack: ("source",),
    ir.Iterate: ("iterable",),
    ir.Enter: ("manager",),
    ir.Await: ("value",),
    ir.Yield: ("value",),
    ir.AugmentedAssign: ("target", "value"),
    ir.Opaque: ("operands",),
    ir.Store: ("value",),
    ir.StoreAttribute: ("object", "value"),
    ir.StoreSubscript: ("object", "index", "value"),
    ir.Discard: ("value",),
    ir.Return: ("value",),
    ir.Raise: ("value",),
}


def registers_read(op: ir.Op) -> Iterator[int]:
    """The registers that an operation reads, in its own body."""
    for name in _READS.get(type(op), ()):
        value = getattr(op, name)
        items = value if type(value) is tuple else (value,)
        for item in items:
            if isinstance(item, ir.Argument | ir.Element):
                yield item.value
            elif item is not None:
                yield item
    if isinstance(op, ir.MakeFunction):
        yield from (p.default for p in op.function.parameters if p.default is not None)
        yield from op.function.decorator_registers
    elif isinstance(op, ir.MakeClass):
        yield from op.cls.base_registers
        yield from op.cls.body.decorator_registers


def check(program: ir.Program) -> None:
    """Raises AssertionError for a Program that breaks what every reader of one relies on."""
    assert program.bodies[0] is program.module
    seen: set[int] = set()
    for body in program.bodies:
        assert body.parent is None or id(body.parent) in seen, "outer bodies come first"
        seen.add(id(body))
        _check_body(body)
    assert len(seen) == len(program.bodies)
    made = {id(body) for body in program.bodies if body.kind in ("function", "lambda")}
    assert made == {id(op.function) for op in _ops(program) if isinstance(op, ir.MakeFunction)}
    assert {id(c) for c in program.classes} == {id(op.cls) for op in _ops(program) if isinstance(op, ir.MakeClass)}
    names = {op.name for op in _ops(program) if isinstance(op, ir.Load | ir.Store | ir.Attribute | ir.StoreAttribute)}
    assert {name.partition("@")[0] for name in names} <= program.words


def _ops(program: ir.Program) -> Iterator[ir.Op]:
    return (op for body in program.bodies for block in body.blocks for op in block.ops)


def _check_body(body: ir.Body) -> None:
    written = [op.dst for block in body.blocks for op in block.ops if isinstance(op, ir.ValueOp)]
    assert sorted(written) == list(range(body.register_count)), "each register is written once"
    readable = set(written)
    for place, block in enumerate(body.blocks):
        assert block.index == place
        assert all(0 <= successor < len(body.blocks) for successor in block.successors)
        assert len(set(block.successors)) == len(block.successors)
        assert set(block.withs) <= readable
        if block.test is not None:
            assert block.test in readable
            assert len(block.successors) == 2
        for loop in block.loops:
            assert body.blocks[loop].loops[-1] == loop, "a loop is named by its header, which is part of it"
        for index, op in enumerate(block.ops):
            assert set(registers_read(op)) <= readable
            if isinstance(op, ir.Return | ir.Raise):
                assert index == len(block.ops) - 1, "it ends its block"
            if isinstance(op, ir.Store) and op.name not in body.global_names | body.nonlocal_names:
                assert op.name in body.local_names
    _check_reads_are_reached(body)


def _check_reads_are_reached(body: ir.Body) -> None:
    """In every block that the entry leads to, what is read was written on every way there (choices and loops aside)."""
    written: dict[int, set[int]] = {0: set()}
    waiting = [0]
    while waiting:
        index = waiting.pop()
        block = body.blocks[index]
        known = set(written[index])
        for op in block.ops:
            if not isinstance(op, ir.Choice | ir.Comprehension):
                assert set(registers_read(op)) <= known
            if isinstance(op, ir.ValueOp):
                known.add(op.dst)
        assert block.test is None or block.test in known
        for successor in block.successors:
            before = written.get(successor)
            after = known if before is None else before & known
            if before is None or after != before:
                written[successor] = after
                waiting.append(successor)
