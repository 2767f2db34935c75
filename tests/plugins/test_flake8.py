"""The plugin under flake8 itself."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from flake8 import utils
from flake8.main import cli

from torchdevlint.plugins import flake8 as plugin
from torchdevlint.plugins.flake8 import Plugin
from torchdevlint.settings import Resolver

# TDL101 on line 5, column 27 (from 1). TDL803 is a note and off by default: line 8.
FAULTY = 'import torch\n\n\ndef load(model):\n    model.load_state_dict(torch.load("a.pt"))\n'
NOTE = 'import torch\n\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\n'


Flake8 = Callable[..., tuple[int, list[str]]]


def lines_of_ours(output: str) -> list[str]:
    return [line for line in output.splitlines() if " TDL" in line]


def command(*arguments: str, stdin: str = "", cwd: Path) -> tuple[int, list[str]]:
    """The exit code and the lines of our codes of flake8 as it is started."""
    words = [sys.executable, "-m", "flake8", "--isolated", *arguments]
    result = subprocess.run(words, input=stdin, capture_output=True, text=True, cwd=cwd, timeout=120)
    assert result.stderr == ""
    return result.returncode, lines_of_ours(result.stdout)


@pytest.fixture
def flake8(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Flake8:
    """The same in this process, in which nobody has asked flake8 or the plugin before; `said` is what standard error has to show."""

    def run(*arguments: str, stdin: str = "", cwd: Path, said: str = "") -> tuple[int, list[str]]:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        monkeypatch.setattr(plugin, "_resolver", Resolver())
        monkeypatch.setattr(Plugin, "_named", frozenset())
        for cached in (plugin._tell, utils.stdin_get_value):
            cached.cache_clear()
        code = cli.main(["-j", "1", "--isolated", *arguments])
        out, error = (text.decode() for text in capfdbinary.readouterr())
        assert said in error if said else error == ""
        return code, lines_of_ours(out)

    return run


def places(lines: list[str]) -> list[str]:
    """ "file:row:column: code" of each line."""
    return [" ".join(line.split(" ")[:2]) for line in lines]


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FAULTY, encoding="utf-8")
    code, lines = command("a.py", cwd=tmp_path)
    assert code == 1
    assert places(lines) == ["a.py:5:27: TDL101"]


def test_stdin(tmp_path: Path) -> None:
    assert places(command("-", stdin=FAULTY, cwd=tmp_path)[1]) == ["stdin:5:27: TDL101"]
    assert places(command("--stdin-display-name", "x/b.py", "-", stdin=FAULTY, cwd=tmp_path)[1]) == [
        "x/b.py:5:27: TDL101"
    ]


@pytest.mark.parametrize(
    "raw",
    [
        "\ufeff" + FAULTY,
        FAULTY.replace("\n", "\r\n"),
        FAULTY.replace("    model", "\tmodel").replace("\n\n\n", "\n\x0c\n\n"),
    ],
)
def test_stored_otherwise(flake8: Flake8, tmp_path: Path, raw: str) -> None:
    (tmp_path / "a.py").write_bytes(raw.encode())
    (line,) = flake8("a.py", cwd=tmp_path)[1]
    assert line.startswith(("a.py:5:27: TDL101", "a.py:5:24: TDL101"))


def test_many_files_on_many_processes(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"m{number}.py").write_text(FAULTY + NOTE, encoding="utf-8")
    arguments = ("--extend-select", "TDL803", ".")
    one, many = command("-j", "1", *arguments, cwd=tmp_path), command("-j", "3", *arguments, cwd=tmp_path)
    assert len(one[1]) == 12
    assert sorted(one[1]) == sorted(many[1])


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ((), ["TDL101"]),
        (("--ignore", "E501"), ["TDL101"]),
        (("--ignore", "TDL1"), []),
        (("--extend-ignore", "TDL101"), []),
        (("--select", "TDL"), ["TDL101"]),
        (("--select", "TDL8"), []),
        (("--extend-select", "TDL8"), ["TDL101"]),
        (("--extend-select", "TDL803"), ["TDL101", "TDL803"]),
        (("--select", "TDL803"), ["TDL803"]),
        (("--ignore", "E501", "--extend-select", "TDL803"), ["TDL101", "TDL803"]),
        (("--extend-select", "TDL000,TDL001"), ["TDL101"]),
    ],
)
def test_selection_is_flake8s(flake8: Flake8, tmp_path: Path, arguments: tuple[str, ...], codes: list[str]) -> None:
    (tmp_path / "a.py").write_text(FAULTY + NOTE + "x = 1  # torchdevlint: ignore[TDL501]\n", encoding="utf-8")
    assert [line.split(" ")[1] for line in flake8(*arguments, "a.py", cwd=tmp_path)[1]] == codes


@pytest.mark.parametrize(
    ("comment", "arguments", "count"),
    [
        ("# noqa", (), 0),
        ("# noqa: TDL101", (), 0),
        ("# noqa: TDL1", (), 0),
        ("# noqa: E501", (), 1),
        ("# noqa: TDL101", ("--disable-noqa",), 1),
        ("# torchdevlint: ignore[TDL101]", (), 0),
        ("# torchdevlint: ignore[TDL5]", (), 1),
    ],
)
def test_noqa_is_flake8s_and_ours_is_honoured(
    flake8: Flake8, tmp_path: Path, comment: str, arguments: tuple[str, ...], count: int
) -> None:
    (tmp_path / "a.py").write_text(FAULTY[:-1] + f"  {comment}\n", encoding="utf-8")
    assert len(flake8(*arguments, "a.py", cwd=tmp_path)[1]) == count


def test_a_whole_file_is_ignored(flake8: Flake8, tmp_path: Path) -> None:
    assert flake8("-", stdin=FAULTY + "# torchdevlint: ignore-file[TDL1]\n", cwd=tmp_path)[1] == []


def test_what_does_not_parse_is_flake8s(flake8: Flake8, tmp_path: Path) -> None:
    assert flake8("-", stdin="import torch\nprint 1\n", cwd=tmp_path)[1] == []


def test_pyproject_selection_is_not_flake8s_and_a_broken_one_does_no_harm(flake8: Flake8, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FAULTY, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.torchdevlint]\nignore = ["TDL101"]\n', encoding="utf-8")
    assert len(flake8("a.py", cwd=tmp_path)[1]) == 1
    (tmp_path / "pyproject.toml").write_text("[tool.torchdevlint\n", encoding="utf-8")
    assert len(flake8("a.py", cwd=tmp_path, said="the settings are not used: ")[1]) == 1


@pytest.mark.parametrize(
    "text",
    ['tool = "torchdevlint"', "[project]\ndependencies = 5 # torch", '[tool.torchdevlint]\nselect = "TDL9"', "x"],
)
def test_settings_that_cannot_be_used_cost_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"{text} # torch", encoding="utf-8")
    path = tmp_path / "a.py"
    assert len(list(Plugin(ast.parse(FAULTY), str(path), FAULTY.splitlines(keepends=True)).run())) == 1


def test_settings_that_cannot_be_read_cost_no_finding(flake8: Flake8, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FAULTY, encoding="utf-8")
    (tmp_path / "pyproject.toml").symlink_to("pyproject.toml")
    assert len(flake8("a.py", cwd=tmp_path, said="the settings are not used: ")[1]) == 1


def test_it_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    from torchdevlint import linter

    def fail(*arguments: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(linter, "look", fail)
    assert list(Plugin(ast.parse(FAULTY), "a.py", FAULTY.splitlines(keepends=True)).run()) == []


def test_rows_from_one_and_columns_from_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (found,) = Plugin(ast.parse(FAULTY), "a.py", FAULTY.splitlines(keepends=True)).run()
    row, column, text, kind = found
    assert (row, column, text[:7], kind) == (5, 26, "TDL101 ", Plugin)
