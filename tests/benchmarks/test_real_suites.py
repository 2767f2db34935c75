"""What the runs of foreign test suites compare."""

from __future__ import annotations

from pathlib import Path

import real_code
import real_suites


def test_a_test_that_changes_by_itself_is_left_out() -> None:
    result = real_suites.Result("owner/name", "c0ffee")
    first = {"a": "passed", "b": "passed", "c": "failure", "d": "passed"}
    real_suites.judge(result, first, {**first, "b": "failure"}, {**first, "b": "error"}, {"a": "passed", "c": "passed"})
    assert (result.tests, result.passed, result.unstable) == (3, 2, 1)
    assert result.differences == [
        "c: failure, and passed after --fix --unsafe-fixes",
        "d: passed, and missing after --fix --unsafe-fixes",
    ]


def test_the_outcomes_of_a_report(tmp_path: Path) -> None:
    cases = '<testcase classname="t" name="a"/><testcase classname="t" name="a"><failure/></testcase><testcase classname="t" name="b"><skipped/></testcase>'
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>", encoding="utf-8")
    assert real_suites.read(report) == {"t::a": "passed", "t::a (2)": "failure", "t::b": "skipped"}


def test_the_lists_name_a_commit_for_each_repository() -> None:
    for name in ("real_repositories.txt", "real_suites.txt"):
        lines = (Path(real_code.__file__).parent / name).read_text(encoding="utf-8").splitlines()[1:]
        assert lines
        assert all(len(line.split()[1]) == 40 and "/" in line.split()[0] for line in lines)
        assert len({line.split()[0] for line in lines}) == len(lines)
