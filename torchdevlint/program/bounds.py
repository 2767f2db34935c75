"""What LibCST can take, checked before it sees a text, and the parse itself.

LibCST recurses in native code and does not raise when its stack is used up: it kills the process. With the 8 MiB stack of a main
thread, LibCST 1.9 dies between 1,000 and 2,000 nested brackets, between 2,000 and 4,000 chained `lambda`s and between 4,000 and
8,000 chained operators; long before, its time grows with the square of the length (2,000 chained `+`: 0.4 to 0.9 s; 1,000 chained calls:
1.6 s; 200 nested calls: 0.2 s; more than 8,000 `elif` in a row are needed to kill it). Indentation needs no check: LibCST refuses
100 levels by itself. The limits below keep a factor of two.
"""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from torchdevlint.source.deep_stack import call_with_deep_stack

if TYPE_CHECKING:
    import libcst as cst

BRACKETS = 200  # levels; CPython's own limit too
CHAIN = 2000  # operators, attributes and half calls or subscripts that nest in one expression
ELIFS = 4000  # in a row
TARGETS = 12  # levels behind `case` or `del`, those of `{` counted twice
"""LibCST's time grows with a power of these: it is doubled by each bracket of a pattern, or of a `del` that no bracket closes, and fourfold with each `{`."""

# Texts above these are parsed on a big stack, since the present thread may have a small one (512 KiB on macOS).
_DEEP_BRACKETS = 40
_DEEP_CHAIN = 200

# Every alternative starts with a literal character, which the regular expression engine looks for fast, and matches up to the end of the
# line or text where its own end is missing: what fails there would be tried again at each quote, in the square of the text's length.
# The quick test accepts texts of at most this shape, which is within the limits however it is combined.
_QUICK_BRACKETS = 20
_QUICK_CHAIN = 100
_LONG_STRING = 1000  # characters; in shorter ones nothing can nest that matters

_STRINGS_AND_COMMENTS = r'''
    """ [^"\\]* (?: (?: \\. | "(?!"") ) [^"\\]* )* (?: """ | \\? \Z )
    | \'\'\' [^'\\]* (?: (?: \\. | '(?!'') ) [^'\\]* )* (?: \'\'\' | \\? \Z )
    | " [^"\\\r\n]* (?: \\(?:\r\n|.) [^"\\\r\n]* )* (?: "? )
    | ' [^'\\\r\n]* (?: \\(?:\r\n|.) [^'\\\r\n]* )* (?: '? )
    | \#[^\r\n]*
'''
_STRIPPED = re.compile(_STRINGS_AND_COMMENTS, re.VERBOSE | re.DOTALL)
_LONG_FORMAT = re.compile(
    r"""
      " (?: (?<=\W[fFtT]") | (?<=\W[fFtT][rR]") | (?<=\W[rR][fFtT]") ) ""
    | ' (?: (?<=\W[fFtT]') | (?<=\W[fFtT][rR]') | (?<=\W[rR][fFtT]') ) \'\'
    """,
    re.VERBOSE,
)

# A line that may begin an f-string and goes on behind its end.
_CONTINUED_FORMAT = re.compile(r"""[fFtT][rR]?["'][^\n]*\\\r?\n""")

_OPERATORS = b'+-*/%@&|^~<>."'
_SKELETON = bytes.maketrans(b"[]{};" + _OPERATORS, b"()()," + b"+" * len(_OPERATORS))
_DROPPED = bytes(byte for byte in range(256) if byte not in b"()[]{},;\n" + _OPERATORS)
_WORDS = ("lambda", "await", "and", "not", "or", "if")
_QUICK_GROUP = re.compile(rb"\((?:[^(),]{0,%d},)*[^(),]{0,%d}\)" % (_QUICK_CHAIN, _QUICK_CHAIN))
_QUICK_EXCESS = re.compile(rb"[()]|[^,\n]{%d}" % (_QUICK_CHAIN + 1))

