"""Checkpoints carry true device tags from one machine shape to another, with PyTorch's own texts."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import warm

from torchdevlint.machine.shape import Shape

_SAVE = """
import sys, torch
from torchdevlint.machine import Shape, start
start(Shape(2))
torch.save({"a": torch.ones(2, device="cuda:1"), "b": torch.ones(2, device="cuda"), "c": torch.ones(2)}, sys.argv[1])
torch.save({"a": torch.ones(2, device="cuda:1")}, sys.argv[1] + ".old", _use_new_zipfile_serialization=False)
"""
_LOAD = """
import json, sys, torch
from torchdevlint.machine import Shape, start
start(Shape.from_json(sys.argv[2]))
answers = {}
for name, options in {
    "plain": {},
    "to cpu": {"map_location": "cpu"},
    "to cuda": {"map_location": "cuda:0"},
    "to 0": {"map_location": 0},
    "to device": {"map_location": torch.device("cuda", 0)},
    "by dict": {"map_location": {"cuda:1": "cuda:0"}},
    "by function": {"map_location": lambda storage, location: storage},
    "by moving function": {"map_location": lambda storage, location: storage.cuda(0)},
    "mmap": {"mmap": True, "map_location": "cpu"},
    "old": {"file": ".old"},
}.items():
    try:
        loaded = torch.load(sys.argv[1] + options.pop("file", ""), **options)
        answers[name] = " ".join(str(tensor.device) for tensor in loaded.values())
    except Exception as error:
        answers[name] = f"{type(error).__name__}: {error}"
print(json.dumps(answers))
"""


def _run(code: str, *arguments: str, fresh: bool = False) -> str:
    command = [sys.executable, "-c", code, *arguments]
    if fresh:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    else:
        done = warm.run(command, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checkpoint") / "model.pt"
    _run(_SAVE, str(path))
    return path


def _load(checkpoint: Path, shape: Shape) -> dict[str, str]:
    answers: dict[str, str] = json.loads(_run(_LOAD, str(checkpoint), shape.to_json()))
    return answers


def test_the_file_names_the_devices(checkpoint: Path) -> None:
    locations = []

    class Reader(pickle.Unpickler):
        def persistent_load(self, pid: tuple[str, ...]) -> object:
            locations.append(pid[3])
            return object()

        def find_class(self, module: str, name: str) -> object:
            return lambda *args: args

    with zipfile.ZipFile(checkpoint) as archive:
        name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        Reader(archive.open(name)).load()
    assert locations == ["cuda:1", "cuda:0", "cpu"]


def test_on_two_gpus(checkpoint: Path) -> None:
    answers = _load(checkpoint, Shape(2))
    assert answers["plain"] == "cuda:1 cuda:0 cpu" and answers["old"] == "cuda:1"
    assert answers["to cpu"] == answers["mmap"] == "cpu cpu cpu"
    assert answers["to cuda"] == answers["to device"] == "cuda:0 cuda:0 cuda:0"
    assert answers["to 0"] == "TypeError: 'int' object is not callable"
    assert answers["by dict"] == "cuda:0 cuda:0 cpu" and answers["by moving function"] == "cuda:0 cuda:0 cuda:0"


def test_on_one_gpu(checkpoint: Path) -> None:
    answers = _load(checkpoint, Shape(1))
    text = (
        "RuntimeError: Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1. Please use "
        "torch.load with map_location to map your storages to an existing device."
    )
    assert answers["plain"] == answers["old"] == text
    assert answers["by dict"] == "cuda:0 cuda:0 cpu" and answers["to cuda"] == "cuda:0 cuda:0 cuda:0"
    assert answers["by function"] == "cpu cpu cpu"


@pytest.mark.parametrize("build", ["cpu", "hidden", "no-driver"])
def test_on_none(checkpoint: Path, build: str) -> None:
    answers = _load(checkpoint, Shape(build=build))  # type: ignore[arg-type]
    text = (
        "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you "
        "are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
        "storages to the CPU."
    )
    assert answers["plain"] == answers["old"] == answers["to cuda"] == text
    assert answers["to cpu"] == answers["by function"] == "cpu cpu cpu"


def test_an_untouched_torch_reads_the_same_text(checkpoint: Path) -> None:
    code = "import sys, torch\ntry:\n    torch.load(sys.argv[1])\nexcept RuntimeError as error:\n    print(error)"
    assert _run(code, str(checkpoint), fresh=True).startswith("Attempting to deserialize object on a CUDA device but")
