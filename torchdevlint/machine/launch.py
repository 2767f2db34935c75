"""Carrying the machine into child processes, and reading what they report.

`environment` gives variables for a Python child; its own children inherit them: spawn, subprocess and torchrun start
Python anew and find the hook through PYTHONPATH, forked ones inherit the machine itself. Each process writes a JSON
report into one folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchdevlint.machine.shape import Shape

MACHINE = "TORCHDEVLINT_MACHINE"
PACKAGE = "TORCHDEVLINT_PACKAGE"
_SITE = Path(__file__).parent / "site"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a child is told."""

    shape: Shape
    ledger: bool
    report_dir: Path

    def to_json(self) -> str:
        """The value of the environment variable."""
        return json.dumps({"shape": self.shape.to_json(), "ledger": self.ledger, "report_dir": str(self.report_dir)})

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """The settings that `to_json` wrote. Raises ValueError when the text is not such."""
        try:
            data = json.loads(text)
            return cls(Shape.from_json(data["shape"]), bool(data["ledger"]), Path(data["report_dir"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not machine settings: {text!r}") from error


def environment(
    shape: Shape, *, ledger: bool = False, report_dir: Path, base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The whole environment for a Python child on the machine: ``base`` (default: this process's) and the hook.

    ``report_dir`` must exist; every process of the run writes ``process-<pid>.json`` there.
    """
    variables = dict(os.environ if base is None else base)
    paths = [str(_SITE), *(p for p in variables.get("PYTHONPATH", "").split(os.pathsep) if p and p != str(_SITE))]
    variables["PYTHONPATH"] = os.pathsep.join(paths)
    variables[MACHINE] = Settings(shape, ledger, report_dir.resolve()).to_json()
    variables[PACKAGE] = str(Path(__file__).resolve().parents[2])
    return variables


@dataclass(frozen=True, slots=True)
class ProcessReport:
    """What one process of a run told.

    ``started`` says that the machine runs in it (it imported torch); ``finished`` that the report is complete: a
    process that was killed leaves an unfinished one. ``without_machine`` lists commands of Python children that it
    started with the machine switched off (``-I``, ``-E``, ``-S``, or a changed environment). ``refused`` is the
    reason why the machine could not start.
    """

    pid: int
    parent: int
    command: tuple[str, ...]
    started: bool
    finished: bool
    refused: str | None
    torch: str | None
    hazards: tuple[dict[str, Any], ...]
    faults: tuple[dict[str, Any], ...]
    uncaught: dict[str, Any] | None
    ledger: tuple[dict[str, Any], ...] | None
    unjudged: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    without_machine: tuple[str, ...]


def read_reports(report_dir: Path) -> list[ProcessReport]:
    """The reports of all processes of a run, the first started first. Unreadable files are left out."""
    return [report for _, report in sorted(_reports(report_dir), key=lambda pair: pair[0])]


def _reports(report_dir: Path) -> Iterator[tuple[float, ProcessReport]]:
    for path in report_dir.glob("process-*.json"):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            began = data.pop("began")
            for name in ("command", "hazards", "faults", "unjudged", "notes", "without_machine"):
                data[name] = tuple(data[name])
            data["ledger"] = None if data["ledger"] is None else tuple(data["ledger"])
            yield began, ProcessReport(**data)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # a process killed while it wrote
