"""`torchdevlint debug`: what is believed at a line and why, and the Program that a file is lowered to."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.summary import Fault

_DESCRIPTION = """\
What device inference believes: `facts FILE:LINE` prints the values of a line, `why CODE FILE:LINE` the claims there, their verdicts and the row
of the policy that they fall under, `program FILE` the operations that the file is lowered to.
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """The parser of `torchdevlint debug`."""
    from torchdevlint.cli import formatter

    parser: argparse.ArgumentParser = subparsers.add_parser(
        "debug", help="print what the analysis believes", description=_DESCRIPTION, formatter_class=formatter()
    )
    asked = parser.add_subparsers(dest="asked", metavar="QUESTION", required=True)
    facts = asked.add_parser("facts", help="what every value of a line is")
    facts.add_argument("place", metavar="FILE:LINE")
    why = asked.add_parser("why", help="which claims stood at a line, and what became of them")
    why.add_argument("code", metavar="CODE", help="a rule's code, or `all`")
    why.add_argument("place", metavar="FILE:LINE")
    program = asked.add_parser("program", help="the operations of a file")
    program.add_argument("place", metavar="FILE")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Answers the question; the exit code."""
    from torchdevlint.cli import fail
    from torchdevlint.program import from_ast

    path, _, row = arguments.place.rpartition(":") if arguments.asked != "program" else (arguments.place, "", "")
    if arguments.asked != "program" and not (path and row.isdigit()):
        return fail(f"{arguments.place!r} is no FILE:LINE")
    try:
        program = from_ast.lower(ast.parse(Path(path).read_bytes()))
    except (OSError, SyntaxError, ValueError) as error:
        return fail(f"{path}: {error}")
    if arguments.asked == "program":
        from torchdevlint.program.dump import dump

        sys.stdout.write(dump(program))
        return 0
    from torchdevlint.infer.analysis import Analysis

    analysis = Analysis(program, path)
    lines = _facts(analysis, int(row)) if arguments.asked == "facts" else _why(analysis, arguments.code, int(row))
    for line in lines:
        print(line)
    return 0


def _facts(analysis: Analysis, row: int) -> Iterator[str]:
    """The values of a line, as its body's summary and as the program have them."""
    from torchdevlint.infer.printing import show, show_guard

    found: dict[tuple[int, str], str] = {}

    def record(op: Any, value: Any, ctx: Any) -> None:
        if getattr(op.node, "lineno", None) == row and isinstance(op.node, ast.AST):
            conditions = "".join(f" [{show_guard(*fact)}]" for fact in ctx.facts)
            found[id(op), ctx.mode] = f"{ctx.mode}: `{ast.unparse(op.node)}` is {show(value, ctx.heap)}{conditions}"

    analysis.recorder = record
    analysis.run()
    yield from dict.fromkeys(found.values())


def _why(analysis: Analysis, code: str, row: int) -> Iterator[str]:
    """The faults that concern a line, each with its operands, its calls, its row of the policy and what became of it."""
    from torchdevlint.rules.policy import is_worth_telling, row_of, severity_of

    analysis.run()
    decided = analysis.decided()
    for fault in analysis.faults.values():
        policy = row_of(fault)
        if code.upper() not in (policy.code, "ALL") or row not in _rows(fault):
            continue
        yield f"{policy.code}: {fault.kind} claim of line {_rows(fault)[1]}, {fault.verdict}"
        yield from _described(fault)
        yield f"  policy: {policy.code}, broken {policy.broken.label}, open {policy.open.label}: {severity_of(fault).label}"
        if not any(fault is one for one in decided):
            yield "  not told: a call in this file meets the claim, or the same value is read as an array"
        elif not is_worth_telling(fault):
            yield "  not told: the function shows that it is not meant for tensors anywhere"
    for bound, count in analysis.bounds.items():
        yield f"bound hit: {bound}, {count} times"


def _described(fault: Fault) -> Iterator[str]:
    from torchdevlint.infer.printing import show

    if fault.host is not None:
        yield f"  {fault.roles[0]}: {show(fault.host)}"
    yield f"  {fault.roles[1]}: {show(fault.other)}"
    for site in fault.chain:
        if getattr(site.op.node, "lineno", None) is not None:
            yield f"  called from line {site.op.node.lineno}"


def _rows(fault: Fault) -> list[int]:
    """The lines of the place, of the meeting and of the calls."""
    return [getattr(site.op.node, "lineno", 0) for site in (fault.place, fault.site, *fault.chain)]
