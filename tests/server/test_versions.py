"""What is kept of a document between its versions changes no answer: hundreds of random edits, each version examined both ways."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest

pytest.importorskip("hypothesis")

from edits import versions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchdevlint.findings import Severity
from torchdevlint.infer.document import Document
from torchdevlint.infer.imports import Imports
from torchdevlint.infer.units import OF_OUTLINE, Unit
from torchdevlint.linter import lint_source
from torchdevlint.settings import Resolver
from torchdevlint.source.source import Source
from torchdevlint.workspace.memory import forget_answers, forget_projects

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = sorted((ROOT / "fixtures").glob("*/*/faulty.py"))

NET = """\
import torch
from torch import nn
from helpers import scaled, Noise


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(size, size)
        self.noise = Noise(size)
        self.scale = torch.ones(size)

    def masked(self, x):
        mask = torch.zeros(x.shape[0])
        return x * mask

    def forward(self, x):
        x = self.layer(x) + self.noise(x)
        return scaled(self.masked(x), 2) * self.scale


def loss_of(output, target):
    weight = torch.ones(3)
    return nn.functional.cross_entropy(output, target, weight=weight)


def step(net, batch, target, device):
    output = net(batch.to(device))
    return loss_of(output, target.to(device))


class Wrapped(Net):
    def masked(self, x):
        return x.cpu().numpy()
"""
HELPERS = """\
import torch


def scaled(x, factor):
    return x * torch.tensor([factor])


class Noise(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.std = torch.rand(size)

    def forward(self, x):
        return torch.randn(x.shape) * self.std
"""
TRAIN = """\
import torch
from net import Net, step, loss_of

device = torch.device("cuda")
net = Net(3).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in torch.randn(5, 4, 3):
    loss = step(net, batch, torch.zeros(4), device)
    loss.backward()
    print(loss_of(net(batch), batch.cuda()))
"""


def examined(path: Path, text: str, document: Document | None) -> object:
    """The findings of a text, notes and fixes among them, and what could not be done."""
    chosen = Resolver(overrides={"level": Severity.INFO}).for_file(str(path))
    return lint_source(Source(str(path), text), chosen, document=document)


def compared(path: Path, texts: list[str]) -> int:
    """Examines the versions with what is kept and without; how many went on with the Program of the version before."""
    document, gone_on = Document(), 0
    for number, text in enumerate(texts):
        before = document._program
        forget_answers()
        kept = examined(path, text, document)
        gone_on += before is not None and document._program is before
        forget_projects() if number % 4 == 0 else forget_answers()
        assert kept == examined(path, text, None), f"version {number}"
    return gone_on


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(FIXTURES), st.integers(0, 10**6))
def test_a_file_alone(tmp_path: Path, fixture: Path, seed: int) -> None:
    compared(tmp_path / "file.py", versions(fixture.read_text(encoding="utf-8"), seed, 5))


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["net.py", "helpers.py", "train.py"]), st.integers(0, 10**6))
def test_a_file_of_a_project(tmp_path: Path, name: str, seed: int) -> None:
    texts = {"net.py": NET, "helpers.py": HELPERS, "train.py": TRAIN, "requirements.txt": "torch\n"}
    for other, text in texts.items():
        (tmp_path / other).write_text(text, encoding="utf-8")
    forget_projects()
    compared(tmp_path / name, versions(texts[name], seed, 8))


def test_a_key_in_a_function_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # there a file is in no project
    texts = [NET.replace("torch.ones(3)", f"torch.ones(3, device='cuda:{n}')  # {n}") for n in range(4)]
    texts += [NET.replace("weight=weight", f"weight=weight{n}") for n in range(3)]
    assert compared(tmp_path / "net.py", texts) == len(texts) - 1


def test_another_outline_leaves_what_does_not_depend_on_the_document(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\n", encoding="utf-8")
    (tmp_path / "helpers.py").write_text(HELPERS, encoding="utf-8")
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    forget_projects()
    document = Document()
    summaries = []
    for text in (NET, NET + "\nsize = 3\n", NET + "\ndef size():\n    return 3\n", NET.replace("helpers", "train")):
        examined(tmp_path / "net.py", text, document)
        assert document._program is not None
        base = document._program.kept.base
        summaries.append({body.qualname: summary for body, summary in base.summaries.items()})
        assert str(tmp_path / "train.py") not in base.imports._units  # it imports the document
    first, second, third, fourth = summaries
    assert "scaled" in first
    assert first["scaled"] is second["scaled"] is third["scaled"]
    assert "scaled" not in fourth or fourth["scaled"] is not first["scaled"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x * mask", "self.register_buffer('mask', mask)\n        return x * mask"),
        ("return x * mask", "yield x * mask"),
        ("weight = torch.ones(3)", "global weight\n    weight = torch.ones(3)"),
        ("weight = torch.ones(3)", "torch.set_default_device('cuda')\n    weight = torch.ones(3)"),
        ("weight = torch.ones(3)", "weight = (lambda: torch.ones(3))()"),
        ("return x.cpu().numpy()", "return self.layer(x).numpy()"),
        ("def masked(self, x):\n        mask", "def masked(self, x, mask=None):\n        mask"),
        ("self.scale = torch.ones(size)", "self.scale = nn.Parameter(torch.ones(size))"),
        ("x = self.layer(x) + self.noise(x)", "x = self.masked(x)"),
        ("class Wrapped(Net)", "class Wrapped(nn.Module)"),
        ("weight = torch.ones(3)", "from helpers import weight"),
    ],
)
def test_an_edit_and_back(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "requirements.txt").write_text("torch\n", encoding="utf-8")
    (tmp_path / "helpers.py").write_text(HELPERS, encoding="utf-8")
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    forget_projects()
    changed = NET.replace(old, new)
    assert changed != NET
    compared(tmp_path / "net.py", [NET, NET + "\n", changed, changed + "\n", NET])


def test_each_fact_of_a_whole_file_is_compared() -> None:
    """Whoever adds one says whether it is of the outline, part of `Unit.standing`, or asked of the bytes of all files."""
    facts = {name for name, member in vars(Unit).items() if isinstance(member, cached_property)}
    assert facts - OF_OUTLINE == {
        "global_stores",
        "set_of_others",
        "set_of_classes",
        "chooses_current_device",
        "is_looked_at",
        "_readers",
    }
    facts = {name for name, member in vars(Imports).items() if isinstance(member, (property, cached_property))}
    assert facts == {"_setting_default", "_setting_current"}


def test_another_file_that_changes_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\n", encoding="utf-8")
    helpers = tmp_path / "helpers.py"
    document = Document()
    for text in (HELPERS, HELPERS.replace("torch.tensor([factor])", "factor"), HELPERS, ""):
        helpers.write_text(text, encoding="utf-8")
        forget_projects()  # as the server does when a file is saved
        kept = examined(tmp_path / "net.py", NET, document)
        forget_projects()
        assert kept == examined(tmp_path / "net.py", NET, None)
