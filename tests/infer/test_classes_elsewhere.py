"""What a base of another file or of another framework says of a class, and what `== None` says of a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchdevlint import check_paths

HEAD = """\
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, ids):
        super().__init__()
        self.ids = ids

    def forward(self, x, labels):
        hot = torch.zeros(x.size())
        if self.ids {test}:
            hot = hot.cuda(self.ids[0])
        hot.scatter_(1, labels.view(-1, 1), 1)
        return hot

def main():
    head = Head({given})
    head(torch.zeros(4, 4).cuda(), torch.zeros(4).long().cuda())

main()
"""


def codes(folder: Path, files: dict[str, str]) -> list[str]:
    (folder / ".git").mkdir()
    for path, text in files.items():
        (folder / path).write_text(text)
    return [one.code for one in check_paths([folder], isolated=True) if one.code != "TDL801"]


@pytest.mark.parametrize("test", ["!= None", "is not None"])
@pytest.mark.parametrize(("given", "expected"), [("[0, 1]", []), ("None", ["TDL515"])])
def test_who_gives_a_list_gives_not_none(test: str, given: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(tmp_path, {"run.py": HEAD.format(test=test, given=given)}) == expected


SOLVER = """\
import torch
import {module}

class Solver({module}.Policy):
    def __init__(self):
        self.first = torch.nn.Linear(2, 2)
        self.nets = [torch.nn.Linear(2, 2)]

    def move(self, device):
        self.first.to(device)
"""


@pytest.mark.parametrize(
    ("base", "is_told"),
    [("class Policy:\n    pass\n", False), ("from torch import nn\nclass Policy(nn.Module):\n    pass\n", True)],
    ids=["no module", "a module"],
)
def test_a_base_of_the_project_is_what_it_is(base: str, is_told: bool, tmp_path: Path) -> None:
    found = codes(tmp_path, {"rules.py": base, "solver.py": SOLVER.format(module="rules")})
    assert ("TDL602" in found) is is_told


LOSS = """\
import {framework} as frame
import {framework}.nn as nn

class Focal(nn.Layer):
    def forward(self, x):
        return x.mean()

criterion = Focal()
for x in batches:
    loss = criterion(x)
    loss.backward()
    print(loss.numpy())
"""


@pytest.mark.parametrize(("framework", "expected"), [("paddle", []), ("torch", ["TDL510"])])
def test_the_layers_of_another_framework_are_no_modules(framework: str, expected: list[str], tmp_path: Path) -> None:
    text = LOSS.format(framework=framework).replace("nn.Layer", "nn.Module" if framework == "torch" else "nn.Layer")
    assert codes(tmp_path, {"run.py": text}) == expected
