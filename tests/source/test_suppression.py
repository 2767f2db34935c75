"""Suppression comments."""

from __future__ import annotations

import pytest

from torchdevlint.source.lines import Lines
from torchdevlint.source.suppression import Suppressions

KNOWN = ("TDL101", "TDL102", "TDL501")


def read(text: str) -> Suppressions:
    return Suppressions.read(text, Lines(text))


@pytest.mark.parametrize(
    ("comment", "silenced"),
    [
        ("# noqa", True),
        ("#NOQA", True),
        ("# noqa: TDL101", True),
        ("# noqa:TDL1", True),
        ("# noqa: TDL", True),
        ("# noqa : E501, TDL101", True),
        ("# noqa: E501 TDL101", True),
        ("# type: ignore  # noqa: tdl101", True),
        ("# noqa: because of reasons", True),  # as in flake8: no code, so everything
        ("# noqa: E501", False),
        ("# noqa: TDL102", False),
        ("# noqa-ish", False),
        ("# torchdevlint: ignore[TDL101]", True),
        ("# torchdevlint:ignore[TDL501, TDL1]", True),
        ("# torchdevlint: ignore", True),
        ("# torchdevlint: ignore[]", False),
        ("# torchdevlint: ignore[TDL5]", False),
        ("# torchdevlint: ignored", False),
        ("# ruff: noqa", False),
    ],
)
def test_comments(comment: str, silenced: bool) -> None:
    assert read(f"x = 1  {comment}\n").silences("TDL101", 1) is silenced


def test_strings_are_no_comments() -> None:
    assert not read('x = "# noqa"\n').silences("TDL101", 1)
    assert not read('x = """\n# noqa\n"""\n').silences("TDL101", 1)


@pytest.mark.parametrize("row", [1, 2, 3])
def test_any_row_of_the_logical_line(row: int) -> None:
    text = "x = f(  # noqa: TDL101\n    a,\n)\ny = 1\n"
    assert read(text).silences("TDL101", row)
    assert not read(text).silences("TDL101", 4)


def test_a_header_does_not_speak_for_its_body() -> None:
    assert not read("for a in b:  # noqa\n    f(a)\n").silences("TDL101", 2)


def test_a_whole_file() -> None:
    suppressions = read("x = 1\n# torchdevlint: ignore-file[TDL1]\n")
    assert suppressions.silences("TDL101", 1)
    assert not suppressions.silences("TDL501", 1)


@pytest.mark.parametrize(
    ("text", "used", "after"),
    [
        ("x = 1  # noqa: TDL101\n", (), "x = 1\n"),
        ("x = 1  # noqa: TDL101\n", ("TDL101",), None),
        ("x = 1  # noqa: TDL101, TDL501\n", ("TDL501",), "x = 1  # noqa: TDL501\n"),
        ("x = 1  # noqa: E501, TDL101\n", (), "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: TDL999\n", (), "x = 1\n"),
        ("x = 1  # torchdevlint: ignore[TDL101]  \n", (), "x = 1\n"),
        ("x = 1  # torchdevlint: ignore[TDL101,TDL501]\n", ("TDL101",), "x = 1  # torchdevlint: ignore[TDL101]\n"),
        ("x = 1  # torchdevlint: ignore\n", (), "x = 1\n"),
        ("# torchdevlint: ignore-file[TDL101]\nx = 1\n", (), "x = 1\n"),
        ("x = 1  # noqa: TDL101 # type: ignore\n", (), "x = 1  # type: ignore\n"),
        ("x = 1  # why # noqa: TDL101\r\n", (), "x = 1  # why\r\n"),
        ("x = 1  # noqa\n", (), None),
        ("x = 1  # noqa: E501\n", (), None),
    ],
)
def test_unused(text: str, used: tuple[str, ...], after: str | None) -> None:
    suppressions = read(text)
    for code in used:
        assert suppressions.silences(code, 1)
    found = list(suppressions.unused(KNOWN, KNOWN))
    if after is None:
        assert not found
    else:
        (item,) = found
        assert text[: item.start] + item.content + text[item.end :] == after


def test_rules_that_did_not_run_are_not_judged() -> None:
    suppressions = read("x = 1  # noqa: TDL101, TDL5\ny = 2  # torchdevlint: ignore\n")
    assert [item.codes for item in suppressions.unused(("TDL101",), KNOWN)] == [("TDL101",)]
