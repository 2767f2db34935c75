"""The table of textbook faults: reads faults/*.txt.

A fault begins with `==== name | codes | verdict | file=content ...`. Its text has one or two parts: the definitions, and behind `----` the statements that
run them. A line that ends in `#!` is the fault, and is not in the repaired twin; a finding may stand on it, and on lines that end in `#@`; the lines that
begin with `#+` are in the twin alone. Codes are those that tell the fault, `-` for a program that has none (its twin is itself).

The verdict says how a machine shows the fault; the twin must run without one:

gpu         a device fault on a machine with one GPU
gpus2       the same with two GPUs
cpu-only    an error on a machine without a GPU
differs     what is printed differs from what the twin prints, on one GPU
hazard      a hazard on one GPU
runs        no fault: it runs on one GPU
-<reason>   nothing that a virtual machine can show; the reason follows
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FAULTS = Path(__file__).parent / "faults"


@dataclass(frozen=True, slots=True)
class Text:
    """Lines of a program, and which of them are marked (0-based)."""

    lines: tuple[str, ...]
    marked: frozenset[int] = frozenset()

    def __add__(self, other: Text) -> Text:
        return Text(self.lines + other.lines, self.marked | {len(self.lines) + line for line in other.marked})

    def indented(self) -> Text:
        return Text(tuple(f"    {line}" if line.strip() else line for line in self.lines), self.marked)

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(frozen=True, slots=True)
class Program:
    """One side of a pair: imports, definitions (none for a plain script), and the statements that run."""

    imports: Text
    definitions: Text
    calls: Text

    def defined(self) -> tuple[str, ...]:
        """The names that the definitions bind."""
        bound = []
        for node in ast.parse(str(self.definitions)).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                bound.append(node.name)
            elif isinstance(node, ast.Assign):
                bound += [target.id for target in node.targets if isinstance(target, ast.Name)]
        return tuple(bound)


@dataclass(frozen=True, slots=True)
class Fault:
    """A row of the table."""

    family: str
    name: str
    codes: frozenset[str]
    verdict: str
    files: tuple[tuple[str, str], ...]
    faulty: Program
    repaired: Program


def faults() -> Iterator[Fault]:
    """All rows."""
    for path in sorted(FAULTS.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("==== ")[1:]:
            header, _, body = part.partition("\n")
            name, codes, verdict, *files = (field.strip() for field in header.split("|"))
            yield Fault(
                path.stem,
                name,
                frozenset() if codes == "-" else frozenset(codes.split(",")),
                verdict,
                tuple(tuple(file.split("=")) for file in " ".join(files).split()),  # type: ignore[misc]
                _side(body, repaired=False),
                _side(body, repaired=True),
            )


def _side(body: str, *, repaired: bool) -> Program:
    first, found, second = body.partition("\n----\n")
    imports, rest = _imports(_text(first, repaired=repaired))
    calls = _text(second, repaired=repaired)
    return Program(imports, rest, calls) if found else Program(imports, Text(()), rest)


def _text(body: str, *, repaired: bool) -> Text:
    lines: list[str] = []
    marked = set()
    for line in body.strip("\n").split("\n"):
        blank = len(line) - len(line.lstrip())
        if line.lstrip().startswith("#+ "):
            if repaired:
                lines.append(line[:blank] + line.lstrip()[3:])
        elif line.endswith("#!") and repaired:
            continue
        elif line.endswith(("#!", "#@")):
            marked.add(len(lines))
            lines.append(line[:-2].rstrip())
        else:
            lines.append(line)
    return Text(tuple(lines), frozenset(marked))


def _imports(text: Text) -> tuple[Text, Text]:
    """The import statements at the top, without those that nothing names any more, and what follows them."""
    end = next(at for at, line in enumerate(text.lines) if line.strip() and not line.startswith(("import ", "from ")))
    rest = Text(text.lines[end:], frozenset(line - end for line in text.marked if line >= end))
    return Text(text.lines[:end]), rest
