"""One file through the whole linter, with rules made for the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

from torchdevlint import linter, sieve
from torchdevlint.findings import Severity
from torchdevlint.fixes.builders import NodeEdit
from torchdevlint.fixes.grounds import Ground
from torchdevlint.linter import Repair, lint
from torchdevlint.program import ir
from torchdevlint.rules.rule import WARNING, Mention, NodeFix, Report, Rule, on_call
from torchdevlint.settings import Settings

TEXT = "import torch\n"


def rename(op: ir.Op, name: str, ground: Ground = Ground.SAME_OPERATION) -> NodeFix:
    return NodeFix(ground, f"call {name}", (NodeEdit(op.node.func, cst.parse_expression(name)),))


class Renames(Rule):
    """`torch.a` becomes `torch.b` (safe), `torch.b` becomes `torch.c` (unsafe)."""

    code, name, severity = "TDL991", "test-renames", WARNING

    @on_call("torch.a")
    def safe(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        yield self.report(
            op, "a is old, see line {0}", related=(Mention(op, "here"),), fix=lambda: rename(op, "torch.b")
        )

    @on_call("torch.b")
    def unsafe(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        yield self.report(op, "b is old", fix=lambda: rename(op, "torch.c", Ground.CHANGES_A_RUN))


class Breaks(Rule):
    """Fixes that must not be applied: one does not parse, one makes more findings."""

    code, name, severity = "TDL992", "test-breaks", WARNING

    @on_call("torch.unparsable")
    def unparsable(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        yield self.report(op, "unparsable", fix=lambda: self._text(op, "((("))

    @on_call("torch.multiplies")
    def multiplies(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        yield self.report(op, "multiplies", fix=lambda: self._text(op, "torch.multiplies(), torch.multiplies()"))

    @on_call("torch.forever")
    def forever(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        yield self.report(op, "forever", fix=lambda: self._text(op, "torch.forever(0)"))

    @on_call("torch.accent")
    def accent(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        yield self.report(op, "accent", fix=lambda: self._text(op, "torch.c('\u20ac')"))

    @staticmethod
    def _text(op: ir.Op, text: str) -> NodeFix:
        return NodeFix(Ground.SAME_OPERATION, "break it", (NodeEdit(op.node, text),))


class Crashes(Rule):
    """A rule, its fix and its message, each with a fault."""

    code, name, severity = "TDL993", "test-crashes", WARNING

    @on_call("torch.crash")
    def crash(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        raise ZeroDivisionError("the rule is wrong")

    @on_call("torch.bad_fix")
    def bad_fix(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        yield self.report(op, "found anyway", fix=lambda: [][1])

    @on_call("torch.bad_message")
    def bad_message(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        yield self.report(op, "see line {3}")


class Notes(Rule):
    """A note on style."""

    code, name, severity = "TDL994", "test-notes", WARNING

    @on_call("torch.note")
    def note(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        yield self.report(op, "a note", severity=Severity.INFO)


class AsksTheProject(Rule):
    """What the file's project shows of the file itself."""

    code, name, severity = "TDL995", "test-asks-the-project", WARNING

    @on_call("torch.a")
    def before(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        return self._asked("torch.a", op, facts)

    @on_call("torch.b")
    def after(self, op: ir.Call, facts: Any) -> Iterator[Report]:
        return self._asked("torch.b", op, facts)

    def _asked(self, name: str, op: ir.Call, facts: Any) -> Iterator[Report]:
        if facts.analysis.member is not None:
            project, path = facts.analysis.member
            if name.encode() in project.read(path):
                yield self.report(op, f"{name}, of {len(project.program(path).bodies)} bodies")


@pytest.fixture(autouse=True)
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = (linter.UnusedSuppression, Renames, Breaks, Crashes, Notes, AsksTheProject)
    monkeypatch.setattr(Settings, "rules", lambda self, path: chosen)
    monkeypatch.setattr(linter, "all_rules", lambda: chosen)


def run(text: str, repair: Repair = Repair.NONE, **settings: Any) -> Any:
    return lint("a.py", (TEXT + text).encode(), Settings(**settings), repair)


def lines(outcome: Any) -> list[tuple[int, str]]:
    return [(finding.span.start.row, finding.code) for finding in outcome.findings]


def test_findings_have_places_messages_and_fixes() -> None:
    outcome = run("x = (  # note\n    torch.a(\n        1))\n")
    (finding,) = outcome.findings
    assert (finding.code, finding.name, finding.severity, finding.filename) == (
        "TDL991",
        "test-renames",
        Severity.WARNING,
        "a.py",
    )
    assert (finding.span.start.row, finding.span.start.column) == (3, 5)
    assert (finding.span.end.row, finding.span.end.column) == (4, 11)
    assert finding.noqa_row == 4
    assert finding.message == "a is old, see line 3"
    assert finding.related[0].span == finding.span
    assert finding.fix.message == "call torch.b"
    assert [edit.content for edit in finding.fix.edits] == ["b"]
    assert outcome.stored is None


def test_rounds_go_on_until_nothing_changes() -> None:
    text = "x = torch.a(torch.a(torch.a(1)))\n"
    assert run(text, Repair.SAFE).text == TEXT + "x = torch.b(torch.b(torch.b(1)))\n"
    outcome = run(text, Repair.UNSAFE)
    assert outcome.text == TEXT + "x = torch.c(torch.c(torch.c(1)))\n"
    assert outcome.stored == outcome.text.encode()
    assert len(outcome.fixed) == 6
    assert not outcome.findings


def test_a_repaired_text_is_looked_at_in_a_project_that_shows_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    path, raw = tmp_path / "a.py", (TEXT + "torch.a()\n").encode()
    path.write_bytes(raw)
    repaired = lint(str(path), raw, Settings(project=True), Repair.SAFE)
    path.write_bytes(repaired.stored or b"")
    again = lint(str(path), path.read_bytes(), Settings(project=True))
    assert lines(repaired) == lines(again) == [(2, "TDL991"), (2, "TDL995")]


def test_unsafe_fixes_wait_to_be_asked_for() -> None:
    outcome = run("torch.b()\n", Repair.SAFE)
    assert outcome.stored is None
    assert lines(outcome) == [(2, "TDL991")]


@pytest.mark.parametrize(
    ("name", "words"), [("unparsable", "would not parse"), ("multiplies", "more findings than before")]
)
def test_bad_fixes_are_dropped_and_told_while_the_good_ones_stay(name: str, words: str) -> None:
    outcome = run(f"torch.a(1)\ntorch.{name}()\ntorch.a(2)\n", Repair.SAFE)
    assert outcome.text == TEXT + f"torch.b(1)\ntorch.{name}()\ntorch.b(2)\n"
    (note,) = outcome.notes
    assert note.startswith("a.py:3: the fix of TDL992 was not applied: ")
    assert words in note
    assert not outcome.problems


def test_a_fix_that_leaves_its_finding_is_dropped() -> None:
    outcome = run("torch.forever()\n", Repair.SAFE)
    assert outcome.stored is None
    assert "TDL992 would still be found" in outcome.notes[0]


def test_a_fix_that_the_encoding_cannot_hold() -> None:
    raw = b"# coding: latin-1\nimport torch\nx = '\xe9'\ntorch.a()\ntorch.accent()\n"
    outcome = lint("a.py", raw, Settings(), Repair.SAFE)
    assert outcome.stored == raw.replace(b"torch.a()", b"torch.b()")
    assert "cannot be written as iso-8859-1" in outcome.notes[0]


def test_bytes_that_do_not_come_back_are_not_repaired() -> None:
    raw = b"# coding: utf-7\nimport torch\nx = '+AGE-'\ntorch.a()\n"
    outcome = lint("a.py", raw, Settings(), Repair.SAFE)
    assert outcome.stored is None
    assert lines(outcome) == [(4, "TDL991")]
    assert "does not give the same bytes back" in outcome.notes[0]


@pytest.mark.parametrize(
    "raw", [b"\xef\xbb\xbfimport torch\r\ntorch.a()", b"import torch\r\n\x0c\r\n\ttorch.a()  # x \r\n\r\n"]
)
def test_only_the_edit_changes_bytes(raw: bytes) -> None:
    raw = raw.replace(b"\t", b"if 1:\r\n\t")
    assert lint("a.py", raw, Settings(), Repair.SAFE).stored == raw.replace(b"torch.a", b"torch.b")


def test_crashes_are_told_and_hide_nothing() -> None:
    outcome = run("torch.crash()\ntorch.a()\ntorch.bad_fix()\ntorch.bad_message()\n")
    assert lines(outcome) == [(3, "TDL991"), (4, "TDL993"), (5, "TDL993")]
    assert [problem.split(": ")[1] for problem in outcome.problems] == ["TDL993"] * 3
    assert "the rule is wrong" in outcome.problems[0]
    assert "building the fix" in outcome.problems[1]


def test_a_crash_outside_the_rules_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise ZeroDivisionError("the analysis is wrong")

    monkeypatch.setattr(sieve, "analyse", fail)
    (problem,) = run("").problems
    assert problem.startswith("a.py: torchdevlint failed on this file: ZeroDivisionError: the analysis is wrong (")


def test_suppressions_and_unused_ones() -> None:
    outcome = run("torch.a()  # noqa: TDL991\ntorch.c()  # noqa: TDL991\ntorch.a(  # torchdevlint: ignore[TDL9]\n)\n")
    assert lines(outcome) == [(3, "TDL001")]
    fixed = run("torch.c()  # noqa: TDL991, E501\n", Repair.SAFE)
    assert fixed.text == TEXT + "torch.c()  # noqa: E501\n"


def test_what_the_level_hides_still_uses_its_suppression() -> None:
    assert lines(run("torch.note()\n")) == []
    assert lines(run("torch.note()  # noqa: TDL994\n")) == []
    assert lines(run("torch.note()\n", level=Severity.INFO)) == [(2, "TDL994")]


@pytest.mark.parametrize(
    ("raw", "row", "words"),
    [
        (b"import torch\nx = (\n", 2, "cannot be parsed"),
        (b"import torch\nx.cuda(async=True)\n", 2, "keywords since Python 3.7"),
        (b"import torch\nx = '\xe9'\n", 2, "not UTF-8"),
        (b"import torch\n\0\n", 2, "NUL byte"),
        (b"import torch\nx = " + b"(" * 1000 + b")" * 1000, 2, "nested more than 200 brackets"),
        (b"import torch\nx = torch.a()" + b"+1" * 2100, 2, "chained"),
        (b"import torch\nx = torch.a()" + b".b()" * 4000, 2, "chained"),
    ],
)
def test_unparsable_files_are_a_finding_that_nothing_hides(raw: bytes, row: int, words: str) -> None:
    outcome = lint("a.py", raw + b"  # noqa\n# torchdevlint: ignore-file", Settings(level=Severity.ERROR), Repair.SAFE)
    (finding,) = outcome.findings
    assert (finding.code, finding.span.start.row, finding.severity) == ("TDL000", row, Severity.ERROR)
    assert words in finding.message
    assert outcome.stored is None
    assert not outcome.problems


def test_a_file_of_python_2_is_a_note() -> None:
    text = b"import torch\nprint 'x'\n"
    hidden = lint("a.py", text, Settings())
    assert hidden.findings == ()
    assert hidden.hides_notes
    (finding,) = lint("a.py", text, Settings(level=Severity.INFO)).findings
    assert (finding.code, finding.span.start.row, finding.severity) == ("TDL000", 2, Severity.INFO)


def test_an_empty_file_has_no_findings() -> None:
    assert lint("a.py", b"", Settings()).findings == ()


def test_a_file_of_5_mb() -> None:
    raw = b'import torch\nx = """\n' + b"0.123456789 " * 440_000 + b'\n"""\ntorch.a()\n'
    assert len(raw) > 5_000_000
    (finding,) = lint("a.py", raw, Settings()).findings
    assert finding.span.start.row == 5
