"""pytest on the virtual machine, run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm

_TESTS = """
import pytest
import torch


def test_it_is_a_machine():
    assert torch.cuda.device_count() == 2
    assert torch.ones(2, device="cuda").device == torch.device("cuda:0")


def test_a_fault_fails():
    torch.ones(2, device="cuda") + torch.ones(2)


@pytest.mark.virtual_gpus(2)
def test_two_are_enough():
    assert torch.ones(1, device="cuda:1").item() == 1


@pytest.mark.virtual_gpus(3)
def test_three_are_too_many():
    raise AssertionError("must not run")


@pytest.mark.transfers(max=1, syncs=0)
def test_keeps_to_its_limit():
    torch.ones(3).pin_memory().to("cuda", non_blocking=True)


@pytest.mark.transfers(max=1)
def test_copies_too_often():
    for _ in range(3):
        torch.ones(3).to("cuda")


@pytest.mark.transfers(syncs=0)
def test_waits():
    assert torch.ones(1, device="cuda").item() == 1


def test_ledger(virtual_ledger):
    torch.ones(4).to("cuda")
    (entry,) = [entry for entry in virtual_ledger.entries if entry.kind == "h2d"]
    assert entry.bytes == 16 and entry.place.line == 42


def test_graphs():
    torch.cuda.CUDAGraph()


def test_traces_what_no_virtual_gpu_can():
    torch.export.export(torch.nn.Identity(), (torch.ones(1, device="cuda"),))
"""


def _pytest(folder: Path, *arguments: str, fresh: bool = True) -> subprocess.CompletedProcess[str]:
    """pytest as a user runs it; else than `fresh`, no process of it imports torch."""
    plugin = [] if _is_installed() else ["-p", "torchdevlint.plugins.pytest"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "TORCHDEVLINT", "COV"))}
    if not fresh:
        return warm.run(command, cwd=folder, timeout=200, env=environment)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200, env=environment)


def _is_installed() -> bool:
    from importlib.metadata import entry_points

    return any(entry.value == "torchdevlint.plugins.pytest" for entry in entry_points(group="pytest11"))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "test_suite.py").write_text(_TESTS)
    (tmp_path / "conftest.py").write_text("import torch\n")  # what would come too early
    return tmp_path


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one-process", "xdist"])
def test_a_suite_on_two_virtual_gpus(suite: Path, workers: list[str]) -> None:
    done = _pytest(suite, "--virtual-gpus", "2", "-rA", *workers, fresh=not workers)
    assert done.returncode == 1, done.stderr
    assert "torchdevlint: VIRTUAL machine with 2 virtual GPUs, no real one" in done.stdout
    failed = {line.split("::")[1].split(" ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED ")}
    assert failed == {"test_a_fault_fails", "test_copies_too_often", "test_waits"}, done.stdout
    assert "4 passed" in done.stdout and "3 skipped" in done.stdout
    assert "3 x copy, at most 1 allowed:" in done.stdout and "test_suite.py:33: 3 x to" in done.stdout
    assert "1 x synchronisation, at most 0 allowed:" in done.stdout
    assert "other on cpu: created test_suite.py:12; met at test_suite.py:12" in done.stdout
    assert "machine/checks.py" not in done.stdout
    assert "needs --virtual-gpus 3" in done.stdout and "a virtual GPU cannot judge CUDA graphs" in done.stdout
    assert "a virtual GPU cannot trace" in done.stdout


def test_without_the_option_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\nimport pytest\n\n"
        "def test_plain():\n"
        "    loaded = {name for name in sys.modules if name.split('.')[0] in ('torch', 'libcst', 'torchdevlint')}\n"
        "    assert loaded <= {'torchdevlint', 'torchdevlint.plugins', 'torchdevlint.plugins.pytest'}\n\n"
        "@pytest.mark.virtual_gpus(1)\ndef test_gpu():\n    raise AssertionError\n\n"
        "@pytest.mark.transfers(max=0)\ndef test_limited(): pass\n\n"
        "def test_ledger(virtual_ledger):\n    raise AssertionError\n"
    )
    done = _pytest(tmp_path, "--strict-markers")
    assert done.returncode == 0, done.stdout
    assert "2 passed, 2 skipped" in done.stdout and "VIRTUAL" not in done.stdout


def test_a_count_that_no_machine_has_is_a_usage_error(tmp_path: Path) -> None:
    done = _pytest(tmp_path, "--virtual-gpus", "1000")
    assert done.returncode == 4 and "a machine has 0 to 64 GPUs" in done.stderr


def test_without_torch_it_names_the_command(tmp_path: Path, without_torch: dict[str, str]) -> None:
    (tmp_path / "test_a.py").write_text("import torch\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--virtual-gpus", "1", "test_a.py"]
    done = subprocess.run(command, cwd=tmp_path, env=without_torch, capture_output=True, text=True, timeout=60)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "--virtual-gpus needs torch" in done.stderr and "-m pip install torch" in done.stderr


def test_ending_pytest_ends_the_child_on_the_machine(tmp_path: Path) -> None:
    (tmp_path / "test_waits.py").write_text(
        "import os, signal\n\ndef test_waits():\n    os.kill(os.getppid(), signal.SIGTERM)\n    signal.pause()\n"
    )
    done = _pytest(tmp_path, "--virtual-gpus", "1")
    assert done.returncode != 0 and "passed" not in done.stdout
