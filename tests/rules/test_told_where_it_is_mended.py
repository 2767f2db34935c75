"""A finding leads to the line that is to be mended, also where the fault shows in another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchdevlint import Finding, check_paths
from torchdevlint.findings import Applicability, Severity

LAYERS = """
import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module.forward(x) * 2
"""
MODEL = """
import torch
from torch import nn
from layers import Scaled

class Generator(nn.Module):
    def __init__(self, width):
        super().__init__()
        body = []
        body.append(Scaled(nn.Linear(width, width)))
        body.append(nn.ReLU())
        self.body = nn.Sequential(*body)

    def forward(self, x):
        return self.body(x)
"""
TRAINER = """
import torch
from torch import nn
from model import Generator

class Trainer:
    def __init__(self, options):
        self.several = options.several
        self.model = Generator(options.width)
        if self.several:
            self.model = nn.DataParallel(self.model)

    def run(self):
        z = torch.randn(4, 8).cuda()
        return self.model(z)
"""
MAIN = """
import argparse
from trainer import Trainer

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--several", action="store_true")
    parser.add_argument("--width", type=int, default=8)
    Trainer(parser.parse_args()).run()
"""
DATA = """
import torch
from torch.utils.data import Dataset

class Waves(Dataset):
    def __init__(self, tuning):
        self.tuning = tuning

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if self.tuning:
            wave = torch.zeros(8)
        else:
            wave = torch.randn(8) * 0.5
        return wave, index
"""
TRAIN = """
import argparse
import torch
from torch.utils.data import DataLoader
from data import Waves
from model import Generator

def train(rank, options):
    device = torch.device("cuda:{:d}".format(rank))
    model = Generator(options.width).to(device)
    for wave, _ in DataLoader(Waves(options.tuning), batch_size=4):
        wave = torch.autograd.Variable(wave)
        model(wave)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tuning", action="store_true")
    parser.add_argument("--width", type=int, default=8)
    train(0, parser.parse_args())
"""


def check(folder: Path, files: dict[str, str]) -> list[Finding]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return check_paths([str(folder)], processes=1)


def test_a_module_that_nobody_moved_is_told_with_the_line_that_makes_it(tmp_path: Path) -> None:
    files = {"layers.py": LAYERS, "model.py": MODEL, "trainer.py": TRAINER, "main.py": MAIN}
    found = [one for one in check(tmp_path, files) if one.filename.endswith("trainer.py") and one.code != "TDL801"]
    assert [(one.code, one.span.start.row) for one in found] == [("TDL401", 15)]
    related = [
        (one.span.start.row, one.message) for one in found[0].related if one.filename in (None, found[0].filename)
    ]
    assert (9, "the module is made here") in related


def test_a_sample_of_one_of_two_kinds_is_told_where_it_is_handed_on(tmp_path: Path) -> None:
    files = {"layers.py": LAYERS, "model.py": MODEL, "data.py": DATA, "train.py": TRAIN}
    (found,) = [one for one in check(tmp_path, files) if one.code != "TDL801"]
    assert (found.code, found.span.start.row) == ("TDL401", 13)
    assert found.message.startswith("`wave` is on the CPU and meets ")


@pytest.mark.parametrize("steps", [40, 90])
def test_a_long_function_is_read_to_its_end(tmp_path: Path, steps: int) -> None:
    lines = "".join(f"    options.log(model(options.inputs[{at}].to(device)), {at})\n" for at in range(steps))
    text = f"""
import torch
from torch import nn

def train(rank, options):
    device = torch.device("cuda:{{:d}}".format(rank))
    model = nn.Linear(3, 3).to(device)
{lines}
    return model(torch.ones(2, 3, device=device)).detach().numpy()

train(0, object())
"""
    assert "TDL509" in [one.code for one in check(tmp_path, {"train.py": text})]


def test_what_an_unknown_callable_is_given_is_not_moved_for_certain(tmp_path: Path) -> None:
    text = """
import torch
from warpctc_pytorch import CTCLoss

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
criterion = CTCLoss()

def loss(rates):
    scores = torch.randn(5, 2, 4, device=device)
    sizes = torch.IntTensor([5, 5])
    return criterion(scores, sizes)
"""
    assert not check(tmp_path, {"train.py": text})  # lengths are wanted on the CPU: it is a note
    (tmp_path / "pyproject.toml").write_text('[tool.torchdevlint]\nlevel = "info"\n')
    (found,) = [one for one in check_paths([tmp_path], processes=1) if one.code == "TDL505"]
    assert found.severity is Severity.INFO
    assert found.fix is not None
    assert found.fix.applicability is Applicability.UNSAFE


def test_what_a_helper_without_tensors_reads_is_mended_where_it_is_handed_on(tmp_path: Path) -> None:
    """A file without any word of torch is not looked at; the call in the other one is."""
    helper = "import numpy as np\n\ndef search(queries):\n    return np.asarray(queries).argsort()\n"
    main = "import torch\nfrom index import search\n\nx = torch.rand(3, device='cuda')\nprint(search(x))\n"
    (finding,) = [one for one in check(tmp_path, {"index.py": helper, "main.py": main}) if one.code == "TDL509"]
    assert (Path(finding.filename).name, finding.span.start.row) == ("main.py", 5)
    assert "NumPy reads it in host memory" in finding.message
    assert finding.fix is not None and finding.fix.applicability is Applicability.SAFE


BASE = """
from abc import ABC
from torch import nn

def small(width):
    return nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, 3))

class Model(nn.Module, ABC):
    def __init__(self):
        super().__init__()
"""
ENSEMBLE = """
import torch
from base import Model, small

class Ensemble(Model):
    def __init__(self, count):
        super().__init__()
        self.members = {made}

    def samples(self, x):
        return torch.stack([member(x) for member in self.members])
"""


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        ("[small(4) for _ in range(count)]", True),
        ("torch.nn.ModuleList(small(4) for _ in range(count))", False),
        ("[torch.nn.ReLU() for _ in range(count)]", False),
    ],
)
def test_a_class_whose_base_is_in_another_file_is_a_module(made: str, is_told: bool, tmp_path: Path) -> None:
    """Its list hides what a helper of that file has made."""
    found = check(tmp_path, {"base.py": BASE, "ensemble.py": ENSEMBLE.format(made=made)})
    assert ("TDL602" in {one.code for one in found}) is is_told
