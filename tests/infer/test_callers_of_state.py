"""What a class keeps of a module, or loads for an optimizer, is decided by the files that move the module."""

from __future__ import annotations

from pathlib import Path

from test_imports_of_project import told

LIBRARY = """
import torch

class Average:
    def __init__(self, model):
        self.model = model
        self.kept = [p.detach().clone() for p in model.parameters()]

    def after(self):
        for kept, p in zip(self.kept, self.model.parameters()):
            kept.lerp_(p, 0.1)

class Nothing:
    def after(self):
        pass

class Trainer:
    def __init__(self, model, hooks):
        self.model, self.hooks = model, list(hooks)
        self.optimizer = torch.optim.Adam(model.parameters())

    def resume(self, state):
        self.optimizer.load_state_dict(state)

    def fit(self, device):
        self.model.to(device)
        self.optimizer.step()
        for hook in self.hooks:
            hook.after()
"""
MAIN = """
import torch
from torch import nn
from library import Average, Nothing, Trainer

model = nn.Linear(3, 3)
{before}
trainer = Trainer(model, [Average(model), Nothing()])
{after}
trainer.fit("cuda")
"""


def codes(tmp_path: Path, before: str = "", after: str = "") -> set[str]:
    """The codes of what is told in the library."""
    files = {"pyproject.toml": "", "library.py": LIBRARY, "main.py": MAIN.format(before=before, after=after)}
    return {code for _, code, _ in told(tmp_path, files, "library.py")}


def test_copies_of_parameters_stay_where_those_were(tmp_path: Path) -> None:
    assert codes(tmp_path) & {"TDL515", "TDL603"}


def test_copies_of_parameters_that_were_moved_are_there(tmp_path: Path) -> None:
    assert not codes(tmp_path, before="model.cuda()") & {"TDL515", "TDL603", "TDL505"}


def test_state_that_is_loaded_before_the_move_is_told_where_it_is_loaded(tmp_path: Path) -> None:
    assert "TDL202" in codes(tmp_path / "resumed", after="trainer.resume(torch.load('x'))")
    assert "TDL202" not in codes(tmp_path / "new")
