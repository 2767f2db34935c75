"""`torchdevlint verify --observe`: what one run adds to the findings, and that the program does not notice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import warm

from torchdevlint import check_source
from torchdevlint.machine import Shape
from torchdevlint.verify.program import program_in
from torchdevlint.verify.trial import Machine, Runner
from torchdevlint.verify.workplace import workplace

_HELPERS = '''"""Helpers without annotations."""

from __future__ import annotations

import torch


def host(scores):
    """A docstring."""
    return scores.numpy()


@torch.no_grad()
def mixed(item, *rest):
    kept, _ = item, rest
    return torch.cat([kept, torch.ones(2)])


def either(one):
    return torch.cat([one, torch.ones(2)])


def guarded(one):
    if one.is_cuda:
        one = one.cpu()
    return one.numpy()
'''
_FAULTY = """
import torch
import helpers

def make(number):
    return [torch.ones(2), torch.ones(2).cuda()][number]

helpers.guarded(make(1))
helpers.either(make(0))
for call in eval("helpers.either, helpers.mixed, helpers.host"):  # which ones these are the run alone tells
    try:
        call(make(1))
    except (RuntimeError, TypeError) as error:
        print(error)
raise SystemExit(7)
"""
_RIGHT = (
    "import torch\nimport helpers\n\nmade = torch.ones(2)\nfor call in (helpers.mixed, helpers.host):\n    call(made)\n"
)
_CURIOUS = '''"""The program's docstring."""

import inspect
import sys

import torch


class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        print("called", getattr(function, "__name__", function))
        return super().__torch_function__(function, types, args, kwargs or {})


class Odd:
    @property
    def __class__(self):
        print("asked for the class")
        return torch.Tensor

    def __getattr__(self, name):
        print("asked for", name)
        raise AttributeError(name)


class Holder:
    __slots__ = ("value",)
    kind = tensor = torch.ones(1)

    def __init__(self, __value):
        """Documented."""
        global last
        __other = last = self.value = __value

    def each(self):
        for __part, (first, *rest) in [(1, (2, 3)), (4, (5,))]:
            yield __part, first, rest


def where(number: int = 0):
    line: int
    line = inspect.currentframe().f_lineno
    line += number
    return line, sorted(locals()), where.__doc__, inspect.getsource(where)


print(__doc__, Holder.__init__.__doc__, where(), list(Holder(1).each()), sorted(vars(Holder)))
loud = torch.ones(2).as_subclass(Loud)
odd = Odd()
with torch.no_grad() as nothing, open(__file__) as file:
    text = file.read()
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
model.again = model[0]
moved = model.cuda()
count = sys.getrefcount(model)
print(len(text), count, moved(torch.ones(1, 2).cuda()).shape, loud.shape)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "helpers.py").write_text(_HELPERS)
    return made


def _torchdevlint(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchdevlint", *words]
    return warm.run(command, cwd=folder, timeout=120)


def _observe(folder: Path, script: str, *words: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    (folder / "program.py").write_text(script)
    done = _torchdevlint(folder, "verify", "--json", "--device", "virtual", *words, "--observe", "program.py")
    return done, json.loads(done.stdout)


def _places(findings: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    return [(Path(f["filename"]).name, f["code"], f["location"]["row"]) for f in findings]


def test_what_helpers_are_given_adds_findings(folder: Path) -> None:
    done, report = _observe(folder, _FAULTY)
    plain = {finding.code for finding in check_source(_HELPERS)}
    assert _places(report["findings"]) == [("helpers.py", "TDL509", 10), ("helpers.py", "TDL505", 16)]
    assert not plain & {"TDL505", "TDL509"}
    assert all(finding["observed"] for finding in report["findings"])
    assert "on an accelerator, and NumPy reads host memory" in report["findings"][0]["message"]
    assert (done.returncode, report["exit_code"], report["ended"]) == (0, 0, "exit code 7")
    assert "without a sandbox" in done.stderr


def test_the_text_output_marks_them(folder: Path) -> None:
    (folder / "program.py").write_text(_FAULTY)
    done = _torchdevlint(folder, "verify", "--device", "virtual", "--select", "TDL509", "--observe", "program.py")
    first, last = done.stdout.splitlines()
    assert first.startswith("helpers.py:10:") and first.endswith("[observed]")
    assert last.startswith("the run (exit code 7) adds 1 finding;")


def test_a_program_on_the_cpu_adds_nothing(folder: Path) -> None:
    done, report = _observe(folder, _RIGHT)
    assert (done.returncode, report["findings"]) == (0, [])
    assert report["places"] >= 3


def test_a_program_that_does_not_end_could_not_be_observed(folder: Path) -> None:
    done, report = _observe(folder, "while True:\n    pass\n", "--timeout", "1")
    assert (done.returncode, report["exit_code"], report["findings"]) == (2, 2, [])
    assert "did not end" in report["trouble"]


def test_the_program_does_not_notice(folder: Path) -> None:
    (folder / "program.py").write_text(_CURIOUS)
    program = program_in(["program.py"], False, folder)
    with workplace(program.folder, False) as place:
        runner = Runner(program, place, Machine("virtual", Shape(gpus=1)), 60)
        plain, observed = runner.run({}, {}), runner.run({}, {}, observe=[folder / "program.py"])
    assert plain.works, plain.error
    assert observed.output == plain.output
    assert not plain.observed
    held = {name: seen for (_, _, name), seen in observed.observed.items()}
    assert held["loud"] == {("tensor", "cpu")}
    assert held["model"] == {("module", "cpu")} and held["moved"] == {("module", "cuda:0")}
    assert held["odd"] == held["text"] == {("other", "")}
    assert "nothing" not in held
