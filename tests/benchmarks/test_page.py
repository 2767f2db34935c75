"""The generated sections of docs/benchmarks.md."""

from __future__ import annotations

import page
import pytest


def test_a_section_is_replaced_and_the_rest_stays() -> None:
    text = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n"
    new = "a\n<!-- begin x -->\nnew\n<!-- end x -->\nb\n"
    assert page.with_section(text, "x", ["new"]) == new
    assert page.with_section(new, "x", ["new"]) == new


def test_a_page_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="begin y"):
        page.with_section("<!-- end y -->", "y", [])


@pytest.mark.parametrize("name", ["speed", "edits", "real code"])
def test_the_page_has_each_section_filled(name: str) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    section = text.partition(f"<!-- begin {name} -->")[2].partition(f"<!-- end {name} -->")[0]
    assert "Last run: " in section


def test_numbers_stand_to_the_right() -> None:
    assert page.table(("tool", "s"), [("ours", 1.5), ("theirs", "20")]) == [
        "| tool | s |",
        "|---|--:|",
        "| ours | 1.5 |",
        "| theirs | 20 |",
    ]
