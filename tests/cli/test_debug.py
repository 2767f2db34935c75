"""`torchdevlint debug` and `torchdevlint stubs`."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchdevlint import cli

TEXT = """import torch

def shift(a):
    return a + torch.zeros(4)

shift(torch.ones(4).cuda())
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shift.py"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_facts_are_the_values_of_a_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["debug", "facts", f"{file}:4"]) == 0
    out = capsys.readouterr().out
    assert "summary: `a` is open: a" in out
    assert "`torch.zeros(4)` is tensor on the CPU (rank 1, made at line 4, because nobody said where)" in out


def test_why_tells_the_claim_its_calls_and_its_row(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["debug", "why", "TDL504", f"{file}:4"]) == 0
    out = capsys.readouterr().out
    assert "TDL504: same claim of line 4, broken" in out
    assert "called from line 6" in out
    assert "policy: TDL504, broken error" in out


def test_program_prints_the_operations(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["debug", "program", str(file)]) == 0
    assert "function shift(a)" in capsys.readouterr().out


def test_what_cannot_be_read_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["debug", "facts", "nowhere"]) == 2
    assert cli.main(["debug", "program", str(tmp_path / "absent.py")]) == 2
    assert "no FILE:LINE" in capsys.readouterr().err


def test_stubs_prints_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["stubs", "torch.cat", "torch.Tensor.matmul"]) == 0
    out = capsys.readouterr().out
    assert "tensors: list[Tensor @ d]" in out
    assert "def torch.matmul" in out
    assert cli.main(["stubs", "torch.nothing"]) == 2
