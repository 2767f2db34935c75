"""A flag of an object that other objects set: the class itself does not say what it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_imports_of_project import told

AGENT = """
import torch

class Agent:
    def __init__(self, net):
        self.is_ready = False
        self.net = net.cuda()

    def train(self, batch):
        if self.is_ready:
            total = torch.zeros(4)
            return total + self.net(batch.cuda())
"""
MEMORY = """
class Memory:
    def __init__(self, body):
        self.body = body

    def update(self):
        {line}
"""
SETS = "self.body.agent.is_ready = True"
OTHERS = ["self.is_ready = True", "print(self.body.agent.is_ready == True)"]


def codes(tmp_path: Path, files: dict[str, str]) -> set[str]:
    """The codes of what is told of the agent's tensors."""
    return {code for _, code, _ in told(tmp_path, {"pyproject.toml": "", **files}, "agent.py")} - {"TDL801"}


def test_in_the_same_file(tmp_path: Path) -> None:
    assert codes(tmp_path, {"agent.py": AGENT + MEMORY.format(line=SETS)}) == {"TDL504"}


def test_in_another_file(tmp_path: Path) -> None:
    assert codes(tmp_path, {"agent.py": AGENT, "memory.py": MEMORY.format(line=SETS)}) == {"TDL504"}


def test_a_test_sets_it_for_itself(tmp_path: Path) -> None:
    assert not codes(tmp_path, {"agent.py": AGENT, "tests/test_memory.py": MEMORY.format(line=SETS)})


@pytest.mark.parametrize("line", OTHERS)
def test_nobody_sets_it(tmp_path: Path, line: str) -> None:
    assert not codes(tmp_path, {"agent.py": AGENT, "memory.py": MEMORY.format(line=line)})
    assert not codes(tmp_path, {"agent.py": AGENT + MEMORY.format(line=line)})
