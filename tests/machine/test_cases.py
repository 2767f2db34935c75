"""Every ``case_*`` function of cases/*.py, run on the machine that its file names: a process for each file."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import warm

from torchdevlint.machine.shape import Shape

_HERE = Path(__file__).parent
_FILES = sorted(path for path in (_HERE / "cases").glob("*.py") if not path.name.startswith("_"))


def _facts(path: Path) -> tuple[list[str], dict[str, Any]]:
    """The names of a file's cases, and its SHAPE and LEDGER, without running it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")]
    constants = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("SHAPE", "LEDGER")
    }
    return names, constants


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the results of each file are."""
    folder = tmp_path_factory.mktemp("results")
    words: list[str] = []
    for path in _FILES:
        _, constants = _facts(path)
        words += [str(path), Shape(**constants["SHAPE"]).to_json(), str(int(constants.get("LEDGER", False)))]
    command = [sys.executable, str(_HERE / "run_cases.py"), str(folder), *words]
    done = warm.run(command, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("path", "name"),
    [pytest.param(path, name, id=f"{path.stem}-{name}") for path in _FILES for name in _facts(path)[0]],
)
def test_case(path: Path, name: str, results: Path) -> None:
    found = results / f"{path.stem}.json"
    assert found.exists(), "the machine did not survive:\n" + found.with_suffix(".txt").read_text(errors="replace")
    trouble = json.loads(found.read_text(encoding="utf-8"))[name]
    assert trouble is None, trouble
