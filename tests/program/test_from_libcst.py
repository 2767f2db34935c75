"""The lowering of LibCST modules: what becomes of each construct, and what holds for every Program."""

from __future__ import annotations

import gc
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchdevlint.program import ir
from torchdevlint.program.bounds import ParseFailure, parse
from torchdevlint.program.dump import dump
from torchdevlint.program.from_libcst import lower


def _cases() -> list[Any]:
    text = (Path(__file__).parent / "lowered.txt").read_text(encoding="utf-8")
    cases = []
    for section in text.split("=== ")[1:]:
        name, _, rest = section.partition("\n")
        source, _, expected = rest.partition("\n---\n")
        cases.append(pytest.param(source + "\n", expected.strip("\n"), id=name))
    return cases


@pytest.mark.parametrize(("source", "expected"), _cases())
def test_lowered_as_reviewed(source: str, expected: str) -> None:
    assert dump(lower(cst.parse_module(source))).strip("\n") == expected


# ---------------------------------------------------------------------------------------------------- invariants


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


def _library_files() -> list[Path]:
    """About 150 files of the standard library, the same each time, none of them huge."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("[!_s]*/**/*.py"))
    small = [path for path in files if 500 < path.stat().st_size < 40_000 and "site-packages" not in path.parts]
    return small[:: max(1, len(small) // 150)]


def test_the_standard_library_is_lowered() -> None:
    lowered = 0
    gc.disable()
    try:
        for path in _library_files():
            try:
                module = parse(path.read_bytes().decode("utf-8"))
            except (ParseFailure, UnicodeDecodeError):
                continue  # test data that is wrong on purpose
            check(lower(module))
            lowered += 1
    finally:
        gc.enable()
    assert lowered > 100


_EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b.c", "1", "'s'", "None", "(yield)", "...", "f'x{a}'"]),
    lambda inner: st.one_of(
        st.builds("({} and {} or {})".format, inner, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("f({}, *{}, k={})".format, inner, inner, inner),
        st.builds("[{} for a, b in {} if {}]".format, inner, inner, inner).filter(lambda text: "yield" not in text),
        st.builds("(lambda a, b={}: {})".format, inner, inner),
        st.builds("({} < {} + {})[{}:{}]".format, inner, inner, inner, inner, inner),
        st.builds("{{{}: {}, **{}}}".format, inner, inner, inner),
        st.builds("(w := not {})".format, inner),
    ),
    max_leaves=6,
)


def _indented(statements: list[str]) -> str:
    return "\n".join(f"    {line}" for statement in statements for line in statement.split("\n"))


def _block(header: str) -> Any:
    return lambda *parts: f"{header.format(*parts[:-1])}\n{_indented(parts[-1])}"


_SIMPLE = st.one_of(
    st.builds("a = b.c, *d = {}".format, _EXPRESSIONS),
    st.builds("a[{}] += {}".format, _EXPRESSIONS, _EXPRESSIONS),
    st.builds("{}".format, _EXPRESSIONS),
    st.builds("assert {}, {}".format, _EXPRESSIONS, _EXPRESSIONS),
    st.builds("return {}".format, _EXPRESSIONS),
    st.builds("raise {}".format, _EXPRESSIONS),
    st.sampled_from(["break", "continue", "pass", "del a, b[c]", "x: int", "import a.b as c"]),
)
_STATEMENTS = st.recursive(
    st.lists(_SIMPLE, min_size=1, max_size=3),
    lambda inner: st.lists(
        st.one_of(
            st.builds(_block("if {}:"), _EXPRESSIONS, inner),
            st.builds(
                lambda test, a, b: f"{_block('if {}:')(test, a)}\n{_block('else:')(b)}", _EXPRESSIONS, inner, inner
            ),
            st.builds(_block("while {}:"), _EXPRESSIONS, inner),
            st.builds(lambda a, b: f"{_block('for i, j in x:')(a)}\n{_block('else:')(b)}", inner, inner),
            st.builds(_block("with {} as v, w:"), _EXPRESSIONS, inner),
            st.builds(
                lambda a, b, c, d: "\n".join(
                    _block(header)(part)
                    for header, part in zip(("try:", "except E as e:", "else:", "finally:"), (a, b, c, d), strict=True)
                ),
                *[inner] * 4,
            ),
            st.builds(
                lambda a, b: f"match x:\n{_indented([_block('case [p, *q] if p:')(a), _block('case _:')(b)])}",
                inner,
                inner,
            ),
            st.builds(_block("def g(a, *b, c={}, **d):"), _EXPRESSIONS, inner),
            st.builds(_block("class C(a):"), inner),
        ),
        min_size=1,
        max_size=2,
    ),
    max_leaves=5,
)


@settings(max_examples=150)
@given(_STATEMENTS)
def test_what_every_program_keeps(statements: list[str]) -> None:
    check(lower(cst.parse_module(f"def f():\n    while x:\n{_indented([_indented(statements)])}\n")))


# ---------------------------------------------------------------------------------------------------- names


def test_what_is_imported() -> None:
    program = lower(
        cst.parse_module("import torch.nn as nn\nfrom a.b import c as d, e\nfrom . import f\nfrom ..g import *\n")
    )
    assert program.imported == {"torch.nn", "a.b", "a.b.c", "a.b.e", ".f", "..g"}
    assert {"torch", "nn", "c", "d", "f", "g"} <= program.words


def test_classes_know_their_methods_and_methods_their_class() -> None:
    program = lower(
        cst.parse_module(
            "class A(nn.Module, B[T], *C):\n  def f(self): return lambda: 1\n  def f(self): ...\n  class D: ...\n"
        )
    )
    outer, inner = program.classes
    assert (outer.qualname, outer.bases, inner.qualname) == ("A", ("nn.Module", "B", "?"), "A.D")
    first, last = outer.body.functions
    assert outer.methods == {"f": last}
    assert first.owner is last.owner is outer
    assert first.functions[0].owner is None
    assert first.functions[0].qualname == "A.f.<locals>.<lambda>"


def test_nodes_are_kept() -> None:
    module = cst.parse_module("(x.y) = f(1)\nx += 1\nimport a.b\ng(1) if c else 2\n")
    kinds = {
        type(op).__name__: type(op.node).__name__
        for op in lower(module).module.blocks[0].ops + lower(module).module.blocks[-1].ops
    }
    assert kinds == {
        "Load": "Name",
        "Constant": "Integer",
        "Call": "Call",
        "StoreAttribute": "Attribute",
        "AugmentedAssign": "AugAssign",
        "Store": "Name",
        "Import": "ImportAlias",
        "Choice": "IfExp",
        "Discard": "Expr",
    }


@pytest.mark.parametrize(
    "text",
    [
        "x = a" + " + a" * 1990,
        "x = a" + ".b" * 1990,
        "x = a" + ".b(c)" * 450,
        "x = a" + " and a" * 1990,
        "x = " + "a if b else " * 500 + "c",
        "x = " + "'a' " * 1990,
        "x = " + "not " * 1990 + "a",
        "x = a" + " ** a" * 990,
        "x = " + "lambda: " * 1500 + "a",
        "x: a" + " | a" * 1500,
        "if a:\n x\n" + "elif a:\n x\n" * 3000,
        "x = " + "f(" * 199 + ")" * 199,
        "\n".join(" " * level + "with a:" for level in range(98)) + "\n" + " " * 98 + "x",
    ],
    ids=lambda text: text[:24],
)
def test_long_chains_are_lowered(text: str) -> None:
    check(lower(parse(text + "\n")))
