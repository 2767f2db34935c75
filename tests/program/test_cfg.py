"""Dominators, deciding branches and definite assignment, on every statement that makes a way round another one."""

from __future__ import annotations

import random
import textwrap

import pytest

from torchdevlint.program import from_ast, ir
from torchdevlint.program.cfg import Cfg


def graph(text: str, kind: str = "module") -> Cfg:
    program = from_ast.read(textwrap.dedent(text))
    assert program is not None
    return Cfg.of(next(body for body in program.bodies if body.kind == kind))


def load(cfg: Cfg, name: str) -> ir.Op:
    """The first read of a name."""
    return next(op for block in cfg.body.blocks for op in block.ops if isinstance(op, ir.Load) and op.name == name)


# `mark` is where the question is asked: is `d` bound there?
BOUND = {
    "before": "d = 1\nmark",
    "both branches": "if a:\n    d = 1\nelse:\n    d = 2\nmark",
    "the other branch leaves": "def f():\n    if a:\n        d = 1\n    else:\n        return\n    mark",
    "the other branch raises": "if a:\n    d = 1\nelse:\n    raise E\nmark",
    "every case": "match a:\n    case 1:\n        d = 1\n    case _:\n        d = 2\nmark",
    "within the loop": "for d in a:\n    mark",
    "an endless loop": "while True:\n    d = 1\n    if a:\n        break\nmark",
    "a parameter": "def f(d):\n    mark",
    "with": "with a as d:\n    mark",
    "behind with": "with a:\n    d = 1\nmark",
    "handlers bind it too": "try:\n    d = f()\nexcept E:\n    d = 1\nmark",
    "handlers leave": "try:\n    d = f()\nexcept E:\n    raise\nmark",
    "else of try": "try:\n    d = f()\nexcept E:\n    pass\nelse:\n    mark",
    "before the try": "d = 1\ntry:\n    f()\nfinally:\n    mark",
    "a walrus that is always evaluated": "if (d := f()) and a:\n    mark",
    "read already": "print(d)\nmark",
    "imported": "import d\nmark",
    "a function": "def d(): pass\nmark",
    "deleted and bound again": "d = 1\ndel d\nd = 2\nmark",
    "unpacked": "(a, [b, *d]) = c\nmark",
}
UNBOUND = {
    "behind": "mark\nd = 1",
    "one branch": "if a:\n    d = 1\nmark",
    "some cases": "match a:\n    case 1:\n        d = 1\nmark",
    "behind a loop": "for d in a:\n    pass\nmark",
    "in a loop behind": "while a:\n    mark\n    d = 1",
    "before continue": "for a in b:\n    if a:\n        continue\n    d = 1\nelse:\n    mark",
    "in the try, asked in its handler": "try:\n    d = f()\n    g()\nexcept E:\n    mark",
    "in the try, asked in its finally": "try:\n    d = f()\nfinally:\n    mark",
    "a handler passes": "try:\n    d = f()\nexcept E:\n    pass\nmark",
    "deleted": "d = 1\ndel d\nmark",
    "deleted on one path": "d = 1\nif a:\n    del d\nmark",
    "the name of a handler": "try:\n    f()\nexcept E as d:\n    pass\nelse:\n    raise\nmark",
    "the name of a handler, bound before": "d = 1\ntry:\n    f()\nexcept E as d:\n    pass\nmark",
    "a swallowed exception": "with contextlib.suppress(E):\n    d = f()\nmark",
    "a comprehension's own": "[d for d in a]\nmark",
    "declared": "d: int\nmark",
    "a walrus behind and": "if a and (d := f()):\n    pass\nmark",
}


PATHS = {
    "stored": ("s.d = 1\nmark", True),
    "read": ("f(s.d)\nmark", True),
    "on one path": ("if a:\n    s.d = 1\nmark", False),
    "of another object": ("s.d = 1\ns = f()\nmark", False),
    "deleted with its name": ("s.d = 1\ndel s\nmark", False),
    "of another name": ("t.d = 1\nmark", False),
}


@pytest.mark.parametrize("case", PATHS)
def test_attributes_that_are_bound(case: str) -> None:
    text, holds = PATHS[case]
    cfg = graph(text)
    assert cfg.definitely_bound("s.d", load(cfg, "mark")) is holds


@pytest.mark.parametrize("case", BOUND)
def test_names_that_are_bound_on_every_path(case: str) -> None:
    cfg = graph(BOUND[case], "function" if BOUND[case].startswith("def f") else "module")
    assert cfg.definitely_bound("d", load(cfg, "mark"))


@pytest.mark.parametrize("case", UNBOUND)
def test_names_that_some_path_leaves_unbound(case: str) -> None:
    cfg = graph(UNBOUND[case])
    assert not cfg.definitely_bound("d", load(cfg, "mark"))


