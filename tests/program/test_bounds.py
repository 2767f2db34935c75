"""What is refused before LibCST sees it, and how a text that does not parse is explained."""

from __future__ import annotations

import pickle
import time

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchdevlint.program import bounds
from torchdevlint.program.bounds import ParseFailure, excess, measure, parse


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n" * 11 + "x = " + "(" * 201 + ")" * 201, "nested more than 200 brackets deep on line 12"),
        ("x = " + "[{(" * 3000, "nested more than 200 brackets deep on line 1"),
        ("x = f'{" + "(" * 600 + "1" + ")" * 600 + "}'", "nested more than 200 brackets deep on line 1"),
        ("x = f'''{" + "(" * 600 + "1" + ")" * 600 + "}'''", "nested more than 200 brackets deep on line 1"),
        (
            "x = (a\n" + "+ a\n" * 2001 + ")",
            "more than 2000 operators, calls and attributes chained in one expression on line 2002",
        ),
        ("x = a" + ".b()" * 700, "more than 2000 operators, calls and attributes chained in one expression on line 1"),
        (
            "x = " + "lambda a, b: " * 2001 + "1",
            "more than 2000 operators, calls and attributes chained in one expression on line 1",
        ),
        ("x = " + "'a' " * 2001, "more than 2000 operators, calls and attributes chained in one expression on line 1"),
        ("x\nif a:\n  b\n" + "elif a:\n  b\n" * 4001, "more than 4000 elif in a row on line 8004"),
        ("x\n\0", "holds a NUL byte on line 2"),
        (
            "import torch # x\rx = " + "(" * 1500 + "1" + ")" * 1500 + "\r",
            "nested more than 200 brackets deep on line 2",
        ),
        (
            "import torch\r\nx = 'a\\\r\nb' + " + "(" * 6000 + "1" + ")" * 6000 + " + ''\r\n",
            "nested more than 200 brackets deep on line 3",
        ),
        (
            "x\nmatch x:\n  case " + "[" * 150 + "a" + "]" * 150 + ": pass\n",
            "nested more than 12 brackets deep behind `case` or `del` on line 3",
        ),
        (
            "match x:\n  case " + "{1: " * 10 + "a" + "}" * 10 + ": pass\n",
            "nested more than 12 brackets deep behind `case` or `del` on line 2",
        ),
        ("if a: del " + "(" * 150 + "b\n", "nested more than 12 brackets deep behind `case` or `del` on line 1"),
        ("f\"'''N{" + "(" * 6000 + ")" * 6000, "nested more than 200 brackets deep on line 1"),
        ("x = f'\\\n{" + ("(" * 900 + "\\\n") * 5 + "'", "nested more than 200 brackets deep on line 1"),
    ],
    ids=lambda text: text[:16],
)
def test_refused(text: str, message: str) -> None:
    assert excess(text) == message
    with pytest.raises(ParseFailure, match=message.partition(" on line ")[0]) as caught:
        parse(text)
    assert caught.value.row == int(message.rpartition(" ")[2])


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 200 + ")" * 200,
        "x = " + "'((((' # ((((\n" * 1,
        "x = [" + "[f(a.b + 1)], " * 5000 + "]",
        "a.b.c(d).e\n" * 3000,
        "x = '''" + "(" * 5000 + "'''",
        "# " + "(" * 5000,
        "x = f'''" + "(a-b. <p> {x} {{ " * 3000 + "'''",
        "x = 'it''s' \"(\" '\\'('\n" * 500,
        "if a:\n  b\nelif c:\n  d\n" * 5000,
        "x = [\n" + "'a', # (\n" * 3000 + "]",
        "match x:\n  case {1: [A(b=(C(d), [e, f]))]}: pass\n  case g: " + "h(" * 12 + ")" * 12 + "\n",
        "del (\n" + "a, # ((((((((((((((((\n" * 20_000 + ")\ndel b\n" + "del c[(d)]\n" * 20_000,
    ],
    ids=lambda text: text[:16],
)
def test_accepted(text: str) -> None:
    assert excess(text) is None


