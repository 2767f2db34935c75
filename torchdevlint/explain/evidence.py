"""What the source says of the failing line: the findings of every level there, and what the analysis knows of each value. Nothing is run."""

# Paths are strings here: they come from a text, and a Path would change how they are written.
# ruff: noqa: PTH100, PTH109, PTH111, PTH113, PTH118

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torchdevlint.explain.causes import CAUSE_OF_RULE, CAUSES, OPERAND_CAUSES
from torchdevlint.explain.log import Frame
from torchdevlint.explain.messages import OPERANDS

if TYPE_CHECKING:
    from torchdevlint.explain.answering import Answer
    from torchdevlint.findings import Finding
    from torchdevlint.infer.recorder import Entered
    from torchdevlint.settings import Settings

_MOST_FRAMES = 8  # of the user's, the innermost first
_MOST_VALUES = 8
_WIDEST = 60
_LOST_MOVES = frozenset(("TDL501", "TDL502"))
_FEW_LINES = 30
_CUT = 25  # characters of a line that was cut

State = Literal["read", "moved", "changed", "missing"]


@dataclass(frozen=True, slots=True)
class Value:
    """One expression of the line, where it is (a device in words, "" unknown) and all that is known of it."""

    expression: str
    device: str
    told: str
    made: int = 0  # the row where it was made, 0 unknown


@dataclass(frozen=True, slots=True)
class Line:
    """A frame's line in a file that is at hand. `row` is where the line is today; `text` the file's text."""

    frame: Frame
    filename: str
    row: int
    text: str
    state: State


