"""The machine in child processes: what each inherits, reports, and how a process that escapes it is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm

from torchdevlint.machine.launch import ProcessReport, Settings, environment, read_reports
from torchdevlint.machine.shape import Shape

_PROGRAMS = Path(__file__).parent / "programs"


class Run:
    """One program on the machine: what it printed, how it ended, what its processes reported. `fresh`: in a new interpreter."""

    def __init__(
        self, folder: Path, command: list[str], shape: Shape, ledger: bool = False, fresh: bool = False, **extra: str
    ) -> None:
        folder.mkdir(exist_ok=True)
        variables = environment(shape, ledger=ledger, report_dir=folder, base={**os.environ, **extra})
        command = [sys.executable, *command]
        if fresh:
            done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600)
        else:
            done = warm.run(command, env=variables, timeout=600)
        self.out, self.err, self.code = done.stdout, done.stderr, done.returncode
        self.reports = read_reports(folder)

    @property
    def main(self) -> ProcessReport:
        return self.reports[0]


def run_code(folder: Path, code: str, shape: Shape = Shape(1), fresh: bool = False, **extra: str) -> Run:  # noqa: B008 - frozen
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    return Run(folder / "reports", [str(path)], shape, fresh=fresh, **extra)


def test_settings_round_trip(tmp_path: Path) -> None:
    settings = Settings(Shape(2), True, tmp_path)
    assert Settings.from_json(settings.to_json()) == settings
    with pytest.raises(ValueError, match="not machine settings"):
        Settings.from_json("{}")


def test_environment_comes_first_once_and_keeps_the_rest(tmp_path: Path) -> None:
    once = environment(Shape(1), report_dir=tmp_path, base={"PYTHONPATH": "/a" + os.pathsep + "/b", "X": "1"})
    twice = environment(Shape(1), report_dir=tmp_path, base=once)
    assert once == twice and once["X"] == "1"
    assert once["PYTHONPATH"].split(os.pathsep)[1:] == ["/a", "/b"]


def test_a_program_and_its_children(tmp_path: Path) -> None:
    code = """
