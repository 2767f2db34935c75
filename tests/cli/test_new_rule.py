"""`new-rule` in a copy of the checkout: its files pass the tests of the rules, but for what is to be filled in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import warm

ROOT = Path(__file__).parents[2]
_COPIED = (
    "torchdevlint",
    "docs",
    "fixtures",
    "tests/rules",
    "tests/proofs",
    "tests/examined.py",
    "benchmarks",
    "README.md",
    "CHANGELOG.md",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    left_out = shutil.ignore_patterns(
        "*.jsonl"
    )  # what is compiled stays so: the copies have the times of the originals
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=left_out)
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(checkout), str(checkout / "tests")))},
        capture_output=True,
        text=True,
    )


def test_a_new_rule_is_whole_but_for_its_content(checkout: Path) -> None:
    done = run(checkout, "torchdevlint", "new-rule", "tdl199", "checkpoint-made-of-cheese")
    assert done.returncode == 0, done.stderr
    *files, after = done.stdout.splitlines()
    assert files == [
        "torchdevlint/rules/loading/checkpoint_made_of_cheese.py",
        "fixtures/loading/checkpoint-made-of-cheese/faulty.py",
        "fixtures/loading/checkpoint-made-of-cheese/silent.py",
        "torchdevlint/proofs/checkpoint_made_of_cheese.py",
        "docs/rules/TDL199.md",
    ]
    assert all((checkout / path).is_file() for path in files)
    assert "TDL199" in (checkout / "docs" / "rules.md").read_text(encoding="utf-8")
    assert after.startswith("Replace every FILL_IN")
    tested = run(
        checkout,
        "pytest",
        "-q",
        "-c",
        os.devnull,
        "tests/rules/test_documentation.py",
        "tests/rules/test_fixtures.py",
        "-k",
        "TDL199 or cheese",
    )
    assert tested.returncode == 1
    failed = [line for line in tested.stdout.splitlines() if line.startswith("FAILED")]
    assert len(failed) == 1, tested.stdout
    assert "test_nothing_is_left_to_fill_in[TDL199]" in failed[0]
    print(tested.stdout)
    assert "torchdevlint/rules/loading/checkpoint_made_of_cheese.py:13: " in tested.stdout  # which line wants what
    again = run(checkout, "torchdevlint", "new-rule", "TDL198", "checkpoint-made-of-cheese")
    assert again.returncode == 2
    assert "TDL199 is checkpoint-made-of-cheese" in again.stderr
    pytest.importorskip("torch")
    command = [sys.executable, "-m", "torchdevlint", "prove", "TDL199"]
    proved = warm.run(command, cwd=checkout, env={**os.environ, "PYTHONPATH": str(checkout)}, timeout=120)
    assert "proved" in proved.stdout, proved.stdout + proved.stderr


@pytest.mark.parametrize(
    ("code", "name", "why"),
    [
        ("TDL1", "a-b", "a code is TDL and three digits"),
        ("TDL101", "a-b", "TDL101 is load-without-map-location"),
        ("TDL199", "load-without-map-location", "TDL101 is load-without-map-location"),
        ("TDL199", "word", "words with hyphens"),
    ],
)
def test_what_is_no_new_rule(code: str, name: str, why: str) -> None:
    from torchdevlint.cli.new_rule import _refused
    from torchdevlint.rules.registry import own_rules

    assert why in str(_refused(code, name, own_rules()))
