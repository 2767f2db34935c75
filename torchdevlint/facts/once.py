"""Questions that are answered once for a file, and remembered with it.

The answers may rest on what is written alone (definitions, imports, the project), never on the moment that is asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from torchdevlint.program import ir
from torchdevlint.source.grounds import kept_in


class _Remembers(Protocol):
    """The facts of a file, or those at one of its operations."""

    @property
    def remembered(self) -> dict[Any, Any]: ...


_About = TypeVar("_About", bound=_Remembers)
_Answer = TypeVar("_Answer")
_Rest = ParamSpec("_Rest")


def once_per_body(
    question: Callable[Concatenate[ir.Body, _About, _Rest], _Answer],
) -> Callable[Concatenate[ir.Body, _About, _Rest], _Answer]:
    """A question to a body, for each of what else it is about."""

    @wraps(question)
    def asked(body: ir.Body, facts: _About, /, *rest: _Rest.args, **named: _Rest.kwargs) -> _Answer:
        key = (question, id(body), *rest, *named.values())
        return kept_in(facts.remembered, key, lambda: question(body, facts, *rest, **named))

    return asked


def once_per_file(question: Callable[[_About], _Answer]) -> Callable[[_About], _Answer]:
    """A question to a file."""

    @wraps(question)
    def asked(facts: _About) -> _Answer:
        return kept_in(facts.remembered, question, lambda: question(facts))

    return asked
