"""The results of the oracles: their form, other forms that are read, and the page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import oracles
import pytest
from oracles import Result, Row


def told(when: str = "now", **numbers: int) -> Result:
    row = Row("one construct", "seen", "programs", **numbers)
    return Result("generated", when, "40bab7e", "2026-11-22", "python benchmarks/differential", "Programs.", (row,))


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    result = told(faults=10, found=7, clean=12, false=1)
    oracles.write(result, tmp_path)
    assert oracles.read("generated", "now", tmp_path) == result
    assert oracles.read("generated", "before", tmp_path) is None


@pytest.mark.parametrize(
    "wrong",
    [lambda: told("later"), lambda: Row("a", "else", "programs"), lambda: Result("x", "now", "", "", "", "", ())],
)
def test_other_names_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"is no side|no such oracle"):
        wrong()  # type: ignore[operator]


def test_both_sides_stand_in_one_table() -> None:
    before, now = told("before", faults=10, found=7, with_notes=8, clean=12), told(faults=10, found=9, false=1)
    lines = oracles.report({("generated", "before"): before, ("generated", "now"): now})
    assert "| one construct | seen | before | 10 | 70% | 80% | 12 programs | - | - | - | - |" in lines
    assert "| one construct | seen | now | 10 | 90% | - | - | 1 | - | - | - |" in lines
    assert any(line.startswith("No figures yet: they come from device mutants") for line in lines)


def test_the_form_of_mined_repairs_is_read() -> None:
    plain = {"cases": 50, "right": 10, "resolved": 9, "stray": 3, "lines": 9000, "families": {}}
    runs = {"alone, default": plain, "alone, notes": {**plain, "right": 14}, "patterns alone": {**plain, "right": 18}}
    runs |= {"in its project, default": {**plain, "right": 11, "lines": 0, "stray": 0}}
    stored = {name: {"date": "2026-11-22", "halves": {"unseen": runs}} for name in ("40bab7e", "now")}
    before, now = oracles.from_mined(stored)
    assert (before.when, before.revision, now.when) == ("before", "40bab7e", "now")
    row, inside, patterns = now.rows
    assert (inside.found, inside.clean, inside.false, patterns.found) == (11, None, None, 18)
    assert (row.sample, row.side, row.faults, row.found, row.with_notes, row.clean, row.false) == (
        "the file alone",
        "unseen",
        50,
        10,
        14,
        9000,
        3,
    )


def test_families_stand_in_a_table_of_their_own_and_what_was_skipped_is_told() -> None:
    def run(right: int, families: dict[str, list[int]], skipped: int = 0) -> dict[str, object]:
        return {"cases": 4, "right": right, "stray": 0, "lines": 0, "families": families, "skipped": skipped}

    plain, notes = {"creation": [3, 1], "not-moved": [1, 0]}, {"creation": [3, 2], "not-moved": [1, 1]}
    before = {"in its project, default": run(1, plain), "in its project, notes": run(3, notes)}
    now = {"in its project, default": run(0, {"creation": [4, 0]}, 1)}
    now["in its project, notes"] = run(1, {"creation": [4, 1]}, 1)
    stored = {
        "40bab7e": {"date": "2026-11-22", "halves": {"seen": before}},
        "now": {"date": "2026-11-22", "halves": {"seen": now}},
    }
    lines = oracles.report({("mined", told.when): told for told in oracles.from_mined(stored)})
    assert "| the file in its project | seen | creation | 4 | 33% (67%) | 0% (25%) |" in lines
    assert "| the file in its project | seen | not-moved | 1 | 0% (100%) | - |" in lines
    assert any(line.startswith("* the file in its project, seen, now: 1 more skipped") for line in lines)


def test_the_page_of_mutations_is_read() -> None:
    (result,) = oracles.from_mutations(oracles.MUTATIONS.read_text(encoding="utf-8"))
    assert [row.sample for row in result.rows] == [
        "confirmed by the machine",
        "confirmed by the machine, in the project",
    ]
    assert all(row.faults and row.found and 0 < row.found < row.faults for row in result.rows)
    assert result.rows[-1].clean


def test_the_page_shows_the_stored_results() -> None:
    page = oracles.PAGE.read_text(encoding="utf-8")
    section = page.partition("<!-- begin oracles -->\n")[2].partition("\n<!-- end oracles -->")[0]
    assert section.splitlines() == oracles.report(oracles.results())


def test_the_command() -> None:
    done = subprocess.run(
        [sys.executable, str(oracles.ROOT / "benchmarks" / "oracles.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "### Generated programs (O1)" in done.stdout
