"""Who calls a function: in its file, and in the other files of its project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.project import Member, Project
from torchdevlint.rules.neighbours import facts_of
from torchdevlint.rules.paths import last_name
from torchdevlint.rules.structure import called_as, operations


class Site(NamedTuple):
    """A call, with the body that it stands in and the facts of its file."""

    call: ir.Call
    body: ir.Body
    facts: Facts


def calls_of(body: ir.Body, facts: Facts) -> Iterator[Site]:
    """The calls of a function from other bodies, by its name, or by that of the class that it constructs; without a project those of its file."""
    if body.kind != "function":
        return
    name = called_as(body)
    member = facts.analysis.member
    files = [] if member is None else [Member(member.project, path) for path in files_calling(member.project, name)]
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
    for body in facts.program.bodies:
        for op in operations(body):
            if isinstance(op, ir.Call) and last_name(op, body, facts) == name and not _is_of_torch(op, body, facts):
                yield Site(op, body, facts)


def _is_of_torch(call: ir.Call, body: ir.Body, facts: Facts) -> bool:
    """True for `torch.save`, which is no call of a project's own `save`."""
    dotted = facts.analysis.index_of(body).dotted(call.function)
    return facts.analysis.resolve_text(dotted).startswith("torch.")
