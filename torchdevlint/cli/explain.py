"""`torchdevlint explain`: what a PyTorch device error means, which value is where, and what repairs it."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torchdevlint import cli
from torchdevlint.reporting.plain import shown, shown_name

if TYPE_CHECKING:
    from torchdevlint.explain.answering import Answer
    from torchdevlint.explain.evidence import Evidence, Value
    from torchdevlint.findings import Finding

_MOST_BYTES = 10_000_000
_WIDTH = 110
_DESCRIPTION = """\
Explains a PyTorch error about devices. Give it an error message or a whole log with a traceback: the device error in it is found, with
the line of yours that failed. Where the source is at hand, the analysis is asked what is where, and the rule's repair is shown. Nothing
is run.
"""
_EPILOG = """\
examples:
  torchdevlint explain error.txt                      a log or a traceback in a file
  python train.py 2>&1 | torchdevlint explain -       from the program itself
  torchdevlint explain --message "indices should be either on cpu or ..."
  torchdevlint explain --root ~/project slurm-1.out   files of the traceback are looked for below a folder

exit code: 0 explained, 1 no device error was recognised, 2 the text could not be read
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(subparsers, "explain", _DESCRIPTION, _EPILOG)
    parser.add_argument("file", nargs="?", metavar="FILE", help="a text with the error; - for standard input")
    parser.add_argument("--message", metavar="TEXT", help="the error message itself, instead of a file")
    parser.add_argument(
        "--root", default="", metavar="DIR", help="where the source files are (default: the current folder)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: one object, for programs")
    return parser


class _BadInput(Exception):
    """A text that cannot be read; the message says why."""


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    if (arguments.file is None) == (arguments.message is None):
        return cli.fail("explain takes a FILE, - for standard input, or --message TEXT")
    if arguments.root and not os.path.isdir(arguments.root):  # noqa: PTH112
        return cli.fail(f"{arguments.root}: no such folder")
    try:
        text = arguments.message if arguments.file is None else _text(arguments.file)
        if not text.strip():
            raise _BadInput("the text is empty")
    except _BadInput as error:
        return cli.fail(f"{arguments.file or '--message'}: {error}")
    from torchdevlint.explain.answering import read

    answer = read(text)
    if answer is None:
        if arguments.format == "json":
            print(_dumps({"cause": None}))
        else:
            print("No device error of PyTorch was recognised in this text.")
            print("  If it is one, please report its wording.")
        return 1
    from torchdevlint.explain.conclusion import conclude
    from torchdevlint.explain.evidence import gather

    evidence = gather(answer, arguments.root)
    answer = conclude(answer, evidence)
    if arguments.format == "json":
        print(_dumps(as_object(answer, evidence)))
    else:
        for line in _lines(answer, evidence):
            print(line)
    return 0


def _text(path: str) -> str:
    """The text of a file or of standard input; raises `_BadInput`."""
    if path == "-":
        raw = sys.stdin.buffer.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            raise _BadInput(f"more than {_MOST_BYTES // 1_000_000} MB; give the end of the log: `tail -n 2000 log`")
    else:
        from torchdevlint.source.reading import read_bytes

        try:
            raw = read_bytes(path, _MOST_BYTES)
        except OSError as error:
            raise _BadInput(str(error.strerror or error)) from None
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):  # PowerShell writes its redirections so
        encoding = "utf-16"
    elif b"\x00" in raw:
        raise _BadInput("this is no text")
    else:
        encoding = "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise _BadInput(f"not {encoding.removesuffix('-sig').upper()} at byte {error.start}") from None


def _dumps(value: object) -> str:
    from torchdevlint.reporting.json import dumps

    return dumps(value, indent=2)


# ---------------------------------------------------------------------------------------------------- for programs


