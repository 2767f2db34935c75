"""`check --watch`, as somebody in a terminal uses it."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from torchdevlint.settings import Resolver
from torchdevlint.workspace.watch import Watch

FAULTY = "import torch\nmodel.load_state_dict(torch.load('model.pt'))\n"
CLEAN = "import torch\n"


# ---------------------------------------------------------------------------------------------------- looking


def touched(path: Path, text: str) -> None:
    """Writes a text, with another time than before whatever the clock of the file system can tell apart."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text, encoding="utf-8")
    if path.stat().st_mtime_ns == before:
        os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_look_tells_what_changed(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").touch()
    for name, text in (("a", CLEAN), ("b", "import a\n"), ("c", CLEAN)):
        touched(tmp_path / f"{name}.py", text)
    watch = Watch([str(tmp_path)], Resolver)

    def look() -> tuple[list[str], bool]:
        seen = watch.look()
        return sorted(Path(path).stem for path in seen.changed), seen.is_news

    assert look() == (["a", "b", "c"], True)
    assert look() == ([], False)
    touched(tmp_path / "c.py", FAULTY)
    assert look() == (["c"], True)
    touched(tmp_path / "a.py", FAULTY)
    assert look() == (["a", "b"], True)  # b imports it
    (tmp_path / "a.py").unlink()
    assert look() == (["b"], True)
    touched(tmp_path / "pyproject.toml", '[tool.torchdevlint]\nignore = ["TDL1"]\n')
    assert look() == (["b", "c"], True)
    touched(tmp_path / "pyproject.toml", "[tool.torchdevlint\n")
    seen = watch.look()
    assert (seen.files, seen.is_news, len(seen.problems)) == ((), True, 1)
    assert look() == ([], False)


# ---------------------------------------------------------------------------------------------------- a terminal


class Running:
    """A watching process whose output is collected while it runs."""

    def __init__(self, folder: Path, *options: str, terminal: bool = False) -> None:
        self.text = ""
        self._came: queue.Queue[str] = queue.Queue()
        if terminal:
            ours, theirs = os.openpty()
            self._read: Callable[[], bytes] = lambda: os.read(ours, 4096)
        else:
            theirs = subprocess.PIPE
        command = [
            sys.executable,
            "-u",
            "-m",
            "torchdevlint",
            "check",
            "--watch",
            "--output-format",
            "concise",
            *options,
        ]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=theirs,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # A suite that a shell runs in the background ignores SIGINT, and so would its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        if terminal:
            os.close(theirs)
        else:
            assert self.process.stdout is not None
            number = self.process.stdout.fileno()
            self._read = lambda: os.read(number, 4096)
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self) -> None:
        try:
            while data := self._read():
                self._came.put(data.decode())
        except OSError:
            pass

    def until(self, word: str) -> str:
        """What came until a word did; the rest is for later."""
        while word not in self.text:
            self.text += self._came.get(timeout=120)
        before, found, self.text = self.text.partition(word)
        return before + found

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C; the exit code and what was said on standard error."""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors.decode()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start(*options: str, terminal: bool = False) -> Running:
        started.append(Running(tmp_path, *options, terminal=terminal))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_change_is_reported_and_ctrl_c_is_quiet(tmp_path: Path, running: Callable[..., Running]) -> None:
    touched(tmp_path / "a.py", FAULTY)
    touched(tmp_path / "b.py", FAULTY)
    watch = running()
    assert "a.py:2:" in watch.until("Found 2 ")
    touched(tmp_path / "a.py", CLEAN)
    assert "a.py" not in watch.until("Found 1 ")
    touched(tmp_path / "c.py", FAULTY)
    assert "c.py:2:" in watch.until("Found 2 ")  # b.py still among them
    (tmp_path / "b.py").unlink()
    again = watch.until("Found 1 ")
    assert "\x1b" not in again
    code, errors = watch.interrupt()
    assert code == 130
    assert "interrupted" not in errors
    assert "Traceback" not in errors
    assert errors.splitlines()[0] == "torchdevlint: watching 2 files; end with Ctrl-C"


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals")
def test_a_terminal_is_cleared(tmp_path: Path, running: Callable[..., Running]) -> None:
    touched(tmp_path / "a.py", FAULTY)
    watch = running("--statistics", terminal=True)
    assert watch.until("TDL101").startswith("\x1b[2J")
    assert watch.interrupt()[0] == 130


def test_what_it_does_not_go_with() -> None:
    command = [sys.executable, "-m", "torchdevlint", "check", "--watch", "--fix"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--watch goes without" in done.stderr
