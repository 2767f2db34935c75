"""`torchdevlint run`: the program behaves as under `python`, and what it did wrong is told on stderr."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import warm

_MIXED = """
import sys
import torch

print("argv", sys.argv[1:], __name__, torch.cuda.device_count())
model = torch.nn.Linear(4, 2)
model.cuda()
x = torch.randn(3, 4)
try:
    model(x)
except RuntimeError:
    print("caught")
y = model(x.cuda()).detach()
late = y.to("cpu", non_blocking=True)
late.sum()
model(x)
"""
_CHILDREN = """
import multiprocessing as mp
import subprocess
import sys

def child(queue):
    import torch
    queue.put(torch.zeros(1, device="cuda").device.type)

if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print("spawned", queue.get(timeout=60))
    process.join()
    code = "import torch; print('started', torch.zeros(1).cuda().device)"
    print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip())
    subprocess.run([sys.executable, "-I", "-c", "pass"])
"""


def _run(folder: Path, *arguments: str, fresh: bool = True) -> subprocess.CompletedProcess[str]:
    """The run; else than `fresh`, no process of it imports torch."""
    command = [sys.executable, "-m", "torchdevlint", "run", *arguments]
    if fresh:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return warm.run(command, cwd=folder, timeout=120)


def test_faults_hazards_and_ledger_are_told_with_lines(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_MIXED)
    done = _run(tmp_path, "--gpus", "2", "--ledger", "train.py", "--lr", "3", "--strict", fresh=False)
    assert done.stdout == "argv ['--lr', '3', '--strict'] __main__ 2\ncaught\n"
    assert done.returncode == 1
    told = [line.removeprefix("torchdevlint: ") for line in done.stderr.splitlines() if line.startswith("torchdevlint")]
    assert told[0] == "train.py runs on a virtual machine with 2 virtual GPUs, without a sandbox"
    assert any(line.startswith("train.py:10: RuntimeError: Expected all") and "(caught" in line for line in told)
    assert any(line.startswith("train.py:16: RuntimeError: Expected all") and "(caught" not in line for line in told)
    assert any("on cpu: created train.py:8" in line and "moved train.py:7" in line for line in told)
    assert "train.py:15: hazard: sum.default reads a CPU tensor" in done.stderr
    assert "the copy began at train.py:14" in done.stderr
    assert "  train.py:13: 1 x cuda: host to device, 48 bytes" in told


def test_strict_turns_a_hazard_into_exit_code_3(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(
        "import torch\nx = torch.ones(3, device='cuda')\nprint(x.to('cpu', non_blocking=True).tolist())\n"
    )
    done = _run(tmp_path, "--strict", "late.py", fresh=False)
    assert (done.returncode, done.stdout) == (3, "[1.0, 1.0, 1.0]\n")
    assert "late.py:3: hazard" in done.stderr


def test_children_inherit_the_machine_and_others_are_reported(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(_CHILDREN)
    done = _run(tmp_path, "parent.py")
    assert done.stdout == "spawned cuda\nstarted cuda:0\n", done.stderr
    assert done.returncode == 0
    assert "a child ran without the machine" in done.stderr and " -I -c pass" in done.stderr


def test_a_machine_without_gpu_refuses_as_its_build_does(tmp_path: Path) -> None:
    (tmp_path / "hard.py").write_text("import torch\ntorch.zeros(1).cuda()\n")
    done = _run(tmp_path, "--build", "cpu", "hard.py", fresh=False)
    assert done.returncode == 1
    assert "hard.py:2: AssertionError: Torch not compiled with CUDA enabled" in done.stderr


def test_exit_code_stdin_and_bytes_are_the_programs_own(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(
        "import sys\nsys.stdout.buffer.write(bytes([0, 255]) + sys.stdin.buffer.read())\nsys.exit(7)\n"
    )
    command = [sys.executable, "-m", "torchdevlint", "run", "echo.py"]
    done = subprocess.run(command, cwd=tmp_path, input=b"in\xfe", capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (7, b"\x00\xffin\xfe")
    assert b"no process of this program imported torch" in done.stderr


def test_without_torch_it_names_the_command(tmp_path: Path, without_torch: dict[str, str]) -> None:
    (tmp_path / "a.py").write_text("import torch\n")
    command = [sys.executable, "-m", "torchdevlint", "run", "a.py"]
    done = subprocess.run(command, cwd=tmp_path, env=without_torch, capture_output=True, text=True, timeout=60)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and "ModuleNotFoundError: No module named 'torch'" in done.stderr
    assert last.startswith("torchdevlint: note: no process of this program imported torch, which is not installed for ")
    assert f"install it: {sys.executable} -m pip install torch" in last


def test_a_program_that_dies_of_a_signal_takes_us_with_it(tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert _run(tmp_path, "dies.py").returncode == -signal.SIGKILL


def test_signals_reach_the_program(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(41))\nprint('ready', flush=True)\nsignal.pause()\n"
    )
    command = [sys.executable, "-m", "torchdevlint", "run", "waits.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(timeout=60) == 41


def test_modules_run_as_under_python(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__main__.py").write_text("import sys\nprint(__package__, sys.argv[1:])\n")
    assert _run(tmp_path, "-m", "pack", "--gpus", "x").stdout == "pack ['--gpus', 'x']\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing.py"], "missing.py: no such file"),
        (["book.ipynb"], "book.ipynb: is a notebook"),
        (["empty"], "empty: is a folder without __main__.py"),
        ([], "no program given"),
        (["--gpus", "-1", "x.py"], "a machine has 0 to 64 GPUs"),
    ],
)
def test_what_cannot_run_is_refused_with_a_sentence(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": []}))
    (tmp_path / "empty").mkdir()
    done = _run(tmp_path, *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr and "Traceback" not in done.stderr