import os, subprocess, sys
subprocess.run([sys.executable, "-c", "import sys; print('torch' in sys.modules)"])
subprocess.run([sys.executable, "-c", "import torch, os; print(torch.zeros(1, device='cuda').device, flush=True); os._exit(3)"])
subprocess.run([sys.executable, "-I", "-c", "print('alone')"])
subprocess.run([sys.executable, "-c", "print('stripped')"], env={"PATH": os.environ["PATH"]})
import torch
torch.zeros(2).cuda()
if (pid := os.fork()) == 0:
    try:
        torch.zeros(2).cuda()
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
torch.zeros(2).cuda() + torch.zeros(2)
"""
    run = run_code(tmp_path, code, fresh=True)
    assert run.code == 1
    assert run.out.split("\n")[:5] == [
        "False",
        "cuda:0",
        "alone",
        "stripped",
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' "
        "start method",
    ]
    main, without_torch, with_torch, forked = run.reports
    assert main.started and main.finished and not main.refused and main.torch
    assert [command.split(" ", 1)[1] for command in main.without_machine] == [
        "-I -c print('alone')",
        "-c print('stripped')",
    ]
    assert main.uncaught and main.uncaught["places"]["met"] == [str(tmp_path / "program.py"), 16]
    assert main.uncaught["frames"] == [[str(tmp_path / "program.py"), 16]]
    assert [fault["kind"] for fault in main.faults] == ["RuntimeError"]
    assert not without_torch.started and without_torch.finished
    assert with_torch.started and with_torch.finished and with_torch.parent == main.pid
    assert forked.started and forked.finished and len(forked.faults) == 1
    # the traceback ends in the program, as a GPU's would
    assert "dispatch.py" not in run.err and run.err.rstrip().endswith("cuda:0 and cpu!")


@pytest.mark.parametrize("before", ["enable", "disable"])
def test_no_garbage_is_looked_for_while_torch_is_imported(tmp_path: Path, before: str) -> None:
    (tmp_path / "torch.py").write_text(
        "import gc\nprint(gc.isenabled())\n", encoding="utf-8"
    )  # no machine starts on it
    code = f"import gc\ngc.{before}()\ntry:\n    import torch\nexcept Exception:\n    print(gc.isenabled())"
    run = run_code(tmp_path, code, fresh=True)
    assert run.out.split() == ["False", str(before == "enable")], run.err


def test_the_next_sitecustomize_is_run(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "sitecustomize.py").write_text("print('theirs')\nVALUE = 1\n", encoding="utf-8")
    run = run_code(tmp_path, "import sitecustomize\nprint(sitecustomize.VALUE)", PYTHONPATH=str(tmp_path / "theirs"))
    assert run.out.split() == ["theirs", "1"] and run.code == 0


def test_a_child_that_cannot_join_is_reported(tmp_path: Path) -> None:
    variables = environment(Shape(1), report_dir=tmp_path) | {"TORCHDEVLINT_PACKAGE": "/nowhere"}
    # -S: without site-packages the package is not found, as in another environment's Python; site is run by hand
    code = "import sys; sys.path.insert(0, sys.argv[1]); import sitecustomize"
    command = [sys.executable, "-S", "-c", code, variables["PYTHONPATH"].split(os.pathsep)[0]]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert "this Python runs without the virtual machine" in done.stderr
    (report,) = read_reports(tmp_path)
    assert not report.started and report.refused


def test_another_environment_gets_the_package_alone(tmp_path: Path) -> None:
    variables = environment(Shape(1), report_dir=tmp_path)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import sitecustomize, torchdevlint.machine.child\n"
        "import importlib.util; print(importlib.util.find_spec('torch'))"
    )
    command = [sys.executable, "-S", "-c", code, variables["PYTHONPATH"].split(os.pathsep)[0]]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout.strip() == "None", done.stderr
    (report,) = read_reports(tmp_path)
    assert not report.started and report.finished and report.refused is None


def test_a_killed_process_leaves_an_unfinished_report(tmp_path: Path) -> None:
    run = run_code(tmp_path, "import os, signal, torch\nos.kill(os.getpid(), signal.SIGKILL)")
    assert run.code == -9 and run.main.started and not run.main.finished


def test_hazards_ledger_and_notes_are_reported(tmp_path: Path) -> None:
    code = "import torch\ny = torch.ones(2).cuda().to('cpu', non_blocking=True)\nprint(y.sum())\ntorch.compile(lambda: 1)\n"
    path = tmp_path / "program.py"
    path.write_text(code, encoding="utf-8")
    report = Run(tmp_path / "reports", [str(path)], Shape(1), ledger=True).main
    assert [hazard["place"] for hazard in report.hazards] == [[str(path), 3]]
    assert report.ledger and [entry["kind"] for entry in report.ledger] == ["h2d", "sync", "d2h"]
    assert "torch.compile runs eagerly on a virtual GPU" in report.notes[0]


def test_damaged_reports_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "process-1.json").write_text('{"pid": 1', encoding="utf-8")
    assert read_reports(tmp_path) == []


def test_loader_workers(tmp_path: Path) -> None:
    run = Run(tmp_path, [str(_PROGRAMS / "loader_workers.py")], Shape(1))
    lines = run.out.splitlines()
    assert lines[:2] == ["fork 56.0 True", "spawn 56.0 True"], run.err
    assert lines[2].startswith("RuntimeError: Cannot re-initialize CUDA in forked subprocess.")
    assert lines[3] == "torch.AcceleratorError: CUDA error: initialization error"
    assert lines[4] == "spawned worker gives cuda:0"


def test_spawned_children_and_shared_tensors(tmp_path: Path) -> None:
    run = Run(tmp_path, [str(_PROGRAMS / "spawn_and_share.py")], Shape(2))
    assert run.out.splitlines() == ["('cuda:1', 3.0, 2)", "cuda:1", "[2.0, 2.0, 2.0] 0", "True"], run.err


def test_distributed_data_parallel(tmp_path: Path) -> None:
    (tmp_path / "meet").mkdir()
    run = Run(tmp_path / "reports", [str(_PROGRAMS / "ddp.py"), str(tmp_path / "meet"), "gloo", "nccl"], Shape(2))
    for backend in ("gloo", "nccl"):
        for rank in (0, 1):
            assert f"{rank} cuda:{rank} 24.0 cuda:{rank} 3.0" in run.out, run.err
        assert backend in run.out
    assert run.out.count("No backend type associated with device type cpu") == 2
    assert any("NCCL" in note for report in run.reports for note in report.notes)


@pytest.mark.parametrize(
    ("when", "value", "expected"),
    [
        ("first", "", "False No CUDA GPUs are available"),
        ("first", "-1", "False No CUDA GPUs are available"),
        ("first", "1", "True cuda:0"),
        ("first", "1,0", "True cuda:1"),
        ("first", "0,7", "True cuda:0"),
        ("after device", "", "False No CUDA GPUs are available"),
        ("after device_count", "", "False No CUDA GPUs are available"),
        ("after is_available", "", "True cuda:0"),
        ("after init", "0", "True cuda:1"),
    ],
)
def test_cuda_visible_devices(tmp_path: Path, when: str, value: str, expected: str) -> None:
    run = Run(tmp_path, [str(_PROGRAMS / "cuda_visible_devices.py"), when, value], Shape(2))
    assert run.out.strip() == expected, run.err


_AT_BARRIER = """
import torch, torch.distributed as dist
from torch.utils._python_dispatch import _get_current_dispatch_mode
seen = []
original = dist.distributed_c10d.ProcessGroup.barrier
dist.distributed_c10d.ProcessGroup.barrier = lambda *given, **named: seen.append(
    _get_current_dispatch_mode()
) or original(*given, **named)
dist.init_process_group("gloo", init_method="file://" + __file__ + ".meet", rank=0, world_size=1)
dist.barrier()
print(_get_current_dispatch_mode() is not None, seen)
dist.destroy_process_group()
"""


def test_nothing_of_the_machine_is_kept_by_who_waits_at_a_barrier(tmp_path: Path) -> None:
    """Gloo's thread would need the interpreter's lock to drop it, while the end of the process group holds that and waits for the thread."""
    run = run_code(tmp_path, _AT_BARRIER, fresh=True, GLOO_SOCKET_IFNAME="lo")
    assert run.out.splitlines() == ["True [None]"], run.err
