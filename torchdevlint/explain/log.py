"""Tracebacks in a text as people have it: pasted, piped, coloured, behind log prefixes, of several ranks at once.

Formats: CPython (with its markers, chains and exception groups), IPython and Jupyter, rich, torch.compile's "from user code", and what
DataLoader workers and DataParallel replicas raise again. Nothing is assumed of the rest of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_LONGEST_LINE = 4000  # characters of a line that are looked at
_LONGEST_MESSAGE = 16  # lines that belong to an exception's message


@dataclass(frozen=True, slots=True)
class Frame:
    """One place of a traceback. `row` counts from 1; `text` is the line as the traceback shows it, "" where it shows none."""

    path: str
    row: int
    function: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """One exception: its class, its message in one line, and the frames that lead to it, the innermost last. `stream` is a rank or process."""

    kind: str
    message: str
    frames: tuple[Frame, ...] = ()
    stream: str = ""


class Log(NamedTuple):
    """A text without colours and prefixes, and the exceptions in it, in their order."""

    lines: tuple[str, ...]
    failures: tuple[Failure, ...]


_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_ESCAPED = re.compile(r"\\(?:u001b|x1b|033)")
# Prefixes that say who speaks; the first group is the stream.
_SPEAKERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\[?(rank ?\d+)\]?:[ ]?",  # torchrun
        r"\[(default\d+)\]:[ ]?",  # torchrun --tee
        r"\[(\d+,\d+)\]<std(?:err|out)>:[ ]?",  # Open MPI
        r"\((\w[\w.:]* pid=\d+)(?:, ip=[\w.:]+)?\)[ ]?(?:\[repeated \d+x[^\]]*\])?",  # Ray
    )
)
# Prefixes that may as well be code: believed where one stands in front of a traceback's own lines.
_DOUBTFUL = tuple(
    re.compile(pattern)
    for pattern in (
        r"(\d{1,4}):(?:[ ]|$)",  # srun --label
        r"([\w.-]+)[ ]+\|(?:[ ]|$)",  # docker compose
        r"()(?:>[ ]?)+",  # quoted in a mail or an issue
    )
)
_PROOF = re.compile(r'Traceback \(most recent call last\)|[ ]*File "[^"]+", line \d')
_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?[ ]?(?:-[ ])?",
        r"(?:\[(?:ERROR|WARNING|INFO|CRITICAL|DEBUG)\][ ]?:?|(?:ERROR|WARNING|INFO|CRITICAL|DEBUG)[ ]*[:|-]+)[ ]?",
        r"(?:stderr|stdout|E)[ ]?[:|][ ]",
    )
)
_OURS = "torchdevlint: "

_START = re.compile(r"Traceback \(most recent call last\)|Original Traceback|^from user code:")
_ORIGINAL = re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)")
_USER_CODE = "from user code:"
_GROUP = re.compile(r"^[ ]*(?:[+][-+]*[ ]?(?:-+[ ]\d+[ ]-+|Exception Group)|[|][ ]?)")
_GROUP_NEXT = re.compile(r"^[ ]*[+][-+]*-+ (?:\d+|\.\.\.) -+$|^[ ]*[+]-{10,}$")
_FILE = re.compile(r'^[ ]*File "(?P<path>[^"\n]+)", line (?P<row>\d+)(?:, in (?P<function>.+?))?[ ]*$')
_BARE = re.compile(r'^[ ]*(?:"(?P<path>[^"]+)",?[ ]+)?line (?P<row>\d+),? in (?P<function>[\w<>. ]+?)[ ]*$')
_MARKS = re.compile(r"^[ ]*[~^][~^ ]*$")
_IPYTHON = (
    re.compile(r"^File (?P<path>\S.*?):(?P<row>\d+)(?:, in (?P<function>[^(\n]+).*)?$"),
    re.compile(
        r"^(?P<path>(?:Cell |Input )?In ?\[\d+\])(?:, (?:in )?(?:line (?P<row>\d+)|(?P<function><[^>]+>|\w+)(?:\(.*)?))?[ ]*$"
    ),
    re.compile(r"^(?P<path><ipython-input-[\w-]+>|\S.*?\.pyc?) in (?P<function><[\w ]+>|[\w.]+)(?:\(.*)?$"),
)
_ARROW = re.compile(r"^[-\u2013\u2014]+> ?\[?(?P<row>\d+)\]?(?:\([^)]*\))?[ ]?(?P<text>.*)$")
_RICH = re.compile(r"^(?P<path>(?:/|~|[A-Za-z]:\\|\.).*?):[ ]?(?P<row>\d+)(?: in[ ]+(?P<function>\S.*?))?$")
_RICH_PATH = re.compile(r"^(?:/|~/|[A-Za-z]:\\)\S")
_ASCII_BOX = re.compile(r"^[|] .* [|]$")  # where the terminal has no lines to draw
_RICH_CODE = re.compile(r"^(?:[\u2771>]|\\u2771)\s*(?P<row>\d+)\s(?P<text>.*)$")
_PYTEST_CODE = re.compile(r"^> {2,}(?P<text>\S.*)$")
_PYTEST_ERROR = re.compile(r"^E {2,}(?P<text>\S.*)$")
_PYTEST_PLACE = re.compile(r"^(?P<path>[^\s:]+\.py):(?P<row>\d+): ?(?P<kind>[A-Za-z_][\w.]*)?$")
_NAME = re.compile(
    r"^[\s*`]*(?P<kind>(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Interrupt|Exit|ExceptionGroup|Warning)(?:\([\w.]+\))?)"
    r"(?::[ ]?(?P<message>.*))?$"
)
_ANY_NAME = re.compile(r"^(?P<kind>(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)(?::[ ](?P<message>.*))?$")


def read_log(text: str) -> Log:
    """The text in lines, and its exceptions. Lines of different ranks are told apart by their prefixes."""
    if "\\n" in text and text.count("\\n") > text.count("\n") * 2:  # a traceback inside of JSON
        text = text.replace("\\n", "\n").replace('\\"', '"')
    streams: dict[str, list[str]] = {}
    lines = []
    rows = [_plain(raw[:_LONGEST_LINE]) for raw in re.split(r"\r\n|\n|\r", text)]
    believed = _SPEAKERS + tuple(pattern for pattern in _DOUBTFUL if any(_is_proven(pattern, row) for row in rows))
    for row in rows:
        stream, line = _stripped(row, believed)
        if line.startswith(_OURS):
            continue
        lines.append(line)
        streams.setdefault(stream, []).append(line)
    failures = [failure for stream, several in streams.items() for failure in _Parser(stream).parse(several)]
    return Log(tuple(lines), tuple(failures))


def _plain(line: str) -> str:
    if "\x1b" in line or "\\" in line:
        line = _ANSI.sub("", _ESCAPED.sub("\x1b", line))
    return line.rstrip()


def _is_proven(pattern: re.Pattern[str], line: str) -> bool:
    found = pattern.match(line)
    return found is not None and found.end() > 0 and _PROOF.match(line, found.end()) is not None


def _stripped(line: str, speakers: tuple[re.Pattern[str], ...]) -> tuple[str, str]:
    """Who speaks, and the line without prefixes."""
    stream = ""
    for _ in range(4):
        before = line
        for pattern in speakers:
            found = pattern.match(line)
            if found is not None:
                stream, line = found[1] or stream, line[found.end() :]
        for pattern in _PREFIXES:
            found = pattern.match(line)
            if found is not None:
                line = line[found.end() :]
        if line == before:
            break
    start = line.find("Traceback (most recent call last)")
    return stream, line[start:] if start > 0 and "\u2500" not in line and line[:start].strip(" +|-") else line


@dataclass(slots=True)
class _Parser:
    """Reads the lines of one stream."""

    stream: str
    failures: list[Failure] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    kind: str = ""
    message: list[str] = field(default_factory=list)
    path: str = ""  # of an IPython frame whose row is still to come
    function: str = ""
    rich_path: str = ""
    is_open: bool = False  # within a traceback
    wants_code: bool = False  # the next line may be the code of the last frame
    is_user_code: bool = False
    before: str = ""  # the line in front of this one
    code: str = ""  # the line that pytest marks
    error: list[str] = field(default_factory=list)  # what pytest says in front of its place

    def parse(self, lines: list[str]) -> Iterator[Failure]:
        for line in lines:
            self.take(line)
            self.before = line
        self.end()
        yield from self.failures

    def end(self) -> None:
        """Closes the exception that is being read."""
        if (
            self.is_user_code and self.frames and self.failures
        ):  # torch.compile tells the user's frames behind the message
            last = self.failures[-1]
            self.failures[-1] = Failure(last.kind, last.message, tuple(self.frames), last.stream)
        elif self.kind or (self.frames and not self.is_user_code):
            message = " ".join(part.strip("*` ") for part in self.message).strip()
            self.failures.append(Failure(self.kind, message, tuple(self.frames), self.stream))
        self.frames, self.message = [], []
        self.kind = self.path = self.function = self.rich_path = ""
        self.is_open = self.wants_code = self.is_user_code = False

    def take(self, line: str) -> None:
        """Reads one line."""
        if _GROUP_NEXT.match(line):
            self.end()
            return
        if _ASCII_BOX.match(line):
            self.take_rich(line.strip("|"))
            return
        group = _GROUP.match(line)
        if group is not None and not _RICH_CODE.match(line):
            line = line[group.end() :]
        if "\u2502" in line:
            self.take_rich(line)
            return
        if _START.search(line) or _ORIGINAL.match(line):
            self.start(line)
            return
        if self.take_pytest(line) or self.take_frame(line):
            return
        self.take_rest(line)

    def start(self, line: str) -> None:
        """A header begins another exception, or stands in the middle of the message of one that is raised again."""
        self.end()
        self.is_open = True
        self.is_user_code = line.startswith(_USER_CODE)

    def take_pytest(self, line: str) -> bool:
        """True for a line of pytest's report: code, then the error, then the place."""
        if (found := _PYTEST_CODE.match(line)) is not None:
            self.code = found["text"]
            return True
        if (found := _PYTEST_ERROR.match(line)) is not None:
            if len(self.error) < _LONGEST_MESSAGE:
                self.error.append(found["text"])
            return True
        found = _PYTEST_PLACE.match(line)
        if found is None or not (self.code or self.error):
            return False
        self.frames.append(Frame(found["path"], int(found["row"]), "", self.code))
        name = _NAME.match(self.error[0]) if self.error else None
        if name is not None:
            self.kind, self.message = name["kind"], [name["message"] or "", *self.error[1:]]
            self.end()
        self.code, self.error = "", []
        return True

    def take_frame(self, line: str) -> bool:
        """True where the line names a place."""
        found = _FILE.match(line) or _BARE.match(line)
        if found is not None:
            if self.kind:
                self.end()
            self.frames.append(Frame(found["path"] or "", int(found["row"]), found["function"] or ""))
            self.is_open = self.wants_code = True
            return True
        for pattern in _IPYTHON:
            found = pattern.match(line)
            if found is None:
                continue
            if self.kind:
                self.end()
            groups = found.groupdict()
            self.path, self.function = groups["path"], (groups.get("function") or "").strip()
            if groups.get("row"):
                self.frames.append(Frame(self.path, int(groups["row"]), self.function))
            self.is_open, self.wants_code = True, False
            return True
        found = _ARROW.match(line)
        if found is not None and self.path:
            row, text = int(found["row"]), found["text"].strip()
            if self.frames and (self.frames[-1].path, self.frames[-1].row) == (self.path, row):
                self.frames.pop()
            self.frames.append(Frame(self.path, row, self.function, text))
            return True
        return False

    def take_rest(self, line: str) -> None:
        """Code, markers, the exception itself, its message, or something else."""
        if self.kind:
            bare = line.strip()
            if not bare or len(self.message) >= _LONGEST_MESSAGE:
                self.end()
            elif _NAME.match(line) and not line.startswith(" ") and not self.kind.endswith("Group"):
                self.end()
                self.take_rest(line)
            else:
                self.message.append(bare)
            return
        if self.wants_code and line.strip() and not _NAME.match(line):
            if not _MARKS.match(line):
                last = self.frames[-1]
                self.frames[-1] = Frame(last.path, last.row, last.function, line.strip())
            self.wants_code = False
            return
        found = _NAME.match(line) or (_ANY_NAME.match(line) if self.is_open and self.frames and not self.path else None)
        if found is not None and ("Traceback" not in (found["message"] or "") or self.frames):
            if self.is_user_code:
                self.end()
            if not self.frames and self.before.startswith("  ") and not _MARKS.match(self.before):
                self.frames.append(Frame("", 0, "", self.before.strip()))  # a line of code, pasted without its place
            self.kind, self.message = found["kind"], [found["message"] or ""]

    def take_rich(self, line: str) -> None:
        """A line of a box that rich has drawn."""
        bare = line.strip().strip("\u2502\u256d\u256e\u2570\u256f\u2500").strip()
        code = _RICH_CODE.match(bare)
        if code is not None:
            if self.frames and not self.frames[-1].text:
                last = self.frames[-1]
                self.frames[-1] = Frame(last.path, last.row, last.function, code["text"].replace("\u2502", " ").strip())
            return
        for candidate in (self.rich_path + bare, f"{self.rich_path} {bare}") if self.rich_path else (bare,):
            found = _RICH.match(candidate)
            if found is not None and (found["function"] or self.rich_path):
                if self.kind:
                    self.end()
                self.frames.append(Frame(found["path"], int(found["row"]), found["function"] or ""))
                self.is_open, self.rich_path = True, ""
                return
        self.rich_path = bare if _RICH_PATH.match(bare) else ""


