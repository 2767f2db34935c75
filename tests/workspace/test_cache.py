"""What a run keeps for the next one: it is given back while nothing has changed, and never when anything has."""

# Paths are strings where the system is asked.
# ruff: noqa: PTH100, PTH119

from __future__ import annotations

import builtins
import errno
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import torchdevlint
from torchdevlint import cli
from torchdevlint.source import disk
from torchdevlint.workspace import cache, pool, runner

LOAD = 'import torch\n\n\ndef load(model):\n    model.load_state_dict(torch.load("a.pt"))\n'
NETWORK = "import torch\n\nDEVICE = torch.device('cuda')\n\n\ndef move(x, host='cpu'):\n    return x.to(DEVICE)\n"
CALLER = "import torch\n\nfrom models.net import move\n\nif __name__ == '__main__':\n    print(move(torch.zeros(3)) + torch.ones(3))\n"
NOTEBOOK = json.dumps(
    {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": LOAD}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)

Output = tuple[int, str, str]


class Project:
    """A small project, and runs over it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.capsys = root, capsys
        self.worked = 0
        check = runner.check

        def counted(*arguments: Any, **options: Any) -> runner.Run:
            self.worked += 1
            return check(*arguments, **options)

        monkeypatch.setattr(runner, "check", counted)
        monkeypatch.setattr(pool, "can_fork", lambda: False)  # this process does the work

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def run(self, *arguments: str) -> Output:
        code = cli.main(["check", "-j", "1", *arguments])
        captured = self.capsys.readouterr()
        return code, captured.out, captured.err

    def is_recalled(self, *arguments: str) -> bool:
        """Runs, compares with a run without a cache, and tells whether no work was done."""
        return self.are_recalled(*arguments, times=1)[0]

    def are_recalled(self, *arguments: str, times: int = 2) -> list[bool]:
        """The same for several runs over the same files."""
        recalled, found = [], []
        for _ in range(times):
            before = self.worked
            found.append(self.run(*arguments))
            recalled.append(self.worked == before)
        assert found == [self.run("--no-cache", *arguments)] * times
        return recalled


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Project]:
    monkeypatch.setenv(disk.CACHE_VARIABLE, str(tmp_path / "cache"))
    package = tmp_path / "package"  # stands for our own files, which each run reads to know itself: there are hundreds
    (package / "rules").mkdir(parents=True)
    for name in ("__init__.py", "rules/rule.py", "torch.stub"):
        (package / name).touch()
    monkeypatch.setattr(cache, "_INSTALLED", str(package))
    found = Project(tmp_path / "project", capsys, monkeypatch)
    found.write("train.py", LOAD)
    found.write("main.py", CALLER)
    found.write("models/__init__.py", "")
    found.write("models/net.py", NETWORK)
    found.write("plain.py", "print(1)\n")
    found.write("note.ipynb", NOTEBOOK)
    found.write("requirements.txt", "torch>=2.0\n")
    found.write("README.md", "Run train.py.\n")
    found.write("pyproject.toml", '[project]\nname = "x"\n\n[tool.torchdevlint]\nignore = ["TDL203"]\n')
    (found.root / ".git").mkdir()
    monkeypatch.chdir(found.root)
    yield found


def age(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there now counts as old from here on."""
    monkeypatch.setattr(disk, "_YOUNG", -(10**18))


@pytest.mark.parametrize("output", ["full", "concise", "json", "sarif", "junit", "gitlab", "github", "grouped"])
def test_a_run_over_the_same_gives_the_same_without_work(project: Project, output: str) -> None:
    assert project.are_recalled("--output-format", output) == [False, True]
    assert "TDL101" in project.run("--output-format", output)[1]


def test_what_only_shapes_the_report_is_not_asked_again(project: Project) -> None:
    project.run()
    for options in (["--statistics"], ["-q"], ["--exit-zero"], ["-j", "2"], ["--output-format", "json"]):
        assert project.is_recalled(*options), options


@pytest.mark.parametrize(
    "options",
    [
        ["--select", "TDL101"],
        ["--ignore", "TDL101"],
        ["--level", "info"],
        ["--isolated"],
        ["--no-project"],
        ["--no-sieve"],
        ["--exclude", "train.py"],
        ["train.py"],
        ["--config", "pyproject.toml"],
    ],
)
def test_another_question_has_its_own_answer(project: Project, options: list[str]) -> None:
    project.run()
    assert project.are_recalled(*options) == [False, True]
    assert project.is_recalled()


CHANGES: dict[str, Callable[[Project], object]] = {
    "a file": lambda project: project.write("train.py", LOAD.replace("a.pt", "b.pt") + LOAD),
    "a file, by one letter": lambda project: project.write("train.py", LOAD.replace("a.pt", "b.pt")),
    "a notebook": lambda project: project.write("note.ipynb", NOTEBOOK.replace("a.pt", "b.pt")),
    "a file that was none of ours": lambda project: project.write("plain.py", LOAD),
    "a new file": lambda project: project.write("new.py", LOAD),
    "a new file in a folder": lambda project: project.write("models/new.py", LOAD),
    "a removed file": lambda project: (project.root / "train.py").unlink(),
    "a moved file": lambda project: (project.root / "train.py").rename(project.root / "other.py"),
    "a removed module": lambda project: (project.root / "models/net.py").unlink(),
    "a module that others import": lambda project: project.write("models/net.py", NETWORK.replace("cuda", "cpu")),
    "settings": lambda project: project.write("pyproject.toml", '[tool.torchdevlint]\nignore = ["TDL101"]\n'),
    "settings of a folder": lambda project: project.write("models/pyproject.toml", "[tool.torchdevlint]\nselect=[]\n"),
    "what git ignores": lambda project: project.write(".gitignore", "train.py\n"),
    "what git ignores in a folder": lambda project: project.write("models/.gitignore", "*\n"),
    "requirements": lambda project: project.write("requirements.txt", "torch<1.9\n"),
    "a licence": lambda project: project.write("LICENSE", ""),
    "no repository any more": lambda project: (project.root / ".git").rmdir(),
    "no project any more": lambda project: (project.root / "pyproject.toml").unlink(),
    "a folder in place of a file": lambda project: [
        (project.root / "train.py").unlink(),
        project.write("train.py/x.py", LOAD),
    ],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("is_old", [True, False], ids=["long after", "in the same tick"])
def test_a_change_is_seen(
    project: Project, change: Callable[[Project], object], is_old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_old:
        age(monkeypatch)
    else:  # a clock that stands still: times tell nothing
        monkeypatch.setattr(disk, "_signature", lambda status: [status.st_size, 0, 0, status.st_ino])
    project.run()
    change(project)
    assert project.are_recalled() == [False, True]


def test_a_link_that_leads_elsewhere_is_seen(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.root / "link.py").symlink_to(project.root.parent / "outside.py")
    age(monkeypatch)
    project.run()
    project.write("../outside.py", LOAD)
    assert project.are_recalled() == [False, True]


def test_old_files_are_not_read_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    age(monkeypatch)
    project.run()
    opened = reads(monkeypatch, project.root)
    project.run()
    assert not opened


def test_young_files_are_read_until_they_are_old(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.run()
    opened = reads(monkeypatch, project.root)
    project.run()
    assert str(project.root / "train.py") in opened
    age(monkeypatch)
    project.run()
    opened.clear()
    project.run()
    assert not opened


def reads(monkeypatch: pytest.MonkeyPatch, root: Path) -> set[str]:
    """The files below a folder that are opened from now on."""
    opened: set[str] = set()
    before = os.open

    def noted(path: Any, *arguments: Any, **options: Any) -> int:
        if str(path).startswith(str(root)):
            opened.add(str(path))
        return before(path, *arguments, **options)

    monkeypatch.setattr(os, "open", noted)
    return opened


def test_a_touched_file_with_the_same_text_is_no_change(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    age(monkeypatch)
    project.run()
    os.utime(project.root / "train.py", (1, 1))
    assert project.is_recalled()


def test_every_question_to_the_system_is_kept(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a run looks at decides what it says: nothing below the project may be looked at past `source.disk`."""
    asked: set[str] = set()
    root = str(project.root)

    def note(path: object) -> None:
        name = os.path.abspath(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else ""
        if name.startswith(root) and not os.path.basename(name).startswith("-"):  # options that could be files
            asked.add(name)

    def wrapped(before: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any = ".", *arguments: Any, **options: Any) -> Any:
            note(path)
            return before(path, *arguments, **options)

        return call

    for name in ("stat", "lstat", "open", "scandir", "listdir", "readlink", "access"):
        monkeypatch.setattr(os, name, wrapped(getattr(os, name)))
    monkeypatch.setattr(builtins, "open", wrapped(builtins.open))
    project.run()
    assert any(path.endswith("train.py") for path in asked)
    [kept] = (project.root.parent / "cache").glob("*/*.json")
    answers = json.loads(kept.read_bytes().partition(b"\n")[2])["answers"]
    known = {os.path.abspath(path) for of_kind in answers.values() for path in of_kind}
    assert asked <= known


def test_random_changes_say_the_same_as_no_cache(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """One change after the other, some of them in the tick of the one before, some taken back."""
    random_ = random.Random(20261123)
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(project.root.rglob("*.*")) if path.is_file()}
    names = [*texts, project.root / "models" / "more.py", project.root / "sub" / "train.py"]
    recalled = 0
    for _ in range(80):
        path = random_.choice(names)
        match random_.randrange(6):
            case 0:
                path.unlink(missing_ok=True)
            case 1:
                project.write(str(path.relative_to(project.root)), texts.get(path, LOAD))
            case 2 if path.suffix == ".py":
                project.write(str(path.relative_to(project.root)), random_.choice((LOAD, NETWORK, CALLER, "x = (\n")))
            case 3 if path.suffix == ".py" and path.exists():
                text = path.read_text(encoding="utf-8")
                at = random_.randrange(len(text) + 1)
                project.write(str(path.relative_to(project.root)), text[:at] + random_.choice("\nx# ") + text[at:])
            case 4:
                monkeypatch.setattr(disk, "_YOUNG", random_.choice((3_000_000_000, 0, -(10**18))))
            case _:
                pass
        options = random_.choice(([], ["--level", "info"], ["--diff"], ["--output-format", "json"]))
        recalled += project.is_recalled(*options)
    assert recalled > 5


def test_repairs_are_the_same(project: Project) -> None:
    project.run("--fix")
    first = {path: path.read_bytes() for path in project.root.rglob("*.py")}
    assert b"map_location" in first[project.root / "train.py"]
    project.write("train.py", LOAD)
    project.run("--fix")
    assert {path: path.read_bytes() for path in project.root.rglob("*.py")} == first
    assert not project.is_recalled("--fix")  # the run before wrote a file
    assert project.is_recalled("--fix")
    project.write("train.py", LOAD)
    assert "map_location" in project.run("--diff")[1]
    assert "map_location" in project.run("--diff")[1]
    assert (project.root / "train.py").read_text(encoding="utf-8") == LOAD


def test_a_baseline_hides_the_same(project: Project) -> None:
    project.run()
    assert project.run("--baseline", "known.json", "--write-baseline")[0] == 0
    assert project.run("--baseline", "known.json") == project.run("--baseline", "known.json", "--no-cache")
    before = project.worked
    assert project.run("--baseline", "known.json")[0] == 0
    assert project.worked == before


def test_a_report_is_still_not_written_over_a_file_that_is_checked(project: Project) -> None:
    assert project.run("train.py")[0] == 1
    assert project.run("train.py", "--output-file", "train.py")[0] == 2
    assert (project.root / "train.py").read_text(encoding="utf-8") == LOAD


def test_a_run_that_could_not_check_everything_is_not_kept(project: Project) -> None:
    project.write("bad.py", b"#" * 10_000_001 + b" torch.load")
    assert project.run()[0] == 2
    assert not project.is_recalled()


def test_another_installation_does_not_take_the_results(project: Project, tmp_path: Path) -> None:
    """Two checkouts of one version, as somebody has who works on the program."""
    package = Path(torchdevlint.__file__).parent
    other = shutil.copytree(package, tmp_path / "other" / "torchdevlint", ignore=shutil.ignore_patterns("__pycache__"))
    places = other / "rules" / "loading" / "load_without_map_location.py"
    assert "TDL101" in places.read_text(encoding="utf-8")
    probe = (
        "import sys; folder = sys.argv[1]; sys.path.insert(0, folder);"
        "import torchdevlint; sys.path.remove(folder); from torchdevlint import cli;"
        "sys.exit(cli.main(['check', '-q', '--select', 'TDL1', '--output-format', 'json']))"
    )

    def codes(folder: Path) -> bool:
        command = [sys.executable, "-c", probe, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode in (0, 1), done.stderr
        return "TDL101" in done.stdout

    assert codes(package.parent)
    places.unlink()
    assert not codes(other.parent)
    assert codes(package.parent)


def test_rules_of_others_may_read_anything(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entry_points = tmp_path / "site" / "acme-1.0.dist-info" / "entry_points.txt"
    project.run()
    entry_points.parent.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    project.run()
    assert project.is_recalled()
    entry_points.write_text("[torchdevlint.rules]\nacme = acme_rules\n", encoding="utf-8")
    assert not project.is_recalled()
    assert not project.is_recalled()


# ---------------------------------------------------------------------------------------------------- the folder


def test_the_folder_tells_others_to_leave_it_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(disk.CACHE_VARIABLE)
    project.run()
    folder = project.root / cache.NAME
    assert (folder / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    assert (folder / ".gitignore").read_text(encoding="utf-8").endswith("\n*\n")
    assert project.is_recalled()
    assert project.is_recalled("--exclude", "nothing") is False


@pytest.mark.parametrize(
    ("settings", "folder"),
    [
        ("cache = false", None),
        ('cache-dir = "kept/here"', "kept/here"),
        ("cache = true", cache.NAME),
    ],
)
def test_settings_say_where(
    project: Project, monkeypatch: pytest.MonkeyPatch, settings: str, folder: str | None
) -> None:
    monkeypatch.delenv(disk.CACHE_VARIABLE)
    project.write("pyproject.toml", f"[tool.torchdevlint]\n{settings}\n")
    monkeypatch.chdir(project.root / "models")  # the settings stand above
    project.run()
    caches = [path.parent for path in project.root.rglob("CACHEDIR.TAG")]
    assert caches == ([project.root / folder] if folder else [])


def test_wrong_settings_of_the_cache_are_told(project: Project) -> None:
    project.write("pyproject.toml", "[tool.torchdevlint]\ncache = 3\n")
    code, _, told = project.run()
    assert code == 2
    assert "cache: true or false is wanted" in told


def test_no_cache_keeps_nothing(project: Project, tmp_path: Path) -> None:
    project.run("--no-cache")
    assert not (tmp_path / "cache").exists()


def test_a_folder_of_others_is_left_alone(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "x.json").write_text("{}", encoding="utf-8")
    code, _, told = project.run("--cache-dir", str(folder))
    assert code == 2
    assert "no cache of torchdevlint" in told
    assert [path.name for path in folder.iterdir()] == ["x.json"]


def test_a_link_of_a_repository_leads_nowhere(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(disk.CACHE_VARIABLE)
    (tmp_path / "precious").mkdir()
    (project.root / cache.NAME).symlink_to(tmp_path / "precious", target_is_directory=True)
    assert project.run()[0] == 1
    assert not list((tmp_path / "precious").iterdir())


def test_a_link_in_a_cache_leads_nowhere(project: Project, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    project.run()
    [runs] = (path for path in (tmp_path / "cache").iterdir() if path.is_dir())
    shutil.rmtree(runs)
    runs.symlink_to(tmp_path / "precious", target_is_directory=True)
    assert project.are_recalled() == [False, False]
    assert not list((tmp_path / "precious").iterdir())
    assert cli.main(["clean", "--cache-dir", str(tmp_path / "cache")]) == 0
    assert (tmp_path / "precious").is_dir()


def test_few_runs_are_kept(project: Project, tmp_path: Path) -> None:
    for number in range(cache._MOST_RUNS + 3):
        project.run("--exclude", f"nothing{number}", "plain.py")
    assert len(list((tmp_path / "cache").glob("*/*.json"))) == cache._MOST_RUNS
    assert project.is_recalled("--exclude", f"nothing{cache._MOST_RUNS + 2}", "plain.py")


def damaged(raw: bytes) -> dict[str, bytes]:
    _, _, body = raw.partition(b"\n")
    at = raw.index(b"TDL101")
    return {
        "nothing": b"",
        "zeros": bytes(len(raw)),
        "half": raw[: len(raw) // 2],
        "one letter": raw[:at] + b"TDL102" + raw[at + 6 :],
        "no digest": body,
        "not ASCII": b"\xff\n" + body,
        "another document": disk.digest(b"[]").encode() + b"\n[]",
        "deep": disk.digest(b"[" * 100_000).encode() + b"\n" + b"[" * 100_000,
    }


def test_damage_is_a_miss(project: Project, tmp_path: Path) -> None:
    expected = project.run()
    [kept] = (tmp_path / "cache").glob("*/*.json")
    whole = kept.read_bytes()
    for name, raw in damaged(whole).items():
        kept.write_bytes(raw)
        before = project.worked
        assert project.run() == expected, name
        assert project.worked == before + 1, name
        assert project.is_recalled()
    kept.unlink()
    kept.mkdir()
    assert project.run() == expected
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    assert project.run() == expected


def replaced(document: Any, place: tuple[Any, ...], value: object) -> bytes:
    """A kept run with another value at a place, and the digest that belongs to it."""
    document = json.loads(json.dumps(document))
    item = document
    for key in place[:-1]:
        item = item[key]
    item[place[-1]] = value
    body = json.dumps(document).encode("ascii")
    return disk.digest(body).encode("ascii") + b"\n" + body


FINDING = ("run", "outcomes", 0, 4, 0)
FORGED: dict[str, tuple[tuple[Any, ...], object]] = {
    "no run": (("run",), None),
    "an empty run": (("run",), {}),
    "notes": (("run", "notes"), 5),
    "a note": (("run", "notes"), [5]),
    "number of files": (("run", "files"), "many"),
    "checked": (("run", "checked"), 5),
    "outcomes": (("run", "outcomes"), 5),
    "an outcome": (("run", "outcomes"), [[1]]),
    "code": ((*FINDING, 0), 7),
    "severity": ((*FINDING, 2), "fatal"),
    "message": ((*FINDING, 3), ["x"]),
    "a short span": ((*FINDING, 5), [1]),
    "a span of words": ((*FINDING, 5), ["a", "b", "c", "d"]),
    "related": ((*FINDING, 7), [["a.py", [1, 1, 1, 1], 3, None]]),
    "fix": ((*FINDING, 8), ["safe", "x", [[0, "1", "x", [1, 1, 1, 1], None]]]),
    "answers": (("answers",), []),
    "answers of a kind": (("answers", "bytes"), 5),
    "a kind": (("answers", "evil"), {"/etc/passwd": "x"}),
    "a limit": (("answers", "bytes x"), {"/etc/passwd": "x"}),
    "marks": (("marks",), []),
    "marks of a kind": (("marks", "bytes"), 5),
}


def test_what_a_repository_forges_is_a_miss(project: Project, tmp_path: Path) -> None:
    expected = project.run()
    [kept] = (tmp_path / "cache").glob("*/*.json")
    document = json.loads(kept.read_bytes().partition(b"\n")[2])
    for name, (place, value) in FORGED.items():
        kept.write_bytes(replaced(document, place, value))
        before = project.worked
        assert (project.run(), project.worked) == (expected, before + 1), name


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_tag_that_is_no_file_is_not_waited_for(project: Project, tmp_path: Path) -> None:
    expected = project.run("--no-cache")
    (tmp_path / "cache").mkdir()
    os.mkfifo(tmp_path / "cache" / cache.TAG)
    assert not cache.is_ours(str(tmp_path / "cache"))
    assert project.run() == expected


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_what_cannot_be_written_is_not_kept(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    """A folder that may not be written, a full disk: the run says what it has found, and leaves nothing half done."""
    expected = project.run("--no-cache")
    fdopen = os.fdopen

    class Full:
        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def write(self, content: bytes) -> int:
            self.file.write(content[: len(content) // 2])
            raise OSError(number, os.strerror(number))

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        if number == errno.ENOSPC:
            patch.setattr(os, "fdopen", lambda *arguments, **options: Full(fdopen(*arguments, **options)))
        else:
            patch.setattr(os, "makedirs", refuse)
        assert project.run() == expected
    left = [path for path in tmp_path.rglob("*") if path.suffix in (".json", ".tmp") and path.is_file()]
    assert not left
    assert project.are_recalled() == [False, True]


def test_two_runs_at_once(project: Project, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torchdevlint", "check", "-j", "1", "--output-format", "json"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=project.root) for _ in range(3)]
    outputs = {process.communicate(timeout=300)[0] for process in runs}
    assert len(outputs) == 1
    assert not list((tmp_path / "cache").glob("*/*.tmp"))
    done = subprocess.run(command, stdout=subprocess.PIPE, cwd=project.root, check=False, timeout=300)
    assert {done.stdout} == outputs


def test_a_file_that_changes_while_it_is_checked_is_not_kept(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    lint = runner.lint_job

    def slow(job: runner.Job) -> Any:
        if job.target.path == "train.py":
            project.write("train.py", LOAD * 2)
        return lint(job)

    with monkeypatch.context() as patch:
        patch.setattr(runner, "lint_job", slow)
        project.run()
    assert not project.is_recalled()


def test_a_run_that_is_recalled_imports_no_analysis(project: Project) -> None:
    probe = (
        "import sys; from torchdevlint import cli; code = cli.main(['check', '--select', 'TDL101']);"
        "print(code, [name for name in ('libcst', 'torchdevlint.linter', 'torchdevlint.rules') if name in sys.modules])"
    )
    told = [
        subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=300, check=True).stdout
        for _ in range(2)
    ]
    assert "torchdevlint.linter" in told[0].splitlines()[-1]
    assert told[1].splitlines()[-1] == "1 []"


def test_clean_removes_caches_and_nothing_else(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(disk.CACHE_VARIABLE)
    project.run()
    project.write(f"sub/{cache.NAME}/mine.txt", "not a cache")
    shutil.copytree(project.root / cache.NAME, project.root / "models" / cache.NAME)
    assert cli.main(["clean"]) == 0
    assert capsys.readouterr().out.count("Removed") == 2
    assert [path.relative_to(project.root).as_posix() for path in project.root.rglob(cache.NAME)] == [
        f"sub/{cache.NAME}"
    ]
    assert cli.main(["clean"]) == 0
    assert not capsys.readouterr().out
    project.run("--cache-dir", "elsewhere")
    assert cli.main(["clean", "--cache-dir", "elsewhere"]) == 0
    assert not (project.root / "elsewhere").exists()
