"""The page of device mutants is what its data says, and each script of a fault fails where the library is installed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import device_mutants as mutants
import device_mutants_timebox
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
FAULTS = sorted((BENCHMARKS / "device_mutants_faults").glob("*.py"))
DATA = json.loads((BENCHMARKS / "device_mutants.json").read_text(encoding="utf-8"))


def test_the_page_is_rendered() -> None:
    command = [sys.executable, str(BENCHMARKS / "device_mutants.py"), "page", "--check"]
    assert subprocess.run(command, check=False).returncode == 0, "run `python benchmarks/device_mutants.py page`"


def test_every_place_was_judged() -> None:
    verdicts = {place["verdict"] for suite in DATA["suites"] for place in suite["places"]}
    assert verdicts and verdicts <= {"real", "told", "unusual", "artefact"}


def _report(folder: Path) -> dict[str, Any]:
    line = [str(folder / "lib.py"), 2]
    place = {"created": line, "moved": None, "met": [line[0], 3], "operator": "add.Tensor", "repair": None}
    place |= {"only_untold": False, "only_without_default": True, "message": "two devices", "count": 1, "linter": []}
    return {**place, "tests": ["test_lib.py::TestIt::test_one[0]", "test_lib.py::test_two"]}


def test_a_sheet_holds_what_a_reader_needs(tmp_path: Path) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "lib.py").write_text("def f(x):\n    y = torch.ones(2)\n    return x + y\n")
    (folder / "test_lib.py").write_text("class TestIt:\n    def test_one(self):\n        f(torch.ones(2))\n")
    (tmp_path / "lib.json").write_text(json.dumps({"places": [_report(folder)]}))
    assert mutants.sheets({"name": "lib", "repo": "a/lib"}, tmp_path, tmp_path / "out") == 1
    (sheet,) = map(json.loads, (tmp_path / "out" / "lib.jsonl").read_text().splitlines())
    assert sheet["id"] == "lib lib.py:2 - lib.py:3" and sheet["tests"] == 2
    assert ">    2     y = torch.ones(2)" in sheet["code"]["lib.py:2"]
    assert sheet["test"] == "def test_one(self):\n        f(torch.ones(2))"


def test_a_run_is_counted_without_tests_that_were_skipped_or_took_too_long_and_keeps_verdicts(tmp_path: Path) -> None:
    report = tmp_path / "lib.json"
    late, other = {"error": "TooLong: more than 30 s"}, {"error": "AssertionError"}
    found = {
        "tests": {"passed": 3, "failed": 2, "skipped": 5},
        "failed_otherwise": {"a": late, "b": other},
        "returns": [],
    }
    found |= {"places": [_report(tmp_path)], "lines_with_gpu_operands": {str(tmp_path / "lib.py"): [3]}}
    report.write_text(json.dumps(found), encoding="utf-8")
    place = {"created": ["lib.py", 2], "moved": None, "met": ["lib.py", 3], "verdict": "real", "why": "made on the CPU"}
    suite: dict[str, Any] = {"name": "lib", "places": [place, {**place, "met": ["lib.py", 9]}]}
    mutants.take(suite, report, tmp_path, [tmp_path / "lib.cpu0", tmp_path / "lib.cpu1"])
    assert (suite["ran"], suite["passed"], suite["otherwise"]) == (4, 3, 1)
    assert suite["lines"] == {"lib.py": [3]}
    assert [(place["met"], place["verdict"]) for place in suite["places"]] == [(["lib.py", 3], "real")]


def test_answers_of_two_readers_are_kept_apart() -> None:
    place = {"created": ["lib.py", 2], "moved": None, "met": ["lib.py", 3], "verdict": "", "why": ""}
    other = {**place, "met": ["lib.py", 9], "verdict": "unusual"}
    suite = {"name": "lib", "places": [other, place]}
    answer = {"id": "lib lib.py:2 - lib.py:3", "verdict": "real", "why": "made on the CPU"}
    assert mutants.judge({"suites": [suite]}, [json.dumps(answer), ""], second=False) == 1
    assert mutants.judge({"suites": [suite]}, [json.dumps({**answer, "verdict": "told"})], second=True) == 1
    assert (place["verdict"], place["why"], place["second"]) == ("real", "made on the CPU", "told")
    assert mutants.roots(suite) == [place]
    with pytest.raises(ValueError, match="no such verdict"):
        mutants.judge({"suites": [suite]}, [json.dumps({**answer, "verdict": "perhaps"})], second=False)


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.stem)
def test_the_script_of_a_fault_is_short_and_fails(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line]
    assert len(lines) <= 5
    library = next(
        line.split()[1].split(".")[0]
        for line in lines
        if line.startswith(("import", "from")) and line.split()[1] != "torch"
    )
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "torchdevlint", "run", str(path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1 and "Error: " in done.stderr and "device" in done.stderr, done.stderr


def test_the_time_box_takes_first_cases_first_and_of_these_the_short_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["t.py::long", "t.py::new", "t.py::many[1]", "t.py::many[2]", "t.py::short"]
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    device_mutants_timebox.pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == [
        "t.py::long",
        "t.py::new",
        "t.py::many[1]",
        "t.py::short",
        "t.py::many[2]",
    ]
    earlier = tmp_path / "suite.cpu0"
    earlier.write_text(
        '{"t.py::long": 9, "t.py::many[1]": 2, "t.py::many[2]": 0.5, "t.py::short": 1}', encoding="utf-8"
    )
    monkeypatch.setenv("TIMEBOX_ORDER", str(earlier))
    device_mutants_timebox.pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == [
        "t.py::short",
        "t.py::many[1]",
        "t.py::long",
        "t.py::new",
        "t.py::many[2]",
    ]
