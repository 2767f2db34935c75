"""Runs proofs in forked children of one process that has imported torch, so that each starts clean and none waits for an import.

usage: proof_server.py JOBS.json RESULTS.jsonl TIMEOUT

A job is `[module, function]`; its result is one line of JSON. CUDA is not touched before the fork.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchdevlint.machine.ledger import EntryKind

_PAUSE = 0.002
_LATE = ("torch._dynamo",)
"""What torch imports when it is first needed (by every optimizer) and takes longer than all else that a proof does."""


def main() -> None:
    """Run all jobs, one after the other."""
    here = Path(__file__).resolve()
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here.parent]
    sys.path.append(str(here.parents[2]))  # a checkout that is not installed
    jobs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    results, timeout = Path(sys.argv[2]), float(sys.argv[3])
    import torch

    torch.set_num_threads(1)  # a forked child cannot use its parent's pool of threads
    with results.open("a", encoding="utf-8") as out:
        for module, function in jobs:
            result = _in_child(module, function, timeout)
            for name in result.pop("late", ()):  # so that no other child has to import it
                importlib.import_module(name)
            out.write(json.dumps(result | {"module": module, "function": function}) + "\n")
            out.flush()


def _in_child(module: str, function: str, timeout: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="torchdevlint-proof-") as folder:
        pid = os.fork()
        if pid == 0:
            try:
                os.setpgid(0, 0)
                os.chdir(folder)
                _work(module, function, Path(folder) / "result.json")
            finally:
                os._exit(0)
        status = _wait(pid, timeout)
        result = Path(folder) / "result.json"
        if status is None:
            return {"error": f"it did not end within {timeout:g} s"}
        if not result.exists():
            return {
                "error": f"the process was killed by signal {os.WTERMSIG(status)}"
                if os.WIFSIGNALED(status)
                else "no result"
            }
        data: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        return data


def _wait(pid: int, timeout: float) -> int | None:
    """The status of a child, None when its time was up; what it left behind is killed."""
    end = time.monotonic() + timeout
    status = None
    while status is None and time.monotonic() < end:
        done, code = os.waitpid(pid, os.WNOHANG)
        if done:
            status = code
        else:
            time.sleep(_PAUSE)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    if status is None:
        os.waitpid(pid, 0)
    return status


def _work(module: str, function: str, result: Path) -> None:
    """Run one side of a proof and write down what it showed."""
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    seen: dict[str, Any] = {"error": None, "shown": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            seen["shown"] = getattr(importlib.import_module(module), function)()
        except BaseException as error:
            seen["error"] = f"{type(error).__name__}: {error}"
            seen["traceback"] = traceback.format_exc()
    announced = (FutureWarning, DeprecationWarning)  # others are about this machine, not about the code
    seen["warnings"] = [f"{w.category.__name__}: {w.message}" for w in caught if issubclass(w.category, announced)]
    seen["late"] = [name for name in _LATE if name in sys.modules]
    seen.update(_machine())
    result.write_text(json.dumps(seen), encoding="utf-8")


def _machine() -> dict[str, Any]:
    """What the virtual machine of this process saw; nothing on a real one."""
    from torchdevlint.machine import current

    machine = current()
    if machine is None:
        return {"hazards": [], "ledger": None}
    kinds: tuple[EntryKind, ...] = ("h2d", "d2h", "d2d", "sync")
    ledger = None if machine.ledger is None else {kind: machine.ledger.count(kind) for kind in kinds}
    return {"hazards": [hazard.message for hazard in machine.hazards], "ledger": ledger}


if __name__ == "__main__":
    main()
