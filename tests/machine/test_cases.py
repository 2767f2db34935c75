"""Every ``case_*`` function of cases/*.py, run on the machine that its file names: one child process a file."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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


@functools.cache
def _results(path: Path) -> dict[str, str | None]:
    _, constants = _facts(path)
    command = [sys.executable, str(_HERE / "run_cases.py"), str(path), Shape(**constants["SHAPE"]).to_json()]
    if constants.get("LEDGER"):
        command.append("--ledger")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    last = done.stdout.rsplit("\nRESULTS ", 1)
    assert len(last) == 2, f"the machine did not survive (exit {done.returncode}):\n{done.stdout}\n{done.stderr}"
    results: dict[str, str | None] = json.loads(last[1])
    return results


@pytest.mark.parametrize(
    ("path", "name"),
    [pytest.param(path, name, id=f"{path.stem}-{name}") for path in _FILES for name in _facts(path)[0]],
)
def test_case(path: Path, name: str) -> None:
    trouble = _results(path)[name]
    assert trouble is None, trouble
