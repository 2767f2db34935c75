"""Edits of text: which touch each other, and what they make of a text."""

from __future__ import annotations

import sys
from bisect import bisect_right, insort
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


class Taken:
    """The places of fixes that do not overlap, to be asked about many others."""

    def __init__(self) -> None:
        self._places: list[tuple[int, int]] = []  # sorted; as they are apart, their ends are so too

    def overlap(self, fix: Fix) -> bool:
        """True when an edit of the fix touches one of those that were taken."""
        for edit in fix.edits:
            before = bisect_right(self._places, (edit.end, sys.maxsize))
            if before and self._places[before - 1][1] >= edit.start:
                return True
        return False

    def add(self, fix: Fix) -> None:
        """Take a fix that overlaps none."""
        for edit in fix.edits:
            insort(self._places, (edit.start, edit.end))


def apply_fixes(text: str, fixes: Iterable[Fix]) -> str:
    """The text with the edits of fixes that do not overlap."""
    pieces: list[str] = []
    at = 0
    for edit in sorted((edit for fix in fixes for edit in fix.edits), key=lambda edit: (edit.start, edit.end)):
        pieces += (text[at : edit.start], edit.content)
        at = edit.end
    return "".join((*pieces, text[at:]))
