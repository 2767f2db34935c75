"""The machine's word on mutations: drivers run untouched and mutated projects on a virtual GPU.

    python benchmarks/mutation_machine.py DRIVER FOLDER     # do the driver's parts pass on the untouched project?

A mutation is *confirmed* when a part that reaches it and passes on the untouched project then fails, sees a hazard or gives another result; it *passes* when
nothing changes; it is *unreached* when no part executes its lines, and *unknown* when a run did not end in time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from torchdevlint.machine import Shape
from torchdevlint.machine.launch import environment

DRIVERS = Path(__file__).resolve().parent / "mutation_drivers"
_START = 120.0
_PAUSE = 0.02


class DriverError(Exception):
    """A driver does not run; the text says why."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the machine says of one mutation: `confirmed`, `passes`, `unreached` or `unknown`, and how it showed."""

    kind: str
    why: str = ""


@dataclass
class Reach:
    """The parts that pass on the untouched project: the lines each reaches, and what it gives."""

    lines: dict[str, dict[str, set[int]]] = field(default_factory=dict)
    results: dict[str, tuple[int, Any]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def parts(self, path: Path, first: int, last: int) -> list[str]:
        """The parts that execute one of these lines of a file."""
        name, rows = str(path.resolve()), set(range(first, last + 1))
        return [part for part, lines in self.lines.items() if rows & lines.get(name, set())]


class Server:
    """A child process with the machine on, that answers jobs one by one."""

    def __init__(self, driver: Path, project: Path, timeout: float, python: str = sys.executable) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="torchdevlint-mutations-")
        self.timeout = timeout
        root = Path(self.folder.name)
        (root / "reports").mkdir()
        self.results = root / "results.jsonl"
        self.results.touch()
        self.stderr = (root / "stderr.txt").open("w+", encoding="utf-8")
        self.offset = 0
        command = [python, str(DRIVERS / "server.py"), str(driver), str(project), str(self.results), str(timeout)]
        self.process = subprocess.Popen(
            command,
            env=environment(Shape(gpus=1), report_dir=root / "reports"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self.stderr,
            text=True,
        )
        self.parts: list[str] = self._answer(_START)["parts"]

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.stderr.close()
        self.folder.cleanup()

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one job."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return self._answer(self.timeout * 1.5 + 10)

    def _answer(self, timeout: float) -> dict[str, Any]:
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            with self.results.open(encoding="utf-8") as file:
                file.seek(self.offset)
                line = file.readline()
                if line.endswith("\n"):
                    self.offset = file.tell()
                    answer: dict[str, Any] = json.loads(line)
                    return answer
            if self.process.poll() is not None:
                self.stderr.seek(0)
                last = (self.stderr.read().strip().splitlines() or ["no message"])[-1]
                raise DriverError(f"the server ended: {last}")
            time.sleep(_PAUSE)
        self.process.kill()
        raise DriverError("the server did not answer")


@contextmanager
def serving(driver: Path, project: Path, timeout: float) -> Iterator[tuple[Server, Reach]]:
    """A server, and what its parts reach on the untouched project."""
    with Server(driver, project, timeout) as server:
        yield server, reach_of(server)


def reach_of(server: Server) -> Reach:
    """Runs each part once on the untouched project."""
    reach = Reach()
    for part in server.parts:
        told = server.ask({"trace": part})
        if told.get("error", told.get("why")) is not None:
            reach.errors[part] = told.get("error") or told["why"]
            continue
        reach.lines[part] = {name: set(rows) for name, rows in told["lines"].items()}
        reach.results[part] = told["hazards"], told["result"]
    return reach


def judge(server: Server, reach: Reach, path: Path, first: int, last: int, text: str) -> Verdict:
    """The verdict on a mutation of the lines `first` to `last` of a file."""
    parts = reach.parts(path, first, last)
    if not parts:
        return Verdict("unreached")
    told = server.ask(
        {"id": 0, "path": str(path), "text": text, "parts": {name: reach.results[name] for name in parts}}
    )
    return Verdict(told["verdict"], told["why"])


def drivers() -> dict[str, Path]:
    """The drivers by the folder name of their project."""
    found = {}
    for path in sorted(DRIVERS.glob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("PROJECT = "):
                found[line.split('"')[1]] = path
    return found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--timeout", type=float, default=60)
    arguments = parser.parse_args()
    begin = time.monotonic()
    with serving(arguments.driver, arguments.folder, arguments.timeout) as (_, reach):
        for part, lines in reach.lines.items():
            print(f"{part}: passes, reaches {sum(map(len, lines.values()))} lines; gives {reach.results[part]}")
        for part, error in reach.errors.items():
            print(f"{part}: {error}")
    print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
