"""The sieve: a text is read with `ast` first, at a tenth of the cost, and LibCST sees only those texts of which something is said.

Both trees are lowered to the same Program, so inference and rules say the same of both. LibCST is imported when the first report
wants its place and its fix; the Program that was analysed then takes over LibCST's nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from torchdevlint.facts.observed import NOTHING_OBSERVED, Observed
from torchdevlint.findings import Sightings
from torchdevlint.program import from_ast, ir
from torchdevlint.program.bounds import ParseFailure, parse
from torchdevlint.program.project import Member
from torchdevlint.rules.engine import Result, analyse
from torchdevlint.rules.rule import Report, Rule
from torchdevlint.stubs.loader import in_use

if TYPE_CHECKING:
    import libcst as cst

NO_SIGHTINGS: Sightings = MappingProxyType({})


class Document(Protocol):
    """What is kept of a text for its next version (see torchdevlint.infer.document)."""

    def revised(self, program: ir.Program, member: Member | None) -> ir.Program:
        """The Program to go on with, for the one that was read of the next version."""

    def tree(self, text: str, program: ir.Program) -> cst.Module:
        """LibCST's tree of the text that a Program was read of."""

    def settle(self, program: ir.Program) -> None:
        """The examination of a Program has come to its end."""


class Questions(NamedTuple):
    """The rules that are asked, which of their reports are shown, the oldest torch that the project allows, and the file's place in it.

    `document` keeps what is inferred of a text for its next version.
    """

    rules: Sequence[type[Rule]]
    is_shown: Callable[[Report], bool]
    target_torch: tuple[int, int] | None = None
    member: Member | None = None
    document: Document | None = None


class Look(NamedTuple):
    """What the rules said of a text: crashes, and the reports that are shown, whose operations have LibCST's nodes."""

    program: ir.Program
    result: Result
    reports: list[Report]
    hides_notes: bool = False  # something is said that the level does not show


def look(text: str, questions: Questions, sightings: Sightings = NO_SIGHTINGS, *, sieve: bool = True) -> Look:
    """Asks the rules about a text, after what a run of it saw; raises `ParseFailure`.

    A text that LibCST refuses and the running Python does not is no fault as long as nothing is said of it.
    """
    first = _sifted(text, questions) if sieve and not sightings else None
    if first is not None and not first.reports:
        return first
    try:
        document = questions.document if first is not None else None
        module = parse(text) if document is None or first is None else document.tree(text, first.program)
    except ParseFailure:
        first = None if sieve and not sightings else _sifted(text, questions)
        if first is None or first.reports:
            raise
        return first
    from torchdevlint.placing import observed_in
    from torchdevlint.program.from_libcst import lower

    program = lower(module)
    if first is not None and ir.adopt_nodes(first.program, program):
        return first
    return _asked(program, questions, observed_in(program, text, sightings))


def _sifted(text: str, questions: Questions) -> Look | None:
    """What the rules say of the text as `ast` reads it; None where the running Python refuses it."""
    member = questions.member
    program = from_ast.read(text) if member is None else member.project.program_of(member.path, text)
    if questions.document is not None and program is not None:
        program = questions.document.revised(program, member)
    if program is not None and program.stubs is not in_use():
        program.stubs = in_use()
        program.revision += 1  # what was inferred of it rests on other stubs
    return None if program is None else _asked(program, questions)


def _asked(program: ir.Program, questions: Questions, observed: Observed = NOTHING_OBSERVED) -> Look:
    result = analyse(program, questions.rules, observed, questions.target_torch, questions.member)
    shown = [report for report in result.reports if questions.is_shown(report)]
    return Look(program, result, shown, hides_notes=len(shown) < len(result.reports))
