"""Comments and logical lines of a text, without parsing it.

The standard library's tokenizer knows the syntax of the running Python alone (f-strings nest quotes since 3.12) and takes a
second for a megabyte. This scanner looks for the few characters that matter: quotes, brackets, `#`, backslashes and newlines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from torchdevlint.source.positions import LineIndex

_NEWLINE = r"\r\n|\r|\n"
_TOKEN = re.compile(
    r"(?P<quote>(?<!\w)(?P<prefix>[rRuUbBfFtT]|[bBfFtT][rR]|[rR][bBfFtT])?(?P<mark>\"\"\"|'''|\"|')|\"\"\"|'''|\"|')"
    r"|(?P<comment>\#[^\r\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])"
    rf"|(?P<joined>\\(?:{_NEWLINE}))|(?P<newline>{_NEWLINE})|(?P<colon>:)"
)
# The rest of a plain string; one character at a time, so that an unterminated one fails in linear time.
_REST = {
    mark: re.compile(
        rf"(?:[^{mark[0]}\\{'' if len(mark) == 3 else chr(13) + chr(10)}]|\\(?:\r\n|.){tail})*(?:{mark})?", re.DOTALL
    )
    for mark, tail in (('"', ""), ("'", ""), ('"""', r'|"(?!"")'), ("'''", r"|'(?!'')"))
}
_FORMATTED = re.compile(r"\\N\{[^}]*\}|\\(?:\r\n|[^{}])|\{\{|\}\}|\{|\r|\n|\"\"\"|'''|\"|'", re.DOTALL)
_DEEPEST_FORMAT = 150  # f-strings in f-strings, CPython's limit
_SPECIFIER = re.compile(r"[{}]|\r|\n|\"\"\"|'''|\"|'")


class Comment(NamedTuple):
    """A comment: the offset of its `#`, its row (from 1), its text and whether it stands alone on its line."""

    start: int
    row: int
    text: str
    alone: bool


class Lines(LineIndex):
    """Where the lines of a text start, which of them form one logical line, and the comments."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        scanner = _Scanner(text)
        scanner.scan()
        self._logical = [0, *scanner.ends]
        self.comments = tuple(self._comment(text, start, end) for start, end in scanner.comments)

    def _comment(self, text: str, start: int, end: int) -> Comment:
        row = self.row(start)
        return Comment(start, row, text[start:end], not text[self._starts[row - 1] : start].strip())

    def row(self, offset: int) -> int:
        """The row (from 1) that an offset stands in."""
        return self.position(offset).row

    def start_of(self, row: int) -> int:
        """The offset at which a row begins."""
        return self._starts[row - 1]

    def logical(self, row: int) -> tuple[int, int]:
        """The first and last row of the logical line that `row` belongs to."""
        if row > len(self._starts):
            return row, row
        index = bisect_right(self._logical, self._starts[row - 1]) - 1
        first = self.row(self._logical[index])
        if index + 1 == len(self._logical):
            return first, len(self._starts)
        return first, max(first, self.row(self._logical[index + 1] - 1))


class _Scanner:
    """One pass over the text; `comments` are (start, end), `ends` the offsets behind the newlines that end a logical line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.comments: list[tuple[int, int]] = []
        self.ends: list[int] = []
        self._nested = 0

    def scan(self) -> None:
        depth = at = 0
        while found := _TOKEN.search(self.text, at):
            at = found.end()
            kind = found.lastgroup
            if kind == "newline" and depth == 0:
                self.ends.append(at)
            elif kind == "open":
                depth += 1
            elif kind == "close":
                depth = max(0, depth - 1)
            else:
                at = self._token(found)

    def _token(self, found: re.Match[str]) -> int:
        """Passes a comment or a string; the offset behind it."""
        if found["comment"] is not None:
            self.comments.append(found.span())
        elif found["quote"] is not None:
            return self._string(found)
        return found.end()

    def _string(self, found: re.Match[str]) -> int:
        mark = found["mark"] or found["quote"]
        if set(found["prefix"] or "") & set("fFtT"):
            return self._formatted(found.end(), mark, raw=bool(set(found["prefix"]) & set("rR")))
        rest = _REST[mark].match(self.text, found.end())
        return rest.end() if rest else found.end()

    def _formatted(self, at: int, mark: str, *, raw: bool) -> int:
        """The rest of an f-string or t-string from behind its opening quotes; of one that no Python takes, the rest of the text."""
        self._nested += 1
        try:
            return self._formatted_within(at, mark, raw) if self._nested <= _DEEPEST_FORMAT else len(self.text)
        finally:
            self._nested -= 1

    def _formatted_within(self, at: int, mark: str, raw: bool) -> int:
        while found := _FORMATTED.search(self.text, at):
            at = found.end()
            piece = found.group()
            if piece.startswith("\\N{") and raw:
                at = self._field(found.start() + 3, mark)
            elif piece == "{":
                at = self._field(at, mark)
            elif self._closes(piece, mark):
                return found.start() + len(mark)
            elif piece in ('"""', "'''"):
                at = found.start() + 1  # `"""` inside a string of another kind of quote, or `'` `''`
            elif piece in "\r\n" and len(mark) == 1:
                return found.start()  # unterminated: the line ends it
        return len(self.text)

    @staticmethod
    def _closes(piece: str, mark: str) -> bool:
        return piece == mark or (len(mark) == 1 and piece == mark * 3)

    def _field(self, at: int, mark: str) -> int:
        """A replacement field from behind its `{`; the offset behind its `}`."""
        depth = 0
        while found := _TOKEN.search(self.text, at):
            at = found.end()
            kind = found.lastgroup
            if kind == "open":
                depth += 1
            elif kind == "close":
                if depth == 0:
                    return at
                depth -= 1
            elif kind == "colon" and depth == 0:
                return self._specifier(at, mark)
            else:
                at = self._token(found)
        return len(self.text)

    def _specifier(self, at: int, mark: str) -> int:
        """A format specifier from behind its `:`; the offset behind the field's `}`, or of the quote that ends the string."""
        if self._nested > _DEEPEST_FORMAT:
            return len(self.text)
        self._nested += 1
        try:
            return self._specifier_within(at, mark)
        finally:
            self._nested -= 1

    def _specifier_within(self, at: int, mark: str) -> int:
        while found := _SPECIFIER.search(self.text, at):
            at = found.end()
            piece = found.group()
            if piece == "{":
                at = self._field(at, mark)
            elif piece == "}":
                return at
            elif self._closes(piece, mark) or (piece in "\r\n" and len(mark) == 1):
                return found.start()
            elif len(piece) == 3:
                at = found.start() + 1
        return len(self.text)
