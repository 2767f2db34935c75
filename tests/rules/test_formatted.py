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
from test_fixtures import CODES, FAULTY, after, found, named, repaired

from torchdevlint import check_source
from torchdevlint.findings import Finding

NARROW = 20  # columns: each chain and each call is on several lines


PATHS = [path for path in FAULTY if CODES[path.parent.name] != "TDL000"]


def plain(path: Path) -> str:
    return re.sub(r"[ \t]*# expect: [^\n]*", "", path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def formatted(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    """The files, formatted in one run."""
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("ruff is not installed")
    folder = tmp_path_factory.mktemp("formatted")
    copies = {path: folder / f"{number}.py" for number, path in enumerate(PATHS)}
    for path, copy in copies.items():
        copy.write_text(plain(path), encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--line-length", str(NARROW)]
    subprocess.run([*command, str(folder)], capture_output=True, check=True)
    return {path: copy.read_text(encoding="utf-8") for path, copy in copies.items()}


def offered(findings: tuple[Finding, ...]) -> Counter[tuple[str, str | None]]:
    return Counter((f.code, f.fix.applicability.value if f.fix is not None else None) for f in findings)


@pytest.mark.parametrize("path", PATHS, ids=named)
def test_a_formatted_file_is_repaired_in_the_same_way(path: Path, formatted: dict[Path, str]) -> None:
    text, other = plain(path), formatted[path]
    assert offered(found(other, path, "info")) == offered(found(text, path, "info"))
    expected = after(path, "fixed_unsafe") or after(path, "fixed") or text  # which test_fixtures has compared
    assert ast.dump(ast.parse(repaired(other, path, unsafe=True))) == ast.dump(ast.parse(expected))


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
