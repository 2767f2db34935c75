"""Functions and classes of other files of the project."""

from __future__ import annotations

import ast
from pathlib import Path

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast
from torchdevlint.program.project import member
from torchdevlint.rules.policy import row_of

UTIL = """import torch

def shift(a):
    return a + torch.zeros(4)

def make():
    return torch.ones(4)
"""


def told(tmp_path: Path, files: dict[str, str], name: str) -> list[tuple[int, str, str]]:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'project'\n", encoding="utf-8")
    for path, text in files.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    asked = member(str(tmp_path / name))
    assert asked is not None
    analysis = analyse(from_ast.lower(ast.parse(files[name])), asked.path, asked.project)
    places = [(fault, fault.seen_from(analysis.unit)) for fault in analysis.decided()]
    return [(place.op.node.lineno, row_of(fault).code, fault.verdict) for fault, place in places if place is not None]


def test_a_tensor_of_another_file_meets_one_here(tmp_path: Path) -> None:
    main = "import torch\nfrom util import make\nx = torch.ones(4).cuda()\nprint(x + make())\n"
    assert told(tmp_path, {"util.py": UTIL, "main.py": main}, "main.py") == [(4, "TDL504", "broken")]


def test_a_call_breaks_the_claim_of_another_file(tmp_path: Path) -> None:
    main = "import torch\nfrom package import tools\ntools.shift(torch.ones(4).cuda())\ntools.shift(torch.ones(4))\n"
    files = {"package/__init__.py": "", "package/tools.py": UTIL, "main.py": main}
    assert told(tmp_path, files, "main.py") == [(3, "TDL504", "broken")]


def test_names_that_import_each_other_end(tmp_path: Path) -> None:
    files = {"a.py": "from b import thing\nthing(1)\n", "b.py": "from a import thing\n"}
    assert told(tmp_path, files, "a.py") == []
