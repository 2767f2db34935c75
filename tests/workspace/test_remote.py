"""Executors: the results of the local processes, whoever does the work."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import torchdevlint
from torchdevlint.api import CheckError
from torchdevlint.program.project import Project
from torchdevlint.settings import Resolver
from torchdevlint.workspace import remote, runner

FIXTURES = Path(__file__).parents[2] / "fixtures"
FAULTY = "import torch\nmodel.load_state_dict(torch.load('model.pt'))\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two projects, one with settings, a file that does not parse and one that cannot be read; the current folder is theirs."""
    for name in ("one", "two"):
        for number in range(4):
            path = tmp_path / name / "src" / f"m{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(FAULTY + f"x = {number}\n", encoding="utf-8")
    (tmp_path / "one" / "pyproject.toml").write_text('[tool.torchdevlint]\nselect = ["TDL5"]\n', encoding="utf-8")
    (tmp_path / "two" / "broken.py").write_text(FAULTY + "def f(:\n", encoding="utf-8")
    (tmp_path / "two" / "coding.py").write_bytes(b"# coding: no-such\n" + FAULTY.encode())
    (tmp_path / "plain.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(paths: list[str], executor: Executor | None, **options: Any) -> tuple[list[Any], list[str]]:
    run = runner.check(paths, Resolver(), executor=executor, **options)
    return [(o.filename, o.findings, o.fixed, o.problems, o.notes) for o in run.outcomes], run.problems


@pytest.mark.parametrize("paths", [["."], ["two", "one/src/m0.py", "plain.py"]])
def test_the_findings_are_those_of_the_local_processes(tree: Path, paths: list[str]) -> None:
    here = ran(paths, None)
    assert here[0]
    with ThreadPoolExecutor(2) as threads:
        assert ran(paths, threads) == here
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        processes.submit(os.chdir, "/").result()  # where a worker stands does not matter
        assert ran(paths, processes) == here


def test_repairs_are_written_here(tree: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        ran(["two"], executor, repair="SAFE", write=True)
    assert 'map_location="cpu"' in (tree / "two" / "src" / "m3.py").read_text(encoding="utf-8")


def test_progress_counts_files(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_MOST_FILES", 3)
    seen: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as executor, contextlib.suppress(CheckError):
        torchdevlint.check_paths(["."], executor=executor, progress=lambda done, total: seen.append((done, total)))
    assert [total for _, total in seen] == [11] * 4
    assert seen[-1] == (11, 11)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


class Broken(Executor):
    """An executor whose second batch is lost."""

    def __init__(self) -> None:
        self.batches = 0

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.batches += 1
        if self.batches == 2:
            future.set_exception(RuntimeError("the machine\nis gone"))
        else:
            future.set_result(function(*arguments, **options))
        return future


def test_what_is_lost_is_told_and_the_rest_is_there(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_MOST_FILES", 4)
    monkeypatch.setattr(remote, "_MOST_WAITING", 1)
    with pytest.raises(CheckError) as caught:
        torchdevlint.check_paths(["."], executor=Broken())
    lost = [text for text in caught.value.problems if "the machine is gone" in text]
    assert len(lost) == 4
    assert lost[0].partition(": ")[2] == "not checked: the executor failed: RuntimeError: the machine is gone"
    assert len(caught.value.findings) > 2


def test_a_worker_forgets_projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        folder = tmp_path / f"repository{number}"
        folder.mkdir()
        (folder / "LICENSE").touch()
        for name in ("train.py", "a.py", "b.py"):
            (folder / name).write_text(FAULTY, encoding="utf-8")
    monkeypatch.setattr(remote, "_MOST_FILES", 3)
    with ThreadPoolExecutor(1) as executor:
        torchdevlint.check_paths([tmp_path], executor=executor)
    gc.collect()
    alive = {found.root for found in gc.get_objects() if type(found) is Project}
    assert 0 < len([root for root in alive if root.startswith(str(tmp_path))]) < 12


# ---------------------------------------------------------------------------------------------------- dask


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Any]:
    """A scheduler and two workers, each a process of its own."""
    distributed = pytest.importorskip("distributed")
    place = tmp_path / "scheduler.json"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    dask = [sys.executable, "-m"]
    address = ["--scheduler-file", str(place)]
    commands = [
        [*dask, "distributed.cli.dask_scheduler", *address, "--port", "0", "--no-dashboard", "--host", "127.0.0.1"],
        *(
            [*dask, "distributed.cli.dask_worker", *address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
            for _ in range(2)
        ),
    ]
    processes = [subprocess.Popen(command, **quiet) for command in commands]
    try:
        with distributed.Client(scheduler_file=str(place), timeout=120) as client:
            client.wait_for_workers(2, timeout=120)
            yield client
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_dask_with_processes_of_its_own(cluster: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(remote, "_MOST_FILES", 10)
    seen: list[int] = []
    (tmp_path / ".git").mkdir()  # each worker reads the project
    paths = [shutil.copytree(FIXTURES / name, tmp_path / name) for name in ("loading", "demo")]
    here = torchdevlint.check_paths(paths)
    there = torchdevlint.check_paths(
        paths, executor=cluster.get_executor(), progress=lambda done, total: seen.append(total - done)
    )
    assert there == here
    assert len(here) > 20
    assert seen[-1] == 0
    assert len(seen) > 2
    assert os.getpid() not in cluster.run(os.getpid).values()


def test_an_executor_that_lives_on_reads_what_has_changed_since(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    broken = "    model = torch.nn.Linear(3, 3).cuda()\n    print(model(torch.zeros(3)))\n"
    text = f"import torch\n\ndef new():\n    return 1\n\ndef old():\n{broken}"
    (tmp_path / "helpers.py").write_text(text, encoding="utf-8")
    (tmp_path / "more.py").write_text("import helpers\n", encoding="utf-8")
    told = []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        for asked in ("old", "new", "old"):
            program = f"import helpers\n\nif __name__ == '__main__':\n    print(helpers.{asked}())\n"
            (tmp_path / "run.py").write_text(program, encoding="utf-8")
            (found,) = torchdevlint.check_paths([tmp_path], isolated=True, select=["TDL401"], executor=executor)
            told.append(found.severity.name)
    assert told == ["ERROR", "INFO", "ERROR"]
