"""`torchdevlint check` as its users call it, most of the time in this process."""

from __future__ import annotations

import contextlib
import errno
import functools
import gc
import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchdevlint import cli
from torchdevlint.rules.registry import rule_by_code
from torchdevlint.workspace import pool, runner, writer

# One safe fix (TDL101), and a text that needs none.
FAULTY = 'import torch\n\n\ndef load(model):\n    model.load_state_dict(torch.load("a.pt"))\n'
REPAIRED = FAULTY.replace('"a.pt")', '"a.pt", map_location="cpu")')
ONE = ["--select", "TDL101"]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes | None = None) -> tuple[int, str, str]:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = cli.main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def write(name: str, text: str | bytes = FAULTY) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# ---------------------------------------------------------------------------------------------------- finding


def test_nothing_found(run: Run) -> None:
    write("a.py", "x = 1\n")
    assert run("check") == (0, "No faults found.\n", "")


def test_findings_remain(run: Run) -> None:
    write("sub/a.py")
    code, out, err = run("check", *ONE)
    assert code == 1
    assert out.startswith("sub/a.py:5:27: warning: TDL101 load-without-map-location\n")
    assert out.endswith("Found 1 fault.\n[*] 1 can be repaired with `--fix`.\n")
    assert err == ""


def test_formats(run: Run) -> None:
    path = write("a.py")
    _, out, _ = run("check", *ONE, "--output-format", "json")
    (finding,) = json.loads(out)
    assert (finding["code"], finding["filename"], finding["location"]) == (
        "TDL101",
        str(path.absolute()),
        {"row": 5, "column": 27},
    )
    assert finding["fix"]["applicability"] == "safe"
    assert run("check", *ONE, "--output-format", "concise")[1].startswith("a.py:5:27: TDL101 [*] ")
    assert run("check", *ONE, "--output-format", "github")[1].startswith(
        "::warning title=torchdevlint (TDL101),file=a.py,line=5,col=27,"
    )
    assert run("check", *ONE, "--statistics")[1] == "1  TDL101  [*]  load-without-map-location\n"
    assert json.loads(run("check", *ONE, "--statistics", "--output-format", "json")[1])[0]["count"] == 1


def test_the_report_as_a_file(run: Run) -> None:
    write("a.py")
    assert run("check", *ONE, "--output-format", "json", "--output-file", "out.json")[:2] == (1, "")
    assert len(json.loads(Path("out.json").read_text(encoding="utf-8"))) == 1
    assert run("check", "--output-file", "no/such/folder")[0] == 2


def test_selection_and_level(run: Run) -> None:
    write("a.py")
    assert run("check", "--ignore", "TDL")[0] == 0
    assert run("check", "--ignore", "TDL", "--extend-select", "TDL101")[0] == 1
    assert run("check", "--select", "TDL5,TDL2", "--select", "TDL3")[0] == 0
    assert run("check", *ONE, "--level", "error")[0] == 0
    assert run("check", *ONE, "--exit-zero")[0] == 0


def test_settings_and_the_command_line_over_them(run: Run) -> None:
    write("a.py")
    write("pyproject.toml", '[tool.torchdevlint]\nselect = ["TDL5"]\n')
    assert run("check")[0] == 0
    assert run("check", "--isolated", "--extend-select", "TDL101")[0] == 1
    assert run("check", *ONE)[0] == 1
    write("other.toml", '[tool.torchdevlint]\nselect = ["TDL101"]\n')
    assert run("check", "--config", "other.toml")[0] == 1


def test_excluded_files(run: Run) -> None:
    write("gen/a.py")
    assert run("check", *ONE, "--extend-exclude", "gen")[0] == 0
    assert run("check", *ONE, "--extend-exclude", "gen", "gen/a.py")[0] == 1
    assert run("check", *ONE, "--extend-exclude", "gen", "gen/a.py", "--force-exclude")[0] == 0


# ---------------------------------------------------------------------------------------------------- repairing


