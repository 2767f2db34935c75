"""The verdicts, on runs that are written down here instead of being made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from torchdevlint.machine import Shape
from torchdevlint.settings import Resolver, Selection
from torchdevlint.verify.judge import Judge, Report, moved_row
from torchdevlint.verify.program import program_in
from torchdevlint.verify.trial import Fault, Hazard, Machine, Trial

_TEXT = """import torch
from torch import nn
model = nn.Linear(2, 2).to("cuda")
x = torch.ones(1, 2)
x.to("cuda")
model(x)
"""
_CODE, _ROW = "TDL501", 5
_MIXED = "Expected all tensors to be on the same device"


@dataclass
class _Scripted:
    """A runner whose runs are given by what the text is at that time: unchanged or repaired."""

    program: Any
    place: Any
    unchanged: Callable[[], Trial]
    repaired: Callable[[], Trial]
    machine: Machine = field(default_factory=lambda: Machine("virtual", Shape(gpus=1)))

    def run(self, texts: Mapping[Path, bytes], marks: Any) -> Trial:
        changed = any(text.decode() != _TEXT for text in texts.values())
        return self.repaired() if changed else self.unchanged()


def _trial(returncode: int | None = 0, **more: Any) -> Trial:
    more.setdefault("reached", {0, 1, 2})
    return Trial(returncode, tuple(more.pop("output", ())), more.pop("written", {}), **more)


def _judge(folder: Path, unchanged: Callable[[], Trial], repaired: Callable[[], Trial], **machine: Any) -> Report:
    (folder / "train.py").write_text(_TEXT)
    runner = _Scripted(program_in(["train.py"], False, folder), None, unchanged, repaired)
    if machine:
        runner.machine = Machine("virtual", Shape(**machine))
    judge = Judge(runner, Resolver(Selection(select=(_CODE,))), False, lambda line: None)  # type: ignore[arg-type]
    assert judge.load([folder / "train.py"]) == [] and len(judge.cases) == 1
    return judge.judge()


def _fault(folder: Path, row: int, message: str = _MIXED, kind: str = "RuntimeError", role: str = "created") -> Fault:
    lines = ((role, str(folder / "train.py"), row), ("met", str(folder / "train.py"), 6))
    return Fault(kind, message, (str(folder / "train.py"), 6), lines, uncaught=True)


def _crash(folder: Path, **more: Any) -> Trial:
    fault = _fault(folder, **more)
    return _trial(1, faults=[fault], error=fault.describe())


def _verdict(report: Report) -> tuple[str | None, int]:
    return report.cases[0].verdict, report.exit_code


def test_an_error_that_the_fix_removes_is_confirmed(tmp_path: Path) -> None:
    report = _judge(tmp_path, lambda: _crash(tmp_path, row=_ROW), _trial)
    assert _verdict(report) == ("confirmed", 0)
    assert report.cases[0].before.startswith(f"RuntimeError: {_MIXED}")


def test_an_error_that_names_the_line_and_stays_is_a_failed_fix(tmp_path: Path) -> None:
    assert _verdict(_judge(tmp_path, *[lambda: _crash(tmp_path, row=_ROW)] * 2)) == ("fix failed", 1)


def test_an_error_elsewhere_does_not_blame_the_fix(tmp_path: Path) -> None:
    report = _judge(tmp_path, *[lambda: _crash(tmp_path, row=1, message="no data", kind="OSError")] * 2)
    assert _verdict(report) == ("not judged", 3)
    assert "stops at another error: OSError: no data" in report.cases[0].reason


def test_a_fix_that_breaks_the_edited_line_has_failed(tmp_path: Path) -> None:
    fault = Fault("NameError", "no x", (str(tmp_path / "train.py"), _ROW), (), uncaught=True)
    report = _judge(
        tmp_path, lambda: _crash(tmp_path, row=_ROW), lambda: _trial(1, faults=[fault], error="NameError: no x")
    )
    assert _verdict(report) == ("fix failed", 1)


def test_a_line_that_ran_without_its_fault_is_refuted(tmp_path: Path) -> None:
    assert _verdict(_judge(tmp_path, _trial, _trial)) == ("refuted", 1)


def test_on_a_machine_where_the_fault_cannot_show_it_is_not_refuted(tmp_path: Path) -> None:
    report = _judge(tmp_path, _trial, _trial, build="cpu")
    assert _verdict(report) == ("not on this machine", 3)
    assert "1 virtual GPU" in report.cases[0].reason


def test_a_line_that_never_ran_is_not_reached(tmp_path: Path) -> None:
    assert _verdict(_judge(tmp_path, *[lambda: _trial(reached=set())] * 2)) == ("not reached", 3)


def test_an_operator_that_the_machine_cannot_judge_is_not_judged(tmp_path: Path) -> None:
    line = (str(tmp_path / "train.py"), _ROW)
    report = _judge(tmp_path, *[lambda: _trial(unjudged={line: "mylib::op"})] * 2)
    assert _verdict(report) == ("not judged", 3) and "mylib::op" in report.cases[0].reason


def test_a_hazard_that_the_fix_removes_is_a_silent_fault(tmp_path: Path) -> None:
    hazard = Hazard("read before the copy is complete", ((str(tmp_path / "train.py"), _ROW),))
    report = _judge(tmp_path, lambda: _trial(hazards=[hazard]), lambda: _trial(output=["other values"]))
    assert _verdict(report) == ("silent fault confirmed", 0)


@pytest.mark.parametrize(
    ("repaired", "reason"),
    [
        (lambda: _trial(output=["loss 2"], written={"m.pt": "a"}), "other output: 'loss 2' instead of 'loss 1'"),
        (lambda: _trial(output=["loss 1", "more"], written={"m.pt": "a"}), "2 lines of output instead of 1"),
        (lambda: _trial(output=["loss 1"], written={"m.pt": "b"}), "another content of m.pt"),
        (lambda: _trial(1, error="ValueError: x"), "the program ends otherwise: ValueError: x"),
    ],
    ids=["output", "length", "file", "ending"],
)
def test_a_fix_that_changes_a_working_program_is_a_regression(
    tmp_path: Path, repaired: Callable[[], Trial], reason: str
) -> None:
    report = _judge(tmp_path, lambda: _trial(output=["loss 1"], written={"m.pt": "a"}), repaired)
    assert _verdict(report) == ("regression", 1) and report.cases[0].reason == reason


def test_output_that_two_unchanged_runs_do_not_agree_on_is_not_compared(tmp_path: Path) -> None:
    numbers: Iterator[int] = iter(range(100))
    report = _judge(
        tmp_path, *[lambda: _trial(output=[f"time {next(numbers)}"], written={"log": str(next(numbers))})] * 2
    )
    assert _verdict(report) == ("refuted", 1)


def test_rows_move_by_the_lines_that_a_fix_adds_above_them() -> None:
    from torchdevlint.findings import Applicability, Edit, Fix, Position, Span

    span = Span(Position(5, 1), Position(5, 1))
    fix = Fix(Applicability.SAFE, "", (Edit(0, 0, "a\nb\n", span),))
    assert [moved_row(row, 1, fix) for row in (4, 5, 6)] == [4, 7, 8]


def test_an_unsafe_fix_is_a_bridge_and_not_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Judge, "_fix", lambda self, case: None)  # as if every fix were unsafe
    report = _judge(tmp_path, lambda: _crash(tmp_path, row=_ROW), _trial)
    assert _verdict(report) == ("not judged", 3)
    assert "is unsafe" in report.cases[0].reason and report.final == "exit code 0"


def test_a_program_that_stops_is_not_run_again_for_findings_that_cannot_show(tmp_path: Path) -> None:
    report = _judge(tmp_path, *[lambda: _crash(tmp_path, row=1, message="no data", kind="OSError")] * 2)
    assert report.runs == 2
