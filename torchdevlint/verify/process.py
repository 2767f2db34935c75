"""One child process of ours: bounded in time and output, and nothing of it is left afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

TOKEN = "TORCHDEVLINT_RUN"
"""Every process of a run carries this variable, so that even those that left its group are found again."""
_MOST_OUTPUT = 4 << 20
_GRACE = 2.0
"""Seconds for a process to tell what it was doing, and for pipes to close."""


@dataclass(slots=True)
class _Reader:
    """Drains one pipe: keeps the beginning and a digest of the whole."""

    pipe: IO[bytes]
    kept: bytearray = field(default_factory=bytearray)
    size: int = 0
    digest: object = field(default_factory=hashlib.sha256)
    thread: threading.Thread | None = None

    def start(self) -> None:
        self.thread = threading.Thread(target=self._drain, daemon=True)
        self.thread.start()

    def _drain(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self.pipe.fileno(), 1 << 16):
                self.size += len(chunk)
                self.digest.update(chunk)  # type: ignore[attr-defined]
                if len(self.kept) < _MOST_OUTPUT:
                    self.kept += chunk[: _MOST_OUTPUT - len(self.kept)]

    def finish(self) -> bytes:
        """What was kept; a note about the rest stands at its end, so that longer outputs still compare."""
        if self.thread is not None:
            self.thread.join(_GRACE)
        if self.size <= _MOST_OUTPUT:
            return bytes(self.kept)
        return bytes(self.kept) + f"\n... {self.size} bytes, sha256 {self.digest.hexdigest()}\n".encode()  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Completed:
    """How a child ended. `returncode` is that of `subprocess` (negative: a signal), None when its time was up."""

    returncode: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    left_behind: int = 0
    """Processes that the child left running; they were ended."""


def run_child(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    timeout: float,
    stack_signal: int | None = None,
) -> Completed:
    """Run a command without terminal or input, in a session of its own.

    When `timeout` seconds are up it is sent `stack_signal` (to write down what it is doing) and then killed with all
    its descendants. Raises OSError when it cannot be started.
    """
    token = uuid.uuid4().hex
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**environment, TOKEN: token},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    readers = [_Reader(process.stdout), _Reader(process.stderr)]
    for reader in readers:
        reader.start()
    returncode: int | None = None
    left = 0
    try:
        returncode = process.wait(timeout)
    except subprocess.TimeoutExpired:
        _ask_for_stack(process, stack_signal)
    finally:
        seconds = time.monotonic() - began
        left = _end_family(process, token)
        outputs = [reader.finish() for reader in readers]
        process.stdout.close()
        process.stderr.close()
    return Completed(returncode, outputs[0], outputs[1], seconds, left if returncode is not None else 0)


def _ask_for_stack(process: subprocess.Popen[bytes], number: int | None) -> None:
    if number is None:
        return
    process.send_signal(number)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE / 4)


def _end_family(process: subprocess.Popen[bytes], token: str) -> int:
    """Kill what is left of the child's group and of everything that carries its token; how many there were."""
    left = 0
    for _ in range(5):  # a process may fork while we look
        members = _members(token)
        left = max(left, len(members - {process.pid}))
        for pid in members:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.poll() is None:
            process.wait()
        if not members:
            break
    return left


def _members(token: str) -> set[int]:
    """The processes whose environment carries the token (Linux; elsewhere the process group must do)."""
    wanted = f"{TOKEN}={token}".encode()
    found = set()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in entry.read_bytes():
                found.add(int(entry.parent.name))
        except OSError:
            continue  # another user's, or gone
    return found
