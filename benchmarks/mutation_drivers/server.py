"""Runs a driver's parts on untouched and on mutated files, each in a forked child of one process that has imported torch.

usage: server.py DRIVER PROJECT_FOLDER JOBS.jsonl RESULTS.jsonl TIMEOUT

A job is `{"trace": part}`, which tells the lines that a part reaches, or `{"id": n, "path": file, "text": mutated text, "parts": {name: result}}`, which tells
whether a part fails, sees a hazard or gives another result. Jobs come on standard input, one line each, and results go to RESULTS.jsonl.
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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness

_PAUSE = 0.005


def main() -> None:
    """Run all jobs, one after the other."""
    driver, project, results, timeout = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])
    sys.dont_write_bytecode = True
    import torch

    torch.set_num_threads(1)  # a forked child cannot use its parent's pool of threads
    harness.install()
    module = harness.load_driver(driver)
    sys.path[:0] = [str((project / path).resolve()) for path in module.PATHS]
    for name in module.PRELOAD:
        importlib.import_module(name)
    with results.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"parts": list(harness.PARTS)}) + "\n")
        out.flush()
        for line in sys.stdin:
            job = json.loads(line)
            out.write(json.dumps(_in_child(job, project, timeout)) + "\n")
            out.flush()


def _in_child(job: dict[str, Any], project: Path, timeout: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="torchdevlint-mutation-") as folder:
        result = Path(folder) / "result.json"
        pid = os.fork()
        if pid == 0:
            try:
                os.setpgid(0, 0)
                work = Path(folder) / "work"
                work.mkdir()
                os.chdir(work)
                _silence(Path(folder) / "output.txt")
                told = _trace(job["trace"], project) if "trace" in job else _try(job)
                result.write_text(json.dumps(told), encoding="utf-8")
            finally:
                os._exit(0)
        status = _wait(pid, timeout)
        if result.exists():
            told = json.loads(result.read_text(encoding="utf-8"))
        elif status is None:
            told = {"verdict": "unknown", "why": f"it did not end within {timeout:g} s"}
        else:
            told = {"verdict": "confirmed", "why": f"the process was killed (status {status})"}
        return {"id": job.get("id"), **told}


def _silence(path: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)


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


def _trace(part: str, project: Path) -> dict[str, Any]:
    """Whether a part passes on the untouched files, what it gives, and the lines of the project that it reaches."""
    root = str(project.resolve())
    lines: dict[str, set[int]] = {}

    def local(frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            lines[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def trace(frame: Any, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(root):
            return None
        lines.setdefault(name, set()).add(frame.f_lineno)
        return local

    sys.settrace(trace)
    try:
        told = _run(part)
    finally:
        sys.settrace(None)
    return {**told, "lines": {name: sorted(rows) for name, rows in lines.items()}}


def _try(job: dict[str, Any]) -> dict[str, Any]:
    """The verdict on a mutation: what the first part shows that differs."""
    harness.mutate(job["path"], job["text"])
    for part, (hazards, result) in job["parts"].items():
        told = _run(part)
        if told["error"] is not None:
            return {"verdict": "confirmed", "why": told["error"], "part": part}
        if told["hazards"] > hazards:
            return {"verdict": "confirmed", "why": "a hazard", "part": part}
        if told["result"] != result:
            return {"verdict": "confirmed", "why": f"{result} became {told['result']}"[:200], "part": part}
    return {"verdict": "passes", "why": ""}


def _run(part: str) -> dict[str, Any]:
    from torchdevlint.machine import current

    harness.seed()
    error = result = None
    try:
        result = json.loads(json.dumps(harness.PARTS[part]()))
    except BaseException as failure:
        last = traceback.extract_tb(failure.__traceback__)[-1]
        error = f"{type(failure).__name__}: {failure}"[:300] + f" ({Path(last.filename).name}:{last.lineno})"
        if os.environ.get("MUTATION_TRACEBACK"):
            error += "\n" + traceback.format_exc()
    machine = current()
    hazards = 0 if machine is None else len({str(hazard.message) for hazard in machine.hazards})
    return {"error": error, "hazards": hazards, "result": result}


if __name__ == "__main__":
    main()