def test_bindings_that_reach_an_operation() -> None:
    cfg = graph("d = 1\nd = 2\nif a:\n    d = 3\nmark")
    found = cfg.bindings("d", load(cfg, "mark"))
    stores = [op for block in cfg.body.blocks for op in block.ops if isinstance(op, ir.Store)]
    assert set(map(id, found.stores)) == set(map(id, stores[1:]))
    assert not found.unbound
    assert found.parameter is None


def test_bindings_of_a_loop_come_round() -> None:
    cfg = graph("d = 1\nfor a in b:\n    mark\n    d = 2")
    found = cfg.bindings("d", load(cfg, "mark"))
    assert len(found.stores) == 2
    assert not found.unbound


def test_bindings_in_a_handler_are_all_those_of_the_try() -> None:
    cfg = graph("d = 1\ntry:\n    d = 2\n    d = 3\nexcept E:\n    mark")
    assert len(cfg.bindings("d", load(cfg, "mark")).stores) == 3


def test_bindings_of_parameters() -> None:
    cfg = graph("def f(d, a):\n    if a:\n        d = 1\n    mark", "function")
    found = cfg.bindings("d", load(cfg, "mark"))
    assert found.parameter is not None
    assert len(found.stores) == 1
    assert not found.unbound


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("one\ntwo", True),
        ("two\none", False),
        ("if a:\n    one\ntwo", False),
        ("one\nif a:\n    two", True),
        ("for a in b:\n    one\ntwo", False),
        ("for a in b:\n    one\n    two", True),
        ("try:\n    one\n    two\nexcept E:\n    pass", True),
        ("try:\n    f()\n    one\nexcept E:\n    two", False),
        ("try:\n    one\nexcept E:\n    raise\ntwo", True),
        ("try:\n    one\nexcept E:\n    pass\ntwo", False),
    ],
)
def test_dominance_of_operations(text: str, holds: bool) -> None:
    cfg = graph(text)
    assert cfg.dominates(load(cfg, "one"), load(cfg, "two")) is holds


def _reachable_without(cfg: Cfg, avoided: int) -> set[int]:
    return cfg.reachable([0], avoiding=avoided)


@pytest.mark.parametrize("seed", range(30))
def test_dominators_are_what_their_definition_says(seed: int) -> None:
    cfg = graph(_program(random.Random(seed), 3))
    for first in cfg.order:
        without = _reachable_without(cfg, first)
        for second in cfg.order:
            assert cfg.block_dominates(first, second) is (second not in without)


def test_what_decides() -> None:
    cfg = graph("if a:\n    if b:\n        one\n    else:\n        two\nthree\nif c:\n    raise E\nfour")
    names = {op.dst: op.name for block in cfg.body.blocks for op in block.ops if isinstance(op, ir.Load)}

    def told(name: str) -> list[tuple[str, bool]]:
        return [(names[test], side) for test, side in cfg.decided_by(load(cfg, name))]

    assert told("one") == [("b", True), ("a", True)]
    assert told("two") == [("b", False), ("a", True)]
    assert told("three") == []
    assert told("four") == [("c", False)]


def test_long_bodies_take_linear_work() -> None:
    """3,000 branches in a row, each with a name of its own: no recursion, and every answer is there."""
    text = "\n".join(f"if a{number}:\n    d = 1\nelse:\n    d = 2\nmark{number}" for number in range(3000))
    cfg = graph(text)
    last = load(cfg, "mark2999")
    assert cfg.definitely_bound("d", last)
    assert cfg.dominates(load(cfg, "mark0"), last)


def _program(draw: random.Random, depth: int) -> str:
    def block(level: int, indent: str) -> list[str]:
        lines = []
        for _ in range(draw.randint(1, 3)):
            kind = draw.choice(["plain", "if", "while", "try", "leave"] if level else ["plain"])
            inner = indent + "    "
            if kind == "plain":
                lines.append(indent + "f()")
            elif kind == "if":
                lines += [indent + "if a:", *block(level - 1, inner)]
                if draw.random() < 0.5:
                    lines += [indent + "else:", *block(level - 1, inner)]
            elif kind == "while":
                lines += [
                    indent + "while a:",
                    *block(level - 1, inner),
                    inner + draw.choice(["break", "continue", "b"]),
                ]
            elif kind == "try":
                lines += [indent + "try:", *block(level - 1, inner)]
                lines += [indent + "except E:", *block(level - 1, inner)]
                if draw.random() < 0.5:
                    lines += [indent + "finally:", *block(level - 1, inner)]
            else:
                lines += [indent + "if b:", inner + "raise E"]
        return lines

    return "\n".join(block(depth, ""))


def test_what_is_behind_a_block() -> None:
    cfg = graph("before\nwhile a:\n    within\nafter")
    before, within, after = (
        next(block.index for block in cfg.body.blocks if load(cfg, name) in block.ops)
        for name in ("before", "within", "after")
    )
    assert {within, after} <= cfg.behind(before)
    assert before not in cfg.behind(before)
    assert {within, after} <= cfg.behind(within)
    assert not cfg.behind(after) & {before, within, after}
