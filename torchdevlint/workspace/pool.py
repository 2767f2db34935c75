"""Many files on many processes. A worker that a signal kills costs the file that it had, never the run."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class _Worker(Generic[Item]):
    """A process, our end of its pipe, and the item that it works on."""

    process: BaseProcess
    pipe: Connection
    item: Item


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
                worker = _start(context, work, waiting.popleft())
                workers[worker.pipe] = worker
            for pipe in wait(list(workers)):
                worker = workers[pipe]
                try:
                    result = worker.pipe.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    result = died(worker.item, _how(worker.process.exitcode))
                    del workers[pipe]
                    worker.pipe.close()
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
            worker.pipe.close()
            worker.process.join()


def _start_method() -> str:
    """Fork where it is safe (15 ms instead of 300): on Linux, while there is one thread."""
    return "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"


def _start(context: Any, work: Callable[[Item], Result], item: Item) -> _Worker[Item]:
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work), daemon=True)
    process.start()
    theirs.close()  # so that the worker's death is the end of the file on our side
    ours.send((item,))
    return _Worker(process, ours, item)


def _give(worker: _Worker[Item], item: Item) -> bool:
    """Hands the next item to a worker; False when it has died since its last result."""
    try:
        worker.pipe.send((item,))
    except OSError:
        return False
    worker.item = item
    return True


def _dismiss(worker: _Worker[Any]) -> None:
    """Ends a worker that has nothing left to do. (Closing the pipe is not enough: workers forked later hold copies of our end.)"""
    with contextlib.suppress(OSError):
        worker.pipe.send(None)
    worker.pipe.close()
    worker.process.join()


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """A worker's life: one item after the other, until it is dismissed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        while (message := pipe.recv()) is not None:
            pipe.send(work(*message))


def _how(exitcode: int | None) -> str:
    """How a process ended, for people."""
    if exitcode is not None and exitcode < 0:
        try:
            return f"was killed by {signal.Signals(-exitcode).name}"
        except ValueError:
            return f"was killed by signal {-exitcode}"
    return f"ended with code {exitcode}"