@dataclass(frozen=True, slots=True)
class Evidence:
    """What there is at hand for an answer. `line` is None where no source is; `findings` are sorted, the best first."""

    line: Line | None = None
    state: State = "missing"
    values: tuple[Value, ...] = ()
    findings: tuple[Finding, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()  # of the files that were read, by name
    problem: str = ""


def gather(answer: Answer, root: str) -> Evidence:
    """Looks at the user's frames in the files below `root`, or where the traceback says that they are."""
    lines, state = _lines(answer.frames[:_MOST_FRAMES], root)
    if not lines:
        return Evidence(state=state)
    found: list[tuple[tuple[int, ...], Finding]] = []
    problem = ""
    texts: dict[str, str] = {}
    for line in lines:
        if line.filename not in texts:
            texts[line.filename] = line.text
            findings, said = _findings(line)
            problem = problem or said
            found += [(rank, finding) for finding in findings if (rank := _rank(finding, answer, lines)) is not None]
    found.sort(key=lambda pair: (pair[0], pair[1].sort_key))
    values = _values(lines[0], lines)
    return Evidence(
        lines[0], lines[0].state, values, tuple(finding for _, finding in found), tuple(texts.items()), problem
    )


# ---------------------------------------------------------------------------------------------------- files


def _lines(frames: Sequence[Frame], root: str) -> tuple[list[Line], State]:
    """The frames that are at hand. Where the innermost of them has changed, the others say nothing of the failure any more."""
    lines: list[Line] = []
    for frame in frames:
        line = _line(frame, root)
        if line is None:
            continue
        if line.state != "changed":
            lines.append(line)
        elif not lines:
            return [], "changed"
    return lines, "missing"


def _line(frame: Frame, root: str) -> Line | None:
    """The frame's line where its file is at hand: as it was, elsewhere in the file, or no longer there."""
    if not frame.row or not frame.path.endswith((".py", ".pyw")):
        return None
    for filename, is_exact in _candidates(frame.path, root):
        text = _read(filename)
        if text is None:
            continue
        rows = text.split("\n")
        wanted = _bare(frame.text)
        if frame.row <= len(rows) and (_is_same(rows, frame.row, wanted) if wanted else is_exact):
            return Line(frame, filename, frame.row, text, "read")
        same = [number for number, row in enumerate(rows, 1) if wanted and _bare(row) == wanted]
        if len(same) == 1:
            return Line(frame, filename, same[0], text, "moved")
        if is_exact:
            return Line(frame, filename, frame.row, text, "changed")
    return None


def _is_same(rows: list[str], row: int, wanted: str) -> bool:
    """The whole line, or its beginning: rich cuts what does not fit into its box."""
    text = _bare(rows[row - 1])
    return text == wanted or (len(wanted) >= _CUT and text.startswith(wanted))


def _bare(text: str) -> str:
    return " ".join(text.split())


def _candidates(path: str, root: str) -> Iterator[tuple[str, bool]]:
    """Where the file may be: as the traceback says, then each shorter end of its path below the root."""
    expanded = os.path.expanduser(path)
    given = os.path.join(root, expanded)
    if os.path.isfile(given):
        yield given, True
    parts = [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..", "~")]
    for start in range(len(parts)):
        candidate = os.path.join(root, *parts[start:])
        if candidate != given and os.path.isfile(candidate):
            yield candidate, False


def _read(filename: str) -> str | None:
    from torchdevlint.source.reading import read_bytes
    from torchdevlint.source.source import Source, SourceError

    try:
        return Source.from_bytes(filename, read_bytes(filename)).text
    except (OSError, SourceError):
        return None


# ---------------------------------------------------------------------------------------------------- findings


def _findings(line: Line) -> tuple[Sequence[Finding], str]:
    """What every rule says of the file, at every level, with no comment honoured; and why that failed."""
    from torchdevlint.findings import Severity
    from torchdevlint.linter import examine
    from torchdevlint.rules.registry import all_rules
    from torchdevlint.settings import Selection
    from torchdevlint.source.deadline import OutOfTime
    from torchdevlint.source.source import Source

    every = Selection(extend_select=tuple(rule.code for rule in all_rules() if not rule.code.startswith("TDL0")))
    settings = _settings(line)._replace(
        selections=(every,), per_file_ignores=(), level=Severity.INFO, project=False, sieve=False
    )
    try:
        examination = examine(Source(line.filename, line.text), settings, frozenset())
    except OutOfTime as error:
        return (), error.message
    return examination.findings, "; ".join(examination.problems)


def _settings(line: Line) -> Settings:
    """The settings of the line's file; without any where they cannot be used."""
    from torchdevlint.settings import Resolver, Settings, SettingsError

    try:
        return Resolver().for_file(line.filename)
    except SettingsError:
        return Settings(root=os.getcwd())


def _is_lost_move(finding: Finding, line: Line) -> bool:
    """True for a move of a name that comes to nothing, a few lines in front of the line that uses the name."""
    if finding.code not in _LOST_MOVES or not 0 < line.row - finding.span.start.row <= _FEW_LINES:
        return False
    rows = line.text.split("\n")
    name = re.match(r"[A-Za-z_]\w*", rows[finding.span.start.row - 1][finding.span.start.column - 1 :])
    return name is not None and re.search(rf"\b{name[0]}\b", rows[line.row - 1]) is not None


def _rank(finding: Finding, answer: Answer, lines: Sequence[Line]) -> tuple[int, ...] | None:
    """How well a finding answers: on the line, as a related place, elsewhere in its file. None: it speaks of something else."""
    cause = CAUSE_OF_RULE.get(finding.code, "")
    verdict = answer.verdict
    fits = cause == verdict.cause or finding.code in CAUSES[verdict.cause].rules
    may_fit = answer.sighting.cause == OPERANDS and not verdict.is_sure and cause in OPERAND_CAUSES
    if not fits and not may_fit:
        return None
    is_other = int(cause != verdict.cause)
    further = 3 if is_other and verdict.is_sure else 0  # behind a finding of the cause itself, wherever it is
    here = [(depth, line) for depth, line in enumerate(lines) if line.filename == finding.filename]
    for depth, line in here:
        if _is_lost_move(finding, line):
            return (0, depth, -1, -finding.severity)
    for depth, line in here:
        if finding.span.start.row <= line.row <= finding.span.end.row:
            return (further, depth, is_other, -finding.severity)
    for depth, line in here:
        if any(other.span.start.row <= line.row <= other.span.end.row for other in finding.related):
            return (1 + further, depth, is_other, -finding.severity)
    return (2, 0, 0, -finding.severity) if not is_other else None


# ---------------------------------------------------------------------------------------------------- values


def _values(line: Line, lines: Sequence[Line]) -> tuple[Value, ...]:
    """What the analysis believes of the line's values, in the call that the traceback shows."""
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.recorder import Recorder
    from torchdevlint.program import from_ast, ir
    from torchdevlint.program.bounds import excess
    from torchdevlint.source.deadline import OutOfTime, limited
    from torchdevlint.source.deep_stack import call_with_deep_stack
    from torchdevlint.stubs.loader import using

    if excess(line.text) is not None:
        return ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = from_ast.lower(ast.parse(line.text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    bound = (
        ir.Constant,
        ir.Discard,
        ir.Declare,
        ir.Delete,
        ir.Import,
        ir.Raise,
        ir.Store,
        ir.Return,
        ir.MakeFunction,
        ir.MakeClass,
    )
    ops = [
        op
        for body in program.bodies
        for block in body.blocks
        for op in block.ops
        if getattr(op.node, "lineno", 0) == line.row
        and not isinstance(op, bound)
        and not isinstance(getattr(op.node, "ctx", None), ast.Store)
    ]
    recorder = Recorder(program, set(ops))
    with using(_settings(line).device_stubs()):
        analysis = Analysis(program, os.path.abspath(line.filename))
    analysis.recorder = recorder
    try:
        with limited():
            call_with_deep_stack(analysis.run)
    except (OutOfTime, RecursionError):
        return ()
    call = _call(recorder.entered, [one.row for one in lines[1:]])
    found: dict[str, Value] = {}
    for op in ops:
        told = recorder.values.get(op, "")
        if call is not None:
            told = call.values.get(op, told)
        value = _value(_source_of(op.node, line.text), told)
        if value is not None:
            found.setdefault(value.expression, value)
    return tuple(list(found.values())[:_MOST_VALUES])


def _call(entered: Sequence[Entered], rows: Sequence[int]) -> Entered | None:
    """The call whose callers are those of the traceback; else the one that is followed from farthest away."""
    from torchdevlint.infer.printing import row_of

    def fit(call: Entered) -> tuple[int, int]:
        chain = [row_of(site) for site in call.chain]
        return sum(row in rows for row in chain), len(chain)

    return max(entered, key=fit, default=None)


_TOLD = re.compile(r"^(?P<kind>tensor|module [\w.]+) @ (?P<device>[^,(]+?)(?: \((?P<way>\w+)\))?(?:,|$)")
_MADE = re.compile(r"made on line (\d+)")


def _value(expression: str, told: str) -> Value | None:
    """A tensor or a module; what is not known to be one is not told."""
    found = _TOLD.match(told)
    if found is None or not expression or found["device"].strip() == "unknown device":
        return None
    made = _MADE.search(told)
    device = found["device"].strip()
    kind = found["kind"]
    words = kind if kind.startswith("module") else "tensor"
    if found["way"] == "default":
        words += " created without a device"
    if "attribute " in told:
        words += ", plain attribute"
    return Value(expression, device, words, int(made[1]) if made is not None else 0)


def _source_of(node: object, text: str) -> str:
    written = ast.get_source_segment(text, node) if isinstance(node, ast.AST) else None
    bare = " ".join((written or "").split())
    return bare if len(bare) <= _WIDEST else ""
