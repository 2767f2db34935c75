"""The answers of a run as JSON: each text once, questions by the numbers of their texts, grounds as hexadecimal numbers."""

from __future__ import annotations

import re
from typing import Any

from torchdevlint.workspace.answers import Entry, Past

_OF_PATHS = ("importing", "holding")  # whose answers are lists of texts, of which many are the same


def to_json(past: Past) -> dict[str, Any]:
    """What JSON can hold."""
    numbers: dict[str, int] = {}

    def number(text: str) -> int:
        return numbers.setdefault(text, len(numbers))

    def told(given: Any) -> Any:
        if isinstance(given, str):
            return number(given)
        if isinstance(given, bool):
            return given
        if isinstance(given, bytes):
            return ["bytes", given.decode("latin-1")]
        if isinstance(given, re.Pattern):
            return ["pattern", given.pattern.decode("latin-1"), given.flags]
        return ["several", *map(told, given)]

    questions = [[told(part) for part in question] for question in past.questions]
    answers = [
        list(map(number, answer)) if question[0] in _OF_PATHS else answer
        for question, answer in zip(past.questions, past.answers, strict=True)
    ]
    return {
        "questions": questions,
        "answers": answers,
        "inner": {str(one): f"{ground:x}" for one, ground in past.inner.items()},
        "entries": {
            path: [entry.settings, None if entry.ground is None else f"{entry.ground:x}"]
            for path, entry in past.entries.items()
        },
        "walks": past.walks,
        "own": past.own,
        "texts": list(numbers),
    }


def from_json(document: Any) -> Past:
    """The answers; raises `KeyError`, `IndexError`, `TypeError` or `ValueError` for what `to_json` has not made."""
    texts = document["texts"]

    def read(given: Any) -> Any:
        if given is True or given is False:
            return given
        if isinstance(given, int):
            return _text(texts[given])
        kind, *rest = given
        if kind == "several":
            return tuple(map(read, rest))
        raw = _text(rest[0]).encode("latin-1")
        if kind == "bytes":
            return raw
        if kind != "pattern":
            raise ValueError(kind)
        try:
            return re.compile(raw, rest[1])
        except re.error as error:
            raise ValueError(str(error)) from None

    questions = [tuple(map(read, question)) for question in document["questions"]]
    answers = [
        [_text(texts[at]) for at in answer] if question[0] in _OF_PATHS else answer
        for question, answer in zip(questions, document["answers"], strict=True)
    ]
    most = 1 << len(questions)
    inner = {int(one): _ground(ground, most) for one, ground in document["inner"].items()}
    if any(not 0 <= one < len(questions) for one in inner):
        raise ValueError("a question that is not there")
    entries = {
        path: Entry(_text(settings), None if ground is None else _ground(ground, most))
        for path, (settings, ground) in document["entries"].items()
    }
    return Past(questions, answers, inner, entries, dict(document["walks"]), _text(document["own"]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is wanted")
    return value


def _ground(text: object, most: int) -> int:
    found = int(_text(text), 16)
    if not 0 <= found < most:
        raise ValueError("a question that is not there")
    return found
