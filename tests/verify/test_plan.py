"""How `verify` plans: what blocks first, then all that shows no error in one run; and what it tells a person."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import warm

from torchdevlint import cli
from torchdevlint.cli import verify
from torchdevlint.machine import Shape
from torchdevlint.settings import Resolver, Selection
from torchdevlint.verify.judge import Judge, Report, arguments_refused, arguments_wanted, missing_in_copy
from torchdevlint.verify.page import as_html
from torchdevlint.verify.program import program_in
from torchdevlint.verify.proofs import how_to_install
from torchdevlint.verify.report import Commands, as_lines, groups_of, next_step
from torchdevlint.verify.trial import Fault, Machine, Mark, Trial
from torchdevlint.verify.workplace import Workplace

_MIXED = "Expected all tensors to be on the same device"
_MOVES = """import torch
from torch import nn
model = nn.Linear(2, 2).to("cuda")
x = torch.ones(1, 2)
x.to("cuda")
model(x)
z = torch.ones(1, 2)
z.to("cuda")
model(z)
"""
_COMMANDS = Commands("WRITE", "UNSAFE", "IN-PLACE", "ARGUMENTS")


class _Runner:
    """Runs are answered by a function of the text and the marks."""

    def __init__(self, folder: Path, answer: Callable[[str, Sequence[Mark]], Trial]) -> None:
        self.program, self.place = program_in(["train.py"], False, folder), None
        self.machine, self.answer, self.file = Machine("virtual", Shape(gpus=1)), answer, folder / "train.py"

    def run(self, texts: Mapping[Path, bytes], marks: Mapping[Path, Sequence[Mark]]) -> Trial:
        text = texts[self.file].decode() if self.file in texts else self.file.read_text()
        return self.answer(text, marks.get(self.file, ()))


def _trial(code: int = 0, **more: Any) -> Trial:
    return Trial(code, tuple(more.pop("output", ())), {}, reached=set(range(9)), **more)


def _judge(
    folder: Path,
    text: str,
    answer: Callable[[str, Sequence[Mark]], Trial],
    codes: tuple[str, ...] = ("TDL501",),
    unsafe: bool = False,
) -> tuple[Judge, Report]:
    (folder / "train.py").write_text(text)
    runner = _Runner(folder, answer)
    judge = Judge(runner, Resolver(Selection(select=codes)), unsafe, lambda line: None)  # type: ignore[arg-type]
    judge.load([folder / "train.py"])
    return judge, judge.judge()


def _crash(folder: Path, row: int, message: str = _MIXED, kind: str = "RuntimeError") -> Trial:
    met = (str(folder / "train.py"), row)
    lines = (("met", *met), ("created", met[0], row - 1))
    story = f"met at train.py:{row}" if message.startswith(_MIXED) else ""
    fault = Fault(kind, message, met, lines, uncaught=True, story=story)
    return _trial(1, faults=[fault], error=fault.describe())


def _lines(report: Report) -> list[str]:
    return list(as_lines("train.py", "1 virtual GPU", "2", report, _COMMANDS))


def test_fixes_of_what_shows_no_error_are_tried_in_one_run(tmp_path: Path) -> None:
    _, report = _judge(tmp_path, _MOVES, lambda text, marks: _trial())
    assert [case.verdict for case in report.cases] == ["refuted", "refuted"]
    assert report.runs == 3


def test_what_was_confirmed_is_not_run_again_where_nothing_is_compared_with_it(tmp_path: Path) -> None:
    text = "import torch\nx = torch.ones(2)\nx.to('cuda')\nprint(x + torch.ones(2).cuda())\n"

    def answer(text: str, marks: Sequence[Mark]) -> Trial:
        return _trial() if "x = x.to" in text else _crash(tmp_path, 4)

    _, report = _judge(tmp_path, text, answer)
    assert [case.verdict for case in report.cases] == ["confirmed"]
    assert report.runs == 3  # twice as it is, once repaired


def test_a_fix_that_removes_what_an_unsafe_one_removed_before_is_confirmed(tmp_path: Path) -> None:
    """Two findings tell of one fault: the second is no false one because the first was repaired."""
    text = "import torch\nx = torch.ones(2)\nx.to('cuda')\nx.to('cuda')\nprint(x + torch.ones(2).cuda())\n"

    def answer(text: str, marks: Sequence[Mark]) -> Trial:
        return _trial() if "x = x.to" in text else _crash(tmp_path, 4)

    _, report = _judge(tmp_path, text, answer)
    assert [case.verdict for case in report.cases] == ["confirmed", "confirmed"]
    assert any("removes the error as well" in case.reason for case in report.cases)


def test_of_fixes_tried_together_the_one_that_changes_the_program_is_told(tmp_path: Path) -> None:
    _, report = _judge(tmp_path, _MOVES, lambda text, marks: _trial(output=["a" if "\nz.to(" in text else "b"]))
    assert [case.verdict for case in report.cases] == ["refuted", "regression"]
    assert report.cases[1].reason == "other output: 'b' instead of 'a'"


def test_findings_behind_one_error_are_one_group_and_are_told_once(tmp_path: Path) -> None:
    _, report = _judge(tmp_path, _MOVES, lambda text, marks: _crash(tmp_path, 2, "no data", "OSError"))
    ((head, cases),) = groups_of(report.cases)
    assert len(cases) == 2 and "OSError: no data" in head
    text = "\n".join(_lines(report))
    assert text.count("no data") == 3  # the group, before, and after
    assert _lines(report)[-1].startswith("next: repair the error that stops the program")


def test_an_error_without_a_fix_is_shown(tmp_path: Path) -> None:
    text = "import torch\nx = torch.ones(2).cuda()\ny = torch.ones(2)\nprint(x + y)\nprint(y.sum())\n"
    _, report = _judge(tmp_path, text, lambda text, marks: _crash(tmp_path, 4), codes=("TDL505",))
    (case,) = report.cases
    assert case.first.fix is None
    assert (case.verdict, report.exit_code) == ("shown", 0)
    assert "TDL505" in "\n".join(_lines(report))


@pytest.mark.parametrize(
    ("devices", "verdict"),
    [({"x": {"cuda:0"}, "y": {"cuda:0"}}, "refuted"), ({"x": {"cpu"}, "y": {"cpu"}}, "not on this machine")],
    ids=["on-the-gpu", "on-the-cpu"],
)
def test_a_clean_run_is_judged_by_where_the_operands_were(
    tmp_path: Path, devices: dict[str, set[str]], verdict: str
) -> None:
    def answer(text: str, marks: Sequence[Mark]) -> Trial:
        assert [mark.row for mark in marks] in ([3], [3, 4])  # made on line 3, used on line 4
        return _trial(operands={mark.number: devices for mark in marks if mark.operands and mark.row == 4})

    text = "import torch\nx = torch.ones(2).cuda()\ny = torch.ones(2)\nprint(x + y)\n"
    _, report = _judge(tmp_path, text, answer, codes=("TDL505",))
    (case,) = report.cases
    assert case.verdict == verdict and "`x` on " in case.reason


def test_an_unsafe_fix_is_asked_for_in_the_last_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Judge, "_fix", lambda self, case: None)  # as if every fix were unsafe
    answer = lambda text, marks: _trial() if "x = x.to" in text else _crash(tmp_path, 5)  # noqa: E731
    _, report = _judge(tmp_path, _MOVES.split("z =")[0], answer)
    assert report.cases[0].verdict == "not judged" and report.cases[0].to_dict()["needs_unsafe_fixes"]
    assert "UNSAFE" in _lines(report)[-1] and "and 1 unsafe one to get on: exit code 0" in _lines(report)[-2]


def test_a_program_without_findings_is_run_and_what_shows_is_told(tmp_path: Path) -> None:
    _, report = _judge(tmp_path, "import torch\n", lambda text, marks: _crash(tmp_path, 1))
    assert (report.runs, report.exit_code) == (1, 3)
    text = "\n".join(_lines(report))
    assert f"the program: RuntimeError: {_MIXED}" in text and "what no finding explains" in text


def test_confirmed_fixes_can_be_kept(tmp_path: Path) -> None:
    _, report = _judge(tmp_path, _MOVES.split("z =")[0], lambda text, marks: _confirming(tmp_path, text))
    assert _lines(report)[-1] == "next: keep the 1 confirmed fix: WRITE"
    written = next_step(report, Commands("WRITE", "", "", "", written=True))
    assert written == "nothing: commit it"


def _confirming(folder: Path, text: str) -> Trial:
    return _trial() if "x = x.to" in text else _crash(folder, 5)


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        ("train.py: error: the following arguments are required: --data, --out", "--data, --out"),
        ("Error: Missing option '--data'.", "'--data'"),
        ("train.py: error: one of the arguments -a -b is required", "one of the arguments -a -b is required"),
        ("train.py: error: unrecognized arguments: x", ""),
    ],
)
def test_a_program_that_wants_arguments_is_told_once(tmp_path: Path, error: str, wanted: str) -> None:
    assert arguments_wanted(_trial(2, error=error)) == wanted
    _, report = _judge(tmp_path, _MOVES, lambda text, marks: _trial(2, error=error))
    text = "\n".join(_lines(report))
    if wanted:
        assert text.count(wanted) == 1 and report.exit_code == 2 and report.runs == 1
        assert text.endswith("next: give the program its arguments: ARGUMENTS")


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        ("train.py: error: unrecognized arguments: --html r.html", "--html r.html"),
        ("train.py: error: argument --n: invalid int value: 'x'", "argument --n: invalid int value: 'x'"),
        ("Error: No such option: --html", "No such option: --html"),
        ("train.py: error: the following arguments are required: --data", ""),
    ],
)
def test_a_program_that_refuses_its_arguments_is_told_once(tmp_path: Path, error: str, refused: str) -> None:
    assert arguments_refused(_trial(2, error=error)) == refused
    assert arguments_refused(_trial(1, error=error)) == ""
    _, report = _judge(tmp_path, _MOVES, lambda text, marks: _trial(2, error=error))
    if refused:
        text = "\n".join(_lines(report))
        assert text.count(refused) == 1 and report.exit_code == 2 and report.runs == 1
        assert "next: give the program arguments that it takes, behind `--`" in text
        moved = next_step(report, Commands("", "", "", "", moved="MOVED"))
        assert moved == "put the options of torchdevlint in front of the program: MOVED"


def test_options_of_ours_behind_the_program_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser()
    verify.add_parser(parser.add_subparsers())

    def moved(*words: str) -> str:
        arguments = parser.parse_args(["verify", "--gpus", "2", *words])
        return verify._commands(arguments, verify.program_of(arguments)).moved

    options = ["--html", "r.html", "--write"]
    for first in (["train.py"], ["-m", "train"]):
        expected = ["torchdevlint", "verify", "--gpus", "2", *options, *first, "--", "--epochs", "1"]
        assert moved(*first, "--epochs", "1", *options) == " ".join(expected)
        assert moved(*first, "--epochs", "1") == ""
        assert moved(*first, "--", *options) == ""
    assert moved("train.py", "--html=r.html").endswith("--html=r.html train.py")


def test_reading_past_the_arguments_asks_for_some(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import sys\nprint(sys.argv[1])\n")
    assert "sys.argv" in arguments_wanted(_crash(tmp_path, 2, "list index out of range", "IndexError"))
    assert not arguments_wanted(_crash(tmp_path, 1, "list index out of range", "IndexError"))


def test_a_file_that_only_the_copy_lacks_is_a_reason_to_run_in_place(tmp_path: Path) -> None:
    folder, root = tmp_path / "project", tmp_path / "tmp"
    folder.mkdir()
    root.mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "shared.py").write_text("")
    program = program_in(["train.py"], False, folder)
    place = Workplace(folder, root / "project", root / "notes")

    def missing(message: str, kind: str = "FileNotFoundError") -> str:
        return missing_in_copy(_crash(folder, 1, message, kind), place, program)

    assert missing("[Errno 2] No such file or directory: '../data'") == "../data"
    assert missing(f"[Errno 2] No such file or directory: '{root}/data'") == f"{root}/data"
    assert missing("No module named 'shared'", "ModuleNotFoundError") == "shared"
    assert missing("[Errno 2] No such file or directory: '../nowhere'") == ""
    assert missing("No module named 'absent'", "ModuleNotFoundError") == ""
    assert missing_in_copy(_crash(folder, 1, "'../data'"), Workplace(folder, folder, root), program) == ""


def test_a_missing_torch_names_the_command() -> None:
    assert "-m pip install torch" in how_to_install("ModuleNotFoundError: No module named 'torch'")
    assert how_to_install("ImportError: libcudart.so.12") == ""


def test_progress_is_counted(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_MOVES)
    runner, told = _Runner(tmp_path, lambda text, marks: _trial()), []
    selection = Resolver(Selection(select=("TDL501",)))
    judge = Judge(runner, selection, False, lambda line: None, lambda *values: told.append(values))  # type: ignore[arg-type]
    judge.load([tmp_path / "train.py"])
    judge.judge()
    assert [run for run, _, _ in told] == [1, 2, 3] and all(about >= run for run, about, _ in told)


# ---------------------------------------------------------------------------------------------------- HTML


class _Checker(HTMLParser):
    """Every element is closed in order, and nothing runs or is loaded."""

    VOID = frozenset(("meta", "br", "link", "img", "hr"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "iframe", "object", "link", "img")
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_is_well_formed_and_escapes_what_others_wrote(tmp_path: Path) -> None:
    hostile = "<script>alert('x')</script>\x1b[2J\u202e"
    text = _MOVES.replace("import torch\n", f"import torch  # {hostile.splitlines()[0][:27]}\n", 1)

    def answer(text: str, marks: Sequence[Mark]) -> Trial:
        if "x = x.to" in text:
            return _trial(ledger={((str(tmp_path / "train.py"), 6), "h2d", hostile, False): (3, 24)})
        return _crash(tmp_path, 5, f"{_MIXED} {hostile}")

    judge, report = _judge(tmp_path, text, answer)
    page = as_html(judge.runner.program, judge.runner.machine, "2", report, judge)
    checker = _Checker()
    checker.feed(page)
    checker.close()
    told = "".join(checker.text)
    assert not checker.open and "<script>alert('x')</script>" in told  # as text
    assert "\x1b" not in page and "\u202e" not in page and "<script" not in page
    assert "+x = x.to(" in told and "the error is gone" in told and "host to device" in told
    assert "http" not in page.replace("http-equiv", "")


# ---------------------------------------------------------------------------------------------------- the command


def test_arguments_of_a_script_that_check_verifies_stand_in_the_same_word(tmp_path: Path) -> None:
    from torchdevlint.cli.verify import script_words

    assert script_words("train.py --data 'a b'") == ["train.py", "--data", "a b"]
    named = tmp_path / "a script.py"
    named.write_text("")
    assert script_words(str(named)) == [str(named)]


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--fix", "--verify", "train.py", "--", "--epochs"],
        ["verify", "--observe", "--write", "train.py"],
        ["verify", "--html", "page.py", "train.py"],
    ],
)
def test_what_does_not_go_together_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("import torch\n")
    monkeypatch.setattr("torchdevlint.cli.verify.machine_for", lambda *a, **k: (Machine("virtual", Shape(gpus=1)), "2"))
    assert cli.main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_verify_writes_what_it_confirmed_and_reports_on_a_page(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "train.py"
    script.write_text(
        "import argparse\nimport torch\nparser = argparse.ArgumentParser()\nparser.add_argument('--n', type=int, required=True)\n"
        "n = parser.parse_args().n\nx = torch.ones(n).cuda()\nprint(x.numpy().sum())\n"
    )
    command = [sys.executable, "-m", "torchdevlint", "verify", "--device", "virtual", "--select", "TDL509"]
    command += ["--write", "--html", "report.html", "train.py"]

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return warm.run([*command, *more], cwd=tmp_path, timeout=280)

    done = run()
    assert done.returncode == 2 and done.stdout.count("--n") == 1, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("train.py -- ARGS")
    done = run("--", "--n", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the error is gone" in done.stdout and "train.py: the confirmed fixes are written" in done.stdout
    assert done.stdout.splitlines()[-1] == "next: nothing: commit it"
    assert done.stderr.splitlines()[-1] == "torchdevlint: the full report is report.html"
    assert script.read_text().endswith("print(x.cpu().numpy().sum())\n")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "device to host" in page and "x.cpu().numpy()" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "train.py"]


_ODD = """import torch
a, b = torch.ones(2).cuda(), torch.ones(2)
class Held:
    x = a
    def add(self, other):
        return super().__getattribute__("x") + other.cuda() if (n := 1) else None
