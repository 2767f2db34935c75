"""What notebooks write beside Python: magics (`%matplotlib inline`), shell lines (`!pip install x`), help (`x?`). They are replaced by statements.

Rows stay, and so do the columns of everything else. IPython's own rules are followed: a magic starts a logical line, or stands behind the `=` of a
plain assignment; `%%name` makes the whole cell something else (source: IPython.core.inputtransformer2).
"""

from __future__ import annotations

import ast
import re

# Cells that begin so hold Python all the same.
PYTHON_CELLS = frozenset(("capture", "prun", "time", "timeit"))

_CELL = re.compile(r"\s*%%(\w*)")
_LINE = re.compile(r"(?P<indent>[ \t]*)(?:[%!?].*|(?:[\w.]+)\?{1,2}[ \t]*)\Z", re.DOTALL)
_ASSIGNED = re.compile(r"(?P<indent>[ \t]*[\w.,* \t]*[\w.]\s*=\s*)(?:[%!].*)\Z", re.DOTALL)
# Line magics and aliases, which need no `%` where the line is no Python (`ls /data/`, IPython.core.magics, IPython.core.alias: `default_aliases`).
_AUTOMATIC = re.compile(
    r"(?P<indent>[ \t]*)(?:alias|autoreload|bookmark|cat|cd|clear|conda|config|cp|debug|echo|edit|env|history|less|load|load_ext|ls|man|matplotlib|mkdir|more|mv"
    r"|pip|prun|pwd|pylab|reload_ext|rm|rmdir|run|save|set_env|store|system|time|timeit|who|whos|xmode)[ \t]+\S.*\Z"
)
_TOKEN = re.compile(r"\"\"\"|'''|\"|'|\#|[(\[{]|[)\]}]|\\\Z")
_STRING_END = {'"""': re.compile(r'(?:\\.|[^\\])*?"""', re.DOTALL), "'''": re.compile(r"(?:\\.|[^\\])*?'''", re.DOTALL)}
_SHORT_STRING = {'"': re.compile(r'(?:\\.|[^\\"])*"'), "'": re.compile(r"(?:\\.|[^\\'])*'")}


class Masks:
    """The texts that were replaced; what stands for them in the program is the statement `0#<key>:<number>`."""

    def __init__(self, key: str) -> None:
        self.key = key
        self._texts: list[str] = []
        self._pattern = re.compile(rf"0?#{re.escape(key)}:(\d+)")

    def hide(self, text: str) -> str:
        """A statement for a text."""
        self._texts.append(text)
        return f"0#{self.key}:{len(self._texts) - 1}"

    def restore(self, line: str) -> str:
        """A line as it was."""
        return self._pattern.sub(lambda match: self._texts[int(match[1])], line)

    @property
    def hidden(self) -> int:
        """How many texts were replaced."""
        return len(self._texts)


def is_python(lines: list[str]) -> bool:
    """Whether a cell with these lines holds Python."""
    first = next((line for line in lines if line.strip()), "")
    match = _CELL.match(first)
    return match is None or match[1] in PYTHON_CELLS


def masked(lines: list[str], masks: Masks) -> list[str]:
    """The lines of a Python cell (without newlines), what is no Python hidden."""
    result = []
    state = _State()
    continued = False  # within a magic that ends with a backslash
    for line in lines:
        if continued:
            continued = line.endswith("\\")
            result.append(masks.hide(line).replace("0#", "#", 1) if line.strip() else line)
            continue
        match = (_LINE.match(line) or _ASSIGNED.match(line) or _automatic(line)) if state.at_start else None
        if match is None:
            state.feed(line)
            result.append(line)
            continue
        indent = match["indent"]
        continued = line.endswith("\\")
        result.append(indent + masks.hide(line[len(indent) :]))
    return result


def _automatic(line: str) -> re.Match[str] | None:
    """A magic without its `%`: the line is no Python, and begins none."""
    match = _AUTOMATIC.match(line)
    if match is None:
        return None
    try:
        ast.parse(line.strip())
    except (SyntaxError, ValueError):
        state = _State()
        state.feed(line)
        return match if state.at_start and not line.rstrip().endswith(":") else None
    return None


class _State:
    """Whether the next line begins a logical line: no string, bracket or backslash is open."""

    def __init__(self) -> None:
        self._depth, self._quote, self._joined = 0, "", False

    @property
    def at_start(self) -> bool:
        return not (self._depth or self._quote or self._joined)

    def feed(self, line: str) -> None:
        at, self._joined = 0, False
        if self._quote:
            at = self._behind(line, 0)
        while not self._quote:
            match = _TOKEN.search(line, at)
            if match is None or match[0] == "#":
                return
            at = match.end()
            if match[0] in _STRING_END:
                self._quote = match[0]
                at = self._behind(line, at)
            elif match[0] in _SHORT_STRING:
                end = _SHORT_STRING[match[0]].match(line, at)
                if end is None:
                    self._joined = line.endswith("\\")
                    return
                at = end.end()
            elif match[0] == "\\":
                self._joined = True
                return
            elif match[0] in "([{":
                self._depth += 1
            else:
                self._depth = max(0, self._depth - 1)

    def _behind(self, line: str, at: int) -> int:
        """Behind the end of the open triple-quoted string, or the line's end where it goes on."""
        end = _STRING_END[self._quote].match(line, at)
        if end is None:
            return len(line)
        self._quote = ""
        return end.end()
