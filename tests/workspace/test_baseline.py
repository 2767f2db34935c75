"""Known findings: by file, code and content."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from torchdevlint import cli
from torchdevlint.workspace import baseline

FAULTY = 'import torch\n\n\ndef load(model):\n    model.load_state_dict(torch.load("a.pt"))\n'
ONE = ["check", "--select", "TDL101", "--no-project", "--output-format", "concise"]
KNOWN = ["--baseline", "known.json"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a faulty file and its baseline."""
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(FAULTY, encoding="utf-8")
    assert cli.main([*ONE, *KNOWN, "--write-baseline"]) == 0
    return tmp_path


def check(*arguments: str) -> int:
    return cli.main([*ONE, *KNOWN, *arguments])


def test_what_is_known_is_not_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--write-baseline") == 0
    assert capsys.readouterr().out == "Wrote 1 known finding.\n"
    assert check() == 0
    captured = capsys.readouterr()
    assert captured.out == "No faults found.\n"
    assert captured.err == "torchdevlint: 1 finding known from known.json not shown\n"
    assert cli.main(ONE) == 1


def test_the_file(folder: Path) -> None:
    assert json.loads(Path("known.json").read_bytes()) == {
        "torchdevlint-baseline": 1,
        "findings": [
            {
                "file": "a.py",
                "code": "TDL101",
                "content": 'model.load_state_dict(torch.load("a.pt"))',
                "count": 1,
            }
        ],
    }


@pytest.mark.parametrize(
    "text",
    [
        "# above\n" * 30 + FAULTY,
        FAULTY.replace("\n", "\r\n"),
        FAULTY.replace("def load", "if True:\n  def load"),
        "# coding: latin-1\n" + FAULTY,
    ],
)
def test_moved_lines_stay_known(text: str) -> None:
    Path("a.py").write_bytes(text.encode())
    assert check() == 0


@pytest.mark.parametrize(
    "text",
    [
        FAULTY.replace("a.pt", "b.pt"),
        FAULTY + FAULTY.split("\n", 3)[3].replace("def load", "def again"),  # once more than is known
    ],
)
def test_what_is_new_is_reported(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.py").write_text(text, encoding="utf-8")
    assert check() == 1
    assert capsys.readouterr().out.count("TDL101") == 1


def test_another_file_is_new() -> None:
    Path("b.py").write_text(FAULTY, encoding="utf-8")
    assert check("a.py") == 0
    assert check() == 1


def test_it_does_not_matter_where_the_paths_start(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sub").mkdir()
    (folder / "link").symlink_to(folder)
    monkeypatch.chdir("sub")
    for where in ("..", str(folder), str(folder / "link")):
        assert cli.main([*ONE, "--baseline", "../known.json", where]) == 0


def test_a_file_that_does_not_parse_is_never_known() -> None:
    Path("a.py").write_text(FAULTY + "x = (\n", encoding="utf-8")
    assert check("--write-baseline") == 0
    assert check() == 1


def test_what_is_known_of_other_files_stays() -> None:
    Path("b.py").write_text(FAULTY, encoding="utf-8")
    Path("c.py").write_text(FAULTY, encoding="utf-8")
    assert check("--write-baseline") == 0
    Path("c.py").unlink()
    assert check("--write-baseline", "a.py") == 0
    assert [item["file"] for item in json.loads(Path("known.json").read_bytes())["findings"]] == ["a.py", "b.py"]


def test_suppressions_are_added_to_new_findings_alone() -> None:
    Path("b.py").write_text(FAULTY, encoding="utf-8")
    assert check("--add-noqa") == 0
    assert "noqa" in Path("b.py").read_text(encoding="utf-8")
    assert Path("a.py").read_text(encoding="utf-8") == FAULTY


def test_a_baseline_that_changed_meanwhile_is_not_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = baseline.write

    def write_late(*arguments: object) -> int:
        Path("known.json").write_text("{}", encoding="utf-8")
        return write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(baseline, "write", write_late)
    assert check("--write-baseline") == 2
    assert capsys.readouterr().err == "torchdevlint: known.json: changed meanwhile, not written\n"
    assert Path("known.json").read_text(encoding="utf-8") == "{}"
    Path("known.json").unlink()
    assert check("--write-baseline") == 2


def test_nothing_is_written_where_something_failed(capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("known.json").read_bytes()
    assert check("--write-baseline", ".", "nowhere.py") == 2
    assert capsys.readouterr().err.endswith("known.json: not written, as not everything could be checked\n")
    assert Path("known.json").read_bytes() == before


@pytest.mark.parametrize("option", ["--fix", "--diff", "--add-noqa"])
def test_what_does_not_go_together(option: str) -> None:
    assert check("--write-baseline", option) == 2
    assert cli.main([*ONE, "--write-baseline"]) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "5",
        "x",
        "[" * 100_000,
        '{"torchdevlint-baseline": 2, "findings": []}',
        '{"torchdevlint-baseline": 1, "findings": 5}',
        '{"torchdevlint-baseline": 1, "findings": [5]}',
        '{"torchdevlint-baseline": 1, "findings": [{"file": [], "code": "x", "content": "x", "count": 1}]}',
        '{"torchdevlint-baseline": 1, "findings": [{"file": "x", "code": "x", "content": "x", "count": -1}]}',
        "[tool.torchdevlint]\n",
    ],
)
@pytest.mark.parametrize("option", [(), ("--write-baseline",)])
def test_what_is_no_baseline_is_refused_and_stays(
    text: str, option: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("known.json").write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert check(*option) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "torchdevlint: known.json: not a baseline that --write-baseline has written\n"
    assert Path("known.json").read_text(encoding="utf-8") == text


def test_what_cannot_be_read_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("known.json").unlink()
    assert check() == 2
    os.mkfifo("known.json")
    assert check() == 2
    assert check("--write-baseline") == 2
    assert "no regular file" in capsys.readouterr().err


def test_source_and_reports_are_kept_apart() -> None:
    assert cli.main([*ONE, "--baseline", "new.py", "--write-baseline"]) == 2
    assert not Path("new.py").exists()
    assert check("--output-file", "known.json") == 2
    assert check() == 0


def test_names_that_are_no_utf_8() -> None:
    try:
        Path("caf\udce9.py").write_text(FAULTY, encoding="utf-8")
    except (OSError, UnicodeError):
        pytest.skip("this file system knows no such names")
    assert check("--write-baseline") == 0
    assert check() == 0
