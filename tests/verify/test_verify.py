"""`torchdevlint verify` on whole programs: verdicts, exit codes, and nothing left behind."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import warm

from torchdevlint import cli
from torchdevlint.verify.program import program_in, project_files

_MODEL = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        noise = torch.zeros(x.shape[0], 4)
        return self.linear(x) + noise
"""
_TRAIN = """
import torch
from torch import nn

from model import Net

torch.manual_seed(0)
model = Net().to("cuda")
scale = nn.Parameter(torch.ones(1)).to("cuda")
x = torch.randn(2, 4)
x.to("cuda")
y = model(x)
print(y.detach().cpu().numpy().shape)
torch.save(model.state_dict(), "m.pt")
if torch.cuda.device_count() > 7:
    model.load_state_dict(torch.load("trained.pt"))
"""
_SELECT = "TDL504,TDL601,TDL501,TDL101"
_FINDING = "def never():\n    import torch\n    model.load_state_dict(torch.load('x.pt'))\n\n"


def _verify(
    folder: Path, *arguments: str, script: str | None = None, fresh: bool = True
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """The run and its report; checks that no process and no temporary folder is left. Else than `fresh`: no process of it imports torch."""
    temporary = folder.parent / f"{folder.name}-tmp"
    temporary.mkdir()
    if script is not None:
        (folder / "program.py").write_text(script)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    # Options that this test run got (xdist) are not meant for the runs inside.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment["TMPDIR"] = str(temporary)
    command = [sys.executable, "-m", "torchdevlint", "verify", "--json", "--device", "virtual", *arguments]
    if fresh:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280, env=environment)
    else:
        done = warm.run(command, cwd=folder, timeout=280, env=environment)
        assert not warm.running(), "a process is left"
    assert not list(temporary.iterdir()), "a temporary tree is left"
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before, "the folder has changed"
    assert not _still_running(temporary), "a process is left"
    return done, json.loads(done.stdout)


def _still_running(temporary: Path) -> list[str]:
    wanted = f"TMPDIR={temporary}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in entry.read_bytes().split(b"\0"):
                found.append(entry.parent.name)
        except OSError:
            continue
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def test_each_finding_of_a_program_gets_its_verdict(folder: Path) -> None:
    (folder / "model.py").write_text(_MODEL)
    (folder / "train.py").write_text(_TRAIN)
    done, report = _verify(folder, "--select", _SELECT, "train.py", fresh=False)
    assert done.returncode == report["exit_code"] == 0, done.stderr
    verdicts = {(Path(f["filename"]).name, f["code"]): f for f in report["findings"]}
    assert {key: f["verdict"] for key, f in verdicts.items()} == {
        ("model.py", "TDL504"): "confirmed",
        ("train.py", "TDL501"): "confirmed",
        ("train.py", "TDL504"): "repaired with another",
        ("train.py", "TDL601"): "silent fault confirmed",
        ("train.py", "TDL101"): "not reached",
    }
    assert "all tensors to be on the same device" in verdicts["model.py", "TDL504"]["before"]
    assert verdicts["train.py", "TDL601"]["before"] == "Tensor on cuda:0"
    assert verdicts["train.py", "TDL601"]["after"] == "Parameter on cuda:0"
    assert report["machine"]["kind"] == "virtual" and report["machine"]["gpus"] == 1
    assert report["repaired"] == "exit code 0"
    assert "without a sandbox" in done.stderr and "a temporary copy" in done.stderr


def test_a_fault_of_another_machine_is_not_on_this_one_and_the_matrix_shows_where(folder: Path) -> None:
    script = "import torch\nx = torch.ones(2).cuda()\nif torch.cuda.is_available:\n    print(x.sum().item())\n"
    done, report = _verify(folder, "--matrix", "--select", "TDL802", "program.py", script=script, fresh=False)
    (finding,) = report["findings"]
    assert finding["verdict"] == "not on this machine" and "CPU-only build" in finding["reason"]
    assert done.returncode == 3
    assert [row["before"].split(":")[0] for row in report["matrix"]] == [
        "AssertionError",
        "RuntimeError",
        "works",
        "works",
    ]


def test_spawned_workers_and_subprocesses_run_the_repaired_text(folder: Path) -> None:
    (folder / "worker.py").write_text("import torch\nprint(torch.ones(2).cuda().numpy().sum())\n")
    (folder / "program.py").write_text(
        "import subprocess, sys, inspect\nimport worker_module\n"
        "if __name__ == '__main__':\n"
        "    import multiprocessing as mp\n"
        "    process = mp.get_context('spawn').Process(target=worker_module.work)\n"
        "    process.start()\n    process.join()\n"
        "    print(worker_module.__file__.endswith('worker_module.py'), 'cpu()' in inspect.getsource(worker_module.work))\n"
        "    sys.exit(process.exitcode)\n"
    )
    (folder / "worker_module.py").write_text(
        "import torch\n\ndef work():\n    x = torch.ones(2).cuda()\n    print(x.numpy().sum())\n"
    )
    _, report = _verify(folder, "--select", "TDL509", "program.py", fresh=False)
    (finding,) = report["findings"]
    assert finding["verdict"] == "confirmed", finding
    assert report["baseline"].startswith("TypeError: can't convert cuda:0") or report["baseline"] == "exit code 1"
    assert report["repaired"] == "exit code 0"


