"""PyTorch's own samples on the machine against the CPU: a fixed part by default, everything under ``-m sweep``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from known_exceptions import NOT_COMPARABLE, OTHER_VALUES
from sweep import compare

_SWEEP = Path(__file__).parent / "sweep.py"
_PARTS = {"ops": 12, "modules": 6, "optimizers": 12}


def _run(what: str, folder: Path, every: int) -> tuple[dict[str, object], dict[str, str]]:
    found = []
    for where in ("plain", "machine"):
        out = folder / f"{where}.json"
        command = [sys.executable, str(_SWEEP), where, what, str(out), "--every", str(every)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(out.read_text(encoding="utf-8")))
    return found[0], compare(*found)


def _check(what: str, folder: Path, every: int) -> None:
    plain, differences = _run(what, folder, every)
    assert differences
    unexpected = {name: text for name, text in differences.items() if text and name not in OTHER_VALUES}
    assert not unexpected
    assert {name for name in plain if name not in differences} <= NOT_COMPARABLE.keys()


@pytest.mark.parametrize("what", list(_PARTS))
def test_part(what: str, tmp_path: Path) -> None:
    _check(what, tmp_path, _PARTS[what])


@pytest.mark.sweep
@pytest.mark.parametrize("what", list(_PARTS))
def test_everything(what: str, tmp_path: Path) -> None:
    _check(what, tmp_path, 1)
