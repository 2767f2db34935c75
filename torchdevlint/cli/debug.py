"""`torchdevlint debug`: what a file lowers to, what is inferred at a line, and why a finding is or is not told."""

from __future__ import annotations

import argparse
import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint import cli
from torchdevlint.cli.stored import of_files
from torchdevlint.program import ir
from torchdevlint.settings import Resolver, SettingsError

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.recorder import Entered, Recorder
    from torchdevlint.infer.values import Site

_PLACE = re.compile(r"(?P<file>.+?):(?P<row>\d+)(?::\d+)?")
_MOST_CALLS = 6  # that `facts` tells apart
_WIDEST = 44  # characters of an expression in a table

_EPILOG = """\
examples:
  torchdevlint debug facts model.py:12              what each name and expression of line 12 is, and where
  torchdevlint debug why TDL504 model.py:12         which claim stands there, who decides it, and what hides a finding
  torchdevlint debug program model.py               the operations and the control flow that the analysis sees

exit codes: 0 the question was answered, 2 it could not be (no such file, no code on the line, no such rule)
"""
_FACTS = """\
Each expression of the line is shown as the analysis sees it for any caller, and then once for each call that it follows.

how a value reads:
  tensor @ cpu (default), rank 2, made on line 9    a tensor on the CPU because nobody named a device
  tensor @ device of parameter x                    a tensor that is where x is
  parameter x                                       open: a caller tells; "proven a tensor": its use lets nothing else through
  module Net @ accelerator                          a module, and where its parameters are
  a | b (if c)                                      one of several; b where c holds
  unknown                                           nothing is known, and nothing is claimed of it
"""
_WHY = """\
The answer comes first, then what it rests on:
  findings    what the rule says of the line, and what hides it (settings, the level, a suppression comment)
  claims      what must hold at the line or about a tensor that is made there; how each caller decides it:
                met                     the operands share a device
                broken                  the values prove that they do not: an error
                open                    somebody outside of the file may break it: a warning
                left to the callers     the function alone cannot tell
                undecided               too little is known of an operand: nothing is told
                only on the CPU         the line is reached without an accelerator alone
  policy      the row of the severity table
  bounds      limits of the analysis that were hit: what lies behind them was not seen
"""


class Place(NamedTuple):
    """A line of a file: the path as it was given, the text, its Program with nodes, and the operations that begin on the line."""

    path: str
    row: int
    text: str
    program: ir.Program
    ops: tuple[ir.Op, ...]

    @property
    def line(self) -> str:
        """The line's own text."""
        return self.text.split("\n")[self.row - 1].strip()


class Refused(Exception):
    """A question that cannot be answered; the message says why."""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(
        subparsers,
        "debug",
        "Shows how the analysis sees a file: for bug reports, and for whoever wonders why a finding is there or is not.",
        _EPILOG,
    )
    questions = parser.add_subparsers(dest="question", metavar="QUESTION", required=True)

    def question(name: str, told: str, epilog: str = "") -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = questions.add_parser(
            name,
            help=told,
            description=told[0].upper() + told[1:] + ".",
            epilog=epilog,
            formatter_class=cli.formatter(),
        )
        return made

    facts = question("facts", "show what is believed of each name and expression of a line", _FACTS)
    facts.add_argument("place", metavar="FILE:LINE", help="a line, as in model.py:12")
    why = question("why", "show why a rule tells of a line, or does not", _WHY)
    why.add_argument("code", metavar="CODE", help="a code (TDL504) or the name of a rule")
    why.add_argument("place", metavar="FILE:LINE", help="a line, as in model.py:12")
    program = question("program", "print the operations and the control flow that a file lowers to")
    program.add_argument("file", metavar="FILE")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    try:
        if arguments.question == "program":
            from torchdevlint.program.dump import dump

            print(dump(lowered(read(arguments.file), arguments.file)), end="")
            return 0
        if arguments.question == "facts":
            print("\n".join(_facts(place_of(arguments.place))))
            return 0
        from torchdevlint.cli import why
        from torchdevlint.rules.registry import rule_by_code
        from torchdevlint.settings import unknown_code

        rule = rule_by_code(arguments.code)
        if rule is None:
            return cli.fail(unknown_code(arguments.code))
        print("\n".join(why.explain(rule, place_of(arguments.place))))
    except (Refused, SettingsError) as error:
        return cli.fail(str(error))
    return 0


# ---------------------------------------------------------------------------------------------------- reading