@pytest.mark.parametrize(
    ("script", "trouble"),
    [
        ("while True:\n    pass\n", "did not end within"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "killed by SIGKILL"),
        ("import random, sys\nsys.exit(random.SystemRandom().randrange(10 ** 6))\n", "end differently"),
    ],
    ids=["loops", "kills-itself", "ends-by-chance"],
)
def test_programs_that_cannot_be_judged_are_said_to_be(folder: Path, script: str, trouble: str) -> None:
    done, report = _verify(folder, "--timeout", "4", "program.py", script=_FINDING + script)
    assert done.returncode == report["exit_code"] == 2
    assert trouble in report["trouble"]
    if "while" in script:
        assert "it was at program.py:" in report["trouble"]


@pytest.mark.parametrize(
    "script",
    [
        "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 99)\n",
        "import sys\nprint(repr(sys.stdin.read()))\n",
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n",
        "import os\nos.chdir('/')\nprint(os.getcwd())\n",
        "import os\nprint('last', flush=True)\nos._exit(0)\n",
        "raise FileNotFoundError('no data here')\n",
    ],
    ids=["binary", "stdin", "forks", "chdir", "os-exit", "fails-by-itself"],
)
def test_odd_programs_are_judged(folder: Path, script: str) -> None:
    done, report = _verify(folder, "program.py", script=_FINDING + script)
    assert done.returncode == report["exit_code"] == 3, done.stderr
    (finding,) = report["findings"]
    assert finding["verdict"] == "not reached"
    if "fork" in script:
        assert "left 1 processes running" in report["notes"][0]
    if "raise" in script:
        assert "FileNotFoundError: no data here" in finding["reason"]


@pytest.mark.parametrize(("name", "sentence"), [("gone.py", "no such file"), ("book.ipynb", "is a notebook")])
def test_what_cannot_be_started_is_refused(folder: Path, name: str, sentence: str) -> None:
    (folder / "book.ipynb").write_text("{}")
    done, report = _verify(folder, name)
    assert done.returncode == 2 and sentence in done.stderr and sentence in report["trouble"]


@pytest.mark.parametrize("kind", ["pipe", "large", "socket", "loop"])
def test_a_script_that_cannot_be_read_is_refused(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = folder / "strange.py"
    if kind == "pipe":
        os.mkfifo(script)
    elif kind == "large":
        with script.open("wb") as file:
            file.truncate(11_000_000)
    elif kind == "socket":
        monkeypatch.chdir(folder)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(script.name)
    else:
        script.symlink_to(script.name)
    said = {"large": "larger than 10,000 kB", "loop": "no such file"}.get(kind, "no regular file")
    for words in (
        ["verify", str(script)],
        ["check", "--fix", "--verify", str(script)],
        ["verify", "--observe", str(script)],
    ):
        assert cli.main(words) == 2
        told = capsys.readouterr().err
        assert said in told and told.count("\n") == 1


def test_imports_are_read_from_regular_files_that_can_be_parsed(folder: Path) -> None:
    (folder / "program.py").write_text("import deep, strange\n")
    (folder / "deep.py").write_text("import other\nx = " + "(" * 3000 + "1" + ")" * 3000 + "\n")
    (folder / "strange.py").symlink_to("/dev/zero")
    found = project_files(program_in(["program.py"], False, folder))
    assert [path.name for path in found] == ["deep.py", "program.py"]


def test_in_place_leaves_the_files_as_they_are(folder: Path) -> None:
    script = _FINDING + "import os\nprint(os.getcwd())\n"
    done, report = _verify(folder, "--in-place", "program.py", script=script)
    assert report["findings"][0]["verdict"] == "not reached"
    assert f"in {folder}" in done.stderr


def test_a_test_suite_is_verified_in_its_tests_and_in_what_they_import(folder: Path) -> None:
    (folder / "model.py").write_text(_MODEL)
    (folder / "test_net.py").write_text(
        "import torch\nfrom model import Net\n\n"
        "def test_forward():\n    assert Net().cuda()(torch.ones(2, 4).cuda()).shape == (2, 4)\n\n"
        "def test_values():\n    x = torch.ones(2).cuda()\n    assert x.numpy().sum() == 2\n"
    )
    _, report = _verify(folder, "--select", "TDL504,TDL509", "--pytest", "-q", fresh=False)
    assert {finding["code"]: finding["verdict"] for finding in report["findings"]} == {
        "TDL504": "confirmed",
        "TDL509": "confirmed",
    }
    assert (report["baseline"], report["repaired"]) == ("exit code 1", "exit code 0")


def test_check_keeps_only_the_fixes_that_verify(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\nx = torch.ones(2).cuda()\nif torch.cuda.device_count() > 5:\n    x.cuda().numpy()\nprint(x.numpy().sum())\n"
    )
    command = [sys.executable, "-m", "torchdevlint", "check", "--fix", "--select", "TDL509", "--verify", "train.py"]
    done = warm.run(command, cwd=tmp_path, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "confirmed" in done.stdout and "not reached" in done.stdout
    lines = script.read_text().splitlines()
    assert lines[3:] == ["    x.cuda().numpy()", "print(x.cpu().numpy().sum())"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.py"]
