"""Killed, without room, without permission, twice at once, and with somebody who edits: `check --fix` loses nothing.

The kills are a few of those that `python benchmarks/kills.py` makes by the hundred.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import kills
import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and permissions of Unix")


@pytest.mark.parametrize("number", kills.SIGNALS, ids=lambda number: number.name)
def test_killed_while_it_writes(tmp_path: Path, number: int) -> None:
    texts = kills.fill(tmp_path, 8, rows=1000)
    each = kills.Round(number, group=False, when=0.0, writing=True)
    _, troubles = kills.play(tmp_path, texts, each, 0.0, jobs=2)
    assert not troubles


def test_two_runs_at_once(tmp_path: Path) -> None:
    texts = kills.fill(tmp_path, 8, rows=1000)
    runs = [kills.start(tmp_path, jobs) for jobs in (1, 1, 2)]
    ends = [(*run.communicate(timeout=120), run.returncode) for run in runs]
    assert [end[2] for end in ends] == [0, 0, 0], ends
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == {
        path: kills.repaired(text) for path, text in texts.items()
    }


def test_a_disk_without_room(tmp_path: Path) -> None:
    texts = kills.fill(tmp_path, 2)
    most = max(map(len, texts.values()))
    script = (
        "import resource, sys; from torchdevlint.cli import main;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}));"
        "sys.exit(main(['check', '--fix', '--isolated', '--no-project', '--select', 'TDL101', '.']))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2, done
    assert done.stderr.count("not written: File too large") == 2
    assert done.stdout.count("TDL101") == 2
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == texts


def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    texts = kills.fill(tmp_path, 2)
    tmp_path.chmod(0o555)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("root writes everywhere")
        run = kills.start(tmp_path, 1)
        _, said = run.communicate(timeout=120)
        assert run.returncode == 2
        assert said.count(b"not written: its folder is read-only") == 2
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == texts
    finally:
        tmp_path.chmod(0o755)


def test_files_that_are_edited_meanwhile(tmp_path: Path) -> None:
    texts = kills.fill(tmp_path, 8, rows=1000)
    edit = b"# my edit\n"
    run = kills.start(tmp_path, 2)
    ended = threading.Event()

    def edit_the_next() -> None:
        """Adds a line to the file that comes next, each time one has been written."""
        while not ended.is_set():
            written = [path for path, text in texts.items() if path.stat().st_size != len(text)]
            left = sorted(texts.keys() - set(written), reverse=True)
            if written and left:
                with left[0].open("ab") as file:
                    file.write(edit)
                edited.append(left[0])
                return
            ended.wait(0.001)

    edited: list[Path] = []
    editor = threading.Thread(target=edit_the_next)
    editor.start()
    _, said = run.communicate(timeout=120)
    ended.set()
    editor.join()
    assert run.returncode == (2 if b"changed meanwhile, not written" in said else 0), said
    for path, text in texts.items():
        tail = edit if path in edited else b""
        assert path.read_bytes() in (kills.repaired(text) + tail, text + tail)
