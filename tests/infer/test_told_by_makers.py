"""Where a module is told of that nobody moved: where the class that makes it uses it, whatever file begins the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchdevlint import check_paths

LOSSES = """\
import torch
from torch import nn

def spectrum(x, window):
    return torch.stft(x, 10, 3, 10, window)

class Spectral(nn.Module):
    def __init__(self, size, window):
        super().__init__()
        self.register_buffer("window", {made})

    def forward(self, x, y):
        return (spectrum(x, self.window) - spectrum(y, self.window)).abs().sum()

class Several(nn.Module):
    def __init__(self, sizes=(1024, 2048), window="hann_window"):
        super().__init__()
        self.losses = nn.ModuleList()
        for size in sizes:
            self.losses += [Spectral(size, window)]

    def forward(self, x, y):
        total = 0.0
        for one in self.losses:
            total += one(x, y)
        return total
"""
SOLVER = """\
from losses import Several

class Solver:
    def __init__(self, net, loader, args):
        self.net = net
        self.loader = loader
        self.device = args.device
        self.loss = Several(){moved}

    def train(self):
        for epoch in range(10):
            self.run(epoch)

    def run(self, epoch):
        for batch in self.loader:
            noisy, clean = [x.to(self.device) for x in batch]
            estimate = self.net(noisy)
            self.loss(estimate.squeeze(1), clean.squeeze(1))
"""
PROGRAM = """\
import argparse
from torch import nn
from solver import Solver

def run(args):
    net = nn.Conv1d(3, 3, 3)
    net.to(args.device)
    Solver(net, load(), args).train()

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    run(parser.parse_args())

if __name__ == "__main__":
    main()
"""


def told(folder: Path, made: str, moved: str) -> list[tuple[str, str, int]]:
    (folder / ".git").mkdir()
    files = {"losses.py": LOSSES.format(made=made), "solver.py": SOLVER.format(moved=moved), "program.py": PROGRAM}
    for name, text in files.items():
        (folder / name).write_text(text)
    found = check_paths([folder], isolated=True)
    return [(one.code, Path(one.filename).name, one.span.start.row) for one in found if one.code != "TDL801"]


@pytest.mark.parametrize("made", ["torch.hann_window(size)", "getattr(torch, window)(size)"])
def test_a_module_that_nobody_moves_is_told_of_where_its_maker_uses_it(made: str, tmp_path: Path) -> None:
    assert told(tmp_path, made, "") == [("TDL401", "solver.py", 18)]


@pytest.mark.parametrize("made", ["torch.hann_window(size)", "getattr(torch, window)(size)"])
def test_one_that_is_moved_is_not_told_of(made: str, tmp_path: Path) -> None:
    assert told(tmp_path, made, ".to(args.device)") == []
