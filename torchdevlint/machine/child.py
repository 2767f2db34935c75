"""A process of a run: it joins the machine when it imports torch, and writes its report when it ends.

This module runs at the start of every Python child, so it imports neither torch nor anything slow.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchdevlint.machine.launch import MACHINE, Settings

if TYPE_CHECKING:
    from torchdevlint.machine.core import Machine

_SWITCHES = frozenset("IES")
"""Python's flags that skip the hook."""
_OWN_FOLDER = str(Path(__file__).parent)


class _Process:
    """The report of this process, while it grows."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.machine: Machine | None = None
        self.refused: str | None = None
        self.torch: str | None = None
        self.uncaught: dict[str, Any] | None = None
        self.without_machine: list[str] = []
        self.began = time.time()

    def write(self, finished: bool) -> None:
        """Write the report; never fail the program for it."""
        machine = self.machine
        data = {
            "began": self.began,
            "pid": os.getpid(),
            "parent": os.getppid(),
            "command": list(getattr(sys, "orig_argv", sys.argv)),
            "started": machine is not None,
            "finished": finished,
            "refused": self.refused,
            "torch": self.torch,
            "hazards": [h.to_dict() for h in machine.hazards] if machine else [],
            "faults": [f.to_dict() for f in machine.faults] if machine else [],
            "uncaught": self.uncaught,
            "ledger": [e.to_dict() for e in machine.ledger.entries] if machine and machine.ledger else None,
            "unjudged": _unjudged(machine),
            "notes": list(machine.notes) if machine else [],
            "without_machine": self.without_machine,
        }
        path = self.settings.report_dir / f"process-{os.getpid()}.json"
        try:
            unfinished = path.with_suffix(f".{time.monotonic_ns()}")
            unfinished.write_text(json.dumps(data), encoding="utf-8")
            unfinished.replace(path)
        except OSError:
            return  # the folder is gone: nobody reads reports any more

    def reset_after_fork(self) -> None:
        """A forked child reports its own findings only."""
        self.began = time.time()
        self.uncaught = None
        self.without_machine = []
        if self.machine is not None:
            self.machine.forget()
        self.write(finished=False)


def _unjudged(machine: Machine | None) -> list[dict[str, Any]]:
    if machine is None:
        return []
    return [
        {"operator": operator, "place": None if place is None else [place.file, place.line]}
        for operator, place in machine.unjudged.items()
    ]


def join() -> None:
    """Called by the hook in sitecustomize: from here on, importing torch starts the machine."""
    process = _Process(Settings.from_json(os.environ[MACHINE]))
    process.write(finished=False)
    atexit.register(process.write, True)
    _report_before_hard_exits(process)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=process.reset_after_fork)
    sys.addaudithook(lambda event, args: _audit(process, event, args))
    _keep_uncaught(process)
    sys.meta_path.insert(0, _TorchImport(process))


def _report_before_hard_exits(process: _Process) -> None:
    original = os._exit

    def _exit(status: int) -> Any:
        process.write(finished=True)
        original(status)

    os._exit = _exit


def _keep_uncaught(process: _Process) -> None:
    original = sys.excepthook

    def excepthook(kind: Any, error: Any, traceback: Any) -> None:
        _cut_machinery(traceback)
        places = getattr(error, "torchdevlint_places", None)
        process.uncaught = {
            "kind": kind.__name__,
            "message": str(error),
            "places": None if places is None else places.to_dict(),
            "frames": _frames(traceback),
        }
        original(kind, error, traceback)

    sys.excepthook = excepthook


def _cut_machinery(traceback: Any) -> None:
    """A GPU's traceback ends where the program called torch: leave the machine's own frames out of it."""
    last = traceback
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER):
            last = traceback
        traceback = traceback.tb_next
    if last is not None:
        last.tb_next = None


def _frames(traceback: Any) -> list[list[Any]]:
    frames = []
    while traceback is not None:
        frames.append([traceback.tb_frame.f_code.co_filename, traceback.tb_lineno])
        traceback = traceback.tb_next
    return frames


class _TorchImport:
    """Starts the machine as soon as torch is imported; a child without torch pays nothing."""

    def __init__(self, process: _Process) -> None:
        self.process = process

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != "torch":
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_start(module: Any) -> None:
            was_enabled = gc.isenabled()
            gc.disable()  # nothing of what an import makes is garbage, and looking for it takes a seventh of the time
            try:
                execute(module)
            finally:
                if was_enabled:
                    gc.enable()
            _start(self.process)

        spec.loader.exec_module = execute_and_start  # type: ignore[method-assign]
        return spec


def _start(process: _Process) -> None:
    import torch

    from torchdevlint.machine.core import MachineError, start

    process.torch = torch.__version__
    try:
        process.machine = start(process.settings.shape, ledger=process.settings.ledger)
    except MachineError as error:
        process.refused = str(error)
        process.write(finished=False)
        raise
    process.write(finished=False)


def _audit(process: _Process, event: str, args: tuple[Any, ...]) -> None:
    """Notice Python children that start without the machine, and report before this process is replaced."""
    if event == "subprocess.Popen":
        executable, command, _, environment = args
        _check_child(process, executable, command, environment)
    elif event in ("os.posix_spawn", "os.spawn"):
        path, command, environment = args[-3:]
        _check_child(process, path, command, environment)
    elif event == "os.exec":
        path, command, environment = args
        _check_child(process, path, command, environment)
        process.write(finished=True)


def _check_child(process: _Process, executable: Any, command: Any, environment: Any) -> None:
    words = [os.fsdecode(word) for word in command] if isinstance(command, (list, tuple)) else [os.fsdecode(command)]
    program = Path(os.fsdecode(executable) if executable else words[0])
    if not program.name.startswith("python"):
        return
    flags: set[str] = set()
    for word in words[1:]:
        if not word.startswith("-") or word.startswith("--") or word[1:2] in "cm":
            break
        flags.update(word[1:])
    names = {os.fsdecode(name) for name in (os.environ if environment is None else environment)}
    if flags & _SWITCHES or MACHINE not in names or "PYTHONPATH" not in names:
        process.without_machine.append(" ".join(words))
        process.write(finished=False)
