"""The sieve: what is found, and what is said of it, is the same with and without it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from torchdevlint import cli, sieve
from torchdevlint.api import check_source
from torchdevlint.findings import Sighting
from torchdevlint.linter import Repair, lint
from torchdevlint.program import from_ast, from_libcst, ir
from torchdevlint.program.bounds import ParseFailure, parse
from torchdevlint.rules.engine import analyse
from torchdevlint.rules.registry import all_rules
from torchdevlint.settings import Selection, Settings
from torchdevlint.severity import Severity

FIXTURES = Path(__file__).parent.parent / "fixtures"
FAULTY = "import torch\n\n\ndef load(model):\n    model.load_state_dict(torch.load('a.pt'))\n"
EVERYTHING = Settings(selections=(Selection(select=("ALL",)),), level=Severity.INFO)
REFUSED_BY_LIBCST = "import torch\n(x): int = 1\n"


def test_the_findings_of_all_fixtures_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fixtures = shutil.copytree(
        FIXTURES, tmp_path / "fixtures"
    )  # where they stand, much else is read that is of their project
    common = [
        "check",
        "--isolated",
        "--no-cache",
        "-j",
        "1",
        "--output-format",
        "json",
    ]  # each process reads the project

    def told(*options: str) -> str:
        cli.main([*common, *options, str(fixtures)])
        return capsys.readouterr().out

    for options in (("--select", "ALL", "--level", "info"), ()):
        if not options:  # the repaired twins have none to hide, and half of the faulty ones show it
            for path in (*fixtures.rglob("fixed*.py"), *sorted(fixtures.rglob("faulty*.py"))[::2]):
                path.unlink()
        with_sieve = told(*options)
        assert len(json.loads(with_sieve)) > 100
        assert with_sieve == told("--no-sieve", *options)


@pytest.mark.parametrize("repair", [Repair.SAFE, Repair.UNSAFE])
def test_the_repairs_of_all_fixtures_are_the_same(repair: Repair) -> None:
    changed = 0
    for path in sorted(FIXTURES.rglob("faulty.py"))[::4]:
        raw = path.read_bytes()
        with_sieve = lint("a.py", raw, EVERYTHING, repair)
        assert with_sieve == lint("a.py", raw, EVERYTHING._replace(sieve=False), repair)
        changed += with_sieve.stored is not None
    assert changed > 3


def _look(text: str, **options: Any) -> sieve.Look:
    questions = sieve.Questions(all_rules(), lambda report: report.severity > Severity.INFO)
    return sieve.look(text, questions, **options)


def test_a_text_of_which_nothing_is_said_is_not_parsed_with_libcst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sieve, "parse", lambda text: pytest.fail("parsed"))
    assert _look("import torch\n").reports == []


def test_a_report_has_nodes_of_libcst_and_is_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ir.Program] = []

    def counted(program: ir.Program, *given: Any) -> Any:
        asked.append(program)
        return analyse(program, *given)

    monkeypatch.setattr(sieve, "analyse", counted)
    (report,) = _look(FAULTY).reports
    assert type(report.op.node).__module__.startswith("libcst")
    assert len(asked) == 1


def test_programs_that_are_not_alike_are_analysed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = check_source(FAULTY)
    assert len(expected) == 1
    monkeypatch.setattr(
        from_ast, "read", lambda text: from_libcst.lower(parse("import torch\ntorch.load('model.pt')\n"))
    )
    assert check_source(FAULTY) == expected


def test_nodes_are_adopted_from_a_program_that_is_alike() -> None:
    program, other = from_ast.read(FAULTY), from_libcst.lower(parse(FAULTY))
    assert program is not None
    assert program.module.node is None
    assert ir.adopt_nodes(program, other)
    pairs = list(zip(_nodes(program), _nodes(other), strict=True))
    assert len(pairs) > 10
    assert all(mine is theirs is not None for mine, theirs in pairs)


def _nodes(program: ir.Program) -> list[Any]:
    ops = (op for body in program.bodies for block in body.blocks for op in block.ops)
    return [program.node, *(item.node for item in (*program.classes, *program.bodies, *ops))]


@pytest.mark.parametrize(
    "text", ["x = f(a)", "x = f(a)()", "x = 1", "if a: x = f(a)", "x = f(a)\nclass A: pass", "def f(): pass\nx = f(a)"]
)
def test_nodes_are_not_adopted_from_another_program(text: str) -> None:
    program = from_ast.read("y = f.a\n")
    assert program is not None
    assert not ir.adopt_nodes(program, from_libcst.lower(parse(text + "\n")))
    assert not any(_nodes(program))


@pytest.mark.parametrize("with_sieve", [True, False])
def test_what_libcst_alone_refuses_is_a_fault_when_something_is_said_of_it(with_sieve: bool) -> None:
    with pytest.raises(ParseFailure):
        parse(REFUSED_BY_LIBCST)
    assert check_source(REFUSED_BY_LIBCST, sieve=with_sieve) == ()
    (finding,) = check_source(REFUSED_BY_LIBCST + "torch.load('model.pt')\n", sieve=with_sieve)
    assert finding.code == "TDL000"


@pytest.mark.parametrize("with_sieve", [True, False])
def test_unused_suppressions_are_found_where_nothing_else_is(with_sieve: bool) -> None:
    text = "import torch\n\nx = 1  # noqa: TDL101\ntorch.load('model.pt')  # noqa: TDL101\n"
    (finding,) = check_source(text, extend_select=["TDL001"], sieve=with_sieve)
    assert (finding.code, finding.span.start.row) == ("TDL001", 3)
    quiet = text.partition("torch.load")[0]
    assert check_source(quiet, extend_select=["TDL001"], sieve=with_sieve) == (finding,)


@pytest.mark.parametrize("raw", [b"x = (\n", b"x = '\xe9'\n", b"x = 1\n"])
def test_what_the_byte_test_clears_is_no_fault_without_the_sieve(raw: bytes) -> None:
    assert lint("a.py", raw, Settings(sieve=False)).findings == ()


def test_what_a_run_saw_is_told_by_libcst_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_ast, "read", lambda text: pytest.fail("sieved"))
    sightings = {(2, "x"): Sighting("tensor", "cpu")}
    assert _look("import torch\nx = f()\n", sightings=sightings).reports == []
