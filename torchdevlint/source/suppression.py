"""Suppression comments: which findings a file's own comments silence, and which of these comments silence nothing.

Read from comment tokens, never from strings:

* `# noqa`, `# noqa: TDL101` (code prefixes too) on any physical line of the logical line, as flake8 and ruff read it;
* `# torchdevlint: ignore[TDL101]`, the same for torchdevlint alone;
* `# torchdevlint: ignore-file[TDL101]` anywhere: the whole file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from torchdevlint.source.lines import Comment, Lines

_SEPARATED = r"{code}(?:[\s,]+{code})*"
# As in flake8: a noqa that is followed by no code silences everything. "TDL" alone is a prefix of ours.
_NOQA = re.compile(
    r"#\s*noqa(?![-\w])(?:\s*:\s*(?P<codes>" + _SEPARATED.format(code=r"(?:TDL(?!\w)|[A-Z]+[0-9]+)") + r"))?",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"#\s*torchdevlint\s*:\s*(?P<kind>ignore-file|ignore)(?![-\w])(?:\s*\[(?P<codes>[^\[\]#]*)\])?", re.IGNORECASE
)

Kind = Literal["noqa", "ignore", "ignore-file"]


class Directive(NamedTuple):
    """One suppression comment. No codes: it silences everything. `start` and `end` are offsets of its text."""

    kind: Kind
    codes: tuple[str, ...]
    comment: Comment
    start: int
    end: int

    def covers(self, code: str) -> bool:
        """True when the directive silences findings with this code."""
        return not self.codes or any(code.startswith(prefix) for prefix in self.codes)


class Unused(NamedTuple):
    """A directive with codes that silence nothing; the text from `start` to `end` should become `content`."""

    directive: Directive
    codes: tuple[str, ...]
    start: int
    end: int
    content: str


@dataclass(slots=True)
class Suppressions:
    """The directives of a file; notes which of their codes were used."""

    text: str
    lines: Lines
    directives: tuple[Directive, ...]
    _used: set[tuple[int, str]] = field(default_factory=set)
    _silenced: dict[tuple[int, str], bool] = field(default_factory=dict)  # by logical line and code
    _rows: list[int] = field(init=False)
    _whole_file: list[Directive] = field(init=False)

    def __post_init__(self) -> None:
        self._rows = [directive.comment.row for directive in self.directives]  # they stand in the order of the text
        self._whole_file = [directive for directive in self.directives if directive.kind == "ignore-file"]

    @classmethod
    def read(
        cls, text: str, lines: Lines, kinds: frozenset[Kind] = frozenset(("noqa", "ignore", "ignore-file"))
    ) -> Suppressions:
        """Reads the comments of `text`; `kinds` are the directives to honour."""
        found = (directive for comment in lines.comments for directive in _directives(comment))
        return cls(text, lines, tuple(directive for directive in found if directive.kind in kinds))

    def silences(self, code: str, row: int) -> bool:
        """True when a directive covers a finding with this code that begins on this row."""
        first, last = self.lines.logical(row)
        known = self._silenced.get((first, code))
        if known is None:
            known = self._silenced[first, code] = self._is_silenced(first, last, code)
        return known

    def _is_silenced(self, first: int, last: int, code: str) -> bool:
        there = self.directives[bisect_left(self._rows, first) : bisect_right(self._rows, last)]
        covering = [directive for directive in (*self._whole_file, *there) if directive.covers(code)]
        for directive in covering:
            self._used.update(
                (directive.start, prefix) for prefix in directive.codes or ("",) if code.startswith(prefix)
            )
        return bool(covering)

    def unused(self, enabled: Iterable[str], known: Iterable[str]) -> Iterator[Unused]:
        """What silenced nothing so far. Only codes whose rules all ran are judged; a bare `noqa` never is.

        `enabled` are the codes of the rules that ran, `known` those of all rules.
        """
        ran, existing = frozenset(enabled), frozenset(known)
        for directive in self.directives:
            if not directive.codes:
                if directive.kind != "noqa" and (directive.start, "") not in self._used and existing <= ran:
                    yield self._without(directive, ())
                continue
            idle = tuple(
                prefix
                for prefix in directive.codes
                if prefix.startswith("TDL")
                and (directive.start, prefix) not in self._used
                and all(code in ran for code in existing if code.startswith(prefix))
            )
            if idle:
                yield self._without(directive, idle)

    def _without(self, directive: Directive, idle: tuple[str, ...]) -> Unused:
        gone = frozenset(idle)
        kept = [prefix for prefix in directive.codes if prefix not in gone]
        start, end = directive.start, directive.end
        if kept:
            joined = ", ".join(kept)
            content = f"# noqa: {joined}" if directive.kind == "noqa" else f"# torchdevlint: {directive.kind}[{joined}]"
            return Unused(directive, idle, start, end, content)
        return Unused(directive, idle, *self._whole(directive), "")

    def _whole(self, directive: Directive) -> tuple[int, int]:
        """What to remove with a directive: the whole line when nothing else stands on it, else the blanks before it."""
        comment = directive.comment
        start, end = directive.start, directive.end
        if end != comment.start + len(comment.text.rstrip()):
            return start, len(self.text) - len(self.text[end:].lstrip(" \t"))  # other words follow in the comment
        end = comment.start + len(comment.text)
        if comment.alone and start == comment.start:
            newline = re.compile("\r\n|\r|\n").match(self.text, end)
            return self.lines.start_of(comment.row), newline.end() if newline else end
        return len(self.text[:start].rstrip(" \t")), end


def _directives(comment: Comment) -> Iterator[Directive]:
    for pattern in (_NOQA, _OWN):
        for found in pattern.finditer(comment.text):
            kind: Kind = (
                "noqa" if pattern is _NOQA else "ignore" if found["kind"].lower() == "ignore" else "ignore-file"
            )
            codes = tuple(dict.fromkeys(code.upper() for code in re.split(r"[\s,]+", found["codes"] or "") if code))
            if found["codes"] is not None and not codes:
                continue  # `ignore[]` names nothing
            yield Directive(kind, codes, comment, comment.start + found.start(), comment.start + found.end())
