"""Fixes that need a newer torch than the project's oldest one are unsafe."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchdevlint import check_paths, check_source
from torchdevlint.findings import Applicability, Severity

AMP = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"


@pytest.mark.parametrize(
    ("oldest", "applicability"),
    [
        (None, Applicability.UNSAFE),
        ((2, 2), Applicability.UNSAFE),
        ((2, 3), Applicability.SAFE),
        ((2, 13), Applicability.SAFE),
    ],
)
def test_a_fix_is_safe_when_the_oldest_torch_has_what_it_needs(
    oldest: tuple[int, int] | None, applicability: Applicability
) -> None:
    (finding,) = check_source(AMP, target_torch=oldest)
    assert finding.code == "TDL805"
    assert finding.fix is not None
    assert finding.fix.applicability is applicability


def test_a_type_that_is_asked_for_is_not_replaced_without_asking() -> None:
    text = AMP + "assert isinstance(scaler, torch.cuda.amp.GradScaler)\n"
    (finding,) = check_source(text, target_torch=(2, 6))
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE


def test_a_version_test_without_the_new_spelling_chooses_nothing() -> None:
    text = "import torch\n\nif torch.__version__ >= '1.6':\n    scaler = torch.cuda.amp.GradScaler()\n"
    assert [finding.code for finding in check_source(text)] == ["TDL805"]


@pytest.mark.parametrize(
    ("asked", "is_repaired"),
    [
        ("isinstance(scaler, torch.cuda.amp.GradScaler)", False),
        ("isinstance(scaler, (Fake, torch.cuda.amp.GradScaler))", False),
        ("isinstance(scaler, Old)", False),
        ("isinstance(scaler, torch.amp.GradScaler)", True),
        ("print(torch.cuda.amp.GradScaler)", True),
    ],
)
def test_a_class_that_another_file_asks_for_is_not_replaced(asked: str, is_repaired: bool, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(AMP)
    (tmp_path / "base.py").write_text(
        f"import torch\nfrom torch.cuda.amp import GradScaler as Old\n\ndef scale(scaler):\n    return {asked}\n"
    )
    (finding,) = check_paths([tmp_path / "train.py"], isolated=True, select=["TDL805"])
    assert (finding.fix is not None) is is_repaired


@pytest.mark.parametrize(
    ("pin", "spelled", "told"),
    [
        ("torch==1.11.0", "torch.FloatTensor", ""),
        ("torch==1.11.0", "torch.cuda.FloatTensor", "needs CUDA"),
        ("torch>=1.11", "torch.FloatTensor", "deprecated"),
        ("torch>=1.11", "torch.cuda.FloatTensor", "deprecated"),
    ],
)
def test_nothing_is_deprecated_that_the_pinned_torch_still_wants(
    pin: str, spelled: str, told: str, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text(pin + "\n")
    (tmp_path / "train.py").write_text(f"import torch\n\ntorch.set_default_tensor_type({spelled!r})\n")
    (tmp_path / "pyproject.toml").write_text('[tool.torchdevlint]\nlevel = "info"\n')
    found = check_paths([tmp_path / "train.py"], select=["TDL511"])
    assert [told in finding.message for finding in found] == [True] * bool(told)


@pytest.mark.parametrize(
    ("place", "pin", "severity"),
    [
        ("requirements.txt", "torch>=1.8", Severity.INFO),
        ("requirements/build.txt", "torch>=1.8", Severity.INFO),
        ("requirements.txt", "torch>=1.13", Severity.WARNING),
        ("requirements.txt", "torch", Severity.WARNING),
    ],
)
def test_a_project_that_supports_a_torch_without_the_new_name_gets_a_note(
    place: str, pin: str, severity: Severity, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text(pin + "\n", encoding="utf-8")
    (tmp_path / "train.py").write_text(AMP, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.torchdevlint]\nlevel = "info"\n', encoding="utf-8")
    (finding,) = check_paths([tmp_path / "train.py"], select=["TDL805"])
    assert finding.severity is severity
