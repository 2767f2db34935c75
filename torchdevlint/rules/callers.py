"""Who calls a function: in its file, and in the other files of its project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.project import Member, Project
from torchdevlint.rules.neighbours import facts_of
from torchdevlint.rules.structure import called_as, operations
from torchdevlint.source.grounds import remembered

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


def calls_of_forward(body: ir.Body, facts: Facts) -> Iterator[Site]:
    """The calls of `forward` in the other files of the project: of a name or an attribute that is bound, there, to objects of its class alone."""
    member = facts.analysis.member
    if member is None or body.owner is None or body.name != "forward":
        return
    files = files_calling(member.project, body.owner.name)
    for there in (facts_of(Member(member.project, path)) for path in files if path != member.path):
        if there is None or len(files) > _MOST_FILES:
            continue
        for name in _names_of(body.owner.name, there):
            yield from _calls(name, there)


def _names_of(made: str, facts: Facts) -> Iterator[str]:
    """The names and attributes that a file binds to what a class of this name makes, and to nothing else."""
    bound: dict[str, bool] = {}
    for body in facts.program.bodies:
        definitions = facts.analysis.index_of(body).definitions
        for op in operations(body):
            if isinstance(op, (ir.Store, ir.StoreAttribute)):
                value = definitions[op.value]
                called = definitions[value.function] if isinstance(value, ir.Call) else None
                is_one = isinstance(called, (ir.Load, ir.Attribute)) and called.name == made
                bound[op.name] = is_one and bound.get(op.name, True)
    return (name for name, is_one in bound.items() if is_one)


def argument_given(site: Site, body: ir.Body, parameter: str) -> ir.Register | None:
    """What a call gives for a parameter of the body; None where it gives nothing by name or by position."""
    names = [known.name for known in body.parameters]
    return site.call.argument(parameter, names.index(parameter) - body.is_bound)


@remembered(1024)
def files_calling(project: Project, name: str) -> tuple[str, ...]:
    """The files of a project that call something of this name."""
    call = re.compile(rf"(?<!def )(?<!class )\b{re.escape(name)}\s*\(".encode())
    return tuple(project.holding((name.encode(),), call))


def _calls(name: str, facts: Facts) -> Iterator[Site]:
    return (Site(call, body, facts) for call, body in _calls_by_name(facts.analysis).get(name, ()))


@remembered(512)
def _calls_by_name(analysis: FileFacts) -> dict[str, list[tuple[ir.Call, ir.Body]]]:
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
