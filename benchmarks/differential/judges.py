"""The machine, plain PyTorch and the linter, each in a child process that answers many programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from differential.programs import Program

ROOT = Path(__file__).resolve().parents[2]
CHILD = Path(__file__).resolve().parent / "child.py"
_JOBS_OF_A_CHILD = 1500
"""A child is replaced after so many jobs, so that what programs leave behind does not add up."""

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a program ended: `ok`, `fault` (a device error), `other` (any other error), `late`, or `died` (it ended the process).

    `story` are the lines (file, row) where the tensors of a fault were made, moved and met; `calls` those of the stack.
    """

    kind: str
    text: str = ""
    story: frozenset[Line] = frozenset()
    calls: frozenset[Line] = frozenset()
    told: str = ""
    printed: str = ""
    ran: frozenset[Line] = frozenset()
    unjudged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """A finding as plain data; `related` are lines."""

    code: str
    level: str
    message: str
    file: str
    first: int
    last: int
    related: tuple[Line, ...] = ()
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.first}: {self.code} {self.level}: {self.message}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the linter says of a program; `files` are those that a repair changed, `crash` is its error."""

    findings: tuple[Said, ...] = ()
    files: Mapping[str, str] | None = None
    crash: str = ""


class JudgeError(RuntimeError):
    """A judge cannot work here; the message says why."""


class Child:
    """A process of child.py. One that ends is started again; the job that ended it gets None."""

    def __init__(self, kind: str, path: Path = ROOT) -> None:
        self.kind, self.path = kind, path
        self._process: subprocess.Popen[str] | None = None
        self._jobs = 0
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process. Asking again starts another."""
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process.wait()
            self._process = None

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer to one job."""
        return next(iter(self.ask_all([job])))

    def ask_all(self, jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """The answers to jobs, in their order."""
        answers: list[dict[str, Any] | None] = []
        while len(answers) < len(jobs):
            answers += self._some(jobs[len(answers) : len(answers) + _JOBS_OF_A_CHILD])
        return answers

    def _some(self, jobs: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any] | None]:
        if self._process is None or self._jobs > _JOBS_OF_A_CHILD:
            self.close()
            self._start()
        self._jobs += len(jobs)
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        writer = threading.Thread(target=_write, args=(self._process.stdin, jobs), daemon=True)
        writer.start()
        for _ in jobs:
            line = self._process.stdout.readline()
            if not line:
                yield None
                writer.join()
                self._process = None
                return
            yield json.loads(line)
        writer.join()

    def _start(self) -> None:
        environment = {name: text for name, text in os.environ.items() if not name.startswith("TORCHDEVLINT_")}
        environment |= {"PYTHONPATH": str(self.path), "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(CHILD), self.kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            text=True,
            cwd=ROOT,
        )
        self._jobs = 0
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            self._process.wait()
            self._errors.seek(0)
            raise JudgeError(
                f"the {self.kind} does not start: {(self._errors.read().splitlines() or ['no message'])[-1]}"
            )


def _write(stream: IO[str], jobs: Iterable[Mapping[str, Any]]) -> None:
    try:
        for job in jobs:
            stream.write(json.dumps(job) + "\n")
            stream.flush()
    except (BrokenPipeError, ValueError):
        return  # the child has ended: its reader sees that


class Machine:
    """Runs programs on the virtual machine (`kind` "machine", or "machine:1" for one GPU) or on PyTorch as it is ("cpu").

    Verdicts are remembered.
    """

    def __init__(self, kind: str = "machine") -> None:
        self.child = Child(kind)
        self._known: dict[tuple[str, bool], Verdict] = {}

    def run(self, programs: Sequence[Program], trace: bool = False) -> list[Verdict]:
        """A verdict on each program."""
        keys = [(program.text(), trace) for program in programs]
        new = {key: program for key, program in zip(keys, programs, strict=True) if key not in self._known}
        jobs = [{"files": program.files, "entry": program.entry, "trace": trace} for program in new.values()]
        self._known |= zip(new, map(_verdict, self.child.ask_all(jobs)), strict=True)
        return [self._known[key] for key in keys]


def _verdict(answer: Mapping[str, Any] | None) -> Verdict:
    if answer is None:
        return Verdict("died")

    def lines(name: str) -> frozenset[Line]:
        return frozenset((file, row) for file, row in answer.get(name, ()))

    return Verdict(
        answer["kind"],
        answer.get("text", ""),
        lines("story"),
        lines("calls"),
        answer.get("told", ""),
        answer.get("printed", ""),
        lines("ran"),
        tuple(answer.get("unjudged", ())),
    )


class Linter:
    """Asks the torchdevlint of a checkout (default: this one)."""

    def __init__(self, checkout: Path = ROOT) -> None:
        self.child = Child("linter", checkout)

    def ask(self, programs: Sequence[Program], fix: str = "") -> list[Answer]:
        """What it says of the shown files, at every level; with `fix` ("safe", "unsafe") it repairs what it shows by default."""
        jobs = [{"files": dict(program.shown), "fix": fix} for program in programs]
        return [_answer(answer) for answer in self.child.ask_all(jobs)]


def _answer(answer: Mapping[str, Any] | None) -> Answer:
    if answer is None:
        return Answer(crash="the process ended")
    if "crash" in answer:
        return Answer(crash=answer["crash"])
    findings = tuple(
        Said(
            found["code"],
            found["level"],
            found["message"],
            found["file"],
            *found["rows"],
            tuple((file, row) for file, row in found["related"]),
            found["fix"],
        )
        for found in answer["findings"]
    )
    return Answer(findings, answer["files"])


@contextmanager
def judges(checkout: Path = ROOT) -> Iterator[tuple[Machine, Machine, Linter]]:
    """The machine, plain PyTorch and a linter; their processes end with the block."""
    machine, plain, linter = Machine(), Machine("cpu"), Linter(checkout)
    try:
        yield machine, plain, linter
    finally:
        for judge in (machine, plain, linter):
            judge.child.close()
