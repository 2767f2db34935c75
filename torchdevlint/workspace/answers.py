"""What a run has found of each file, and what that rests on: the next run examines the files again for which one of the questions has another answer."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.source import disk, grounds

if TYPE_CHECKING:
    from torchdevlint.findings import Outcome
    from torchdevlint.program.again import Again
    from torchdevlint.settings import Settings
    from torchdevlint.source.grounds import Notes, Question
    from torchdevlint.workspace.discovery import Target

_MOST_UNUSED = 0.5  # of the questions: then they are numbered anew


class Entry(NamedTuple):
    """One file: the digest of its settings, and the numbers of the questions as bits; None for a file that need not be parsed at all."""

    settings: str
    ground: int | None


class Past:
    """What an earlier run has kept. `inner` are the questions behind one that is worked out of others; `walks` what was in the projects."""

    def __init__(
        self,
        questions: list[Question],
        answers: list[Any],
        inner: dict[int, int],
        entries: dict[str, Entry],
        walks: dict[str, str],
        own: str,
    ) -> None:
        self.questions, self.answers, self.inner = questions, answers, inner
        self.entries, self.walks, self.own = entries, walks, own


NO_PAST = Past([], [], {}, {}, {}, "")


class Answers:
    """The answers of one run: those that stay, of an earlier one, and new ones.

    `outcomes` are those of the earlier run by their names, `differing` the questions to the disk that have another answer now.
    """

    def __init__(
        self, past: Past, outcomes: Mapping[str, Outcome], seen: disk.Observations, differing: Set[tuple[str, str]]
    ) -> None:
        self._past, self._outcomes, self._seen, self._differing = past, outcomes, seen, differing
        self._entries: dict[str, Entry] = {}
        self._settings: dict[int, tuple[Settings, str]] = {}
        self._notes: Notes | None = None
        self._inner = dict(past.inner)
        self._changed = 0
        self._projects: dict[str, Again | None] = {}
        self._walks: dict[str, str] = {}
        self._numbers: dict[int, list[int]] = {}  # of the questions of other processes, by process
        self.examined = 0

    # ------------------------------------------------------------------------------------------------ of the past

    def begin(self, notes: Notes) -> None:
        """Asks the questions of the earlier run again, which keep their numbers. Raises what a forged file may make of it."""
        self._notes = notes
        decided: dict[int, bool] = {}
        answers = list(self._past.answers)
        for number, (kind, *given) in enumerate(self._past.questions):
            if kind == "disk":  # these first: the others ask the disk
                of, path = map(str, given)
                decided[number] = path in self._seen.answers.get(of, {}) and (of, path) not in self._differing
                if not decided[number]:
                    answers[number] = disk.ask(of, path)
        notes.forget()
        for question, answer in zip(self._past.questions, answers, strict=True):
            notes.add(question, answer)
        for number, question in enumerate(self._past.questions):
            if number not in self._inner and number not in decided:
                decided[number] = self._is_same(number, question)
        suspects = self._suspects(decided)
        notes.known.update(range(len(answers)))
        notes.known -= suspects
        decided.update(dict.fromkeys(self._inner.keys() - suspects, True))
        for number in suspects:
            self._decide(number, decided, ())
        self._changed = _mask(number for number, is_same in decided.items() if not is_same)
        notes.known.update(suspects)

    def _suspects(self, decided: Mapping[int, bool]) -> Set[int]:
        """The questions that are worked out of some that have changed, or of other suspects."""
        found: set[int] = set()
        changed = _mask(number for number, is_same in decided.items() if not is_same)
        while True:
            new = {number for number, inner in self._inner.items() if number not in found and inner & changed}
            if not new:
                return found
            found |= new
            changed |= _mask(new)

    def _is_same(self, number: int, question: Question) -> bool:
        assert self._notes is not None
        _, place, *_ = question
        before = self._notes.answers[number]
        again = self._again(str(place))
        if again is None:
            return False
        answer = again.answer(question, before)
        if answer is before:
            return True
        from torchdevlint.program.project import plain

        now = self._notes.answers[number] = plain(answer)
        return bool(now == before)

    def _decide(self, number: int, decided: dict[int, bool], above: tuple[int, ...]) -> bool:
        """Whether a question that is worked out of others has its answer still."""
        if number in decided:
            return decided[number]
        if number in above:
            raise ValueError("a question behind itself")
        assert self._notes is not None
        behind = _bits(self._inner[number])
        if all(self._decide(one, decided, (*above, number)) for one in behind):
            decided[number] = True
            return True
        question = self._past.questions[number]
        again = self._again(str(question[1]))
        decided[number] = False
        if again is not None:
            decided[number] = self._work_out(number, question, again)
        return decided[number]

    def _work_out(self, number: int, question: Question, again: Again) -> bool:
        from torchdevlint.program.again import worked_out_again
        from torchdevlint.program.project import plain
        from torchdevlint.rules.registry import all_rules

        all_rules()
        assert self._notes is not None
        before = self._notes.answers[number]
        now = plain(worked_out_again(question, again.project))
        self._notes.answers[number] = now
        self._inner[number] = grounds.whole(self._notes.inner[question])
        return bool(now == before)

    def _again(self, place: str) -> Again | None:
        """A project of the earlier run; None for one that cannot be asked again."""
        if place not in self._projects:
            from torchdevlint.program.again import Again
            from torchdevlint.program.project import project_of

            root, environment, *shown_ = place.split("\0")
            shown = "".join(shown_)
            project = project_of(root, environment)
            if shown:
                text = _text_of(shown)
                if text is None:
                    self._projects[place] = None
                    return None
                project = project.showing(shown, text, apart=True)
            is_moved = self._past.walks.get(root) != _walk(project.walked)
            is_environment_changed = bool(environment) and any(
                f"{path}{os.sep}".startswith(environment + os.sep) for _, path in self._differing
            )
            self._projects[place] = Again(
                project, self._is_changed, is_moved=is_moved, is_environment_changed=is_environment_changed
            )
        return self._projects[place]

    def _is_changed(self, path: str) -> bool:
        return path not in self._seen.answers.get("bytes", {}) or ("bytes", path) in self._differing

    def taken(self, target: Target) -> tuple[bool, Outcome | None]:
        """Whether a file need not be examined, and what was found of it; None for one that need not be parsed."""
        entry = self._past.entries.get(target.path)
        is_same = (
            entry is not None
            and entry.settings == self._digest(target.settings)
            and not self._is_changed(disk.absolute(target.path))
            and not (entry.ground or 0) & self._changed
        )
        if entry is None or not is_same:
            return False, None
        self._entries[target.path] = entry
        if entry.ground is None:
            return True, None
        from torchdevlint.findings import Outcome

        return True, self._outcomes.get(target.path) or Outcome(target.path)

    def _digest(self, settings: Settings) -> str:
        known = self._settings.get(id(settings))
        if known is None:
            digest = disk.digest(repr(settings).encode("utf-8", "surrogateescape"))
            known = self._settings[id(settings)] = settings, digest
        return known[1]

    # ------------------------------------------------------------------------------------------------ of this run

    def pass_over(self, target: Target) -> None:
        """A file that need not be parsed."""
        self._entries[target.path] = Entry(self._digest(target.settings), None)

    def keep(self, target: Target, told: grounds.Told) -> None:
        """What an examination rests on."""
        assert self._notes is not None
        self.examined += 1
        numbers = self._numbers.setdefault(told.process, list(range(told.inherited)))
        for question, answer, _ in told.questions:
            numbers.append(self._notes.add(question, answer))
        for question, _, inner in told.questions:
            if inner is not None:
                self._inner.setdefault(self._notes.numbers[question], _renumbered(inner, numbers, told.inherited))
        ground = _renumbered(told.ground, numbers, told.inherited)
        self._entries[target.path] = Entry(self._digest(target.settings), ground)

    def result(self, own: str) -> Past:
        """What the next run may need of this one."""
        assert self._notes is not None
        for question, ground in self._notes.inner.items():
            self._inner.setdefault(self._notes.numbers[question], grounds.whole(ground))
        questions, answers = list(self._notes.numbers), self._notes.answers
        for question in questions:
            if question[0] != "disk":
                self._walks_of(*str(question[1]).split("\0")[:2])
        past = Past(questions, answers, self._inner, self._entries, self._walks, own)
        return _renewed(past) if _used(past).bit_count() < len(questions) * _MOST_UNUSED else past

    def _walks_of(self, root: str, environment: str) -> None:
        if root not in self._walks:
            from torchdevlint.program.project import project_of

            self._walks[root] = _walk(project_of(root, environment).walked)


def _text_of(path: str) -> str | None:
    from torchdevlint.linter import read
    from torchdevlint.source.reading import read_bytes
    from torchdevlint.source.source import SourceError

    try:
        return read(path, read_bytes(path)).text
    except (OSError, SourceError):
        return None


def _walk(walked: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    return disk.digest("\0\0".join("\0".join(paths) for paths in walked).encode("utf-8", "surrogateescape"))


def _mask(numbers: Iterable[int]) -> int:
    found = bytearray()
    for number in numbers:
        if number >> 3 >= len(found):
            found.extend(bytes((number >> 3) + 1 - len(found)))
        found[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(found, "little")


def _bits(number: int) -> Iterable[int]:
    text = bin(number)[:1:-1]
    return (found.start() for found in re.finditer("1", text))


def _renumbered(ground: int, numbers: list[int], inherited: int) -> int:
    """The numbers of another process in those of this one; it has inherited some of them."""
    others = _mask(numbers[number + inherited] for number in _bits(ground >> inherited))
    return ground & ((1 << inherited) - 1) | others


def _used(past: Past) -> int:
    """The questions that a file rests on, also those behind others."""
    used = 0
    for entry in past.entries.values():
        used |= entry.ground or 0
    worked_out, seen = _mask(past.inner), 0
    while new := used & worked_out & ~seen:
        seen |= new
        for number in _bits(new):
            used |= past.inner[number]
    return used


def _renewed(past: Past) -> Past:
    """The same without the questions that nothing rests on any more."""
    used = list(_bits(_used(past)))
    numbers = [0] * len(past.questions)
    for new, old in enumerate(used):
        numbers[old] = new

    def renumbered(ground: int) -> int:
        return _mask(numbers[number] for number in _bits(ground))

    return Past(
        [past.questions[number] for number in used],
        [past.answers[number] for number in used],
        {numbers[one]: renumbered(ground) for one, ground in past.inner.items() if one in set(used)},
        {
            path: entry if entry.ground is None else entry._replace(ground=renumbered(entry.ground))
            for path, entry in past.entries.items()
        },
        past.walks,
        past.own,
    )
