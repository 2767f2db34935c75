"""A child process that answers jobs, one JSON line each, on its standard input and output.

usage (by `judges.py` alone): python child.py machine[:GPUS]|cpu|linter

* machine: runs programs on a virtual machine with two GPUs (or GPUS), which starts once; cpu: on PyTorch as it is;
* linter: asks the command line of the torchdevlint that is first on the path, in this process.

Programs share the process, so everything that they may change is put back. A program that ends the process ends only this child.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

GPUS = 2
LIMIT = 5.0
"""CPU seconds for one program: a busy machine changes no verdict."""
WALL_LIMIT = 60.0
"""Seconds after which a child that hangs ends itself."""

Job = dict[str, Any]
Answer = dict[str, Any]


class _Late(BaseException):
    pass


def _ring(*_: object) -> None:
    raise _Late


@contextlib.contextmanager
def folder_of(files: dict[str, str]) -> Iterator[Path]:
    """The files in a folder of their own; a `.git` says that their project ends there."""
    root = Path(tempfile.mkdtemp(prefix="program-")).resolve()
    try:
        (root / ".git").mkdir()
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


class Runner:
    """Runs programs in this process. A job holds `files` and `entry`, and may ask for a `trace` of the lines that ran."""

    def __init__(self, gpus: int | None) -> None:
        import numpy
        import torch

        self.torch, self.numpy, self.machine = torch, numpy, None
        torch.set_num_threads(1)
        if gpus is not None:
            from torchdevlint.machine import Shape, start

            self.machine = start(Shape(gpus=gpus))
        sys.dont_write_bytecode = True
        signal.signal(signal.SIGPROF, _ring)

    def __call__(self, job: Job) -> Answer:
        with folder_of(job["files"]) as root:
            return self._run(root, job["entry"], job.get("trace", False))

    def _run(self, root: Path, entry: str, trace: bool) -> Answer:
        file = str(root / entry)
        try:
            code = compile((root / entry).read_text(encoding="utf-8"), file, "exec")
        except SyntaxError as error:
            return {"kind": "other", "text": f"SyntaxError: {error}"}
        self._put_back()
        module = types.ModuleType("__main__")
        module.__file__ = file
        printed = io.StringIO()
        ran: set[tuple[str, int]] = set()
        answer: Answer = {"kind": "ok"}
        known, saved, path = set(sys.modules), sys.modules["__main__"], list(sys.path)
        sys.modules["__main__"] = module
        sys.path.insert(0, str(root))
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        faulthandler.dump_traceback_later(WALL_LIMIT, exit=True)  # what hangs in C++ hears no signal
        try:
            if trace:
                sys.settrace(_tracer(str(root), ran))
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                exec(code, module.__dict__)
        except _Late:
            answer = {"kind": "late"}
        except BaseException as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.settrace(None)
            answer = _judged(error, root, self._places(error))
        finally:
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.modules["__main__"] = saved
            sys.path[:] = path
            for name in set(sys.modules) - known:
                if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(root)):
                    del sys.modules[name]
            for name in [name for name in sys.path_importer_cache if name.startswith(str(root))]:
                del sys.path_importer_cache[name]
            self._end_group()
            faulthandler.cancel_dump_traceback_later()
        if self.machine is not None:
            answer["unjudged"] = sorted(self.machine.unjudged)
        answer["printed"] = printed.getvalue()
        answer["ran"] = sorted([Path(name).relative_to(root).as_posix(), line] for name, line in ran)
        return answer

    def _places(self, error: BaseException) -> Any:
        """The story of a device error; DataParallel raises a new error with the text of a replica's."""
        faults = self.machine.faults if self.machine is not None else []
        again = next((fault.places for fault in reversed(faults) if fault.message in str(error)), None)
        return getattr(error, "torchdevlint_places", again)

    def _put_back(self) -> None:
        torch = self.torch
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        torch.manual_seed(0)
        random.seed(0)
        self.numpy.random.seed(0)
        if self.machine is not None:
            torch.cuda.set_device(0)
            self.machine.forget()

    def _end_group(self) -> None:
        import torch.distributed as dist

        self.torch.set_default_device(None)
        if dist.is_available() and dist.is_initialized():
            with contextlib.suppress(Exception):
                dist.destroy_process_group()


def _tracer(root: str, ran: set[tuple[str, int]]) -> Callable[..., Any]:
    def follow(frame: types.FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(root):
            return None
        ran.add((name, frame.f_lineno))
        return follow

    return follow


def _judged(error: BaseException, root: Path, places: Any) -> Answer:
    """A device error with its story (made, moved, met) and the lines of the stack; any other error is `other`."""

    def own(name: str, line: int) -> list[Any] | None:
        path = Path(name)
        return [path.relative_to(root).as_posix(), line] if path.is_relative_to(root) else None

    stack = [own(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    lines = (str(error).splitlines() or [""])[0]
    answer: Answer = {
        "kind": "other",
        "text": f"{type(error).__name__}: {lines}",
        "calls": [place for place in stack if place],
    }
    if places is not None:
        told = [places.met, *(place for tensor in places.tensors for place in (tensor.created, tensor.moved))]
        story = [own(place.file, place.line) for place in told if place is not None]
        answer |= {"kind": "fault", "story": [place for place in story if place], "told": places.describe()}
    return answer


_WARM = """import torch

device = torch.device("cuda")
x = torch.ones(3).to(device)
print(x + torch.zeros(3))
"""


class Linter:
    """Asks the linter by its command line, whose form is a contract. `fix` is "", "safe" or "unsafe"."""

    def __init__(self) -> None:
        import torchdevlint
        from torchdevlint.cli import main

        self.main = main
        torchdevlint.fix_source(
            _WARM, unsafe=True
        )  # what a look needs is loaded here once, and not in each worker that is forked

    def __call__(self, job: Job) -> Answer:
        with folder_of(job["files"]) as root:
            level = "info" if not job.get("fix") else "warning"
            arguments = ["check", "--isolated", "--no-cache", "--exit-zero", "-j", "1", "--level", level]
            if job.get("fix"):
                arguments += ["--fix"] + (["--unsafe-fixes"] if job["fix"] == "unsafe" else [])
            output, errors = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
                try:
                    code = self.main([*arguments, "--output-format", "json", str(root)])
                except Exception as error:
                    return {"crash": f"{type(error).__name__}: {error}"}
            if code:
                return {"crash": errors.getvalue().strip()}
            files = {name: (root / name).read_text(encoding="utf-8") for name in job["files"]}
            found = [_plain(finding, root) for finding in json.loads(output.getvalue())]
        return {"findings": found, "files": {name: text for name, text in files.items() if text != job["files"][name]}}


def _plain(finding: dict[str, Any], root: Path) -> dict[str, Any]:
    def name_of(path: str) -> str:
        return Path(path).relative_to(root).as_posix() if Path(path).is_relative_to(root) else path

    return {
        "code": finding["code"],
        "level": finding["severity"],
        "message": finding["message"],
        "file": name_of(finding["filename"]),
        "rows": [finding["location"]["row"], finding["end_location"]["row"]],
        "related": [[name_of(other["filename"]), other["location"]["row"]] for other in finding["related"]],
        "fix": finding["fix"]["applicability"] if finding["fix"] else "",
    }


def main() -> None:
    """Answers jobs until the input ends."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    kind = sys.argv[1]
    name, _, gpus = kind.partition(":")
    answer: Callable[[Job], Answer] = (
        Linter() if name == "linter" else Runner(int(gpus or GPUS) if name == "machine" else None)
    )
    answers.write('"ready"\n')
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
