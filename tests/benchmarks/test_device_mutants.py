"""The page of device mutants is what its data says, and each script of a fault fails where the library is installed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

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
