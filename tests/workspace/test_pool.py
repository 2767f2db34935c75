"""Work on many processes, some of which die."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from torchdevlint.workspace import pool


def square(number: int) -> int:
    """Dies of a signal for 7 and of an exit for 11."""
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 11:
        os._exit(3)
    return number * number


def died(number: int, how: str) -> str:
    return f"{number} {how}"


@pytest.mark.parametrize("processes", [1, 3])
def test_every_item_has_a_result(processes: int) -> None:
    results = list(pool.run(range(20), square, died, processes))
    expected = {n * n for n in range(20) if n not in (7, 11)} | {"7 was killed by SIGKILL", "11 ended with code 3"}
    assert len(results) == 20
    assert set(results) == expected


def test_stopping_early_ends_the_workers() -> None:
    results = pool.run(range(50), square, died, 2)
    next(results)
    results.close()
    assert not multiprocessing.active_children()


# ---------------------------------------------------------------------------------------------------- the parent's death

PARENT = """
import os, re, sys, time
from torchdevlint.workspace import pool

def work(item):
    print(os.getpid(), flush=True)
    if item == "sleeps":
        time.sleep(600)
    re.match("(a+)+b", "a" * 60)  # keeps the GIL

if __name__ == "__main__":
    list(pool.run(sys.argv[1:], work, lambda item, how: how, 2))
"""


@pytest.mark.skipif(os.name == "nt", reason="kills with signals")
@pytest.mark.parametrize("item", ["sleeps", "keeps the GIL"])
@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_no_worker_outlives_its_parent(tmp_path: Path, item: str, how: str, start: str) -> None:
    if item != "sleeps" and sys.platform != "linux":
        pytest.skip("SIGIO was seen to work on Linux alone")
    script = tmp_path / "parent.py"
    chosen = PARENT.replace("import pool\n", f'import pool\npool._start_method = lambda: "{start}"\n')
    script.write_text(chosen, encoding="utf-8")
    command = [sys.executable, str(script), item, item]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            assert len({process.stdout.readline() for _ in range(2)}) == 2
            process.send_signal(getattr(signal, how))
            # The pipe ends when nobody holds its other end: a worker that lived on would keep it open.
            assert process.communicate(timeout=60) == ("", None)
            assert process.returncode == -getattr(signal, how)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
