"""The two programs that everybody meets: a checkpoint from another machine, and training that is resumed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import warm

_SAVE = """
import torch
torch.save({"weight": torch.ones(2, device="cuda:1")}, "model.pt")
"""
_LOAD = """
import sys
import torch
where = {"none": {}, "cpu": {"map_location": "cpu"}, "cuda": {"map_location": "cuda"}}[sys.argv[1]]
print(torch.load("model.pt", **where)["weight"].device)
"""
_MISSING_INDEX = (
    "RuntimeError: Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1. "
    "Please use torch.load with map_location to map your storages to an existing device."
)
_MISSING_CUDA = (
    "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a "
    "CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
)
_RESUME = """
import torch
from torch import nn


def first_run(path):
    model = nn.Linear(2, 2)
    model.to("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


first_run("run.pt")
checkpoint = torch.load("run.pt", map_location="cpu")
model = nn.Linear(2, 2)
model.load_state_dict(checkpoint["model"])
optimizer = torch.optim.Adam(model.parameters())
optimizer.load_state_dict(checkpoint["optimizer"])
model.to("cuda")
model(torch.ones(1, 2, device="cuda")).sum().backward()
optimizer.step()
print("resumed")
"""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchdevlint", *arguments]
    return warm.run(command, cwd=folder, timeout=200)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    (folder / "save.py").write_text(_SAVE)
    (folder / "load.py").write_text(_LOAD)
    done = _run(folder, "run", "--gpus", "2", "save.py")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("machine", "location", "answer"),
    [
        (("--gpus", "2"), "none", "cuda:1"),
        (("--gpus", "1"), "none", _MISSING_INDEX),
        (("--build", "cpu"), "none", _MISSING_CUDA),
        (("--gpus", "1"), "cuda", "cuda:0"),
        (("--build", "hidden"), "cpu", "cpu"),
    ],
)
def test_a_checkpoint_of_the_second_gpu(checkpoint: Path, machine: tuple[str, ...], location: str, answer: str) -> None:
    done = _run(checkpoint, "run", *machine, "load.py", location)
    if "Error" in answer:
        assert done.returncode == 1 and answer in done.stderr.splitlines()
    else:
        assert (done.returncode, done.stdout.strip()) == (0, answer), done.stderr


def test_training_resumed_before_and_after_the_move(tmp_path: Path) -> None:
    (tmp_path / "resume.py").write_text(_RESUME)
    done = _run(tmp_path, "verify", "--json", "--device", "virtual", "--select", "TDL202", "resume.py")
    report: dict[str, Any] = json.loads(done.stdout)
    (finding,) = report["findings"]
    assert (finding["verdict"], done.returncode) == ("confirmed", 0), finding
    assert finding["before"] == (
        "RuntimeError: Tensors of the same index must be on the same device and the same dtype except `step` tensors that can be "
        "CPU and float32/64 notwithstanding"
    )
    assert finding["after"] == report["repaired"] == "exit code 0"
