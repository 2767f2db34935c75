"""Lowers `match`: what its patterns test, and what they capture."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torchdevlint.program.ast_expressions import condition, evaluate
from torchdevlint.program.builder import BodyBuilder
from torchdevlint.program.control import named, suite
from torchdevlint.program.ir import Block, Constant

Step = tuple[str | int, ...]


class Captures:
    """What a pattern captures: nodes with their names, and the path to the part of the subject (see `ir.Opaque`)."""

    def __init__(self, path: tuple[Step, ...] = ()) -> None:
        self.path = path
        self.found: list[tuple[Any, str, tuple[Step, ...]]] = []
        self.tests: list[tuple[Any, ...]] = []  # see `ir.Matches`

    def ask(self, kind: str, *given: object) -> None:
        """A test of what the path leads to."""
        self.tests.append((kind, self.path, *given))

    def note(self, node: ast.pattern, name: str | None, *step: str | int) -> None:
        """Captures what the path leads to, or the part of it that a step leads to, under the name that the node has for it, if any."""
        if name is not None:
            self.found.append((named(node), name, (*self.path, step) if step else self.path))

    @contextmanager
    def inside(self, *step: str | int) -> Iterator[None]:
        """Patterns in here are matched with a part."""
        saved, self.path = self.path, (*self.path, step)
        try:
            yield
        finally:
            self.path = saved


def match_(b: BodyBuilder, node: ast.Match) -> None:
    """`match subject:`"""
    value = evaluate(b, node.subject)
    ends: list[Block] = []
    for case in node.cases:
        if not b.live:
            b.revive()
        captures = Captures()
        _pattern(b, case.pattern, captures)
        always = case.guard is None and _is_irrefutable(case.pattern)
        matched = b.enter() if always else b.new_block()
        otherwise = None if always else b.new_block()
        if otherwise is not None and captures.tests:
            b.branch(b.matches(case.pattern, value, captures.tests), matched, otherwise)
            b.begin(matched)
        elif otherwise is not None:
            b.edge(b.block, matched)
            if not _is_irrefutable(case.pattern):
                b.edge(b.block, otherwise)
            b.begin(matched)
        for captured, name, path in captures.found:
            b.bind(captured, name, b.capture(captured, value, path))
        if case.guard is not None and otherwise is not None:
            body = b.new_block()
            condition(b, case.guard, body, otherwise)
            b.begin(body)
        suite(b, case.body)
        if b.live:
            ends.append(b.block)
        if otherwise is not None:
            b.begin(otherwise)
        else:
            b.live = False
    if b.live:
        ends.append(b.block)
    b.join(ends)


def _is_irrefutable(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and (pattern.pattern is None or _is_irrefutable(pattern.pattern))


def _pattern(b: BodyBuilder, pattern: ast.pattern, captures: Captures) -> None:
    handler = _PATTERNS.get(type(pattern))
    if handler is not None:
        handler(b, pattern, captures)


def _value(b: BodyBuilder, pattern: ast.MatchValue, captures: Captures) -> None:
    captures.ask("equal", evaluate(b, pattern.value))


def _singleton(b: BodyBuilder, pattern: ast.MatchSingleton, captures: Captures) -> None:
    captures.ask("equal", b.add(Constant(pattern, b.register(), pattern.value)))


def _as(b: BodyBuilder, pattern: ast.MatchAs, captures: Captures) -> None:
    if pattern.pattern is not None:
        _pattern(b, pattern.pattern, captures)
    captures.note(pattern, pattern.name)


def _star(b: BodyBuilder, pattern: ast.MatchStar, captures: Captures) -> None:
    captures.note(pattern, pattern.name)


def _sequence(b: BodyBuilder, pattern: ast.MatchSequence, captures: Captures) -> None:
    count = len(pattern.patterns)
    star = next((at for at, one in enumerate(pattern.patterns) if isinstance(one, ast.MatchStar)), None)
    captures.ask("sized", count - (star is not None), star is not None)
    for at, one in enumerate(pattern.patterns):
        index = at if star is None or at < star else at - count
        step = ("rest", at, count - 1 - at) if at == star else ("item", index)
        with captures.inside(*step):
            _pattern(b, one, captures)


def _mapping(b: BodyBuilder, pattern: ast.MatchMapping, captures: Captures) -> None:
    captures.ask("mapping")
    names: list[int] = []
    for key, element in zip(pattern.keys, pattern.patterns, strict=True):
        name = evaluate(b, key)
        names.append(name)
        captures.ask("key", name)
        with captures.inside("key", name):
            _pattern(b, element, captures)
    captures.note(pattern, pattern.rest, "others", *names)


def _class(b: BodyBuilder, pattern: ast.MatchClass, captures: Captures) -> None:
    captures.ask("class", evaluate(b, pattern.cls))
    for at, element in enumerate(pattern.patterns):
        with captures.inside("position", at):
            _pattern(b, element, captures)
    for keyword, element in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        b.words.add(keyword)
        with captures.inside("attribute", keyword):
            _pattern(b, element, captures)


def _or(b: BodyBuilder, pattern: ast.MatchOr, captures: Captures) -> None:
    """`a | b`: every pattern binds the same names."""
    bound = {name for _, name, _ in captures.found}
    several = []
    for one in pattern.patterns:
        inner = Captures(captures.path)
        _pattern(b, one, inner)
        captures.found += [capture for capture in inner.found if capture[1] not in bound]
        bound.update(name for _, name, _ in inner.found)
        several.append(tuple(inner.tests))
    if all(several):
        captures.ask("any", *several)


_PATTERNS: dict[type[ast.pattern], Callable[[BodyBuilder, Any, Captures], None]] = {
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchAs: _as,
    ast.MatchStar: _star,
    ast.MatchSequence: _sequence,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _class,
    ast.MatchOr: _or,
}
