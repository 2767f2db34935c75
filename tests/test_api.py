"""The public API."""

from __future__ import annotations

from pathlib import Path

import pytest

import torchdevlint
from torchdevlint.api import CheckError

FAULTY = 'import torch\n\n\ndef load(model):\n    model.load_state_dict(torch.load("a.pt"))\n'
REPAIRED = FAULTY.replace('"a.pt")', '"a.pt", map_location="cpu")')


def test_every_name_is_there() -> None:
    for name in torchdevlint.__all__:
        assert getattr(torchdevlint, name) is not None
    with pytest.raises(AttributeError, match="no_such"):
        torchdevlint.no_such  # noqa: B018


def test_check_source() -> None:
    (finding,) = torchdevlint.check_source(FAULTY, "a.py")
    assert isinstance(finding, torchdevlint.Finding)
    assert (finding.code, finding.filename, finding.span.start.row) == ("TDL101", "a.py", 5)
    assert torchdevlint.check_source(FAULTY, ignore=["TDL1"]) == ()
    assert torchdevlint.check_source(FAULTY, select=["TDL5"]) == ()
    assert torchdevlint.check_source(FAULTY, level="error") == ()
    with pytest.raises(ValueError, match="TDL9999"):
        torchdevlint.check_source(FAULTY, select=["TDL9999"])
    with pytest.raises(ValueError, match="loud"):
        torchdevlint.check_source(FAULTY, level="loud")


def test_fix_source() -> None:
    assert torchdevlint.fix_source(FAULTY) == (REPAIRED, ())
    text, (finding,) = torchdevlint.fix_source("import torch\nx = (\n")
    assert (text, finding.code) == ("import torch\nx = (\n", "TDL000")


def test_check_paths(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FAULTY, encoding="utf-8")
    (finding,) = torchdevlint.check_paths([tmp_path])
    assert finding.filename == str(tmp_path / "a.py")
    with pytest.raises(CheckError, match="no such file") as caught:
        torchdevlint.check_paths([tmp_path / "missing", tmp_path])
    assert caught.value.findings == (finding,)
