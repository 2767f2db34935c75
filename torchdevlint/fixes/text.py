"""Edits of text: which touch each other, and what they make of a text."""

from __future__ import annotations

from collections.abc import Iterable

from torchdevlint.findings import Fix


def overlaps(fix: Fix, others: Iterable[Fix]) -> bool:
    """True when an edit of the fix touches an edit of another one: then it waits for the next round."""
    return any(
        mine.start <= theirs.end and theirs.start <= mine.end
        for other in others
        for mine in fix.edits
        for theirs in other.edits
    )


def apply_fixes(text: str, fixes: Iterable[Fix]) -> str:
    """The text with the edits of fixes that do not overlap."""
    pieces: list[str] = []
    at = 0
    for edit in sorted((edit for fix in fixes for edit in fix.edits), key=lambda edit: (edit.start, edit.end)):
        pieces += (text[at : edit.start], edit.content)
        at = edit.end
    return "".join((*pieces, text[at:]))
