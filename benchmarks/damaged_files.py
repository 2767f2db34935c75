"""Checks and repairs damaged files: nothing may raise, no repair may break a file, and a second run changes nothing.

    python benchmarks/damaged_files.py --first 0 --count 3000 [FOLDER ...]

A mutation is known by its number: the same number on the same files is the same text. Each complaint names its number; `--show N` prints the text.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from torchdevlint.linter import Repair, lint
from torchdevlint.settings import Settings
from torchdevlint.source.source import Source, SourceError

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT / "fixtures", ROOT / "torchdevlint", ROOT / "tests")
MOST_BYTES = 100_000
MOST_SECONDS = 5.0  # of the processor

_CONTROLS = (
    "\0",
    "\x0b",
    "\f",
    "\r",
    "\r\n",
    "\x1a",
    "\x85",
    "\u2028",
    "\ufeff",
    "\ud7ff",
    "\t",
    "\\\n",
    "\\\r\n",
    "\x7f",
)
_PIECES = (
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    '"""',
    "f'{",
    "}'",
    "#",
    ":",
    ",",
    "=",
    "\\",
    "lambda:",
    "not ",
    "**",
    ".to(x)",
    "\n",
    ";",
)


def _delete(text: str, pick: random.Random) -> str:
    start = pick.randrange(len(text) + 1)
    return text[:start] + text[start + pick.choice((1, 2, 5, 20, 200)) :]


def _double(text: str, pick: random.Random) -> str:
    start = pick.randrange(len(text) + 1)
    span = text[start : start + pick.choice((1, 5, 50, 500))]
    return text[:start] + span * pick.choice((2, 3, 30)) + text[start + len(span) :]


def _newlines(text: str, pick: random.Random) -> str:
    if pick.random() < 0.5:
        return text.replace("\n", pick.choice(("\r", "\r\n", "\n\n", "\n\f")))
    return "".join(pick.choice(("\n", "\r", "\r\n")) if part == "\n" else part for part in text)


def _insert(text: str, pick: random.Random) -> str:
    at = pick.randrange(len(text) + 1)
    return text[:at] + pick.choice(_CONTROLS) + text[at:]


def _nest(text: str, pick: random.Random) -> str:
    at = pick.randrange(len(text) + 1)
    depth = pick.choice((3, 60, 180, 400, 3000))
    opened, closed = pick.choice(
        (("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("-", ""), ("lambda: ", ""), ("a.", ""))
    )
    return text[:at] + opened * depth + pick.choice(("", "1")) + closed * depth + text[at:]


def _truncate(text: str, pick: random.Random) -> str:
    return text[: pick.randrange(len(text) + 1)]


def _swap(text: str, pick: random.Random) -> str:
    words = text.split(" ")
    first, second = pick.randrange(len(words)), pick.randrange(len(words))
    words[first], words[second] = words[second], words[first]
    return " ".join(words)


def _replace(text: str, pick: random.Random) -> str:
    at = pick.randrange(len(text) + 1)
    return text[:at] + pick.choice(_PIECES) + text[at + pick.randrange(3) :]


def _swap_lines(text: str, pick: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    first, second = pick.randrange(len(lines)), pick.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return "".join(lines)


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    _delete, _double, _newlines, _insert, _nest, _truncate, _swap, _replace, _swap_lines,
)  # fmt: skip


def files(folders: Sequence[Path] = FOLDERS) -> tuple[Path, ...]:
    """The files to damage, in an order that no file system decides."""
    found = (path for folder in folders for path in folder.rglob("*.py") if path.is_file() and not path.is_symlink())
    return tuple(sorted(path for path in found if path.stat().st_size < MOST_BYTES // 2))


def damaged(number: int, chosen: Sequence[Path]) -> bytes:
    """The mutation of this number."""
    pick = random.Random(number)
    text = pick.choice(chosen).read_bytes().decode("utf-8", "replace")
    for _ in range(pick.choice((1, 1, 2, 3, 5))):
        text = pick.choice(MUTATIONS)(text, pick)[:MOST_BYTES]
    raw = text.encode("utf-8", "replace")
    if pick.random() < 0.05 and raw:
        at = pick.randrange(len(raw))
        raw = raw[:at] + bytes((pick.randrange(256),)) + raw[at + 1 :]
    return raw


def complaints(raw: bytes) -> Iterator[str]:
    """What goes wrong when a file of these bytes is repaired, and once more."""
    before = time.process_time()
    first = lint("damaged.py", raw, Settings(), Repair.UNSAFE)
    spent = time.process_time() - before
    if spent > MOST_SECONDS:
        yield f"took {spent:.1f} seconds for {len(raw):,} bytes"
    yield from first.problems
    if first.stored is None:
        return
    if _parses(raw) and not _parses(first.stored):
        yield "the repaired file does not parse"
    second = lint("damaged.py", first.stored, Settings(), Repair.UNSAFE)
    yield from second.problems
    if second.stored is not None:
        yield f"a second run repairs {', '.join(finding.code for finding in second.fixed)}"


def _parses(raw: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(Source.from_bytes("damaged.py", raw).text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, SourceError):
        return False
    return True


def main() -> int:
    """Runs a range of mutations; 1 when there are complaints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=FOLDERS)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--show", type=int)
    arguments = parser.parse_args()
    chosen = files(arguments.folders)
    if arguments.show is not None:
        sys.stdout.buffer.write(damaged(arguments.show, chosen))
        return 0
    wrong = 0
    for number in range(arguments.first, arguments.first + arguments.count):
        for complaint in complaints(damaged(number, chosen)):
            wrong += 1
            print(f"{number}: {complaint}", flush=True)
    print(f"{arguments.count} mutations of {len(chosen)} files, {wrong} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
