"""JSON with the place of every value in the text, so that one string can be replaced and all other bytes stay."""

from __future__ import annotations

import json.decoder
import re
from dataclasses import dataclass
from typing import Union

MOST_DEPTH = 100

Value = Union[dict[str, "Node"], list["Node"], str, int, float, bool, None]  # noqa: UP007

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(
    r"(?P<number>-?(?:0|[1-9]\d{0,400})(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<word>true|false|null|NaN|-?Infinity)"
)
_WORDS: dict[str, bool | None] = {"true": True, "false": False}


class JsonError(ValueError):
    """The text is no JSON; `row` (from 1) is where that shows."""

    def __init__(self, message: str, text: str, at: int) -> None:
        super().__init__(message)
        self.row = text.count("\n", 0, at) + 1


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the half-open stretch of the text that it was read from. A number is read as 0: nobody asks."""

    value: Value
    start: int
    end: int

    def get(self, key: str) -> Node | None:
        """The member of an object; None where this is no object or has none."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def items(self) -> list[Node]:
        """The elements of an array; nothing where this is none."""
        return self.value if isinstance(self.value, list) else []


def parse(text: str) -> Node:
    """The whole text as a value; raises `JsonError`."""
    reader = _Reader(text)
    node = reader.value(reader.space(0), 0)
    if reader.space(node.end) != len(text):
        raise JsonError("something follows the end of the value", text, node.end)
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def space(self, at: int) -> int:
        return _SPACE.match(self.text, at).end()  # type: ignore[union-attr]

    def value(self, at: int, depth: int) -> Node:
        if depth > MOST_DEPTH:
            raise JsonError(f"values are nested more than {MOST_DEPTH} deep", self.text, at)
        first = self.text[at : at + 1]
        if first == '"':
            string, end = self.string(at)
            return Node(string, at, end)
        if first == "{":
            return self.object(at, depth)
        if first == "[":
            return self.array(at, depth)
        match = _PLAIN.match(self.text, at)
        if match is None:
            raise JsonError("a value was expected", self.text, at)
        return Node(_WORDS.get(match["word"]) if match["word"] else 0, at, match.end())

    def string(self, at: int) -> tuple[str, int]:
        try:
            return json.decoder.scanstring(self.text, at + 1, False)  # type: ignore[attr-defined,no-any-return]
        except json.JSONDecodeError as error:
            raise JsonError(error.msg, self.text, at) from None

    def object(self, at: int, depth: int) -> Node:
        members: dict[str, Node] = {}
        end = self.space(at + 1)
        if self.text[end : end + 1] == "}":
            return Node(members, at, end + 1)
        while True:
            if self.text[end : end + 1] != '"':
                raise JsonError("a name in double quotes was expected", self.text, end)
            name, end = self.string(end)
            end = self.space(end)
            if self.text[end : end + 1] != ":":
                raise JsonError("a colon was expected", self.text, end)
            members[name] = node = self.value(self.space(end + 1), depth + 1)
            end, more = self.rest(node.end, "}")
            if not more:
                return Node(members, at, end)

    def array(self, at: int, depth: int) -> Node:
        elements: list[Node] = []
        end = self.space(at + 1)
        if self.text[end : end + 1] == "]":
            return Node(elements, at, end + 1)
        while True:
            elements.append(self.value(end, depth + 1))
            end, more = self.rest(elements[-1].end, "]")
            if not more:
                return Node(elements, at, end)

    def rest(self, at: int, close: str) -> tuple[int, bool]:
        """Behind a comma (True) or the closing bracket (False)."""
        at = self.space(at)
        found = self.text[at : at + 1]
        if found == ",":
            return self.space(at + 1), True
        if found != close:
            raise JsonError(f"a comma or `{close}` was expected", self.text, at)
        return at + 1, False
