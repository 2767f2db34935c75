"""README and docs show what the program really says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_generated_blocks_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "render.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"run `python docs/render.py`; stale: {done.stdout}{done.stderr}"
