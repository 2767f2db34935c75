"""The lowering of LibCST modules: what becomes of each construct, and what holds for every Program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import check

from torchdevlint.program.bounds import parse
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
