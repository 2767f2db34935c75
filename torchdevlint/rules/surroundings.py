"""Where a true sentence is no news: a rule names, in `quiet_in`, the surroundings in which its findings are notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.neighbours import default_device_is_set, is_unreached
from torchdevlint.rules.rule import INFO, Report
from torchdevlint.rules.structure import is_test_file, operations

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "unit_tests"})
_COMMAND_LINES = ("argparse", "click", "fire", "hydra", "absl", "typer", "tyro")


def toned_down(report: Report, facts: Facts) -> Report:
    """The report, as a note where it stands in one of its rule's surroundings; the facts are of the file as a whole."""
    if report.severity <= INFO or not any(_QUESTIONS[name](report.op, facts) for name in report.rule.quiet_in):
        return report
    return replace(report, severity=INFO)


def _in_tests(_: ir.Op, facts: Facts) -> bool:
    """True in a file of tests: who wrote them knows the machine that they run on. A program that is called a test is none."""
    if facts.imports(*_COMMAND_LINES):
        return False
    member = facts.analysis.member
    inside = PurePath(member.path).relative_to(member.project.root).parts[:-1] if member is not None else ()
    return is_test_file(facts) or not _TEST_FOLDERS.isdisjoint(inside)


def _is_unreached(op: ir.Op, facts: Facts) -> bool:
    """True in a function that nobody in the project names."""
    body = next((body for body in facts.program.bodies if any(other is op for other in operations(body))), None)
    return body is not None and is_unreached(body, facts)


def _has_other_default(_: ir.Op, facts: Facts) -> bool:
    """True where a program of the project that leads here sets PyTorch's default device: factories do not make CPU tensors then."""
    return default_device_is_set(facts)


_QUESTIONS: dict[str, Callable[[ir.Op, Facts], bool]] = {
    "tests": _in_tests,
    "unreached code": _is_unreached,
    "another default device": _has_other_default,
}
SURROUNDINGS = frozenset(_QUESTIONS)