def read(path: str) -> str:
    """The text of a file; raises `Refused`."""
    from torchdevlint.source.reading import read_bytes
    from torchdevlint.source.source import Source, SourceError

    if path.endswith(".ipynb"):
        raise Refused(f"{path}: debug reads Python files, and no notebooks")
    try:
        return Source.from_bytes(path, read_bytes(path)).text
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    except SourceError as error:
        raise Refused(f"{path}:{error.row}: {error.message}") from None


def lowered(text: str, path: str) -> ir.Program:
    """The Program of a text, with nodes that know their lines; raises `Refused`."""
    from torchdevlint.program import from_ast
    from torchdevlint.program.bounds import excess

    beyond = excess(text)
    if beyond is not None:
        raise Refused(f"{path}: not read: {beyond}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return from_ast.lower(ast.parse(text))
    except SyntaxError as error:
        raise Refused(f"{path}:{error.lineno}: this does not parse: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"{path}: this does not parse: {error}") from None


def place_of(written: str) -> Place:
    """The line that `FILE:LINE` names; raises `Refused`."""
    found = _PLACE.fullmatch(written)
    if found is None:
        raise Refused(f"{written}: a file and a line are wanted, as in model.py:12")
    path, row = found["file"], int(found["row"])
    text = read(path)
    program = lowered(text, path)
    last = len(text.splitlines())
    if not 1 <= row <= last:
        raise Refused(f"{path}:{row}: the file has {last} lines")
    located = [
        (op, span) for body in program.bodies for block in body.blocks for op in block.ops if (span := _rows(op))
    ]
    ops = tuple(op for op, (first, _) in located if first == row)
    if not ops:  # within an expression of several lines: what is the shortest there
        around = [(end - first, op) for op, (first, end) in located if first < row <= end and _is_short(op)]
        least = min((length for length, _ in around), default=0)
        ops = tuple(op for length, op in around if length == least)
    if not ops and not any(getattr(body.node, "lineno", 0) == row for body in program.bodies):
        near = sorted({first for _, (first, _) in located}, key=lambda other: abs(other - row))[:2]
        hint = f" (the nearest that do: {', '.join(map(str, sorted(near)))})" if near else ""
        raise Refused(f"{path}:{row}: this line holds no code{hint}")
    return Place(path, row, text, program, ops)


def _rows(op: ir.Op) -> tuple[int, int] | None:
    first, last = getattr(op.node, "lineno", None), getattr(op.node, "end_lineno", None)
    return (first, last or first) if isinstance(first, int) else None


def _is_short(op: ir.Op) -> bool:
    return not isinstance(op, (ir.MakeFunction, ir.MakeClass))


def source_of(op: ir.Op, text: str) -> str:
    """An operation as it is written, in one line."""
    written = ast.get_source_segment(text, op.node) if _rows(op) is not None else None
    return shortened(" ".join((written or type(op).__name__.lower()).split()))  # one of several lines as one


def inferred(place: Place, recorder: Recorder) -> Analysis:
    """The analysis of the file, which a recorder listens to."""
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.program.project import member
    from torchdevlint.source.deep_stack import call_with_deep_stack
    from torchdevlint.stubs.loader import using

    settings = Resolver().for_file(place.path)
    asked = member(place.path, settings.environment) if settings.project else None
    with using(settings.device_stubs()):
        if asked is None:
            analysis = Analysis(place.program, str(Path(place.path).absolute()))
        else:
            analysis = Analysis(place.program, asked.path, asked.project)
    analysis.kept.recorder = recorder  # callers in other files are heard of as well
    return call_with_deep_stack(lambda: analysis.kept.analysis(analysis.unit.path).hear_callers())


def shortened(told: str, most: int = 60) -> str:
    """A text that fits into a line."""
    return told if len(told) <= most else told[: most - 3] + "..."


def where(chain: Sequence[Site], path: str) -> str:
    """The calls that lead somewhere, the innermost first."""
    from torchdevlint.infer.printing import row_of

    here, rows = Path(path).resolve(), list[str]()
    for site in chain:
        file = site.unit.path if site.unit is not None else ""
        is_here = not file or Path(file).resolve() == here
        row = row_of(site) or _row_elsewhere(file, site.op, path)
        rows.append(f"{'line ' if is_here else file + ':'}{row or '?'}")
    return " from ".join(rows)


def _row_elsewhere(path: str, op: ir.Op, asked_from: str) -> int:
    """The row of an operation in another file of the project, which the file that is asked about has read; 0 where that cannot be said."""
    from torchdevlint.program.project import member

    asked = member(path, Resolver().for_file(asked_from).environment) if path else None
    span = asked.project.span_of(path, op) if asked is not None else None
    return span.start.row if span is not None else 0


# ---------------------------------------------------------------------------------------------------- facts


def _facts(place: Place) -> Iterator[str]:
    from torchdevlint.infer.recorder import Recorder

    bodies = [body for body in place.program.bodies if getattr(body.node, "lineno", 0) == place.row]
    owner = {op: body for body in place.program.bodies for block in body.blocks for op in block.ops}
    recorder = Recorder(place.program, set(place.ops), set(bodies))
    analysis = inferred(place, recorder)
    yield f"{place.path}:{place.row}: {shortened(place.line, 90)}"
    asked = [op for op in place.ops if _is_told(op) and recorder.values.get(op) != source_of(op, place.text)]
    for body in dict.fromkeys(owner[op] for op in asked):
        here = [op for op in asked if owner[op] is body]
        if body.kind != "module":
            yield f"in {body.qualname}, for any caller"
        yield from _table([(_name_of(op, place.text), _open(op, body, recorder, analysis)) for op in here])
        yield from _calls(place, [call for call in recorder.entered if call.body is body], here, recorder)
    for body in bodies:
        summary = analysis.summary(body)
        proven = summary.proven if summary is not None else ()
        names = {term.args[1] for term in proven if term.op == "parameter" and term.args[0] is body}
        rows = [(p.name, "proven a tensor by its use" if p.name in names else "open") for p in body.parameters]
        if rows:
            yield f"parameters of {body.qualname}"
            yield from _table(rows)
        yield from _calls(place, [call for call in recorder.entered if call.body is body], [], recorder)
    yield from of_files(place, analysis)
    yield from bounds_of(analysis)


def _calls(place: Place, calls: list[Entered], ops: list[ir.Op], recorder: Recorder) -> Iterator[str]:
    """What callers make of the values that they change."""
    told: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for call in calls:
        if ops:
            changed = [op for op in ops if op in call.values and call.values[op] != recorder.values.get(op)]
            rows = [(_name_of(op, place.text), call.values[op]) for op in changed]
        else:
            rows = list(call.parameters.items())
        if rows:
            whom = f"called from {where(call.chain, place.path)}" if call.chain else "called from outside of the file"
            told.setdefault(tuple(dict.fromkeys(rows)), []).append(whom)
    for given, callers in list(told.items())[:_MOST_CALLS]:
        more = len(callers) - 1
        yield callers[0] + (f", and by {more} more way{'s' * (more > 1)}" if more else "")
        yield from _table(list(given))
    if len(told) > _MOST_CALLS:
        yield f"and {len(told) - _MOST_CALLS} more calls that give other values"


def _is_told(op: ir.Op) -> bool:
    """False for constants, which speak for themselves, and for what gives no value."""
    return not isinstance(op, (ir.Constant, ir.Discard, ir.Declare, ir.Delete, ir.Import, ir.Raise))


def _name_of(op: ir.Op, text: str) -> str:
    if isinstance(op, ir.Store):
        return f"{op.name.partition('@')[0]} ="
    if isinstance(op, (ir.StoreAttribute, ir.StoreSubscript)):
        return f"{source_of(op, text)} ="
    if isinstance(op, ir.Return):
        return "returned"
    if isinstance(op, (ir.MakeFunction, ir.MakeClass)):
        return "def" if isinstance(op, ir.MakeFunction) else "class"
    if isinstance(op, ir.Iterate):
        return "next element"
    return shortened(source_of(op, text), _WIDEST)


def _open(op: ir.Op, body: ir.Body, recorder: Recorder, analysis: Analysis) -> str:
    """The value of an operation for any caller."""
    told = recorder.values.get(op, "not evaluated: no path that the analysis follows comes here")
    return told + ", proven a tensor by its use" if recorder.is_proven(op, body, analysis) else told


def _table(rows: list[tuple[str, str]]) -> Iterator[str]:
    rows = list(dict.fromkeys(rows))
    width = max((len(name) for name, _ in rows), default=0)
    for name, told in rows:
        yield f"  {name:<{width}}  {told}"


def bounds_of(analysis: Analysis) -> Iterator[str]:
    """The limits that were hit."""
    if analysis.bounds:
        told = ", ".join(f"{bound} ({count} times)" for bound, count in sorted(analysis.bounds.items()))
        yield f"bounds that were hit: {told}"
