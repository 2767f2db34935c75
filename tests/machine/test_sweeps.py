"""PyTorch's own samples on the machine against the CPU: a fixed part by default, everything under ``-m sweep``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import warm
from known_exceptions import NOT_COMPARABLE, OTHER_VALUES
from sweep import compare

_SWEEP = Path(__file__).parent / "sweep.py"
_PARTS = {"ops": 12, "modules": 6, "optimizers": 12}


Results = dict[str, dict[str, Any]]


def _run(folder: Path, parts: dict[str, int]) -> tuple[Results, Results]:
    """What came out of each part on the plain CPU and on the machine, each in a process of its own."""
    found = []
    for where in ("plain", "machine"):
        (folder / where).mkdir()
        words = [f"{what}:{every}" for what, every in parts.items()]
        command = [sys.executable, str(_SWEEP), where, str(folder / where), *words]
        done = warm.run(command, timeout=900)
        assert done.returncode == 0, done.stderr
        texts = {what: (folder / where / f"{what}.json").read_text(encoding="utf-8") for what in parts}
        found.append({what: json.loads(text) for what, text in texts.items()})
    return found[0], found[1]


def _check(plain: dict[str, Any], machine: dict[str, Any]) -> None:
    differences = compare(plain, machine)
    assert differences
    unexpected = {name: text for name, text in differences.items() if text and name not in OTHER_VALUES}
    assert not unexpected
    assert {name for name in plain if name not in differences} <= NOT_COMPARABLE.keys()


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Results]:
    return _run(tmp_path_factory.mktemp("parts"), _PARTS)


@pytest.mark.parametrize("what", list(_PARTS))
def test_part(what: str, parts: tuple[Results, Results]) -> None:
    _check(parts[0][what], parts[1][what])


@pytest.mark.sweep
@pytest.mark.parametrize("what", list(_PARTS))
def test_everything(what: str, tmp_path: Path) -> None:
    plain, machine = _run(tmp_path, {what: 1})
    _check(plain[what], machine[what])
