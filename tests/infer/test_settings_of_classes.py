"""An attribute of a class that other files set: the class alone does not say what it is."""

from __future__ import annotations

from pathlib import Path

from test_imports_of_project import told

CONFIG = """
import torch

class Config:
    DEVICE = torch.device("cpu")
"""
SELECT = """
import torch
from config import Config

def select_device(number):
    {line}
"""
NET = """
import torch
from torch import nn
from config import Config

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x):
        return self.body(torch.as_tensor(x).to(Config.DEVICE))
"""
COPIED = """
import torch
from config import config

def get():
    return config.clone()

def main():
    settings = get()
    if settings.device != "cpu":
        print(torch.zeros(4))
"""


def of_net(tmp_path: Path, line: str) -> set[str]:
    """The codes of what is told of the network."""
    files = {"pyproject.toml": "", "config.py": CONFIG, "select.py": SELECT.format(line=line), "net.py": NET}
    return {code for _, code, _ in told(tmp_path, files, "net.py")}


def test_another_file_sets_it(tmp_path: Path) -> None:
    assert not of_net(tmp_path, 'Config.DEVICE = torch.device("cuda:%d" % number)')


def test_nobody_sets_it(tmp_path: Path) -> None:
    assert of_net(tmp_path, 'print(Config.DEVICE == "cuda")') == {"TDL401"}


def test_settings_have_a_clone_as_tensors_do(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "",
        "config.py": "from yacs.config import CfgNode\n\nconfig = CfgNode()\n",
        "main.py": COPIED,
    }
    assert not told(tmp_path, files, "main.py")