def test_fix(run: Run) -> None:
    path = write("a.py", FAULTY.replace("\n", "\r\n").encode())
    path.chmod(0o755)
    code, out, _ = run("check", *ONE, "--fix")
    assert (code, out) == (0, "Repaired 1 fault, 0 left.\n")
    assert path.read_bytes() == REPAIRED.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    before = path.stat().st_mtime_ns
    assert run("check", *ONE, "--fix") == (0, "No faults found.\n", "")
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("paths", [("Train.py", "train.py"), (".",)])
def test_one_file_under_two_names_is_repaired_once(run: Run, paths: tuple[str, ...]) -> None:
    """As `Train.py` and `train.py` are where case does not count; a hard link shows it anywhere."""
    path = write("Train.py")
    if not Path("train.py").exists():
        Path("train.py").hardlink_to(path)
    code, _, err = run("check", *ONE, "--fix", *paths)
    assert (code, err, path.read_text()) == (0, "", REPAIRED)
    assert path.samefile("train.py")
    assert {name.lower() for name in os.listdir()} == {"train.py"}  # noqa: PTH208


def test_fix_with_an_exit_code(run: Run) -> None:
    write("a.py")
    assert run("check", *ONE, "--fix", "--exit-non-zero-on-fix")[0] == 1
    assert run("check", *ONE, "--fix", "--exit-non-zero-on-fix")[0] == 0


def test_diff_writes_nothing(run: Run) -> None:
    path = write("a.py")
    code, out, _ = run("check", *ONE, "--diff", "--fix")
    assert code == 1
    assert out.splitlines()[:3] == ["--- a/a.py", "+++ b/a.py", "@@ -2,4 +2,4 @@"]
    assert path.read_bytes() == FAULTY.encode()
    assert subprocess.run(["patch", "-p1"], input=out, text=True, timeout=20, stdout=subprocess.DEVNULL).returncode == 0
    assert path.read_bytes() == REPAIRED.encode()
    assert run("check", *ONE, "--diff") == (0, "", "")


def test_a_link_is_written_through(run: Run) -> None:
    target = write("real/a.py")
    Path("link.py").symlink_to(target)
    assert run("check", *ONE, "--fix", "link.py")[0] == 0
    assert Path("link.py").is_symlink()
    assert target.read_text() == REPAIRED


def test_a_full_disk(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.py")
    write("b.py")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writer.os, "fsync", full)
    code, out, err = run("check", *ONE, "--fix", "--output-format", "concise")
    assert code == 2
    assert "torchdevlint: a.py: not written: No space left on device\n" in err
    assert out.startswith("a.py:5:27: TDL101")
    assert path.read_text() == FAULTY
    assert sorted(item.name for item in Path().iterdir()) == ["a.py", "b.py"]


