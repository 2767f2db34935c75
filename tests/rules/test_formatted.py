"""A formatter takes no fix away: what is repaired in a fixture is repaired in the same way after `ruff format`, also at a width that breaks each chain."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from test_fixtures import CODES, FAULTY, found, named, repaired

from torchdevlint import check_source
from torchdevlint.findings import Finding

NARROW = 20  # columns: each chain and each call is on several lines


def formatted(text: str) -> str:
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("ruff is not installed")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", str(NARROW), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, encoding="utf-8").stdout


def offered(findings: tuple[Finding, ...]) -> Counter[tuple[str, str | None]]:
    return Counter((f.code, f.fix.applicability.value if f.fix is not None else None) for f in findings)


@pytest.mark.parametrize("path", [p for p in FAULTY if CODES[p.parent.name] != "TDL000"], ids=named)
def test_a_formatted_file_is_repaired_in_the_same_way(path: Path) -> None:
    text = re.sub(r"[ \t]*# expect: [^\n]*", "", path.read_text(encoding="utf-8"))
    other = formatted(text)
    assert offered(found(other, path, "info")) == offered(found(text, path, "info"))
    once, again = (ast.dump(ast.parse(repaired(each, path, unsafe=True))) for each in (text, other))
    assert once == again


def test_a_move_on_a_line_of_its_own_is_repaired() -> None:
    chain = (
        "import torch\ndef f(device):\n    x = (\n        torch.zeros(3)\n        .to(device)\n    )\n    return x\n"
    )
    (finding,) = (f for f in check_source(chain, level="info") if f.code == "TDL503")
    assert finding.fix is not None


def test_a_list_between_parentheses_is_moved_by_its_elements() -> None:
    text = "import torch\ndef f(device):\n    batch = [torch.ones(2)]\n    batch = (\n        batch.to(\n            device\n        )\n    )\n    return batch\n"
    (finding,) = (f for f in check_source(text) if f.code == "TDL402")
    assert finding.fix is not None
    assert re.sub(r"\s", "", finding.fix.edits[0].content).strip("()").startswith("[item.to(device")
