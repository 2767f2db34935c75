"""What runs before what, in control-flow graphs."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from torchdevlint.program import ir, order
from torchdevlint.program.from_libcst import lower


def module_of(text: str) -> ir.Body:
    return lower(cst.parse_module(text)).module


def place(body: ir.Body, name: str) -> tuple[ir.Block, ir.Op]:
    """The store of a name, with its block."""
    return next(
        (block, op) for block in body.blocks for op in block.ops if isinstance(op, ir.Store) and op.name == name
    )


@pytest.mark.parametrize(
    ("text", "follows"),
    [
        ("a = 1\nb = 2\n", True),
        ("b = 2\na = 1\n", False),
        ("if c:\n    a = 1\nelse:\n    b = 2\n", False),
        ("if c:\n    a = 1\nb = 2\n", True),
        ("for i in c:\n    b = 2\n    a = 1\n", True),
        ("while c:\n    b = 2\na = 1\n", False),
        ("try:\n    a = 1\nexcept E:\n    b = 2\n", True),
    ],
)
def test_follows(text: str, follows: bool) -> None:
    body = module_of(text)
    assert order.follows(body, place(body, "a"), place(body, "b")) is follows


@pytest.mark.parametrize(
    ("text", "at_import"),
    [
        ("a = 1\n", True),
        ("if __name__ == '__main__':\n    a = 1\n", False),
        ("if __name__ == '__main__':\n    b = 1\na = 1\n", True),
        ("if c:\n    a = 1\n", True),
    ],
)
def test_import_time_blocks(text: str, at_import: bool) -> None:
    body = module_of(text)
    assert (place(body, "a")[0].index in order.import_time_blocks(body)) is at_import


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a = 1\n", 0),
        ("if c:\n    a = 1\n", 1),
        ("if c:\n    if d:\n        a = 1\n", 2),
        ("if c:\n    pass\na = 1\n", 0),
        ("if not c:\n    raise E\na = 1\n", 1),
        ("if c and d:\n    a = 1\n", 2),
    ],
)
def test_deciding_tests(text: str, count: int) -> None:
    body = module_of(text)
    assert len(list(order.deciding_tests(body, place(body, "a")[0]))) == count


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("a = 1\nprint(a)\n", True),
        ("a = 1\nprint(b)\n", False),
        ("a = 1\na = 2\nprint(a)\n", False),
        ("a = 1\nif c:\n    a = 2\nprint(a)\n", True),
        ("for b in c:\n    a = b\n", False),
        ("for b in c:\n    print(a)\n    a = b\n", True),
        ("for a in c:\n    b = a\n", True),
        ("a = 1\ndef f():\n    return a\n", True),
    ],
)
def test_is_read_after(text: str, is_read: bool) -> None:
    module = module_of(text)
    assert order.is_read_after(module, place(module, "a")[1], "a")  # whoever imports it may read it
    (body,) = module_of("def g(c):\n" + textwrap.indent(text, "    ")).functions
    assert order.is_read_after(body, place(body, "a")[1], "a") is is_read
