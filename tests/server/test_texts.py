"""Positions in each unit, and the edits between two texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchdevlint.server.texts import Change, Encoding, Point, Range, Text

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
# What str.splitlines takes for line ends and the protocol does not, and characters of one to four bytes.
TEXTS = st.text(st.sampled_from("ab\n\r\f\x0b\x1c\x85\u2028\xe9\u20ac\U0001f600 "), max_size=40)


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 11), ("utf-16", 6), ("utf-32", 5)])
def test_columns_count_in_the_negotiated_unit(encoding: Encoding, character: int) -> None:
    text = Text("one\nx\xe9\u20ac'\U0001f600'; y\n")
    at = text.text.index("\U0001f600") + 1
    assert text.point_at(at, encoding) == Point(1, character)
    assert text.offset(Point(1, character), encoding) == at


def test_a_form_feed_ends_no_line() -> None:
    text = Text("a\f\u2028b\nc")
    assert text.line(0) == "a\f\u2028b"
    assert text.point_at(5, "utf-16") == Point(1, 0)


def test_what_lies_behind_the_text_is_its_end() -> None:
    text = Text("ab\ncd")
    assert text.offset(Point(0, 99), "utf-16") == 2
    assert text.offset(Point(9, 0), "utf-8") == 5
    assert Text("\U0001f600").offset(Point(0, 1), "utf-16") == 0  # half a character


@given(TEXTS, st.integers(0, 40), st.integers(0, 40), TEXTS, st.sampled_from(ENCODINGS))
def test_a_change_is_a_splice(before: str, one: int, other: int, new: str, encoding: Encoding) -> None:
    start, end = sorted(min(at, len(before)) for at in (one, other))
    text = Text(before)
    points = Range(text.point_at(start, encoding), text.point_at(end, encoding))
    # The middle of \r\n is no place of the protocol: both halves are one line end.
    if "\r\n" in (before[start - 1 : start + 1], before[end - 1 : end + 1]) and start > 0:
        return
    assert text.changed(Change(points, new), encoding).text == before[:start] + new + before[end:]


@given(TEXTS, TEXTS, st.sampled_from(ENCODINGS))
def test_edits_make_the_other_text(before: str, after: str, encoding: Encoding) -> None:
    text = Text(before)
    result = text
    for change in reversed(list(text.edits_to(after, encoding))):
        result = result.changed(change, encoding)
    assert result.text == after


def test_edits_leave_other_lines_alone() -> None:
    edits = list(Text("a\nb\nc\n").edits_to("a\nB\nc\n", "utf-16"))
    assert edits == [Change(Range(Point(1, 0), Point(2, 0)), "B\n")]