_PIECES = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "a",
    ".b",
    "()",
    " + ",
    " and ",
    "not ",
    "lambda a, b: ",
    ", ",
    "\n",
    "'s'",
    '"""("""',
    "# (\n",
    "f'{(a)}'",
]


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from([1, 1, 1, 2, 30, 150])), max_size=12))
def test_the_quick_test_never_hides_a_deep_text(pieces: list[tuple[str, int]]) -> None:
    text = "".join(piece * times for piece, times in pieces)
    if measure(text) == bounds.Shape():
        exact = bounds._measure(text)
        assert exact.brackets <= bounds.BRACKETS
        assert exact.chain <= bounds.CHAIN


def test_nested_targets_are_parsed_soon() -> None:
    began = time.thread_time()
    for text in (
        "match x:\n  case " + "{1: " * 6 + "a" + "}" * 6 + ": pass\n",
        "match x:\n  case " + "A(b=" * 12 + "c" + ")" * 12 + ": pass\n",
    ):
        assert parse(text).children
    assert time.thread_time() - began < 5


def test_two_thousand_terms_are_parsed() -> None:
    text = "x = a" + " + a" * 1999 + "\n"
    assert parse(text).children


@pytest.mark.parametrize(
    ("text", "message", "row"),
    [
        ("x = 1\nprint 'a'\n", "this is Python 2, where `print` is a statement", 2),
        ("print >>f, a\nprint a,\n", "this is Python 2, where `print` is a statement", None),
        ("raise E, 'x'\n", "this is Python 2, where `raise E, value` has a comma", 1),
        ("x = 0777\n", "this is Python 2, where an octal number is written without `o`", 1),
        ("\n\nx = 10L\n", "this is Python 2, where a number ends in `L`", 3),
        ("exec 'a'\n", "this is Python 2, where `exec` is a statement", 1),
        ("x = ur'a'\n", "this is Python 2, where a string has the prefix `ur`", 1),
        ("if a <> b: c\n", "this is Python 2, where `<>` compares", 1),
        ("x = `a`\n", "this is Python 2, where backticks make a string", 1),
        ("if a:\n        b\n\tc\nprint 'd'\n", "this is Python 2, where `print` is a statement", 3),
        ("if a:\n        b\n\tc\n", "cannot be parsed: inconsistent use of tabs", 3),
        ("x = y.cuda(async=True)\n", "`async` and `await` are keywords since Python 3.7", 1),
        ("from a.async import b\n", "`async` and `await` are keywords since Python 3.7", 1),
        ("async x = 1\n", "cannot be parsed: invalid syntax", 1),
        ("x = 1\ny = (1,\n", "was never closed", 2),
        ("def f(:\n  pass\n", "cannot be parsed: invalid syntax", 1),
        ("if a:\n    b\n  c\n", "unindent does not match", 3),
        ("x = '\udc80'\n", "lone surrogate", 1),
        (
            "".join(" " * level + "if a:\n" for level in range(101)) + " " * 101 + "x\n",
            "cannot be parsed: too many",
            None,
        ),
    ],
    ids=lambda value: str(value)[:20].encode("unicode_escape").decode(),
)
def test_explained(text: str, message: str, row: int | None) -> None:
    with pytest.raises(ParseFailure) as caught:
        parse(text)
    assert message in str(caught.value)
    assert row is None or caught.value.row == row


def test_what_newlines_and_marks_a_text_has_is_kept() -> None:
    assert parse("if a:\r\n  b\r\n").code == "if a:\r\n  b\r\n"
    assert isinstance(parse("\ufeffx = 1"), cst.Module)
    assert parse("").code == ""


def test_a_failure_can_cross_processes() -> None:
    failure = pickle.loads(pickle.dumps(ParseFailure("is wrong", 3, 4)))
    assert (failure.message, failure.row, failure.column, str(failure)) == ("is wrong", 3, 4, "is wrong")
