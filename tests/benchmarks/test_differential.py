"""Generated programs: every entry gives programs that compile, the machine and the linter are asked, and what counts as found."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import warm
from differential import agreed, command, draw, shapes
from differential.judges import ROOT, Answer, Linter, Machine, Said, Verdict, judges
from differential.programs import Program
from differential.rows import Maker
from differential.score import (
    DROPPED,
    ELSEWHERE,
    FALSE_ERROR,
    FALSE_NOTE,
    FOUND,
    MISSED,
    NOTE,
    SILENT,
    Case,
    Repaired,
    by_construct,
    judge_repair,
    measure,
    outcome_of,
    tally,
)
from differential.shrink import Shrinker

torch = pytest.importorskip("torch")

FAULTY = Program(
    {"main.py": 'import torch\n\nx = torch.ones(3, device="cuda")\nt = torch.zeros(3)\nprint(x + t)\n'}, "main.py"
)


Judges = tuple[Machine, Machine, Linter]


@pytest.fixture(scope="module")
def all_judges() -> Iterator[Judges]:
    with pytest.MonkeyPatch.context() as patch, judges() as started:
        patch.setattr(subprocess, "Popen", warm.Popen)  # they start when they are asked
        yield started


def said(row: int, level: str = "error", code: str = "TDL505", fix: str = "") -> Said:
    return Said(code, level, "", "main.py", row, row, fix=fix)


def test_every_entry_is_drawn_alone() -> None:
    drawn = list(draw.singles(3, 1, with_kept=True))
    entries = {(table, name) for table, found in draw.rows(True).items() for name in found}
    assert {(one.table, name) for one in drawn for name in one.spec.labels()[one.table]} - {
        ("maker", "loaded pair")
    } >= entries - {("shape", "loop-pair")}


def test_a_quarter_of_each_table_is_kept() -> None:
    for table, (kept, entries) in draw.shares().items():
        assert kept / entries >= 0.25, table


def test_nothing_kept_is_drawn_by_default() -> None:
    assert not any(one.spec.kept for one in draw.combined(5, 100))
    assert all(one.spec.kept for one in draw.combined(5, 50, with_kept=True))


def test_a_batch_is_drawn_alone() -> None:
    for batch in draw.BATCHES:
        own = {(table, name) for table, found in draw.rows(True, (batch,)).items() for name in found}
        for one in draw.combined(5, 60, with_kept=True, batches=(batch,)):
            labels = one.spec.labels()
            assert {(table, name) for table in draw.TABLES for name in labels[table]} - {
                ("maker", "loaded pair")
            } <= own
        led = {(one.table, name) for one in draw.singles(5, 1, True, (batch,)) for name in one.spec.labels()[one.table]}
        assert led - {("maker", "loaded pair")} <= own
        assert len(led) >= len(own) - 1


def test_no_batch_repeats_a_name() -> None:
    for table, found in draw.rows(True).items():
        assert len(found) == sum(len(draw.rows(True, (batch,))[table]) for batch in draw.BATCHES), table


def test_a_shape_cannot_replace_another() -> None:
    before = dict(shapes.BUILDERS)
    with pytest.raises(ValueError, match="two shapes are called 'script'"):
        shapes.shape("script", "one-file")
    assert before == shapes.BUILDERS


def test_an_entry_cannot_replace_another_of_its_table() -> None:
    first, second = (SimpleNamespace(MAKERS=(Maker("zeros", "F", "torch.zeros(3)"),)) for _ in range(2))
    assert list(draw.named("maker", [first])) == ["zeros"]
    assert draw.named("carrier", [first, second]) == {}
    with pytest.raises(ValueError, match="two entries of the table of makers are called 'zeros'"):
        draw.named("maker", [first, second])


def test_half_of_each_later_batch_is_kept() -> None:
    for batch in draw.BATCHES[1:]:
        for found in draw.rows(True, (batch,)).values():
            assert sum(row.kept for row in found.values()) == len(found) // 2


def test_a_seed_gives_the_same_programs() -> None:
    assert [one.spec for one in draw.combined(5, 30)] == [one.spec for one in draw.combined(5, 30)]
    assert [one.spec for one in draw.combined(5, 30)] != [one.spec for one in draw.combined(6, 30)]


def test_all_programs_compile() -> None:
    for one in [*draw.singles(2, 1, with_kept=True), *draw.combined(2, 60, with_kept=True)]:
        for right in (False, True):
            for name, text in one.program(right).files.items():
                if name.endswith(".py"):
                    compile(text, name, "exec")


def test_open_ends_are_not_shown_their_driver() -> None:
    opens = [
        one.program(False) for one in draw.singles(1, 1) if one.spec.shape.family == "open" and one.table == "shape"
    ]
    assert opens
    for program in opens:
        assert program.entry not in program.shown
        assert "cuda" not in "".join(program.shown.values())


@pytest.mark.parametrize(
    ("kind", "findings", "outcome"),
    [
        ("fault", [said(5)], FOUND),
        ("fault", [said(7, "warning")], FOUND),
        ("fault", [said(30)], ELSEWHERE),
        ("fault", [said(5, "info")], NOTE),
        ("fault", [said(5, code="TDL801")], MISSED),
        ("ok", [said(5)], FALSE_ERROR),
        ("ok", [said(5, "info")], FALSE_NOTE),
        ("ok", [said(5, code="TDL801")], SILENT),
        ("other", [], DROPPED),
    ],
)
def test_outcomes(kind: str, findings: list[Said], outcome: str) -> None:
    verdict = Verdict(kind, story=frozenset({("main.py", 4)}))
    assert outcome_of(verdict, Answer(tuple(findings)), ["main.py"]) == outcome


def test_an_ignored_device_is_no_false_finding_where_nothing_is_placed() -> None:
    findings = Answer((said(5, "warning", "TDL517"),))
    assert outcome_of(Verdict("ok"), findings, ["main.py"], right=True) != SILENT
    assert outcome_of(Verdict("ok"), findings, ["main.py"], right=False) == SILENT


def test_a_fault_in_the_hidden_driver_is_left_out() -> None:
    assert outcome_of(Verdict("fault", story=frozenset({("driver_.py", 4)})), Answer(), ["library.py"]) == DROPPED


@pytest.mark.parametrize(
    ("verdict", "machine", "before", "after", "outcome"),
    [
        ("fault", Verdict("ok"), Verdict("ok", printed="1"), Verdict("ok", printed="1"), "good"),
        ("fault", Verdict("ok"), Verdict("ok"), Verdict("other", "TypeError"), "wrong"),
        ("ok", Verdict("other"), Verdict("other"), Verdict("other"), "wrong"),
        ("fault", Verdict("other", "NameError"), Verdict("other"), Verdict("other"), "wrong"),
        ("fault", Verdict("fault"), Verdict("ok"), Verdict("ok"), "left"),
        ("ok", Verdict("ok", printed="2"), Verdict("other"), Verdict("other"), "differs"),
    ],
)
def test_repairs_are_judged(verdict: str, machine: Verdict, before: Verdict, after: Verdict, outcome: str) -> None:
    drawn = next(iter(draw.singles(1, 1)))
    found = Answer((said(4, fix="safe"),))
    case = Case(drawn, False, FAULTY, Verdict(verdict, story=frozenset({("main.py", 4)})), found, FOUND)
    assert judge_repair(case, "safe", machine, before, after).outcome == outcome
    assert judge_repair(case, "safe", Verdict("died"), before, after).outcome == "unknown"


def test_wrong_repairs_are_shown_and_unseen_programs_never(capsys: pytest.CaptureFixture[str]) -> None:
    repaired = Program({"main.py": "import torch\n\nx = torch.ones(3).to(y)\n"}, "main.py")
    wrong = Repaired("safe", "wrong", "NameError", ("TDL504",), repaired)
    answer = Answer((said(4, fix="safe"),))
    closed, opened = (
        next(iter(draw.combined(1, 1, with_kept=True, batches=[batch]))) for batch in ("seventh", "third")
    )
    assert [draw.side(one.spec) for one in (closed, opened)] == ["unseen", "regression"]
    for one in (closed, opened, next(iter(draw.singles(1, 1)))):
        case = Case(one, False, FAULTY, Verdict("fault"), answer, FOUND, (wrong, Repaired("unsafe", "good")))
        command.show([case], 1, None)
        told = capsys.readouterr().out
        assert bool(told) is (one is not closed)
    assert "### safe repair wrong: NameError" in told
    assert "+x = torch.ones(3).to(y)" in told
    assert "unsafe repair" not in told


def test_the_machine_tells_the_lines_and_survives_an_exit(all_judges: Judges) -> None:
    ends = Program({"main.py": "import os\nos._exit(1)\n"}, "main.py")
    fault, died, again = all_judges[0].run([FAULTY, ends, FAULTY])
    assert fault.kind == again.kind == "fault"
    assert fault.story == {("main.py", 3), ("main.py", 4), ("main.py", 5)}
    assert died.kind == "died"


def test_pairs_are_confirmed_without_a_linter(all_judges: Judges, capsys: pytest.CaptureFixture[str]) -> None:
    by_meeting = {one.spec.meeting.name: one for one in draw.singles(3, 1) if one.table == "meeting"}
    command.confirm([by_meeting[name] for name in ("add", "cat", "matmul", "shape-only")], all_judges[0])
    assert capsys.readouterr().out == "3: fault, ok when placed\n1: ok, ok when placed\n"


def test_a_short_run(all_judges: Judges) -> None:
    """A few pairs of each kind: nothing is dropped or crashes, the plain ones are found, and no error is false."""
    drawn = random.Random(1).sample(list(draw.singles(1, 1)), 20) + list(draw.combined(1, 6))
    machine, plain, linter = all_judges
    cases = measure(drawn, machine, plain, linter)
    counts = tally(cases)
    assert counts.dropped <= 2
    assert counts.crashes == 0
    assert counts.false_errors == 0
    assert counts.found >= 8
    assert counts.clean >= 15
    assert len(list(by_construct(cases, alone=False))) >= 20


def test_a_disagreement_is_made_small(all_judges: Judges) -> None:
    machine, _, linter = all_judges
    text = (
        'import torch\n\nrate = 0.1\nx = torch.ones(3, device="cuda")\nt = torch.normal(0.0, 1.0, (3,))\nprint(x + t)\n'
    )

    class Mute:
        """A linter that says nothing."""

        def ask(self, programs: list[Program]) -> list[Answer]:
            return [Answer() for _ in programs]

    mute: Any = Mute()
    small = Shrinker(machine, mute).shrink(Program({"main.py": text}, "main.py"))
    assert small.shown["main.py"].splitlines() == [
        "import torch",
        'torch.ones(3, device="cuda") + (torch.normal(0.0, 1.0, (3,)))',
    ]
    assert Shrinker(machine, linter).shrink(FAULTY) == FAULTY  # here both agree


def test_nothing_that_was_mended_comes_back(all_judges: Judges) -> None:
    """The programs of agreed.jsonl: the linter says what the machine said, and on a few of them the machine says it again."""
    known = agreed.read()
    machine, _, linter = all_judges
    answers = linter.ask([entry.program for entry in known])
    again = random.Random(1).sample(known, min(5, len(known)))
    verdicts = machine.run([entry.program for entry in again])
    for entry, answer in zip(known, answers, strict=True):
        assert agreed.agrees(entry.verdict, answer, entry.program), entry.program.text()
    assert [verdict.kind for verdict in verdicts] == [entry.verdict.kind for entry in again]


def test_a_mended_disagreement_is_kept_small(tmp_path: Path, all_judges: Judges) -> None:
    class Same:
        """A shrinker that finds nothing smaller."""

        def __init__(self, machine: Machine) -> None:
            self.machine = machine

        def shrink(self, program: Program) -> Program:
            return program

    machine, _, linter = all_judges
    verdict = machine.run([FAULTY])[0]
    case = Case(next(iter(draw.singles(1, 1))), False, FAULTY, verdict, Answer(), MISSED)
    path = tmp_path / "agreed.jsonl"
    shrinker: Any = Same(machine)
    assert agreed.add(case, shrinker, linter, path) == 1
    assert agreed.add(case, shrinker, linter, path) == 0
    (entry,) = agreed.read(path)
    assert entry.program == FAULTY
    assert entry.was == MISSED
    assert entry.verdict.story >= verdict.story


def test_the_command() -> None:
    command = [sys.executable, "benchmarks/differential", "--seed", "1", "--singles", "1", "--combined", "0"]
    done = subprocess.run([*command, "--only", "meeting=cat"], capture_output=True, text=True, cwd=ROOT, check=True)
    assert "| seen | 1 | 1 (100%)" in done.stdout