# ---------------------------------------------------------------------------------------------------- whose line it is

_LIBRARY = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages|lib[/\\]python\d[\w.]*|Python\d+[/\\][Ll]ib)[/\\]"
    r"|^<frozen |^<string>$|^<__array_function__|[/\\]python\d[\w.]*\.zip[/\\]"
)
_TORCH = re.compile(
    r"(?:site|dist)-packages[/\\]torch[/\\]|(?:^|[/\\])torch[/\\](?:nn|utils|cuda|mps|xpu|optim|autograd|distributed|jit|fx|_dynamo|_inductor|_tensor\.py|tensor\.py|functional\.py"
    r"|_utils\.py|serialization\.py|random\.py|hub\.py|overrides\.py|amp|_ops\.py|_subclasses|_prims|_refs|storage\.py|__init__\.py)"
)


def is_torch(frame: Frame) -> bool:
    """True for a frame of PyTorch itself, installed or built from source."""
    return bool(_TORCH.search(frame.path))


def is_library(frame: Frame) -> bool:
    """True for a frame of the standard library or an installed package."""
    return bool(_LIBRARY.search(frame.path)) or is_torch(frame)


def users_frames(failure: Failure) -> tuple[Frame, ...]:
    """The frames of the user's own files, the innermost first; where there are none, those outside of PyTorch."""
    own = [frame for frame in reversed(failure.frames) if not is_library(frame)]
    return tuple(own or [frame for frame in reversed(failure.frames) if not is_torch(frame)])
