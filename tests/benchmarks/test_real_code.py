"""What the run over real repositories calls a fault."""

from __future__ import annotations

import pytest
import real_code

BEFORE = b"# \xef\xbb\xbf\r\nx = load(p)\r\ny = 1\r\n"


def test_a_repair_that_keeps_the_rest_is_no_fault() -> None:
    assert real_code.faults(BEFORE, BEFORE.replace(b"(p)", b"(p, 1)"), "a.py") == []


@pytest.mark.parametrize(
    ("after", "fault"),
    [
        (b"x = load(p\n", "no longer compiles"),
        (BEFORE.replace(b"y = 1\r\n", b"y = 1\n"), "the newline of line 3 changed and nothing else of it"),
        (b"# coding: latin-1\r\nx = load(p)\r\ny = 1\r\n", "another encoding"),
        (BEFORE.replace(b"load(p)\r\n", b"load(p)\nz = 2\n"), "newlines that the file did not have: [b'\\n']"),
    ],
)
def test_faults(after: bytes, fault: str) -> None:
    assert fault in real_code.faults(BEFORE, after, "a.py")


def test_old_syntax_that_libcst_cannot_read_either_does_not_parse() -> None:
    assert not real_code.parses(b"print 'x'\n")
    assert real_code.parses(b"print('x')\n")


def test_changed_tells_what_came_and_went() -> None:
    assert real_code.changed({"a": b"1", "b": b"1", "c": b"1"}, {"a": b"1", "b": b"2", "d": b"1"}) == ["b", "c", "d"]