@pytest.mark.parametrize("folder", [".", "below"])
def test_a_diff_applies_with_git(run: Run, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    names = [
        "a.py",
        "with blank.py",
        "été.py",
        'quote"back\\.py',
        "line\nend\t.py",
        "-dash.py",
        "sub/deep.py",
        "b a.py ",
    ]
    texts = {
        "lf.py": FAULTY.encode(),
        "crlf.py": FAULTY.replace("\n", "\r\n").encode(),
        "cr.py": FAULTY.replace("\n", "\r").encode(),
        "no_end.py": FAULTY.rstrip("\n").encode(),
        "bom.py": b"\xef\xbb\xbf" + FAULTY.encode(),
        "latin.py": b"# coding: latin-1\nx = '\xe9\x80'\n" + FAULTY.encode() + b"x = '\xe9'\n",
        "controls.py": FAULTY.replace("load(model):", "load(model):  # \x0c \x1b \u202e \u2028").encode(),
    } | {name: FAULTY.encode() for name in names}
    with contextlib.suppress(OSError, UnicodeError):  # file systems that know no such names
        write("no-utf-8-\udce9.py")
        texts["no-utf-8-\udce9.py"] = FAULTY.encode()
    for name, text in texts.items():
        write(f"{folder}/{name}", text)
    Path(f"{folder}/sub/link.py").symlink_to("deep.py")
    monkeypatch.chdir(folder)
    result = _spawn("check", *ONE, "--no-project", "--diff", "--", *texts)
    assert result.returncode == 1, result.stderr
    assert all(Path(name).read_bytes() == text for name, text in texts.items())
    for command in (["git", "init", "-q", ".." if folder == "below" else "."], ["git", "apply", "--check", "-"]):
        subprocess.run(command, input=result.stdout, check=True, timeout=60)
    applied = subprocess.run(["git", "apply", "-"], input=result.stdout, capture_output=True, timeout=60)
    assert applied.returncode == 0, applied.stderr
    by_git = {name: Path(name).read_bytes() for name in texts}
    for name, text in texts.items():
        Path(name).write_bytes(text)
    assert _spawn("check", *ONE, "--no-project", "--fix", "--", *texts).returncode == 0
    assert by_git == {name: Path(name).read_bytes() for name in texts}
    assert all(by_git[name] != text for name, text in texts.items())


def test_a_diff_in_a_file_is_the_same(run: Run) -> None:
    write("a.py", b"# coding: latin-1\n" + FAULTY.encode() + b"x = '\xe9'\n")
    shown = _spawn("check", *ONE, "--diff").stdout
    assert b"\xe9" in shown
    assert _spawn("check", *ONE, "--diff", "--output-file", "a.patch").returncode == 1
    assert Path("a.patch").read_bytes() == shown


@pytest.mark.parametrize(
    "kind", ["itself", "case", "link", "hard link", "other source", "script", "way out", "no suffix"]
)
def test_a_report_is_not_written_over_source(run: Run, tmp_path: Path, kind: str) -> None:
    path = write("project/a.py")
    other = write("project/sub/b.pyi", "x: int\n")
    write("secret", "keep")
    paths = ["project"]
    output = Path("report")
    if kind == "itself":
        output = path
    elif kind == "case":
        output = Path("project/A.PY")
    elif kind == "link":
        output.symlink_to(path)
    elif kind == "hard link":
        output.hardlink_to(path)
    elif kind == "other source":
        output, paths = other, [str(path)]
    elif kind == "script":
        output.write_text("#!/usr/bin/env python3\n" + FAULTY)
    elif kind == "way out":
        os.chdir("project")
        output.symlink_to("../secret")
        paths = ["."]
    else:
        output.write_text(FAULTY)
        paths = ["report"]
    before = {item: item.read_bytes() for item in tmp_path.rglob("*") if item.is_file()}
    code, out, err = run("check", *ONE, "--fix", "--output-file", str(output), *paths)
    assert (code, out) == (2, "")
    assert err.startswith(f"torchdevlint: {output}: ")
    assert {item: item.read_bytes() for item in tmp_path.rglob("*") if item.is_file()} == before


def test_a_report_is_written_whole_or_not_at_all(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.py")
    report = write("report", "old")
    report.chmod(0o640)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(writer.os, "fsync", full)
        code, _, err = run("check", *ONE, "--output-file", "report")
    assert (code, err, report.read_text()) == (2, "torchdevlint: report: No space left on device\n", "old")
    assert run("check", *ONE, "--output-file", "report")[0] == 1
    assert "Found 1 fault." in report.read_text()
    assert stat.S_IMODE(report.stat().st_mode) == 0o640
    assert sorted(os.listdir()) == ["a.py", "report"]  # noqa: PTH208


def test_a_report_to_a_device(run: Run) -> None:
    write("a.py")
    assert b"Found 1 fault." in _spawn("check", *ONE, "--output-file", "/dev/stdout").stdout


# ---------------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize("word", ["--output-file=a.py", "--verify=a.py", "-j9.py", "--fix\n::error::x.py"])
def test_an_option_that_is_a_file(run: Run, word: str) -> None:
    write("a.py")
    write(word)
    code, out, err = run("check", *ONE, "a.py", word)
    assert (code, out) == (2, "")
    assert err.startswith("torchdevlint: " + word.replace("\n", r"\n") + ": an option, and the name of a file here")
    assert err.count("\n") == 1
    code, out, _ = run("check", *ONE, "--no-project", "--output-format", "concise", "--", "a.py", word)
    assert (code, out.count("TDL101")) == (1, 2)
    assert Path("a.py").read_text() == FAULTY


def test_a_file_called_as_standard_input(run: Run) -> None:
    write("a.py")
    write("-")
    code, out, _ = run("check", *ONE, "--no-project", "--output-format", "concise", "--", "-", "a.py")
    assert (code, out.count("TDL101")) == (1, 2)


@pytest.mark.parametrize("word", ["--output", "--uns", "--isol", "--no-s"])
def test_options_are_not_abbreviated(run: Run, word: str) -> None:
    write("a.py")
    code, out, err = run("check", word, "a.py")
    assert (code, out) == (2, "")
    assert "unrecognized arguments" in err


def test_what_argparse_says_is_escaped(run: Run) -> None:
    code, _, err = run("check", "--no\x1b[31m\n::error::x")
    assert code == 2
    assert r"--no\x1b[31m\n::error::x" in err
    assert "\x1b" not in err


def test_names_are_escaped_on_standard_error(run: Run) -> None:
    assert run("check", "no\n::error::x\x1b")[2] == "torchdevlint: no\\n::error::x\\x1b: no such file or directory\n"


# ---------------------------------------------------------------------------------------------------- meanwhile, and beyond


def test_a_file_that_changes_while_it_is_examined(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.py")
    lint_job = runner.lint_job

    def lint_slowly(job: runner.Job) -> object:
        outcome = lint_job(job)
        path.write_text(FAULTY + "# my edit\n")
        return outcome

    monkeypatch.setattr(runner, "lint_job", lint_slowly)
    for option, text in (("--fix", FAULTY + "# my edit\n"), ("--add-noqa", FAULTY + "# my edit\n")):
        path.write_text(FAULTY)
        code, _, err = run("check", *ONE, option)
        assert (code, err) == (2, "torchdevlint: a.py: changed meanwhile, not written\n")
        assert path.read_text() == text


@pytest.mark.parametrize("option", ["--fix", "--add-noqa"])
def test_a_link_that_leads_out_of_the_given_paths(run: Run, option: str) -> None:
    target = write("elsewhere/a.py")
    Path("given").mkdir()
    Path("given/link.py").symlink_to(target.absolute())
    code, _, err = run("check", *ONE, option, "given")
    assert (code, err) == (
        2,
        "torchdevlint: given/link.py: not written: the link leads out of the paths that were given\n",
    )
    assert target.read_text() == FAULTY
    assert run("check", *ONE, option, ".")[0] == 0
    assert target.read_text() != FAULTY


def test_nothing_is_repaired_where_the_settings_cannot_be_read(run: Run) -> None:
    path, other = write("sub/a.py"), write("b.py")
    Path("sub/pyproject.toml").symlink_to("pyproject.toml")
    code, _, err = run("check", *ONE, "--fix")
    assert code == 2
    assert err.startswith(f"torchdevlint: {Path('sub/pyproject.toml').absolute()}: ")
    assert (path.read_text(), other.read_text()) == (FAULTY, REPAIRED)


# ---------------------------------------------------------------------------------------------------- standard input


def test_stdin(run: Run) -> None:
    code, out, _ = run("check", *ONE, "-", stdin=FAULTY.encode())
    assert (code, out.split(" ")[0]) == (1, "-:5:27:")
    code, out, _ = run(
        "check", *ONE, "--stdin-filename", "sub/a.py", "--output-format", "json", "-", stdin=FAULTY.encode()
    )
    assert (code, json.loads(out)[0]["filename"]) == (1, str(Path("sub/a.py").absolute()))
    assert run("check", "-", stdin=b"x = 1\n")[:2] == (0, "No faults found.\n")


def test_stdin_is_repaired_to_stdout(run: Run) -> None:
    source = FAULTY.replace("\n", "\r\n").encode()
    result = _spawn("check", *ONE, "--fix", "-", stdin=source)
    assert (result.returncode, result.stdout) == (0, REPAIRED.replace("\n", "\r\n").encode())
    assert b"Repaired 1 fault" in result.stderr
    result = _spawn("check", "--fix", "-", stdin=b"x = 1\r\n")
    assert result.stdout == b"x = 1\r\n"


def test_stdin_of_an_excluded_file(run: Run) -> None:
    arguments = ("check", *ONE, "--force-exclude", "--extend-exclude", "gen", "--stdin-filename", "gen/a.py", "-")
    assert run(*arguments, stdin=FAULTY.encode())[0] == 0


# ---------------------------------------------------------------------------------------------------- suppressing


def test_add_noqa(run: Run) -> None:
    write("a.py")
    path = write("b.py", 'import torch\nx = (torch.load(\n    "a"  # why\n))\ny = torch.load("b")  # noqa: E501\n')
    assert run("check", *ONE, "--add-noqa")[:2] == (0, "Added 3 suppressions.\n")
    assert path.read_text() == (
        'import torch\nx = (torch.load(\n    "a"  # why\n))  # noqa: TDL101\ny = torch.load("b")  # noqa: E501, TDL101\n'
    )
    assert run("check", *ONE)[0] == 0
    assert run("check", *ONE, "--extend-select", "TDL001")[0] == 0


def test_add_noqa_beside_ruff(run: Run) -> None:
    write("pyproject.toml", "[tool.ruff]\n")
    path = write("a.py")
    run("check", *ONE, "--add-noqa")
    assert path.read_text() == FAULTY[:-1] + "  # torchdevlint: ignore[TDL101]\n"
    write("pyproject.toml", '[tool.ruff.lint]\nexternal = ["TDL"]\n')
    path = write("a.py")
    run("check", *ONE, "--add-noqa")
    assert path.read_text() == FAULTY[:-1] + "  # noqa: TDL101\n"


def test_unused_suppressions_in_files_without_torch(run: Run) -> None:
    path = write("a.py", "x = 1  # noqa: TDL101\n")
    assert run("check")[0] == 0
    assert run("check", "--extend-select", "TDL001")[0] == 1
    assert run("check", "--extend-select", "TDL001", "--fix")[0] == 0
    assert path.read_text() == "x = 1\n"


# ---------------------------------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "--select", "TDL1O1"), "--select: unknown rule code 'TDL1O1' (did you mean 'TDL101'?)"),
        (("check", "--level", "loud"), "--level: "),
        (("check", "--config", "none.toml"), "none.toml: No such file or directory"),
        (("check", "--config", "x", "--isolated"), "exclude each other"),
        (("check", "-", "a.py"), "cannot be checked together"),
        (("check", "--add-noqa", "--fix"), "--add-noqa"),
        (("check", "-j", "0"), "a number of processes"),
        (("check", "--no-such-option"), "--no-such-option"),
        (("chekc",), "chekc"),
        (("rule", "TDL1O1"), "did you mean 'TDL101'?"),
    ],
)
def test_usage(run: Run, arguments: tuple[str, ...], words: str) -> None:
    code, out, err = run(*arguments, stdin=b"")
    assert (code, out) == (2, "")
    assert words in err


def test_other_files_are_checked_whatever_happens_to_one(run: Run) -> None:
    write("good.py")
    write("sub/pyproject.toml", "[tool.torchdevlint]\nselct = []\n")
    write("sub/a.py")
    write("latin.py", b"import torch\nx = '\xe9'\n")
    write("nul.py", b"import torch\0\n")
    write("empty.py", b"")
    write("async.py", "import torch\nx.cuda(async=True)\n")
    write("deep.py", "import torch\nx = " + "(" * 1000 + ")" * 1000 + "\n")
    write("long.py", "import torch\nx = torch.load(1)" + " + 1" * 2100 + "\n")
    write("chain.py", "import torch\nx = torch.load(1)" + ".b()" * 4000 + "\n")
    Path("loop").symlink_to(Path.cwd(), target_is_directory=True)
    code, out, err = run("check", *ONE, ".", "missing.py", "--output-format", "concise")
    assert code == 2
    found = [line.split(" ")[:2] for line in out.splitlines() if ".py:" in line]
    assert [name.split(":")[0] for name, _ in found] == [
        "async.py",
        "chain.py",
        "deep.py",
        "good.py",
        "latin.py",
        "long.py",
        "nul.py",
    ]
    assert {code for _, code in found} == {"TDL000", "TDL101"}
    assert len(err.splitlines()) == 2
    assert "missing.py: no such file or directory" in err
    assert "has no key 'selct' (did you mean 'select'?)" in err


def test_an_unreadable_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.py")
    write("b.py")
    os.mkfifo("pipe.py")  # no file: reading it would wait for ever

    read_bytes = runner.read_bytes

    def refuse(path: str) -> bytes:
        if path == "a.py":
            raise PermissionError(13, "Permission denied", path)
        return read_bytes(path)

    monkeypatch.setattr(runner, "read_bytes", refuse)
    code, out, err = run("check", *ONE, "--output-format", "concise")
    assert code == 2
    assert out.startswith("b.py:5:27: TDL101")
    assert err == "torchdevlint: a.py: Permission denied\n"


def test_a_crash_of_a_rule_hides_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = rule_by_code("TDL501")
    assert rule is not None

    for _, method in rule.hooks():

        @functools.wraps(getattr(rule, method))
        def crash(*arguments: object) -> None:
            raise ZeroDivisionError("the rule is wrong")

        monkeypatch.setattr(rule, method, crash)
    write("a.py", FAULTY + "FAULT = torch.ones(3)\nFAULT.to('cpu')\n")
    code, out, err = run("check", "--select", "TDL101,TDL501", "--output-format", "concise")
    assert code == 2
    assert out.startswith("a.py:5:27: TDL101")
    assert err == "torchdevlint: a.py: TDL501: ZeroDivisionError: the rule is wrong\n"


def test_ctrl_c(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.py")

    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(writer.os, "fsync", interrupt)
    assert run("check", *ONE, "--fix") == (130, "", "torchdevlint: interrupted\n")
    assert path.read_text() == FAULTY
    assert [item.name for item in Path().iterdir()] == ["a.py"]


# ---------------------------------------------------------------------------------------------------- processes


def _spawn(*arguments: str, stdin: bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "torchdevlint", *arguments], input=stdin, capture_output=True, timeout=120, **options
    )


def _many(count: int) -> None:
    for number in range(count):
        write(f"m{number:02}.py", FAULTY + "# padding\n" * 600)


def test_many_processes_say_the_same_as_one(run: Run) -> None:
    _many(24)
    one = _spawn("check", *ONE, "-j", "1", "--output-format", "json")
    many = _spawn("check", *ONE, "-j", "3", "--output-format", "json")
    assert len(json.loads(one.stdout)) == 24
    assert (one.returncode, one.stdout, one.stderr) == (many.returncode, many.stdout, many.stderr)
    assert _spawn("check", *ONE, "-j", "3", "--fix").stdout == b"Repaired 24 faults, 0 left.\n"
    assert Path("m07.py").read_text().startswith(REPAIRED)


def test_a_worker_that_is_killed_costs_its_file_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _many(12)
    lint_job = runner.lint_job

    def die_on_one(job: runner.Job) -> object:
        if job.target.path == "m05.py":
            os.kill(os.getpid(), signal.SIGKILL)
        return lint_job(job)

    monkeypatch.setattr(runner, "lint_job", die_on_one)
    code, out, err = run("check", *ONE, "-j", "2", "--output-format", "concise")
    assert code == 2
    assert out.count("TDL101") == 11
    assert err == "torchdevlint: m05.py: the process that checked this file was killed by SIGKILL\n"


@pytest.mark.parametrize(("most", "is_found"), [(0, True), (10**9, False)])
def test_without_the_collector_garbage_is_found_once_there_is_much(
    run: Run, monkeypatch: pytest.MonkeyPatch, most: int, is_found: bool
) -> None:
    class Ring:
        def __init__(self) -> None:
            self.itself = self

    _many(1)
    monkeypatch.setattr(runner, "MOST_UNCOLLECTED", most)
    monkeypatch.setattr(pool, "can_fork", lambda: False)  # so that it is this process that gathers it
    gc.disable()
    try:
        ring = weakref.ref(Ring())
        run("check", *ONE)
        assert (ring() is None) is is_found
    finally:
        gc.enable()


def test_ctrl_c_ends_all_processes(run: Run) -> None:
    _many(2000)  # seconds of work, however busy the machine is
    before = {path: path.read_text() for path in Path().glob("*.py")}
    process = subprocess.Popen(
        [sys.executable, "-m", "torchdevlint", "check", *ONE, "-j", "2", "--fix"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A suite that a shell runs in the background ignores SIGINT, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    watched = sorted(before)[::50]  # whatever the order of the work, one of these comes early
    while all(path.read_text() == before[path] for path in watched) and time.monotonic() < deadline:
        time.sleep(0.01)  # until a file is written
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == b"torchdevlint: interrupted\n"
    assert all(path.read_text() in (text, text.replace(FAULTY, REPAIRED)) for path, text in before.items())
    assert len(list(Path().iterdir())) == 2000
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_closed_pipe_is_no_error(run: Run) -> None:
    _many(3)
    command = f"{sys.executable} -m torchdevlint check --isolated --select TDL101 --output-format json | head -c 1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert result.stdout == b"["
    assert b"Traceback" not in result.stderr


# ---------------------------------------------------------------------------------------------------- the rest


def test_version_and_help(run: Run) -> None:
    from torchdevlint import __version__

    assert run("--version")[:2] == (0, f"torchdevlint {__version__}\n")
    code, out, _ = run("--help")
    assert code == 0
    for command in cli.COMMANDS:
        assert command in out
    assert run()[0] == 2
    assert "examples:" in run("check", "--help")[1]


def test_the_rule_command(run: Run) -> None:
    code, out, _ = run("rule", "tdl101")
    assert code == 0
    assert out.startswith("# load-without-map-location (TDL101)\n\nSeverity: warning. On by default. Fix: ")
    assert run("rule", "load-without-map-location")[1] == out
    listed = run("rule")[1]
    assert "TDL101  load-without-map-location" in listed
    assert all(line.startswith("TDL") for line in listed.splitlines())
    assert out.strip() in run("rule", "--all")[1]
    group = run("rule", "tdl2")[1].splitlines()
    assert group == [line for line in listed.splitlines() if line.startswith("TDL2")] and len(group) >= 3
    assert [rule["code"] for rule in json.loads(run("rule", "TDL2", "--output-format", "json")[1])] == [
        line[:6] for line in group
    ]
    assert run("rule", "TDL")[1] == listed
    rule = json.loads(run("rule", "TDL101", "--output-format", "json")[1])
    assert rule["url"] == "docs/rules/TDL101.md"
    assert rule["name"] == "load-without-map-location"
    assert len(json.loads(run("rule", "--all", "--output-format", "json")[1])) == len(listed.splitlines())


def test_quiet_prints_the_findings_and_what_failed_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nstate = torch.load('m.pt')\n", encoding="utf-8")
    code, out, err = run("check", "-q", "--output-format", "concise", "a.py")
    assert code == 1
    assert len(out.splitlines()) == 1 and "TDL101" in out and err == ""
    assert run("check", "--quiet", "--select", "TDL2", "a.py") == (0, "", "")
    code, out, err = run("check", "-q", "missing.py")
    assert code == 2 and out == "" and "missing.py" in err
    (tmp_path / "empty").mkdir()
    assert run("check", "empty")[2] != "" == run("check", "-q", "empty")[2]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("check", "--fixx"), "--fix"),
        (("check", "--outputformat=json"), "--output-format"),
        (("check", "--qiet"), "--quiet"),
        (("rule", "--al"), "--all"),
        (("check", "--zzz"), None),
    ],
)
def test_an_unknown_option_names_the_nearest(run: Run, arguments: tuple[str, ...], meant: str | None) -> None:
    code, _, err = run(*arguments)
    assert code == 2
    assert "unrecognized arguments: " in err
    assert (f"(did you mean {meant}?)" in err) if meant else ("did you mean" not in err)


def test_colours_are_for_terminals(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchdevlint.cli.check import _wants_colour

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert _wants_colour(Terminal())
    assert not _wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not _wants_colour(Terminal())


def test_progress_shows_on_a_terminal_for_long_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from torchdevlint.cli.check import PROGRESS_FROM, _progress_bar

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with _progress_bar(quiet=False) as progress:
        assert progress is not None
        progress(1, PROGRESS_FROM - 1)
    assert terminal.getvalue() == ""
    with _progress_bar(quiet=False) as progress:
        assert progress is not None
        progress(1, PROGRESS_FROM)
    assert "checking" in terminal.getvalue()


@pytest.mark.parametrize("style", ["full", "concise", "grouped"])
def test_what_could_not_be_checked_is_not_called_faultless(run: Run, style: str) -> None:
    write("good.py", "import torch\n")
    code, out, err = run("check", "good.py", "missing.py", "--output-format", style)
    assert (code, out) == (2, "Not everything could be checked: 1 problem is told on stderr.\n")
    assert err == "torchdevlint: missing.py: no such file or directory\n"


def test_reports_for_servers_tell_what_could_not_be_checked(run: Run) -> None:
    out = run("check", "missing\x01.py", "--output-format", "sarif")[1]
    [invocation] = json.loads(out)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    [told] = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "missing\\x01.py: no such file or directory"
    out = run("check", "missing.py", "--output-format", "junit")[1]
    assert 'tests="1" failures="0" errors="1"' in out
    assert '<error message="missing.py: no such file or directory"/>' in out
    assert "no findings" not in out


def test_a_folder_without_python_is_told(run: Run) -> None:
    write("sub/readme.txt")
    for path in (".", "sub"):
        code, out, err = run("check", path)
        assert (code, out) == (0, "No faults found.\n")
        assert (
            err == f"torchdevlint: {path}: no Python files and notebooks were found that are not excluded or ignored\n"
        )
    write("sub/a.py", "x = 1\n")
    assert run("check") == (0, "No faults found.\n", "")


@pytest.mark.parametrize("kind", ["pipe", "link to nowhere", "folder"])
def test_a_gitignore_that_cannot_be_read_is_told_once(run: Run, kind: str) -> None:
    write("a.py", "x = 1\n")
    write("sub/a.py", "x = 1\n")
    Path(".git").mkdir()
    if kind == "pipe":
        os.mkfifo(".gitignore")
    elif kind == "folder":
        Path(".gitignore").mkdir()
    else:
        Path(".gitignore").symlink_to("nowhere")
    code, out, err = run("check", ".", "sub")
    assert (code, out) == (0, "No faults found.\n")
    assert err == f"torchdevlint: {Path.cwd() / '.gitignore'}: not read, as it is no regular file\n"


@pytest.mark.parametrize(("word", "meant"), [("chekc", "check"), ("rules", "rule"), ("fix", None)])
def test_an_unknown_command(run: Run, word: str, meant: str | None) -> None:
    code, out, err = run(word)
    assert (code, out) == (2, "")
    assert f"unknown command {word!r}" in err
    assert (f"did you mean {meant!r}?" in err) if meant else ("did you mean" not in err)


def test_a_path_without_a_command_gets_a_hint(run: Run) -> None:
    write("train.py")
    for path in ("train.py", "."):
        assert f"did you mean `torchdevlint check {path}`?" in run(path)[2]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EAGAIN, errno.ENOMEM])
def test_what_the_system_does_not_give_is_not_called_output(
    run: Run, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    write("a.py")
    monkeypatch.setattr(runner, "check", refuse)
    code, out, err = run("check")
    assert (code, out) == (2, "")
    assert err == f"torchdevlint: the run needs more than the system gives: {os.strerror(number)}\n"
