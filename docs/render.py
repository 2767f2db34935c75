"""Renders what README and docs show from real runs: `python docs/render.py` writes, `--check` only compares.

With `--slow [NAME ...]` blocks that take minutes and need torch (`<!-- begin NAME (slow) -->`) are renewed as well; else they stay as they were run last.

A block stands between `<!-- begin NAME -->` and `<!-- end NAME -->`; whatever is between them is replaced by what the program says today.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from torchdevlint.rules.registry import all_rules  # noqa: E402


@functools.cache  # some pages show the same
def console(*command: str) -> str:
    """A command and its output, as a terminal shows them."""
    done = subprocess.run(
        [sys.executable, "-m", "torchdevlint", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PATH": "", "NO_COLOR": "1", "COLUMNS": "120", "TORCHDEVLINT_CACHE_DIR": os.devnull},
    )
    return f"```console\n$ torchdevlint {' '.join(command)}\n{done.stdout.rstrip()}\n```"


def on_machine(*command: str, folder: str = ".") -> str:
    """A command that runs a program in a copy of a folder, with what it says on standard error among the output."""
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary).resolve() / "demo"
        shutil.copytree(ROOT / folder, here, ignore=shutil.ignore_patterns("__pycache__"))
        done = subprocess.run(
            [sys.executable, "-m", "torchdevlint", *command],
            cwd=here,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": "", "NO_COLOR": "1", "COLUMNS": "120", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        )
    output = done.stdout.rstrip().replace(str(here), "/home/you/demo")
    return f"```console\n$ torchdevlint {' '.join(command)}\n{output}\n```"


def rule_table() -> str:
    """One line a rule."""
    lines = ["| code | name | severity | default | fix | finds |", "|---|---|---|---|---|---|"]
    for rule in all_rules():
        page = f"[{rule.name}](rules/{rule.code}.md)"
        default = "on" if rule.default else "off"
        lines.append(
            f"| {rule.code} | {page} | {rule.severity.label} | {default} | {rule.fixable} | {rule.summary().removeprefix('Finds ')} |"
        )
    return "\n".join(lines)


def rule_page(code: str) -> str:
    """The page of one rule: its docstring."""
    rule = next(rule for rule in all_rules() if rule.code == code)
    head = f"# {rule.name} ({rule.code})\n\nSeverity: {rule.severity.label}. {'On' if rule.default else 'Off'} by default. Fix: {rule.fixable}."
    return f"{head}\n\n{rule.documentation()}\n"


def latency() -> str:
    """The rows that `benchmarks/lsp_latency.py --write` has stored."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import json

    import lsp_latency

    return lsp_latency.table(json.loads(lsp_latency.RESULTS.read_text(encoding="utf-8")))


def doctor() -> str:
    """What the doctor says of a machine made of files: a CPU wheel, and a driver from 2021."""
    from torchdevlint.cli.doctor import tell
    from torchdevlint.doctor.system import System

    site = "home/me/.venv/lib/python3.11/site-packages"
    files = {
        "home/me/.venv/bin/python": "",
        f"{site}/torch/version.py": "__version__ = '2.6.0+cpu'\ncuda = None\n",
        f"{site}/torchvision-0.21.0+cu124.dist-info/METADATA": "Name: torchvision\nRequires-Dist: torch (==2.6.0)\n",
        "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.86  Tue Oct 26\n",
        "dev/nvidia0": "",
        "dev/nvidiactl": "",
        "dev/nvidia-uvm": "",
    }
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as root, contextlib.redirect_stdout(out):
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        smi = {
            "nvidia-smi": "Driver Version: 470.86  CUDA Version: 11.4\n",
            "nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader": "NVIDIA GeForce RTX 3090, 8.6\n",
        }
        tell(System(root, {}, "linux", "x86_64", smi, "/home/me"), "/home/me/.venv/bin/python", as_json=False)
    return f"```console\n$ torchdevlint doctor --python /home/me/.venv/bin/python\n{out.getvalue().rstrip()}\n```"


SLOW: dict[str, Callable[[], str]] = {
    "verify": lambda: on_machine("verify", "--html", "report.html", "train.py", folder="fixtures/verify"),
    "ledger": lambda: on_machine("run", "--ledger", "waits.py", folder="fixtures/ledger"),
}
BLOCKS: dict[str, Callable[[], str]] = {
    "demo": lambda: console("check", "fixtures/demo/train.py", "--output-format", "concise"),
    "demo-diff": lambda: console("check", "fixtures/demo/train.py", "--diff"),
    "rules": rule_table,
    "rule": lambda: console("rule", "TDL501"),
    "lsp-latency": latency,
    "doctor": doctor,
    "explain": lambda: console("explain", "fixtures/tracebacks/train.txt"),
    "explain-message": lambda: console("explain", "fixtures/tracebacks/message.txt"),
    "checkpoint": lambda: console("checkpoint", "fixtures/checkpoints/mixed.pt"),
    "checkpoint-storages": lambda: console("checkpoint", "--storages", "fixtures/checkpoints/mixed.pt"),
}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def rendered(text: str) -> str:
    """The text with every block renewed."""

    def renew(match: re.Match[str]) -> str:
        if match[1] not in BLOCKS:
            return match[0]  # another script's
        return f"<!-- begin {match[1]} -->\n{BLOCKS[match[1]]()}\n<!-- end {match[1]} -->"

    def renew_slow(match: re.Match[str]) -> str:
        if sys.argv[-1] != "--slow" and match[1] not in sys.argv:
            return match[0]
        return f"<!-- begin {match[1]} (slow) -->\n{SLOW[match[1]]()}\n<!-- end {match[1]} -->"

    if "--slow" in sys.argv:
        text = re.sub(r"<!-- begin ([\w-]+) \(slow\) -->\n.*?<!-- end \1 -->", renew_slow, text, flags=re.DOTALL)
    return re.sub(r"<!-- begin ([\w-]+) -->\n.*?<!-- end \1 -->", renew, text, flags=re.DOTALL)


def wanted() -> dict[Path, str]:
    """Every generated file and what it should hold."""
    files = {page: rendered(page.read_text(encoding="utf-8")) for page in PAGES}
    for rule in all_rules():
        files[ROOT / "docs" / "rules" / f"{rule.code}.md"] = rule_page(rule.code)
    return files


def main() -> int:
    """Write or compare; 1 when something differs."""
    stale = []
    files = wanted()
    for path, text in files.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for path in (ROOT / "docs" / "rules").glob("*.md"):
        if path not in files:
            stale.append(path)
            if "--check" not in sys.argv:
                path.unlink()
    for path in stale:
        print(path.relative_to(ROOT))
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