_TOKEN = re.compile(
    rf"""
      (?P<string> (?P<prefix> [a-zA-Z]{{0,2}} ) (?= ["'] ) (?: {_STRINGS_AND_COMMENTS} ) )
    | (?P<comment> \#[^\r\n]* )
    | (?P<open> [(\[{{] )
    | (?P<close> [)\]}}] )
    | (?P<comma> [,;] )
    | (?P<continued> \\ (?: \r\n | [\r\n] ) )
    | (?P<newline> \r\n | [\r\n] ) (?P<indent> [ \t\f]* ) (?: (?P<elif> elif\b ) | (?P<blank> (?= [\r\n\#] | \Z ) ) )?
    | (?P<nesting> \b (?: lambda | for ) \b )
    | (?P<word> \w+ )
    | (?P<operator> [-+*/%@&|^~<>.] )
    """,
    re.VERBOSE | re.DOTALL,
)
_OPERATOR_WORDS = frozenset(("and", "or", "not", "if", "await"))


class ParseFailure(Exception):
    """A text that cannot be parsed: a sentence that says why, and where (from 1, the column in code points).

    `is_python_2`: Python 2 can parse it, as far as one can tell.
    """

    def __init__(self, message: str, row: int, column: int, is_python_2: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column
        self.is_python_2 = is_python_2

    def __reduce__(self) -> tuple[type[ParseFailure], tuple[str, int, int, bool]]:
        return type(self), (self.message, self.row, self.column, self.is_python_2)


class Shape(NamedTuple):
    """How deep a text nests; the offsets say where it does."""

    brackets: int = 0
    brackets_at: int = 0
    chain: int = 0
    chain_at: int = 0
    elifs: int = 0
    elifs_at: int = 0

    @property
    def is_deep(self) -> bool:
        """True when parsing it needs more stack than any thread has."""
        return self.brackets > _DEEP_BRACKETS or self.chain > _DEEP_CHAIN or self.elifs > _DEEP_CHAIN


def excess(text: str) -> str | None:
    """Why LibCST must not see `text` ("nested more than 200 brackets deep on line 12"), or None when it may."""
    found = _excess(text, measure(text))
    return None if found is None else f"{found[0]} on line {_row(text, found[1])}"


def parse(text: str) -> cst.Module:
    """The tree of `text`; raises `ParseFailure`. Texts that nest deeply are parsed in a thread with a big stack."""
    import libcst as cst

    shape = measure(text)
    found = _excess(text, shape)
    if found is not None:
        raise _failure(text, found[0], found[1])
    try:
        return call_with_deep_stack(lambda: cst.parse_module(text)) if shape.is_deep else cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise _explained(text, error.message, max(error.raw_line, 1), error.raw_column + 1) from error
    except UnicodeError as error:
        raise _failure(text, "holds a character that is no Unicode text (a lone surrogate)", 0) from error


@lru_cache(maxsize=2)  # both front ends ask
def measure(text: str) -> Shape:
    """How deep `text` nests; all zeros when a quick test shows that it is nothing to speak of."""
    return Shape() if _is_shallow(text) else _measure(text)


def _excess(text: str, shape: Shape) -> tuple[str, int] | None:
    """What is beyond a limit, and the offset where."""
    if "\0" in text:
        return "holds a NUL byte", text.index("\0")
    if shape.brackets > BRACKETS:
        return f"nested more than {BRACKETS} brackets deep", shape.brackets_at
    if shape.chain > CHAIN:
        return f"more than {CHAIN} operators, calls and attributes chained in one expression", shape.chain_at
    if shape.elifs > ELIFS:
        return f"more than {ELIFS} elif in a row", shape.elifs_at
    deep = _deep_target(text)
    return None if deep is None else (f"nested more than {TARGETS} brackets deep behind `case` or `del`", deep)


_TARGET = re.compile(r"(?:^[ \t]*case|\bdel)\b(?=[^\r\n]*[(\[{])", re.MULTILINE)


def _deep_target(text: str) -> int | None:
    """Where a pattern or a `del` nests too deeply; None where none does."""
    for found in _TARGET.finditer(text):
        depth = 0
        for token in _TOKEN.finditer(text, found.end()):
            if token.lastgroup == "open":
                depth += 2 if token[0] == "{" else 1
                if depth > TARGETS:
                    return token.start()
            elif token.lastgroup == "close":
                depth -= 2 if token[0] == "}" else 1
            elif token["newline"] is not None and depth <= 0:
                break
    return None


def _is_shallow(text: str) -> bool:
    """A sound and cheap test: strings and comments away, all but brackets, commas and operators away, and brackets folded in."""
    if text.count("elif") > _DEEP_CHAIN or max(map(len, text.split("\n"))) > _LONG_STRING:
        return False
    if _LONG_FORMAT.search("\n" + text) or _CONTINUED_FORMAT.search(text):
        return False
    stripped = _STRIPPED.sub('"', text)
    for word in _WORDS:
        stripped = stripped.replace(word, "+")
    skeleton = stripped.encode("utf-8", "surrogatepass").translate(_SKELETON, _DROPPED)
    for _ in range(_QUICK_BRACKETS):
        folded = _QUICK_GROUP.sub(b"++", skeleton)
        if folded == skeleton:
            return _QUICK_EXCESS.search(folded) is None
        skeleton = folded
    return False


def _measure(text: str) -> Shape:
    """The exact shape, token by token."""
    counts = [0]  # operators at each open bracket since the last comma
    kept = [0]  # those of them that nest on behind a comma: lambda a, b: lambda c, d: ...
    total = 0
    elifs: dict[int, int] = {}
    brackets = brackets_at = chain = chain_at = most_elifs = elifs_at = 0
    for token in _TOKEN.finditer("\n" + text):
        kind = token.lastgroup
        at = token.start() - 1
        weight = 0
        if kind == "word":
            weight = 1 if token[0] in _OPERATOR_WORDS else 0
        elif kind == "operator":
            weight = 1
        elif kind == "nesting":
            kept[-1] += 1
            weight = 1
        elif kind == "open":
            counts.append(0)
            kept.append(0)
            if len(counts) - 1 > brackets:
                brackets, brackets_at = len(counts) - 1, at
        elif kind == "close":
            if len(counts) > 1:
                total -= counts.pop()
                kept.pop()
            weight = 2
        elif kind == "comma":
            total -= counts[-1] - kept[-1]
            counts[-1] = kept[-1]
        elif token["newline"] is not None:
            if len(counts) == 1:
                total = counts[0] = kept[0] = 0
                if token["blank"] is None:
                    width = len(token["indent"].expandtabs())
                    _track_elifs(elifs, width, token["elif"] is not None)
                    if elifs and elifs.get(width, 0) > most_elifs:
                        most_elifs, elifs_at = elifs[width], token.end() - 1
        elif token["string"] is not None:
            weight = 1
            if len(token[0]) > _LONG_STRING and any(letter in "fFtT" for letter in token["prefix"]):
                inner = _measure_fields(token[0][len(token["prefix"]) + 1 :])
                if len(counts) - 1 + inner.brackets > brackets:
                    brackets, brackets_at = len(counts) - 1 + inner.brackets, at
                if total + inner.chain > chain:
                    chain, chain_at = total + inner.chain, at
        if weight:
            counts[-1] += weight
            total += weight
            if total > chain:
                chain, chain_at = total, at
    return Shape(brackets, brackets_at, chain, chain_at, most_elifs, elifs_at)


def _measure_fields(text: str) -> Shape:
    """The shape of the replacement fields of an f-string.

    Quotes mean nothing here: in the text around fields they begin no string, and where one ends that a field begins depends on the
    version of Python. To count too much is safe.
    """
    stack: list[str] = []
    brackets = chain = most = at = 0
    while found := _FIELD_TOKEN.search(text, at):
        at = found.end()
        token = found[0]
        if not stack:
            if token == "{" and text[at : at + 1] == "{":
                at += 1
            elif token == "{":
                stack.append(token)
                chain = 0
        elif token in "([{":
            stack.append(token)
            brackets = max(brackets, len(stack) - 1)
        elif token == "}":
            while stack.pop() != "{":
                pass
        elif token in ")]":
            if stack[-1] != "{":
                stack.pop()
            chain += 2
        else:
            chain += 1
        most = max(most, chain)
    return Shape(brackets=brackets, chain=most)


_FIELD_TOKEN = re.compile(r"[](){}[]|[-+*/%@&|^~<>.]|\b(?:lambda|for|and|or|not|if|await)\b")


def _track_elifs(elifs: dict[int, int], width: int, is_elif: bool) -> None:
    """Counts the `elif`s in a row at each indentation; a statement at the same or a smaller one ends the row."""
    for other in [other for other in elifs if other > width or (other == width and not is_elif)]:
        del elifs[other]
    if is_elif:
        elifs[width] = elifs.get(width, 0) + 1


# ---------------------------------------------------------------------------------------------------- failures

# What an older Python takes and this one does not, on the line of the error.
_PYTHON_2 = (
    (re.compile(r"^\s*print\s+[^\s(=.,\[]|^\s*print\s*>>"), "`print` is a statement"),
    (re.compile(r"^\s*exec\s+[^\s(=.]"), "`exec` is a statement"),
    (
        re.compile(r"^\s*except\s+[\w.]+\s*,\s*\w+\s*:|^\s*except\s*\([^)]*\)\s*,\s*\w+\s*:"),
        "`except E, name` binds a name",
    ),
    (re.compile(r"^\s*raise\s+[\w.]+\s*,"), "`raise E, value` has a comma"),
    (re.compile(r"(?<![\w\"'])[uU][rR][\"']"), "a string has the prefix `ur`"),
    (re.compile(r"(?<![\w.])0\d+(?![\w.])"), "an octal number is written without `o`"),
    (re.compile(r"(?<![\w.])\d+[lL](?!\w)"), "a number ends in `L`"),
    (re.compile(r"<>"), "`<>` compares"),
    (re.compile(r"`[^`]*`"), "backticks make a string"),
)
_BEFORE_3_7 = re.compile(
    r"(?<![\w.\"'])(?:async|await)\s*(?:=[^=]|[,).:])|[.]\s*(?:async|await)\b|\bimport\s+(?:async|await)\b"
)


def _explained(text: str, message: str, row: int, column: int) -> ParseFailure:
    """LibCST's error as one sentence: what the running Python says of it, where it says more, and Python 2 called by its name."""
    reason = re.sub(r"^(?:parser|tokenizer) error: (?:error at \d+:\d+: )?", "", " ".join(message.split()))
    error = _python_error(text)
    if error is not None and error.lineno is not None:
        reason, row, column = error.msg, max(error.lineno, 1), max(error.offset or 1, 1)
    lines = re.split(r"\r\n|[\r\n]", text)
    line = lines[row - 1] if row <= len(lines) else ""
    # Where tabs and blanks mix, the rest of the text tells whether it was written for a Python that counts them as 8.
    looked_at = lines if isinstance(error, TabError) else [line]
    for pattern, sign in _PYTHON_2:
        if any(map(pattern.search, looked_at)):
            return ParseFailure(f"cannot be parsed as Python 3: this is Python 2, where {sign}", row, column, True)
    if _BEFORE_3_7.search(line):
        sign = "`async` and `await` are keywords since Python 3.7"
        return ParseFailure(f"cannot be parsed: {sign}, and a name here", row, column)
    return ParseFailure(f"cannot be parsed: {reason or 'invalid syntax'}", row, column)


def _python_error(text: str) -> SyntaxError | None:
    """What the running Python finds wrong with a text, if anything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _failure(text: str, message: str, offset: int) -> ParseFailure:
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    return ParseFailure(message, _row(text, offset), offset - start + 1)


def _row(text: str, offset: int) -> int:
    return len(re.findall(r"\r\n|[\r\n]", text[:offset])) + 1
