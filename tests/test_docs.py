"""README and docs show what the program really says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_generated_blocks_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "render.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"run `python docs/render.py`; stale: {done.stdout}{done.stderr}"


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """mkdocs with --strict: a broken link, a missing page or anchor is an error. Needs the extra `docs`."""
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "rules" / "TDL101" / "index.html").read_text(encoding="utf-8")
    assert "Evidence" in page and "Attempting to deserialize" in page
    safety = (tmp_path / "site" / "fix-safety" / "index.html").read_text(encoding="utf-8")
    assert "TDL501 discarded-device-move" in safety and "generated:" not in safety
    assert not list((tmp_path / "site").rglob("*.py"))
    blocks = re.findall(
        r'<div class="highlight([^"]*)">(.*?)</div>',
        (tmp_path / "site/verify/index.html").read_text("utf-8"),
        re.DOTALL,
    )
    assert {classes for classes, text in blocks if "\u2500\u2500\u2500" in text} == {" drawn"}
    assert {classes for classes, text in blocks if "\u2500\u2500\u2500" not in text} == {""}


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("editors.md", ("VS Code", "PyCharm", "Windows", "macOS")),
        ("verify.md", ("CUDA", "ROCm", "MPS", "XPU", "Windows", "macOS")),
    ],
)
def test_what_was_never_tried_is_named(page: str, names: tuple[str, ...]) -> None:
    untried = (ROOT / "docs" / page).read_text(encoding="utf-8").partition("\n## Untried\n")[2].partition("\n## ")[0]
    assert [name for name in names if name not in untried] == []
