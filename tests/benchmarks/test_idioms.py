"""The idioms are in their form, and one is scored as it should be."""

from __future__ import annotations

import idioms
import pytest


def test_the_idioms_are_in_their_form() -> None:
    stored = idioms.stored()
    assert len({(one.batch, one.field, one.name) for one in stored}) == len(stored)
    assert {one.kind for one in stored} == {"carries", "moves", "leaves"}
    for one in stored:
        for text, _ in one.programs():
            compile(text, one.name, "exec")


def test_half_of_a_batch_that_nobody_has_opened_is_unseen() -> None:
    halves = {one.batch: set[str]() for one in idioms.stored()}
    for one in idioms.stored():
        halves[one.batch].add(one.half)
    assert {batch: len(several) for batch, several in halves.items()} == {
        "first": 1,
        "second": 1,
        "third": 2,
        "fourth": 1,
        "fifth": 2,
        "sixth": 2,
        "seventh": 1,
        "eighth": 1,
        "ninth": 1,
    }


@pytest.mark.parametrize(
    ("kind", "lines", "worst"),
    [
        ("carries", "o = t * 2", ["error", "", "error", ""]),
        ("moves", "o = t.cuda()", ["", "", "", ""]),
        ("leaves", "o = t.cpu()", ["error", "error", "error", "error"]),
    ],
)
def test_what_fails_is_told(kind: str, lines: str, worst: list[str]) -> None:
    idiom = idioms.Idiom("first", "field", kind, "name", "", lines)
    programs = idioms.told(idiom)
    assert [one.worst for one in programs] == worst
    assert [one.fails for one in programs] == [bool(one) for one in worst]
    row = idioms.row_of("seen", "first", [(idiom, programs)])
    assert (row.faults, row.found, row.clean, row.false) == (
        worst.count("error"),
        worst.count("error"),
        worst.count(""),
        0,
    )


def test_a_run_says_what_an_idiom_does() -> None:
    pytest.importorskip("torch")
    right = idioms.Idiom("first", "field", "moves", "name", "", "o = t.cuda()")
    wrong = idioms.Idiom("first", "field", "leaves", "other", "", "o = t * 2")
    assert list(idioms.checked([right])) == []
    assert list(idioms.checked([wrong])) == ["first/field/other says leaves: passes"]
