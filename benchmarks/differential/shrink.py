"""Makes a program smaller while the machine and the linter stay apart in the same way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from differential.judges import Linter, Machine
from differential.programs import Program
from differential.score import CRASH, DROPPED, FOUND, SILENT, heard, outcome_of

_PLAINER = (
    (r'torch\.device\("cuda" if torch\.cuda\.is_available\(\) else "cpu"\)', '"cuda"'),
    (r'torch\.device\("cuda(?::0)?"\)', '"cuda"'),
    (r" if torch\.cuda\.is_available\(\) else .*", ""),
    (r"^(\s*)print\((.*)\)$", r"\1\2"),
    (r"\.float\(\)\.sum\(\)\.item\(\)", ""),
    (r"\.(?:clone|detach)\(\)", ""),
    (r"^(\s*)\w+ = (\w+\(.*\))$", r"\1\2"),
    (r"\.to\(device\)", ".cuda()"),
)
"""Lines that say the same with less."""

_Key = tuple[str, str, frozenset[str]]


class Shrinker:
    """Greedy removal of files, blocks and lines. Each attempt is judged by both."""

    def __init__(self, machine: Machine, linter: Linter) -> None:
        self.machine, self.linter = machine, linter
        self._known: dict[str, _Key | None] = {}

    def shrink(self, program: Program) -> Program:
        """The smallest program found; the same one where machine and linter agree."""
        want = self._key(program)
        if want is None:
            return program
        changed = True
        while changed:
            changed = False
            for name in program.files:
                smaller = self._shrink_file(program, name, want)
                changed, program = changed or smaller != program, smaller
        return program

    def _shrink_file(self, program: Program, name: str, want: _Key) -> Program:
        lines = [line for line in program.files[name].split("\n") if line.strip()]
        position = 0
        while position < len(lines):
            for attempt in _attempts(lines, position):
                smaller = _with(program, name, "\n".join(attempt) + "\n")
                if self._key(smaller) == want:
                    program, lines = smaller, attempt
                    break
            else:
                position += 1
        return program

    def _key(self, program: Program) -> _Key | None:
        """What must stay: the outcome, the error without its lines, and the codes. None where both agree."""
        text = program.text()
        if text not in self._known:
            self._known[text] = self._judged(program)
        return self._known[text]

    def _judged(self, program: Program) -> _Key | None:
        try:
            for name, text in program.files.items():
                if name.endswith(".py"):
                    ast.parse(text)
        except SyntaxError:
            return None
        verdict = self.machine.run([program], trace=True)[0]
        if verdict.kind not in ("ok", "fault"):
            return None
        answer = self.linter.ask([program])[0]
        outcome = outcome_of(verdict, answer, program.shown)
        if outcome in (CRASH, DROPPED, FOUND, SILENT):
            return None
        loud = [said for said in heard(answer) if said.level != "info"]
        if outcome.startswith("false") and not all(
            any(said.file == file and said.first <= row <= said.last for file, row in verdict.ran) for said in loud
        ):
            return None  # a line that does not run proves nothing
        return outcome, verdict.text[:60], frozenset(said.code for said in loud)


def _with(program: Program, name: str, text: str) -> Program:
    if name in program.shown:
        return replace(program, shown={**program.shown, name: text})
    return replace(program, hidden=text)


def _attempts(lines: list[str], position: int) -> Iterator[list[str]]:
    line = lines[position]
    depth = len(line) - len(line.lstrip())
    end = position + 1
    while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > depth:
        end += 1
    yield lines[:position] + lines[end:]
    if end > position + 1:  # the block without its header
        yield lines[:position] + [below[4:] for below in lines[position + 1 : end]] + lines[end:]
    for pattern, new in _PLAINER:
        plainer = re.sub(pattern, new, line)
        if plainer != line:
            yield [*lines[:position], plainer, *lines[position + 1 :]]
    named = re.match(r"^\s*(\w+) = (.+)$", line)
    rest = "\n".join(lines[position + 1 :])
    if named and end == position + 1 and len(re.findall(rf"\b{named[1]}\b", rest)) == 1:
        value = named[2] if re.fullmatch(r"[\w.]+|[\w.]+\([^()]*\)", named[2]) else f"({named[2]})"
        yield lines[:position] + re.sub(rf"\b{named[1]}\b", lambda _: value, rest).split("\n")
