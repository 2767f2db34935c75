"""What an answer rests on: the questions about the disk and the projects on it that were asked for it, and the answers that were known already.

A later run can ask the questions again; where each has the answer that it had, nothing need be worked out anew. Whatever is remembered for
others (summaries of functions, facts of files) carries its ground, so that an answer that came from memory is as good as one that was asked for.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, Generic, NamedTuple, TypeVar

Question = tuple[Hashable, ...]  # what is asked, of what project, and the particulars: plain values
_Answer = TypeVar("_Answer")
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Ground:
    """What one answer rests on: the numbers of questions, and other answers that were remembered. `whole` is all of it, once that was asked for."""

    __slots__ = ("others", "questions", "whole")

    def __init__(self) -> None:
        self.questions: set[int] = set()
        self.others: set[Ground] = set()
        self.whole: int | None = None  # a bit for each number

    @property
    def is_empty(self) -> bool:
        """True for what rests on nothing that may change."""
        return not self.questions and not self.others


class Notes:
    """The questions of a run by their numbers, with their answers. `inner` has what was asked to answer one that is worked out of others.

    The answers to those that are `known` hold before anybody asks. `is_sound` is False where two answers to one question differed.
    """

    def __init__(self) -> None:
        self.numbers: dict[Question, int] = {}
        self.answers: list[Any] = []
        self.inner: dict[Question, Ground] = {}
        self.known: set[int] = set()
        self.is_sound = True

    def forget(self) -> None:
        """Begins anew."""
        self.numbers.clear()
        self.answers.clear()
        self.inner.clear()
        self.known.clear()

    def add(self, question: Question, answer: Any) -> int:
        """The number of a question."""
        number = self.numbers.setdefault(question, len(self.answers))
        if number == len(self.answers):
            self.answers.append(answer)
        elif self.answers[number] != answer:
            self.is_sound = False
        return number


_notes: Notes | None = None
_ground: Ground | None = None  # of what is being worked out


@contextmanager
def noted() -> Iterator[Notes]:
    """Takes notes of what is asked within. Not for several threads; what was remembered before must be forgotten first."""
    global _notes, _ground
    before = _notes, _ground
    _notes, _ground = Notes(), Ground()
    try:
        yield _notes
    finally:
        _notes, _ground = before


def start() -> None:
    """The same from now on, in a process that does nothing else."""
    global _notes, _ground
    _notes, _ground = Notes(), Ground()


@contextmanager
def apart() -> Iterator[Ground]:
    """The ground of what is worked out within, and of nothing else; an empty one where nobody takes notes."""
    global _ground
    found = Ground()
    if _notes is None:
        yield found
        return
    before, _ground = _ground, found
    try:
        yield found
    finally:
        _ground = before


def are_noted() -> bool:
    """Whether anybody takes notes."""
    return _ground is not None


def note(question: Question, answer: Any) -> None:
    """Notes the answer to a question."""
    if _ground is not None and _notes is not None:
        _ground.questions.add(_notes.add(question, answer))


def rest_on(ground: Ground | None) -> None:
    """What is worked out now rests on another answer."""
    if ground is not None and _ground is not None:
        _ground.others.add(ground)


def begin(ground: Ground | None = None) -> tuple[Ground, Ground] | None:
    """Begins to work out something that will be remembered; what is given back is for `end`. None where nobody takes notes."""
    global _ground
    if _ground is None:
        return None
    outer, _ground = _ground, ground or Ground()
    return outer, _ground


def end(begun: tuple[Ground, Ground] | None) -> Ground | None:
    """The ground of what has been worked out; None where it is empty."""
    global _ground
    if begun is None:
        return None
    outer, found = begun
    _ground = outer
    if found.is_empty:
        return None
    outer.others.add(found)
    return found


class Form(Generic[_Answer]):
    """What is kept of an answer: `plain` makes something of it that JSON can hold, `restored` the answer of that again (None: it is worked out)."""

    __slots__ = ("plain", "restored")

    def __init__(self, plain: Callable[[_Answer], Any], restored: Callable[[Any], _Answer] | None = None) -> None:
        self.plain, self.restored = plain, restored


def asked(
    question: Question, work: Callable[[], _Answer], form: Form[_Answer], *, is_worked_out: bool = False
) -> _Answer:
    """Answers a question for the one who asks, who need not know what else is asked for that.

    One that `is_worked_out` of others is not asked again unless an answer to these has changed.
    """
    global _ground
    outer = _ground
    if outer is None or _notes is None:
        return work()
    number = _notes.numbers.get(question)
    if number is not None and number in _notes.known and form.restored is not None:
        outer.questions.add(number)
        return form.restored(_notes.answers[number])
    _ground = Ground()
    if is_worked_out:
        _notes.inner.setdefault(question, _ground)
    try:
        answer = work()
    finally:
        _ground = outer
    number = _notes.numbers.get(question)
    outer.questions.add(_notes.add(question, form.plain(answer)) if number is None else number)
    return answer


_NOTHING: Any = object()


def kept_in(
    memory: dict[Any, Any], key: Hashable, work: Callable[[], _Answer], meanwhile: _Answer = _NOTHING
) -> _Answer:
    """What is remembered under a key, or else worked out and remembered there, with its ground; `meanwhile`: the answer for the work itself."""
    known: tuple[_Answer, Ground | None] | None = memory.get(key)
    if known is not None:
        rest_on(known[1])
        return known[0]
    begun, found = begin(), None
    if meanwhile is not _NOTHING:
        memory[key] = meanwhile, begun and begun[1]
    try:
        answer = work()
    finally:
        found = end(begun)
    memory[key] = answer, found
    return answer


def remembered(maxsize: int | None) -> Callable[[_Function], _Function]:
    """As `functools.lru_cache`, for a function that asks about projects: each answer carries its ground."""

    def decorate(function: _Function) -> _Function:
        @lru_cache(maxsize)
        def kept(*given: Any) -> tuple[Any, Ground | None]:
            begun, found = begin(), None
            try:
                answer = function(*given)
            finally:
                found = end(begun)
            return answer, found

        @wraps(function)
        def ask(*given: Any) -> Any:
            answer, found = kept(*given)
            rest_on(found)
            return answer

        ask.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
        ask.cache_info = kept.cache_info  # type: ignore[attr-defined]
        return ask  # type: ignore[return-value]

    return decorate


# ---------------------------------------------------------------------------------------------------- all of it


def whole(ground: Ground) -> int:
    """Every question that an answer rests on, also through others, as the bits of a number.

    Answers that rest on each other (functions that call each other) are found as strongly connected components, by Tarjan's way without recursion.
    """
    if ground.whole is None:
        _close(ground)
    assert ground.whole is not None
    return ground.whole


def _close(start: Ground) -> None:
    numbers: dict[Ground, int] = {start: 0}
    lowest: dict[Ground, int] = {start: 0}
    pending: list[Ground] = [start]  # of components that are not complete
    way: list[tuple[Ground, Iterator[Ground]]] = [(start, iter(start.others))]
    while way:
        here, others = way[-1]
        for other in others:
            if other.whole is not None:
                continue
            if other in numbers:
                lowest[here] = min(lowest[here], numbers[other])
                continue
            numbers[other] = lowest[other] = len(numbers)
            pending.append(other)
            way.append((other, iter(other.others)))
            break
        else:
            way.pop()
            if way:
                above = way[-1][0]
                lowest[above] = min(lowest[above], lowest[here])
            if lowest[here] == numbers[here]:
                component = [pending.pop()]
                while component[-1] is not here:
                    component.append(pending.pop())
                _complete(component)


def _complete(component: list[Ground]) -> None:
    found = 0
    for one in component:
        for number in one.questions:
            found |= 1 << number
        for other in one.others:
            found |= other.whole or 0
    for one in component:
        one.whole = found


# ---------------------------------------------------------------------------------------------------- other processes


class Told(NamedTuple):
    """What a process tells of the ground of one examination, in its own numbers.

    It has `inherited` the first of them. `questions` are those that it has not told of before: with the answer, and the ground of the answer
    where that is worked out of others.
    """

    process: int
    inherited: int
    questions: list[tuple[Question, Any, int | None]]
    ground: int


_told = 0  # questions
_inherited: tuple[int, int] | None = None  # by which process, how many


def inherit() -> None:
    """Called in front of the start of other processes: they know the questions that were asked by now, and need not tell of them."""
    global _told, _inherited
    if _notes is not None:
        _told = len(_notes.answers)
        _inherited = os.getpid(), _told


def told(ground: Ground) -> Told:
    """What is to be told of an examination that has come to its end."""
    global _told
    assert _notes is not None
    found = whole(ground)
    new = []
    for question, number in itertools.islice(_notes.numbers.items(), _told, None):
        behind = _notes.inner.get(question)
        new.append((question, _notes.answers[number], None if behind is None else whole(behind)))
    _told = len(_notes.answers)
    return Told(os.getpid(), 0 if _inherited is None else _inherited[1], new, found)
