"""One run of a program with some texts swapped, and everything that it showed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchdevlint.machine import Shape
from torchdevlint.machine.launch import ProcessReport, environment, read_reports
from torchdevlint.verify.mutants.settings import Settings as MutantSettings
from torchdevlint.verify.process import Completed, run_child
from torchdevlint.verify.program import Program
from torchdevlint.verify.telling import exit_text, first_line
from torchdevlint.verify.workplace import Workplace

_PACKAGE = Path(__file__).parent
Line = tuple[str, int]
_EAGER = {"TORCHDYNAMO_DISABLE": "1"}  # torch.compile would stumble over the calls that observe


@dataclass(frozen=True, slots=True)
class Machine:
    """Where programs run: a virtual shape, or a real device (`shape` is None)."""

    kind: str
    shape: Shape | None = None
    gpus: int = 0
    name: str = ""

    def describe(self) -> str:
        """The machine in words; a virtual one says so."""
        if self.shape is not None:
            text = self.shape.describe()
            return text if "virtual" in text else f"{text}, virtual"
        return self.name or self.kind


@dataclass(frozen=True, slots=True)
class Mark:
    """A place whose run is noted; with `probe` the value of the expression there, with `operands` where the tensors live that it reads."""

    number: int
    row: int
    column: int
    probe: bool
    operands: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A device error or an uncaught error. `lines` are (role, file, line): met, created, moved, frame."""

    kind: str
    message: str
    met: Line | None
    lines: tuple[tuple[str, str, int], ...]
    uncaught: bool
    story: str = ""

    def describe(self) -> str:
        """The error in one line."""
        return f"{self.kind}: {first_line(self.message)}"


@dataclass(frozen=True, slots=True)
class Hazard:
    """A silent fault that the machine saw."""

    message: str
    lines: tuple[Line, ...]


