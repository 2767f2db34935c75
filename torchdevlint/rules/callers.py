"""Who calls a function: in its file, and in the other files of its project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from torchdevlint.flow.analysis import Analysis
from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.project import Member, Project
from torchdevlint.rules.neighbours import facts_of
from torchdevlint.rules.structure import called_as, operations

_MOST_FILES = 40


class Site(NamedTuple):
    """A call, with the body that it stands in and the facts of its file."""

    call: ir.Call
    body: ir.Body
    facts: Facts


def calls_of(body: ir.Body, facts: Facts) -> Iterator[Site]:
    """The calls of a function from other bodies, by its name, or by that of the class that it constructs; without a project those of its file.

    None at all where too many files call something of that name: most of them mean another one.
    """
    if body.kind != "function":
        return
    name = called_as(body)
    member = facts.analysis.member
    files = [] if member is None else [Member(member.project, path) for path in files_calling(member.project, name)]
    if len(files) > _MOST_FILES:
        return
    for there in (facts, *(facts_of(file) for file in files if file != member)):
        if there is not None:
            yield from (site for site in _calls(name, there) if site.body is not body)


def argument_given(site: Site, body: ir.Body, parameter: str) -> ir.Register | None:
    """What a call gives for a parameter of the body; None where it gives nothing by name or by position."""
    names = [known.name for known in body.parameters]
    takes_self = body.owner is not None and "staticmethod" not in body.decorators
    return site.call.argument(parameter, names.index(parameter) - takes_self)


@lru_cache(maxsize=1024)
def files_calling(project: Project, name: str) -> tuple[str, ...]:
    """The files of a project that call something of this name."""
    call = re.compile(rf"(?<!def )(?<!class )\b{re.escape(name)}\s*\(".encode())
    return tuple(project.holding((name.encode(),), call))


def _calls(name: str, facts: Facts) -> Iterator[Site]:
    return (Site(call, body, facts) for call, body in _calls_by_name(facts.analysis).get(name, ()))


@lru_cache(maxsize=512)
def _calls_by_name(analysis: Analysis) -> dict[str, list[tuple[ir.Call, ir.Body]]]:
    """The calls of a file by the last name of what is called, but for those of torch: `torch.save` is no call of a project's own `save`."""
    calls: dict[str, list[tuple[ir.Call, ir.Body]]] = {}
    for body in analysis.program.bodies:
        index = analysis.index_of(body)
        for op in operations(body):
            written = index.definitions[op.function] if isinstance(op, ir.Call) else None
            if (
                isinstance(op, ir.Call)
                and isinstance(written, (ir.Load, ir.Attribute))
                and not analysis.resolve_text(index.dotted(op.function)).startswith("torch.")
            ):
                calls.setdefault(written.name, []).append((op, body))
    return calls
