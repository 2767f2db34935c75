"""A repository that means harm, or is unlucky, costs the user a sentence: everything else is checked, and nothing is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torchdevlint.settings import Resolver, SettingsError, load_toml, minimum_torch
from torchdevlint.workspace import pool, runner
from torchdevlint.workspace.discovery import Discovery

FAULT = "import torch\nmodel = torch.load('a.pt', map_location='cuda:1')\n"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="was run on Linux alone")


def check(
    *arguments: str, cwd: Path, environment: dict[str, str] | None = None, **streams: object
) -> subprocess.CompletedProcess[str]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **streams}
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-m", "torchdevlint", "check", "--output-format", "concise", *arguments],
        cwd=cwd,
        text=True,
        timeout=300,
        env={**os.environ, **(environment or {})},
        **streams,
    )


def test_a_hostile_repository(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(FAULT, encoding="utf-8")
    for name in (
        ".gitignore",
        "setup.py",
        "setup.cfg",
        "requirements.txt",
        "pipe.py",
        "sub/pyproject.toml",
        "README.md",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        os.mkfifo(tmp_path / name)
    (tmp_path / "sub" / "b.py").write_text(FAULT, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    (tmp_path / "broken.py").symlink_to("nowhere.py")
    for name, line in (("undefined", "undefined"), ("punycode", "punycode"), ("rot13", "rot13")):
        (tmp_path / f"{name}.py").write_text(f"# coding: {line}\n{FAULT}", encoding="utf-8")
    (tmp_path / "formats.py").write_bytes(b"import torch \xff\nx = " + b"f'{" * 3000 + b"1" + b"}'" * 3000)
    (tmp_path / "comment.py").write_text(FAULT + "#torchdevlint:ignore[" * 10_000, encoding="utf-8")
    (tmp_path / "return.py").write_text(
        "import torch # x\rx = " + "(" * 1500 + "1" + ")" * 1500 + "\r", encoding="utf-8"
    )
    (tmp_path / "windows.py").write_text(
        "import torch\r\nx = 'a\\\r\nb' + " + "(" * 6000 + "1" + ")" * 6000 + " + ''\r\n", encoding="utf-8", newline=""
    )
    (tmp_path / "attributes.py").write_text("import torch\nx = a" + ".b" * 1500 + "\n" + FAULT, encoding="utf-8")
    (tmp_path / "patterns.py").write_text(
        FAULT + "match model:\n    case " + "{1: " * 150 + "a" + "}" * 150 + ": pass\n", encoding="utf-8"
    )
    (tmp_path / "imports.py").write_text(FAULT + "import (\n" * 20_000, encoding="utf-8")
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(11_000_000)
        file.write(b"import torch")
    folder = tmp_path / "deep"
    for _ in range(800):
        folder /= "d"
    folder.mkdir(parents=True)
    (folder / "c.py").write_text(FAULT, encoding="utf-8")
    for name, text in {
        "settings-1": 'tool = "torch"',
        "settings-2": "[project]\ndependencies = 5  # torch",
        "settings-3": "[project.optional-dependencies]\na = 1  # torch\nb = [1]",
        "settings-4": '[tool]\npoetry = "torch"',
        "settings-5": f"[project]\ndependencies = ['torch>={'1' * 5001}.0']",
        "settings-6": f"[project]\ntorch = {'[' * 3000}",
        "settings-7": f"[project]\ntorch = {'1' * 5001}",
        "settings-8": '[tool.torchdevlint]\nexclude = ["!"]',
        "settings-9": f'[tool.torchdevlint]\nexclude = ["{"*a" * 30}b.py"]',
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(text, encoding="utf-8")
        (tmp_path / name / ("a" * 200 + ".py")).write_text(FAULT, encoding="utf-8")

    done = check(".", "-j", "1", cwd=tmp_path)

    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    told = done.stderr.splitlines()
    assert all(line.startswith("torchdevlint: ") and line.count("Error") == 0 for line in told), told
    for words in (
        "loop.py: Too many levels",
        "sub/pyproject.toml: it is no regular file",
        "settings-6/pyproject.toml: not valid TOML: it nests too deeply",
        "settings-7/pyproject.toml: not valid TOML: ",
        "settings-8/pyproject.toml: exclude: the pattern '!' names nothing",
        "large.py: not read, as it is larger than",
        ".gitignore: ",
    ):
        assert sum(words in line for line in told) == 1, (words, told)
    deep = [line for line in told if line.endswith("attributes.py: not checked: it nests too deeply")]
    assert not deep or sys.version_info[:2] == (3, 12)
    assert len(told) - len(deep) == 7, told
    found = done.stdout
    for name in (
        "good.py:2",
        "comment.py:2",
        "d/c.py:2",
        *(f"settings-{n}/" for n in (1, 2, 3, 4, 5, 9)),
    ):
        assert name in found, name
    for name in (
        "undefined.py",
        "punycode.py",
        "rot13.py",
        "formats.py",
        "return.py",
        "windows.py",
        "imports.py",
        "patterns.py",
    ):
        assert any(line.startswith(name) and "TDL000" in line for line in found.splitlines()), name


def test_named_pipes_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.py")
    run = runner.check([str(tmp_path / "x.py"), "/dev/zero"], Resolver(isolated=True))
    assert run.problems == [
        f"{tmp_path / 'x.py'}: not read, as it is no regular file",
        "/dev/zero: not read, as it is no regular file",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_settings_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "pyproject.toml").chmod(0)
    with pytest.raises(SettingsError, match="Permission denied"):
        Resolver().for_folder(str(tmp_path))


def test_a_deep_table_is_refused_before_the_parser_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("\n".join(f"a{n} = ['[[[']" for n in range(60)) + "\nc = " + "[" * 90 + "]" * 90, encoding="utf-8")
    assert len(load_toml(str(path))) == 61
    path.write_text("c = " + "[{a = " * 60, encoding="utf-8")
    with pytest.raises(SettingsError, match="nests too deeply"):
        load_toml(str(path))
    path.write_text('"""' + '\\"""' * 100_000 + "[" * 101, encoding="utf-8")
    with pytest.raises(SettingsError):
        load_toml(str(path))


@pytest.mark.parametrize(
    "document",
    [
        {"tool": "torch"},
        {"project": "torch"},
        {"project": {"dependencies": 5, "optional-dependencies": {"a": 1, "b": [2, None]}}},
        {"project": {"optional-dependencies": ["torch"]}},
        {"tool": {"poetry": "torch"}},
        {"tool": {"poetry": {"dependencies": ["torch"]}}},
        {"tool": {"poetry": {"dependencies": {"torch": 5}}}},
        {"project": {"dependencies": ["torch>=" + "1" * 5001]}},
        {"project": {"dependencies": ["torch" + " " * 50_000 + "!"]}},
    ],
    ids=str,
)
def test_unexpected_types_tell_nothing(document: dict[str, object]) -> None:
    assert minimum_torch(document) is None


def test_a_link_to_what_may_not_be_looked_at_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to("a.py")
    (tmp_path / "b.py").write_text(FAULT, encoding="utf-8")
    problems: list[str] = []
    found = list(Discovery(Resolver(isolated=True), problems).targets([str(tmp_path)]))
    assert [target.path for target in found] == [str(tmp_path / "b.py")]
    assert len(problems) == 1 and "Too many levels" in problems[0]


def test_nothing_of_the_current_folder_runs(tmp_path: Path) -> None:
    # Not importlib: the interpreter's own `-m` imports that from the current folder, before any of our code runs.
    for name in ("argparse", "typing", "__future__", "gc", "enum", "re", "tomllib", "libcst", "fnmatch"):
        (tmp_path / f"{name}.py").write_text(f"open('{name} was run', 'w')\n", encoding="utf-8")
    (tmp_path / "a.py").write_text(FAULT, encoding="utf-8")
    done = check("a.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith("was run")]


def test_a_file_that_kills_its_process_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(FAULT, encoding="utf-8")
    work = runner.lint_job
    monkeypatch.setattr(
        runner, "lint_job", lambda job: os.kill(os.getpid(), 9) if "b.py" in job.target.path else work(job)
    )
    if not pool.can_fork():
        pytest.skip("other threads run here, and a fork is not safe")
    run = runner.check([str(tmp_path)], Resolver(isolated=True), processes=1)
    assert run.problems == [f"{tmp_path / 'b.py'}: the process that checked this file was killed by SIGKILL"]
    assert [Path(outcome.filename).name for outcome in run.outcomes if outcome.findings] == ["a.py", "c.py"]


def test_what_does_not_look_at_the_clock_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(FAULT, encoding="utf-8")
    (tmp_path / "b.py").write_text(FAULT, encoding="utf-8")
    work = runner.lint_job
    monkeypatch.setenv("TORCHDEVLINT_SECONDS_PER_FILE", "1")

    def spin(job: runner.Job) -> object:
        while "b.py" in job.target.path:
            pass
        return work(job)

    monkeypatch.setattr(runner, "lint_job", spin)
    if not pool.can_fork():
        pytest.skip("other threads run here, and a fork is not safe")
    run = runner.check([str(tmp_path)], Resolver(isolated=True), processes=1)
    assert [problem.partition("/b.py: ")[2] for problem in run.problems] == [
        "the process that checked this file was stopped: it took more than 1.5 seconds"
    ]


def test_closed_and_full_streams(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FAULT, encoding="utf-8")
    command = f"exec {sys.executable} -m torchdevlint check --isolated "

    def shell(rest: str) -> tuple[int, str]:
        done = subprocess.run(["sh", "-c", command + rest], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stderr

    assert shell("a.py >&-") == (2, "torchdevlint: <stdout>: Bad file descriptor\n")
    assert shell("a.py >/dev/full") == (2, "torchdevlint: cannot write the output: No space left on device\n")
    assert shell("a.py nowhere.py 2>&-") == (2, "")
    assert shell("a.py nowhere.py 2>/dev/full") == (2, "")
    assert shell("- <&-") == (2, "torchdevlint: -: Bad file descriptor\n")
    assert shell("- </dev/zero") == (2, "torchdevlint: -: not read, as it is larger than 10,000 kB\n")


@pytest.mark.skipif(os.name != "posix", reason="a folder in use cannot be removed elsewhere")
def test_a_current_folder_that_was_removed_is_told(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = f"rmdir ../gone && {sys.executable} -m torchdevlint check"
    for paths in ("", "."):
        done = subprocess.run(
            ["sh", "-c", f"{command} {paths}"], cwd=tmp_path / "gone", capture_output=True, text=True, timeout=300
        )
        (tmp_path / "gone").mkdir()
        assert (done.returncode, done.stderr) == (2, "torchdevlint: the current folder does not exist any more\n")


def test_what_escapes_is_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from torchdevlint import cli

    def fail(_: object) -> int:
        raise ValueError("a fault\nof two lines")

    monkeypatch.setattr(cli, "_run", fail)
    assert cli.main(["check"]) == 2
    assert capsys.readouterr().err == (
        "torchdevlint: failed: ValueError: a fault of two lines (a fault of torchdevlint; TORCHDEVLINT_TRACEBACK=1 shows where)\n"
    )

    def refuse(_: object) -> int:
        raise PermissionError(13, "Permission denied", "a\x1b[31m\n::error::b")

    monkeypatch.setattr(cli, "_run", refuse)
    assert cli.main(["check"]) == 2
    assert capsys.readouterr().err == "torchdevlint: a\\x1b[31m\\n::error::b: Permission denied\n"
    monkeypatch.setenv("TORCHDEVLINT_TRACEBACK", "1")
    assert cli.main(["check"]) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        'tool = "x"',
        "[tool]\nruff = 5",
        "[tool.ruff]\nexternal = 5\nlint = 1",
        "[tool.ruff]\nexternal = [1]",
        "x = " + "[" * 900,
    ],
)
def test_strange_tables_of_ruff(tmp_path: Path, text: str) -> None:
    from torchdevlint.workspace.suppress import ruff_would_object

    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert ruff_would_object(tmp_path) in (True, False)


def test_numbers_that_python_does_not_convert() -> None:
    from torchdevlint import check_source

    digits = "9" * 5000
    text = f"import torch\nx = torch.zeros(3).to('cuda:{digits}')\ny = torch.device('cuda', {digits})\ntorch.cuda.set_device({digits})\n"
    found = check_source(text, level="info")
    assert [finding.message for finding in found if finding.code == "TDL512" and finding.span.start.row == 2] == [
        "no device index has 5000 digits; write one as in `cuda:0`"
    ]


@pytest.mark.skipif(not hasattr(os, "O_ASYNC"), reason="the thread is the only way")
def test_a_worker_works_where_no_thread_can_be_started(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FAULT, encoding="utf-8")
    script = (
        "import sys, threading\n"
        "def refuse(self):\n    raise RuntimeError('can\\'t start new thread')\n"
        "threading.Thread.start = refuse\n"
        "from torchdevlint import cli\n"
        "sys.exit(cli.main(['check', '--output-format', 'concise', 'a.py']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (1, "")
