"""Many files on many processes. A worker that a signal kills costs the file that it had, never the run; no worker outlives its parent.

A parent that is killed cannot end its workers. Each of them therefore watches a pipe that nobody writes to and whose other end the
parent alone holds: when that closes, the parent is gone.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from torchdevlint.source import deadline
from torchdevlint.workspace.signals import ENDING

_TIMES_TOO_LONG = 1.5  # of the time that one file may take

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class _Worker(Generic[Item]):
    """A process, our ends of its pipes, and the item that it works on."""

    process: BaseProcess
    pipe: Connection
    life: Connection
    item: Item

    def close(self) -> None:
        """Closes our ends."""
        self.pipe.close()
        self.life.close()


def run(
    items: Sequence[Item],
    work: Callable[[Item], Result],
    died: Callable[[Item, str], Result],
    processes: int,
) -> Iterator[Result]:
    """The results of `work` for each item, in the order in which they come.

    `died(item, how)` gives the result for an item whose worker was killed. When the caller stops early (an exception, Ctrl-C), the
    workers end with it.
    """
    context: Any = multiprocessing.get_context(_start_method())
    waiting = deque(items)
    workers: dict[Any, _Worker[Item]] = {}
    try:
        while waiting or workers:
            while waiting and len(workers) < processes:
                worker = _start(context, work, waiting.popleft(), workers.values())
                workers[worker.pipe] = worker
            for pipe in wait(list(workers)):
                worker = workers[pipe]
                try:
                    result = worker.pipe.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    result = died(worker.item, _how(worker.process.exitcode))
                    del workers[pipe]
                    worker.close()
                else:
                    if waiting and _give(worker, waiting[0]):
                        waiting.popleft()
                    else:
                        del workers[pipe]
                        _dismiss(worker)
                yield result
    finally:
        for worker in workers.values():
            worker.process.terminate()
            worker.close()
            worker.process.join()


def can_fork() -> bool:
    """Whether a process costs 15 ms instead of 300: on Linux, while there is one thread. (A daemon may have no children.)"""
    return sys.platform == "linux" and threading.active_count() == 1 and not multiprocessing.current_process().daemon


def _start_method() -> str:
    return "fork" if can_fork() else "spawn"


def _start(context: Any, work: Callable[[Item], Result], item: Item, others: Iterable[_Worker[Item]]) -> _Worker[Item]:
    ours, theirs = context.Pipe()
    watched, life = context.Pipe(duplex=False)
    # A fork copies every end that we hold; while a copy of our end is open elsewhere, no worker could see us die.
    copied = [life, ours, *(pipe for other in others for pipe in (other.pipe, other.life))]
    arguments = (theirs, watched, copied if context.get_start_method() == "fork" else (), work)
    process = context.Process(target=_serve, args=arguments, daemon=True)
    with signals_blocked():  # until the child has its own answers to them
        process.start()
    theirs.close()  # so that the worker's death is the end of the file on our side
    watched.close()
    ours.send((item,))
    return _Worker(process, ours, life, item)


@contextlib.contextmanager
def signals_blocked() -> Iterator[None]:
    """Around the start of a process, which unblocks them when it has its own answers."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _give(worker: _Worker[Item], item: Item) -> bool:
    """Hands the next item to a worker; False when it has died since its last result."""
    try:
        worker.pipe.send((item,))
    except OSError:
        return False
    worker.item = item
    return True


def _dismiss(worker: _Worker[Any]) -> None:
    """Ends a worker that has nothing left to do."""
    with contextlib.suppress(OSError):
        worker.pipe.send(None)
    worker.process.join()
    worker.close()


def _serve(pipe: Connection, watched: Connection, copied: Iterable[Connection], work: Callable[[Any], Any]) -> None:
    """A worker's life: one item after the other, until it is dismissed or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    for connection in copied:
        connection.close()
    _end_with_the_parent(watched)
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        while (message := pipe.recv()) is not None:
            _limit_time()
            pipe.send(work(*message))


def _end_with_the_parent(watched: Connection) -> None:
    """Ends this process when the other end of a pipe closes: by a thread, and by SIGIO, which also ends code that keeps the GIL."""

    def wait_for_the_end() -> None:
        with contextlib.suppress(EOFError, OSError):
            watched.recv_bytes()
        os._exit(1)

    if hasattr(os, "O_ASYNC"):
        import fcntl

        with contextlib.suppress(OSError):
            signal.signal(signal.SIGIO, signal.SIG_DFL)
            fcntl.fcntl(watched.fileno(), fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(watched.fileno(), fcntl.F_SETFL, fcntl.fcntl(watched.fileno(), fcntl.F_GETFL) | os.O_ASYNC)
    with contextlib.suppress(RuntimeError):  # no more threads here: SIGIO does it alone
        threading.Thread(target=wait_for_the_end, daemon=True).start()


def _limit_time() -> None:
    """Lets the system end this process when the next item takes much longer than the work itself would allow.

    That is for what does not look at the clock, such as a parser in native code.
    """
    try:
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        most = used.ru_utime + used.ru_stime + _TIMES_TOO_LONG * deadline.seconds_per_file() + 1
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        if most != float("inf") and (hard == resource.RLIM_INFINITY or most < hard):
            resource.setrlimit(resource.RLIMIT_CPU, (int(most), hard))
    except (ImportError, OSError, ValueError):
        pass  # no such limit here


def _how(exitcode: int | None) -> str:
    """How a process ended, for people."""
    if exitcode == -getattr(signal, "SIGXCPU", 0):
        return f"was stopped: it took more than {_TIMES_TOO_LONG * deadline.seconds_per_file():g} seconds"
    if exitcode is not None and exitcode < 0:
        try:
            return f"was killed by {signal.Signals(-exitcode).name}"
        except ValueError:
            return f"was killed by signal {-exitcode}"
    return f"ended with code {exitcode}"
