"""The process that examines: one job at a time, ended when nobody wants its answer any more, started again when it dies.

A process and not a thread, so that the server answers while a file is examined, and outlives a parser that dies on one. It ends with the
server: its pipe closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from torchdevlint.server.work import Answer, Job
from torchdevlint.workspace.pool import signals_blocked
from torchdevlint.workspace.signals import ENDING

_GRACE = 5.0  # seconds in which a job that is not wanted ends by itself; native code does not hear of it before
_AGAIN = 0.05
_GARBAGE = 100_000  # objects that may be left before the process looks, between two jobs, which of them are garbage
_WARM_UP = "import torch\nmodel.load_state_dict(torch.load('model.pt'))\n"


class Examiner:
    """Asks the process. All methods belong to one event loop."""

    def __init__(self) -> None:
        self._worker: _Worker | None = None
        self._lock = asyncio.Lock()
        self._threads = ThreadPoolExecutor(1, "torchdevlint-examiner")

    def start(self) -> None:
        """Starts the process before the first question comes."""
        if self._worker is None:
            self._worker = _Worker()

    @property
    def pid(self) -> int:
        """The number of the present process, 0 where there is none."""
        return self._worker.pid if self._worker is not None else 0

    async def ask(self, job: Job) -> Answer:
        """The answer to a job. Where the caller's task is cancelled, the process stops working on it.

        A process that dies gives an answer that says so.
        """
        async with self._lock:
            self.start()
            worker = self._worker
            assert worker is not None
            answer = asyncio.get_running_loop().run_in_executor(self._threads, worker.exchange, job)
            try:
                return await asyncio.shield(answer)
            except asyncio.CancelledError:
                for _ in range(round(_GRACE / _AGAIN)):  # the process may not have begun with it
                    worker.interrupt()
                    await asyncio.wait({answer}, timeout=_AGAIN)
                    if answer.done():
                        break
                else:
                    worker.kill()
                    await asyncio.wait({answer})
                raise
            finally:
                if not worker.is_alive and self._worker is worker:
                    worker.close()
                    self._worker = None

    def close(self) -> None:
        """Ends the process."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Worker:
    """The server's side of the process."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # this process has threads
        self._pipe, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(theirs,), daemon=True)
        with signals_blocked():
            self._process.start()
        theirs.close()
        self._writing = threading.Lock()
        self._is_warm = False
        self._is_busy = False

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def wait_until_warm(self) -> None:
        """Returns when the process has imported what it needs, or has died."""
        if not self._is_warm:
            with contextlib.suppress(EOFError, OSError):
                self._pipe.recv()
            self._is_warm = True

    def exchange(self, job: Job) -> Answer:
        """The answer to a job; an empty one when it was interrupted."""
        self.wait_until_warm()
        try:
            with self._writing:
                self._pipe.send(job)
                self._is_busy = True
            answer: Answer | None = self._pipe.recv()
            return answer or Answer()
        except (EOFError, OSError):
            self._process.join(_GRACE)
            how = f"ended with code {self._process.exitcode}"
            return Answer(problems=(f"{job.buffer.path}: not checked: the process that examined it {how}",))
        finally:
            with self._writing:
                self._is_busy = False

    def interrupt(self) -> None:
        """Ends the present job, where the system has signals for that; else it goes on, and nobody listens."""
        with self._writing:
            if self._is_busy and hasattr(signal, "SIGUSR1") and self._process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._process.pid, signal.SIGUSR1)

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Ends the process and waits for it."""
        self._pipe.close()
        self._process.kill()
        self._process.join(_GRACE)


# ---------------------------------------------------------------------------------------------------- in the process


class _Interrupted(BaseException):
    """Nobody waits for the answer. No `Exception`, so that nothing on the way survives it."""


class _State:
    is_working = False


def _serve(pipe: Connection) -> None:
    """The life of the process: one job after the other, until the pipe closes."""
    import gc

    from torchdevlint.server import work
    from torchdevlint.source import deadline

    os.dup2(2, 1)  # what a plug-in prints is no message of the protocol
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, _interrupt)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    gc.disable()
    with contextlib.suppress(EOFError, OSError):
        work.do(Job("fix", work.Buffer("warm-up.py", _WARM_UP, on_disk=False), {}))
        gc.collect()
        gc.freeze()
        pipe.send(None)
        while True:
            job = pipe.recv()
            answer: Any = None
            deadline.forget()
            try:
                _State.is_working = True
                answer = work.do(job)
            except _Interrupted:
                answer = None
            finally:
                _State.is_working = False
            pipe.send(answer)
            if gc.get_count()[0] > _GARBAGE:
                gc.collect()


def _interrupt(number: int, frame: object) -> None:
    if _State.is_working:
        _State.is_working = False
        raise _Interrupted
