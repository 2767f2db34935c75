"""What stands below and above a node is what LibCST says, for every class of node."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from torchdevlint.fixes import tree
from torchdevlint.fixes.tree import children, parents_in, walk
from torchdevlint.program import from_ast
from torchdevlint.program.reparse import reparse

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    *sorted((ROOT / "torchdevlint" / "program").glob("*.py")),
    *sorted((ROOT / "fixtures").glob("*/*/faulty.py"))[::7],
]
RARE = """
async def f(a, /, b: int = 1, *c, d, **e) -> None:  # comment
    async with a as b, c: pass
    async for x in y: await z; break
    else: continue
    global g; nonlocal h
    lambda *, k=1: (yield from k)
    del a[1:2:3, ...], b.c
    return {**a, "b": f"{c!r:>{d}}" "e"}, {*a}, [x async for x in y if x if not z], {k: v for k in v}, (i for i in j)
@d
class C(B, metaclass=M):
    x: int = 3; y: "str"
    x += 1; assert a, b; raise E from None
    with (a as b, c as d,):
        ...
    try:
        pass
    except (A, B) as e:
        pass
    else:
        pass
    finally:
        pass
    try: pass
    except* A: pass
match a:
    case {"k": [1, *_], **rest} | C(1, x=2) | (1 as one) | -1 | None if b:
        pass
    case _:
        pass
import a.b as c, d
from . import (x as y, z,)
from .e import *
if (n := 1) < 2 <= 3 is not None not in d: pass
elif ~a or b and not c: pass
else: a = b, *c = d if e else f; x @= y ** -z
while True: pass
def t[T: int, *Ts, **P](a: T): ...
type A[T] = list[T]
"""


def _all(module: cst.Module) -> list[cst.CSTNode]:
    found, pending = [], [module]
    while pending:
        node = pending.pop()
        found.append(node)
        pending += reversed(node.children)
    return found


@pytest.mark.parametrize("text", [RARE, *(path.read_text(encoding="utf-8") for path in FILES)])
def test_the_tree_is_what_libcst_says(text):
    module = cst.parse_module(text)
    nodes = _all(module)
    assert [id(node) for node in walk(module)] == [id(node) for node in nodes]
    parents = parents_in(module)
    for node in nodes:
        assert list(map(id, children(node))) == list(map(id, node.children))
        assert all(parents[child] is node for child in node.children)
    assert len(parents) == len(nodes) - 1


def test_a_part_is_found_also_when_the_first_node_of_its_class_had_none():
    tree._FIELDS.clear()
    for text in ("f'{a}'", "f'{a:{b}}'"):
        for node in _all(cst.parse_module(text)):
            assert list(map(id, children(node))) == list(map(id, node.children))


def test_the_fields_of_a_class_are_asked_for_once(monkeypatch):
    tree._FIELDS.clear()
    asked = []
    fields = tree._fields
    monkeypatch.setattr(tree, "_fields", lambda node: asked.append(type(node)) or fields(node))
    list(walk(cst.parse_module(RARE)))
    assert len(asked) == len(set(asked)) > 50


def test_nothing_is_below_what_is_no_node():
    assert not list(walk(None)) and not list(walk(cst.MaybeSentinel.DEFAULT))


def test_the_parents_of_the_next_version_are_its_own() -> None:
    """Statements that a version shares with the one before are not walked again."""
    texts = ["class A:\n    def f(self):\n        return 1\n\n    def g(self): return 2\n\n\nx = A()\ny = [x]\n"]
    texts += [texts[0].replace("return 1", "return (1, x)"), texts[0].replace("[x]", "x.f()"), "z = 1\n", texts[0]]
    version = None
    for text in texts:
        program = from_ast.read(text)
        assert program is not None
        version = reparse(version, text, program.rows)
        module = version.module
        expected = {child: node for node in walk(module) for child in children(node)}
        assert parents_in(module) == expected
