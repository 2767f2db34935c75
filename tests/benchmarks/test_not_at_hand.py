"""What an oracle does on a checkout without fetched repositories: it says so in a sentence, and stored figures stay as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = (
    "benchmarks/mined_cases.jsonl",
    "benchmarks/device_mutants.json",
    "benchmarks/results/mined.json",
    "benchmarks/results/mutants.now.json",
    "benchmarks/results/mutations.now.json",
    "docs/mutations.md",
)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("mined.py score EMPTY --write", "none of the repositories of mined_cases.jsonl is in"),
        ("mined.py mine EMPTY", "no git directory named OWNER+NAME is in"),
        ("device_mutants.py run EMPTY --work EMPTY/work", "not fetched to"),
        ("device_mutants.py sheets --work EMPTY --out EMPTY/out", "no run of it in"),
        ("device_mutants.py lint EMPTY --work EMPTY", "not fetched to"),
        ("mutations.py EMPTY --write docs/mutations.md --result now", "holds nothing that could be deleted"),
        ("judged.py EMPTY --write", "none of the repositories of judged.jsonl is in"),
    ],
)
def test_it_says_what_is_not_there(command: str, sentence: str, tmp_path: Path) -> None:
    before = {name: (ROOT / name).read_bytes() for name in (*KEPT, "benchmarks/results/judged.before.json")}
    script, *words = command.replace("EMPTY", str(tmp_path)).split()
    arguments = [sys.executable, str(ROOT / "benchmarks" / script), *words]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sentence in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert len((done.stdout + done.stderr).splitlines()) <= 30
    assert {name: (ROOT / name).read_bytes() for name in before} == before
    assert not (ROOT / "benchmarks" / "results" / "judged.now.json").exists()