def as_object(answer: Answer, evidence: Evidence) -> dict[str, Any]:
    """The answer for programs. `source` is "read", "moved" (the line is elsewhere in its file), "changed" or "missing"."""
    from torchdevlint.explain.causes import CAUSES
    from torchdevlint.explain.conclusion import told_values
    from torchdevlint.reporting.json import as_object as finding_as_object

    cause = CAUSES[answer.verdict.cause]
    sighting = answer.sighting
    return {
        "cause": answer.verdict.cause,
        "title": cause.title,
        "ground": answer.verdict.ground or None,
        "other_causes": list(answer.verdict.others),
        "error": {"type": answer.failure.kind or None, "message": _message(answer)},
        "operands": {
            "argument": sighting.argument or None,
            "device": sighting.device or None,
            "other_device": sighting.other or None,
            "operator": sighting.method or None,
        },
        "frames": [
            {
                "filename": frame.path or None,
                "row": frame.row or None,
                "function": frame.function or None,
                "text": frame.text or None,
            }
            for frame in answer.frames
        ],
        "ranks": list(answer.streams),
        "source": evidence.state,
        "values": [
            {
                "expression": value.expression,
                "device": value.device,
                "detail": value.told,
                "made_row": value.made or None,
            }
            for value in told_values(answer, evidence)
        ],
        "findings": [finding_as_object(finding) for finding in evidence.findings],
        "diff": "\n".join(_diff(answer, evidence)) or None,
        "look_for": list(cause.look_for),
        "repair": cause.repair,
        "rules": list(cause.rules),
        "verify": _verify(answer, evidence),
        "remarks": [remark.text for remark in answer.remarks],
    }


def _message(answer: Answer) -> str:
    return answer.failure.message or answer.sighting.text


# ---------------------------------------------------------------------------------------------------- for people


def _lines(answer: Answer, evidence: Evidence) -> Iterator[str]:
    from torchdevlint.explain.causes import CAUSES
    from torchdevlint.explain.conclusion import told_values

    verdict = answer.verdict
    cause = CAUSES[verdict.cause]
    yield cause.title[0].upper() + cause.title[1:] + "."
    if verdict.ground:
        yield from _wrapped(verdict.ground[0].upper() + verdict.ground[1:] + ".", "  ")
    yield ""
    yield from _error(answer)
    yield from _place(answer, evidence)
    values = told_values(answer, evidence)
    if values:
        yield ""
        yield "what is where"
        yield from _table(values)
    yield ""
    yield "why"
    yield from _wrapped(cause.why, "  ")
    if not evidence.findings or evidence.line is None:
        yield ""
        yield "look for"
        for item in cause.look_for:
            yield from _wrapped(item, "  - ", "    ")
    yield ""
    yield from _repair(answer, evidence)
    others = [CAUSES[other].title for other in verdict.others if other in CAUSES]
    if others and not evidence.findings:
        yield ""
        yield "the same message also comes from"
        for title in others:
            yield from _wrapped(title, "  - ", "    ")
    for remark in answer.remarks:
        yield ""
        yield "the log also says"
        yield from _wrapped(shown(remark.text), "  ")
    yield ""
    verify = _verify(answer, evidence)
    if verify:
        yield "verify"
        yield f"  {shown(verify)}"
    elif cause.is_setup:
        yield "next"
        yield "  torchdevlint doctor"
    elif cause.rules:
        yield "rules"
        yield f"  {', '.join(cause.rules)}: `torchdevlint rule {cause.rules[0]}`"


def _error(answer: Answer) -> Iterator[str]:
    kind = f"{answer.failure.kind.split('.')[-1]}: " if answer.failure.kind else ""
    yield from _wrapped(shown(kind + _shortened(_message(answer))), "  ")
    if answer.streams:
        yield from _wrapped(f"told by {shown(', '.join(answer.streams[:8]))}", "  ")


