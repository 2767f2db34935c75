"""What a change does to the findings on repositories: two programs that differ, and folders laid out as they are fetched."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ecosystem
import pytest
from ecosystem import Found, Told

FAULTY = "import torch\n\nmodel.load_state_dict(torch.load('model.pt'))\nx = torch.rand(3)\nx.to(device)\n"


def git(*arguments: str | Path) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main", *arguments],
        check=True,
        capture_output=True,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plain folder, and a git directory without a work tree as a mirror keeps it."""
    plain = tmp_path / "fetched" / "plain"
    plain.mkdir(parents=True)
    (plain / "a.py").write_text(FAULTY, encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    (work / "b.py").write_text(FAULTY, encoding="utf-8")
    git("init", work)
    git("-C", work, "add", ".")
    git("-C", work, "commit", "-m", "x")
    (tmp_path / "fetched" / "owner+name").mkdir()
    git("clone", "--bare", work, tmp_path / "fetched" / "owner+name" / "1.git")
    return tmp_path / "fetched"


def test_repositories_are_found(folder: Path) -> None:
    assert [(item.name, item.is_bare) for item in ecosystem.repositories(folder)] == [
        ("owner/name", True),
        ("plain", False),
    ]


def test_a_change_shows_in_the_findings(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = iter([["--ignore", "TDL101"], []] * 2)  # stands for a program that does not know the rule yet
    run = ecosystem.findings
    monkeypatch.setattr(
        ecosystem, "findings", lambda program, source, given: run(program, source, [*given, *next(options)])
    )
    assert ecosystem.main([".", ".", str(folder)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("2 repositories, ")
    assert "2 new, 0 gone, 0 told otherwise, in 2 repositories." in told
    assert "| TDL101 | 0 | 2 |" in told
    assert "- owner/name b.py:3 TDL101 warning: `model.load_state_dict(torch.load('model.pt'))`" in told
    assert "TDL502" not in told


def test_nothing_changes_between_equals(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ecosystem.main([".", ".", str(folder)]) == 0
    assert "0 new, 0 gone, 0 told otherwise, in 0 repositories." in capsys.readouterr().out


def test_moved_lines_are_no_change() -> None:
    key = Found("a.py", "TDL101", "x = 1")
    before = {key: [Told("warning", "m", 3), Told("warning", "m", 9)]}
    assert not any(ecosystem.difference(before, {key: [Told("warning", "m", 5), Told("warning", "m", 11)]}))
    less = ecosystem.difference(before, {key: [Told("error", "m", 5)]})
    assert [told.row for _, told in less.gone] == [9]
    assert [(was.severity, now.severity) for _, was, now in less.otherwise] == [("warning", "error")]


def test_an_empty_folder_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ecosystem.main([".", ".", str(tmp_path / "nowhere")]) == 0
    assert "no repositories here" in capsys.readouterr().out


def test_an_unknown_commit_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ecosystem.main(["no-such-commit", ".", str(folder)]) == 2
    assert "no-such-commit" in capsys.readouterr().err
