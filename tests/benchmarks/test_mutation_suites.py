"""The machine's word on deletions by a project's own tests: what they reach, and what a deletion does to those that pass."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import mutations
import pytest
from mutation_suites import Ran, Suite, compare, judge, run, suites

LIBRARY = """import torch


def add(x):
    one = torch.ones(2, device=x.device)
    torch.ones(3, device=x.device)
    return x + one


def make(x):
    return torch.ones(2, device=x.device)


def told(n, device=None):
    return torch.ones(n) * torch.ones(n, device=device)


def never(x):
    return torch.ones(2, device=x.device)
"""
TESTS = """import small
import torch


def test_add():
    assert small.add(torch.ones(2)).sum() == 4


def test_make():
    assert small.make(torch.ones(2)).shape == (2,)


def test_fails():
    small.never(torch.ones(2))
    assert False
"""


def ran(outcome: str, error: str = "", returns: int = 0) -> Ran:
    return Ran({"t": {"outcome": outcome, "error": error, "seconds": 0.1}}, {}, {"t": returns}, {})


def test_a_failure_and_a_result_on_the_cpu_confirm() -> None:
    before = ran("passed")
    assert compare(before, ran("passed"), ["t"]).kind == "passes"
    assert compare(before, ran("failed", "RuntimeError: two devices"), ["t"]).why == "RuntimeError: two devices"
    assert compare(before, ran("passed", returns=1), ["t"]).kind == "confirmed"
    assert compare(ran("passed", returns=1), ran("passed", returns=1), ["t"]).kind == "passes"


def test_what_says_nothing_is_unknown() -> None:
    assert compare(ran("passed"), ran("failed", "TooLong: more than 20 s"), ["t"]).kind == "unknown"
    assert compare(ran("passed"), ran("passed"), ["other"]).kind == "unknown"


def test_the_shortest_passing_tests_are_asked() -> None:
    outcomes = {
        name: {"outcome": "passed", "seconds": time} for name, time in zip("abcdef", (6, 5, 4, 3, 2, 1), strict=True)
    }
    outcomes["f"]["outcome"] = "failed"
    before = Ran(outcomes, {name: {"/x.py": [7]} for name in "abcdef"}, {}, {})
    assert before.witnesses(Path("/x.py"), 6, 8) == ["e", "d", "c", "b"]
    assert before.witnesses(Path("/x.py"), 1, 6) == []


def test_every_suite_names_what_it_runs() -> None:
    for name, suite in suites().items():
        assert "+" in name and suite.tests and suite.library


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_tests_of_a_project_tell_faults_from_harmless_deletions(tmp_path: Path) -> None:
    folder = tmp_path / "small+project"
    (folder / "tests").mkdir(parents=True)
    file = folder / "small.py"
    file.write_text(LIBRARY, encoding="utf-8")
    (folder / "tests" / "test_small.py").write_text(TESTS, encoding="utf-8")
    suite = Suite(("tests",), (".",), {})
    some = list(mutations.mutations(LIBRARY))
    before = run(folder, suite, "untold", sys.executable, 60, spots={str(file): [m.row for m in some]})
    assert before is not None
    kinds = {m.row: judge(folder, suite, {"untold": before}, sys.executable, 60, file, m) for m in some}
    assert kinds[5].kind == "confirmed" and "cuda:0" in kinds[5].why
    assert kinds[6].kind == "passes"
    assert kinds[11].why == "a result on the CPU"
    assert kinds[15].kind == kinds[19].kind == "unreached"
    assert file.read_text(encoding="utf-8") == LIBRARY