@dataclass(slots=True)
class Trial:
    """What one run showed. Paths are the user's."""

    returncode: int | None
    output: tuple[str, ...]
    written: dict[str, str]
    faults: list[Fault] = field(default_factory=list)
    hazards: list[Hazard] = field(default_factory=list)
    reached: set[int] = field(default_factory=set)
    seen: dict[int, str] = field(default_factory=dict)
    observed: dict[tuple[str, int, str], set[tuple[str, str]]] = field(default_factory=dict)
    operands: dict[int, dict[str, set[str]]] = field(default_factory=dict)
    copies: dict[Line, int] = field(default_factory=dict)
    ledger: dict[tuple[Line, str, str, bool], tuple[int, int]] = field(default_factory=dict)
    """By line, kind, cause and whether it is implicit: how often, and how many bytes."""
    unjudged: dict[Line, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    running: str = ""
    left_behind: int = 0
    seconds: float = 0.0
    refused: str = ""
    torch: str = ""
    error: str = ""

    @property
    def ending(self) -> str:
        """How the run ended, in words."""
        if self.returncode is None:
            return f"did not end{f'; it was at {self.running}' if self.running else ''}"
        if self.returncode and self.error:
            return self.error
        return exit_text(self.returncode)

    @property
    def works(self) -> bool:
        """Ended by itself with exit code 0."""
        return self.returncode == 0


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs one program on one machine at one workplace."""

    program: Program
    place: Workplace
    machine: Machine
    timeout: float
    ledger: bool = False

    def run(
        self,
        texts: Mapping[Path, bytes],
        marks: Mapping[Path, Sequence[Mark]],
        observe: Sequence[Path] = (),
    ) -> Trial:
        """Run with these texts in the place of the files, and note these places; in `observe`, what all names hold."""
        before = self.place.refresh()
        notes = self.place.notes
        shutil.rmtree(notes, ignore_errors=True)
        (notes / "reports").mkdir(parents=True)
        self._write_plan(notes, texts, marks, observe)
        done = run_child(
            self._command(),
            cwd=self.place.to_work(self.program.cwd),
            environment=self._environment(notes) | (_EAGER if observe or _asks_operands(marks) else {}),
            timeout=self.timeout,
            stack_signal=getattr(signal, "SIGUSR2", None),
        )
        after = self.place.digests()
        written = {name: digest for name, digest in after.items() if before.get(name) != digest}
        trial = Trial(done.returncode, self._output(done), written, seconds=done.seconds, left_behind=done.left_behind)
        self._read_events(trial, notes)
        self._read_reports(trial, read_reports(notes / "reports"))
        if done.returncode is None:
            trial.running = self._running(notes)
        trial.warnings = _deprecations(done.stderr)
        trial.error = trial.error or _last_line(done.stderr)
        return trial

    def _command(self) -> list[str]:
        words = list(self.program.words)
        if self.program.module:
            words.insert(0, "-m")
        elif Path(words[0]).is_absolute():
            words[0] = str(self.place.to_work(Path(words[0]).resolve()))
        return [sys.executable, str(_PACKAGE / "boot.py"), *words]

    def _environment(self, notes: Path) -> dict[str, str]:
        variables = dict(os.environ)
        own = [entry for entry in variables.get("PYTHONPATH", "").split(os.pathsep) if entry]
        entries = [str(_PACKAGE / "site"), *(str(self.place.to_work(Path(entry).resolve())) for entry in own)]
        variables["PYTHONPATH"] = os.pathsep.join(entries)
        variables["TORCHDEVLINT_VERIFY"] = str(notes)
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        if self.program.mutants:
            root = str(self.place.to_work(self.program.folder))
            variables = MutantSettings(root, str(notes), mode="strict").to_environment(variables)
        if self.machine.shape is not None:
            reports = notes / "reports"
            return environment(self.machine.shape, ledger=self.ledger, report_dir=reports, base=variables)
        return variables

    def _write_plan(
        self,
        notes: Path,
        texts: Mapping[Path, bytes],
        marks: Mapping[Path, Sequence[Mark]],
        observe: Sequence[Path],
    ) -> None:
        files = {}
        for number, path in enumerate(sorted({*texts, *marks, *observe})):
            copy = notes / f"{number}.py"
            copy.write_bytes(texts[path] if path in texts else path.read_bytes())
            listed = [[m.number, m.row, m.column, m.probe, m.operands] for m in marks.get(path, ())]
            name = str(path) if path in observe else ""
            files[str(self.place.to_work(path))] = {"text": str(copy), "marks": listed, "observe": name}
        (notes / "plan.json").write_text(json.dumps({"files": files}), encoding="utf-8")

    def _output(self, done: Completed) -> tuple[str, ...]:
        text = done.stdout.decode("utf-8", "backslashreplace")
        return tuple(text.replace(str(self.place.here), str(self.place.original)).splitlines())

    # ---- what the processes told

    def _read_events(self, trial: Trial, notes: Path) -> None:
        path = notes / "events.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            event = json.loads(line)
            if "reached" in event:
                trial.reached.add(event["reached"])
            elif "seen" in event:
                trial.seen.setdefault(event["seen"], event["value"])
            elif "operand" in event:
                held = trial.operands.setdefault(event["operand"], {})
                held.setdefault(event["name"], set()).add(event["device"])
            elif "observed" in event:
                file, row, name = event["observed"]
                trial.observed.setdefault((file, row, name), set()).add((event["kind"], event["device"]))
            else:
                self._add_uncaught(trial, event["uncaught"])

    def _add_uncaught(self, trial: Trial, uncaught: dict[str, Any]) -> None:
        frames = [(self.place.to_original(file), line) for file, line in uncaught["frames"]]
        own = [frame for frame in frames if Path(frame[0]).is_relative_to(self.program.folder)]
        met = own[-1] if own else frames[-1] if frames else None
        lines = tuple(("frame", *frame) for frame in own)
        message = uncaught["message"].replace(str(self.place.here), str(self.place.original))
        fault = Fault(uncaught["kind"], message, met, (*lines, *((("met", *met),) if met else ())), uncaught=True)
        trial.faults.append(fault)
        where = f" ({Path(met[0]).name}:{met[1]})" if met else ""
        trial.error = f"{fault.describe()}{where}"

    def _read_reports(self, trial: Trial, reports: Sequence[ProcessReport]) -> None:
        for report in reports:
            trial.torch = report.torch or trial.torch
            trial.refused = report.refused or trial.refused
            for data in report.faults:
                self._add_fault(trial, data)
            for hazard in report.hazards:
                lines = [self._line(hazard[key]) for key in ("place", "copied_at")]
                trial.hazards.append(Hazard(hazard["message"], tuple(line for line in lines if line)))
            for entry in report.ledger or ():
                if line := self._line(entry["place"]):
                    trial.copies[line] = trial.copies.get(line, 0) + entry["count"]
                    key = (line, entry["kind"], entry["cause"], bool(entry["implicit"]))
                    count, size = trial.ledger.get(key, (0, 0))
                    trial.ledger[key] = (count + entry["count"], size + entry["bytes"])
            for item in report.unjudged:
                if line := self._line(item["place"]):
                    trial.unjudged[line] = item["operator"]

    def _add_fault(self, trial: Trial, data: dict[str, Any]) -> None:
        """A fault of the machine; joined to the uncaught error that it became, which knows the frames."""
        places = data["places"]
        met = self._line(places["met"])
        lines = [("met", *met)] if met else []
        for tensor in places["tensors"]:
            lines += [(role, *line) for role in ("created", "moved") if (line := self._line(tensor[role]))]
        for index, other in enumerate(trial.faults):
            if other.uncaught and other.message == data["message"] and not other.story:
                trial.faults[index] = Fault(
                    other.kind, other.message, met or other.met, (*lines, *other.lines), True, self._story(places)
                )
                return
        fault = Fault(data["kind"], data["message"], met, tuple(lines), False, self._story(places))
        if fault not in trial.faults:
            trial.faults.append(fault)

    def _story(self, places: dict[str, Any]) -> str:
        from torchdevlint.verify.telling import story

        text = story(places)
        return text.replace(str(self.place.here) + os.sep, "")

    def _line(self, place: Sequence[Any] | None) -> Line | None:
        return (self.place.to_original(str(place[0])), int(place[1])) if place else None

    def _running(self, notes: Path) -> str:
        """The innermost line of the program's own code, from what faulthandler wrote when the time was up."""
        for path in sorted(notes.glob("stack-*.txt"), key=lambda path: path.stat().st_mtime):
            for file, line in re.findall(r'File "([^"]+)", line (\d+)', path.read_text(errors="replace")):
                original = self.place.to_original(file)
                if Path(original).is_relative_to(self.program.folder):
                    return f"{os.path.relpath(original, self.program.cwd)}:{line}"
        return ""


def _asks_operands(marks: Mapping[Path, Sequence[Mark]]) -> bool:
    return any(mark.operands for listed in marks.values() for mark in listed)


def _deprecations(stderr: bytes) -> tuple[str, ...]:
    """Warnings that a repair can remove, without their places."""
    text = stderr.decode("utf-8", "backslashreplace")
    return tuple(dict.fromkeys(re.findall(r"(?:Future|Deprecation)Warning: [^\n]+", text)))


def _last_line(stderr: bytes) -> str:
    lines = [line for line in stderr.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
    return first_line(lines[-1]) if lines else ""