def _shortened(text: str, most: int = 400) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _place(answer: Answer, evidence: Evidence) -> Iterator[str]:
    frame = answer.frames[0] if answer.frames else None
    line = evidence.line
    if line is not None:
        yield ""
        where = f" in {shown(line.frame.function)}" if line.frame.function else ""
        yield f"{shown_name(_relative(line.filename))}:{line.row}{where}"
        yield f"  {shown(line.text.split(chr(10))[line.row - 1].strip())}"
        if line.state == "moved":
            yield f"  (line {line.frame.row} in the traceback: the file has changed since)"
    elif frame is not None and (frame.path or frame.text):
        yield ""
        if frame.path or frame.row:
            where = f" in {shown(frame.function)}" if frame.function else ""
            yield f"{shown_name(frame.path or 'line')}:{frame.row}{where}"
        if frame.text:
            yield f"  {shown(frame.text)}"
        if frame.path and evidence.state == "changed":
            yield "  (the file has another text on this line today: only the message is explained)"
        elif frame.path.endswith(".py"):
            yield "  (the file is not at hand: run this where the program is, or give --root DIR)"


def _relative(filename: str) -> str:
    relative = os.path.relpath(filename)
    return filename if relative.startswith("..") else relative


def _table(values: tuple[Value, ...]) -> Iterator[str]:
    rows = [(shown(value.expression), shown(value.device), value) for value in values]
    first, second = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    for expression, device, value in rows:
        made = f", made on line {value.made}" if value.made else ""
        yield f"  {expression:<{first}}  {device:<{second}}  {shown(value.told)}{made}"


def _repair(answer: Answer, evidence: Evidence) -> Iterator[str]:
    from torchdevlint.explain.causes import CAUSES

    finding = evidence.findings[0] if evidence.findings else None
    yield "repair"
    if finding is not None:
        yield from _finding(finding)
    if finding is None or finding.fix is None:
        yield from _wrapped(CAUSES[answer.verdict.cause].repair, "  ")
    for line in _diff(answer, evidence):
        yield f"  {line}"
    for other in [one for one in evidence.findings[1:] if finding is not None and one.code == finding.code][:2]:
        yield f"  also {shown_name(_relative(other.filename))}:{other.place}: {other.code} {other.name}"


def _finding(finding: Finding) -> Iterator[str]:
    kind = ""
    if finding.fix is not None:
        kind = " (--fix)" if finding.fix.applicability.value == "safe" else " (--unsafe-fixes)"
    yield f"  {finding.code} {finding.name}{kind}, {shown_name(_relative(finding.filename))}:{finding.place}"
    yield from _wrapped(shown(finding.message), "  ")
    if finding.detail:
        yield from _wrapped(shown(finding.detail), "  ")


def _diff(answer: Answer, evidence: Evidence) -> Iterator[str]:
    """The rule's repair without file names; where there is none, the line as it could be written."""
    from torchdevlint.explain.conclusion import told_values
    from torchdevlint.explain.suggestion import suggest
    from torchdevlint.reporting import diff

    finding = evidence.findings[0] if evidence.findings else None
    text = dict(evidence.texts).get(finding.filename) if finding is not None else None
    if finding is not None and finding.fix is not None and text is not None:
        lines = diff.unified(text, diff.apply(text, finding.fix.edits), context=0)
        for line in itertools.islice(lines, 2, None):
            if not line.startswith(("@@", "\\ No newline")):
                yield "\t".join(map(shown, line.split("\t")))
        return
    frame = evidence.line.frame if evidence.line is not None else answer.frames[0] if answer.frames else None
    if frame is None or not frame.text:
        return
    made = suggest(answer.verdict.cause, frame.text, told_values(answer, evidence))
    if made is not None:
        yield f"-{shown(frame.text)}"
        yield f"+{shown(made)}"


def _verify(answer: Answer, evidence: Evidence) -> str | None:
    """The command that shows the fault and its repair, where a machine of ours can; the outermost of the user's frames is the program."""
    from torchdevlint.explain.causes import CAUSES

    shape = CAUSES[answer.verdict.cause].shape
    script = next((frame.path for frame in reversed(answer.frames) if frame.path.endswith(".py")), None)
    if not shape or script is None or evidence.line is None:
        return None
    unsafe = ""
    finding = evidence.findings[0] if evidence.findings else None
    if finding is not None and finding.fix is not None and finding.fix.applicability.value != "safe":
        unsafe = " --unsafe-fixes"
    return f"torchdevlint verify {shape}{unsafe} {_quoted(_relative(script))}"


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)


def _wrapped(text: str, first: str, rest: str | None = None) -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]
