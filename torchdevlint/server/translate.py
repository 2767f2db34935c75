"""Findings in the words of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lsprotocol import types

from torchdevlint.findings import Applicability, Finding, Fix, Severity
from torchdevlint.server.documents import Document, Part
from torchdevlint.server.texts import Change, Encoding, Point, Range, Text
from torchdevlint.settings import DOES_NOT_PARSE, UNUSED_SUPPRESSION
from torchdevlint.source.reading import LARGEST_SOURCE, read_bytes

SOURCE = "torchdevlint"
FIX_ALL = "source.fixAll.torchdevlint"
_SEVERITY = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostic(
    finding: Finding, document: Document, encoding: Encoding, open_text: Callable[[str], Part | None], *, related: bool
) -> types.Diagnostic:
    """A finding. `open_text` gives the open text of a path; `related`: the editor shows related places."""
    shown = [
        types.DiagnosticRelatedInformation(
            _location(other.filename, other.cell, other.span, document, encoding, open_text), other.message
        )
        for other in (finding.related if related else ())
    ]
    return types.Diagnostic(
        range=range_of(document.part(finding.cell).text.range(finding.span, encoding)),
        message=_whole(finding.message),
        severity=_SEVERITY[finding.severity],
        code=finding.code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == UNUSED_SUPPRESSION else None,
        related_information=shown or None,
    )


def _location(
    filename: str, cell: int | None, span: Any, document: Document, encoding: Encoding, open_text: Any
) -> types.Location:
    """A place in this document, in another open one, or in a file."""
    if filename == document.path:
        part = document.part(cell)
        return types.Location(part.uri, range_of(part.text.range(span, encoding)))
    part = open_text(filename)
    if part is not None:
        return types.Location(part.uri, range_of(part.text.range(span, encoding)))
    try:
        text = read_bytes(filename, LARGEST_SOURCE).decode("utf-8", "replace")
    except OSError:
        text = ""
    return types.Location(Path(filename).absolute().as_uri(), range_of(Text(text).range(span, encoding)))


def quick_fix(
    finding: Finding,
    told: types.Diagnostic,
    edit: Callable[[Iterable[tuple[Part, types.TextEdit]]], Any],
    document: Document,
    encoding: Encoding,
) -> types.CodeAction | None:
    """A finding's fix as an action; one that is not safe says so, and is never the preferred one."""
    fix = finding.fix
    if fix is None:
        return None
    is_safe = fix.applicability is Applicability.SAFE
    return types.CodeAction(
        title=f"{finding.code}: {_whole(fix.message)}{'' if is_safe else ' (unsafe: may change what the program does)'}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[told],
        is_preferred=True if is_safe else None,
        edit=edit(_fix_edits(fix, document, encoding)),
    )


def _fix_edits(fix: Fix, document: Document, encoding: Encoding) -> Iterable[tuple[Part, types.TextEdit]]:
    for item in fix.edits:
        part = document.part(item.cell)
        yield part, types.TextEdit(range_of(part.text.range(item.span, encoding)), item.content)


def can_be_silenced(finding: Finding) -> bool:
    """Whether a comment can suppress a finding."""
    return finding.code not in (DOES_NOT_PARSE, UNUSED_SUPPRESSION)


def text_edit(change: Change) -> types.TextEdit:
    """A change as an edit."""
    assert change.range is not None
    return types.TextEdit(range_of(change.range), change.text)


def range_of(found: Range) -> types.Range:
    """A range in the protocol's class."""
    return types.Range(types.Position(*found.start), types.Position(*found.end))


def ours(found: types.Range) -> Range:
    """A range of the protocol as ours."""
    return Range(Point(found.start.line, found.start.character), Point(found.end.line, found.end.character))


def touches(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges overlap, or one that is empty stands at or in the other."""
    a, b = ours(one), ours(other)
    return a.start <= b.end and b.start <= a.end


def _whole(text: str) -> str:
    """Halves of surrogate pairs as escapes: no JSON parser of an editor takes them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