held = Held()
match held.x.ndim:
    case 1 if a.ndim == b.ndim:
        print(f"{a.sum() + held.x.sum():.1f}", [x * 2 for x in b], held.add(b).device, sep=held.x.dim() and ", ")
with torch.no_grad() as nothing:
    held.x, c = a, -held.x
"""


def test_operands_are_noted_and_the_program_does_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(subprocess, "Popen", warm.Popen)
    from torchdevlint.verify.trial import Runner
    from torchdevlint.verify.workplace import workplace

    script = tmp_path / "odd.py"
    script.write_text(_ODD)
    program, machine = program_in([str(script)], False, tmp_path), Machine("virtual", Shape(gpus=1))
    with workplace(tmp_path, False) as place:
        runner = Runner(program, place, machine, 250)
        plain = runner.run({}, {})
        marks = [
            Mark(row, row, len(line) - len(line.lstrip()) + 1, False, True)
            for row, line in enumerate(_ODD.splitlines(), 1)
        ]
        noted = runner.run({}, {script: marks})
    assert plain.works and noted.works, noted.ending
    assert plain.output == noted.output
    assert noted.operands[10] == {"a": {"cuda:0"}, "held.x": {"cuda:0"}}  # a comprehension has names of its own
    assert noted.operands[6] == {"other": {"cpu"}}
    assert noted.operands[12] == {"a": {"cuda:0"}, "held.x": {"cuda:0"}}


# ---------------------------------------------------------------------------------------------------- the ledger, pytest


def test_the_ledger_begins_with_what_costs_most() -> None:
    from torchdevlint.machine.launch import ProcessReport
    from torchdevlint.verify.telling import cost, tell

    def entry(row: int, kind: str, count: int, size: int) -> dict[str, Any]:
        return {"kind": kind, "cause": "x", "implicit": False, "place": ["/f.py", row], "count": count, "bytes": size}

    entries = [entry(1, "h2d", 1, 8), entry(2, "sync", 40, 0), entry(3, "d2h", 2, 80_000_000), entry(4, "sync", 2, 0)]
    report = ProcessReport(**{**_report_fields(), "ledger": entries})
    rows = [line.split(":")[1] for line in tell([report], ledger=True) if "/f.py" in line]
    assert rows == ["3", "2", "4", "1"]
    assert cost(1, 0) == cost(0, 100_000)


def _report_fields() -> dict[str, Any]:
    import dataclasses

    from torchdevlint.machine.launch import ProcessReport

    empty = {"bool": False, "int": 0, "str": "", "float": 0.0}
    fields = dataclasses.fields(ProcessReport)
    return {field.name: empty.get(str(field.type), ()) for field in fields if "None" not in str(field.type)} | {
        field.name: None for field in fields if "None" in str(field.type)
    }


def test_pytest_does_not_warn_that_this_package_comes_too_early() -> None:
    """With an installed wheel pytest wants to rewrite a plugin's package; on the machine it is imported before pytest."""
    import _pytest.assertion.rewrite as rewrite

    import torchdevlint

    class Config:
        told: list[Any] = []

        def getini(self, name: str) -> list[str]:
            return []

        def issue_config_time_warning(self, warning: Any, stacklevel: int) -> None:
            self.told.append(warning)

    config = Config()
    hook = rewrite.AssertionRewritingHook(config)  # type: ignore[arg-type]
    hook.mark_rewrite("torchdevlint", "json")
    assert torchdevlint and [str(warning) for warning in config.told if "torchdevlint" in str(warning)] == []
    assert any("json" in str(warning) for warning in config.told)  # so the warning exists


def test_a_warning_is_the_evidence_of_the_finding_that_it_names(tmp_path: Path) -> None:
    """Both fixes are tried in one run, and each removes the warning of its own line."""
    text = (
        "import torch\nscaler = torch.cuda.amp.GradScaler(enabled=False)\n"
        "with torch.cuda.amp.autocast(enabled=False):\n    print(1)\n"
    )
    told = "FutureWarning: `torch.cuda.amp.{0}(args...)` is deprecated. Please use `torch.amp.{0}('cuda', args...)` instead."

    def answer(text: str, marks: Sequence[Mark]) -> Trial:
        return _trial(
            warnings=tuple(told.format(name) for name in ("GradScaler", "autocast") if f"torch.cuda.amp.{name}" in text)
        )

    _, report = _judge(tmp_path, text, answer, codes=("TDL805",), unsafe=True)  # the oldest torch is not known here
    assert [case.verdict for case in report.cases] == ["silent fault confirmed"] * 2
    assert ["GradScaler" in case.before for case in report.cases] == [True, False]
