"""Questions that are answered once for a file, and remembered with it.

The answers may rest on what is written alone (definitions, imports, the project), never on the moment that is asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

from torchdevlint.program import ir
from torchdevlint.source.grounds import kept_in


class _Remembers(Protocol):
    """The facts of a file, or those at one of its operations."""

    @property
    def remembered(self) -> dict[Any, Any]: ...


_About = TypeVar("_About", bound=_Remembers)
_Answer = TypeVar("_Answer")


def once_per_body(question: Callable[[ir.Body, _About], _Answer]) -> Callable[[ir.Body, _About], _Answer]:
    """A question to a body."""

    @wraps(question)
    def asked(body: ir.Body, facts: _About) -> _Answer:
        return kept_in(facts.remembered, (question, id(body)), lambda: question(body, facts))

    return asked


def once_per_file(question: Callable[[_About], _Answer]) -> Callable[[_About], _Answer]:
    """A question to a file."""

    @wraps(question)
    def asked(facts: _About) -> _Answer:
        return kept_in(facts.remembered, question, lambda: question(facts))

    return asked
