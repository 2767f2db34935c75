"""What the classes of a project do with the inputs of their `forward`, where the model of a call is made by one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.project import Member, Project
from torchdevlint.rules.neighbours import facts_of
from torchdevlint.rules.paths import last_name
from torchdevlint.rules.structure import operations


def may_be_given_on_host(call: ir.Call, register: ir.Register | None, facts: Facts) -> bool:
    """True for an input of a model that this function makes, when `forward` of each class that it may be of moves that input itself, or never reads it."""
    member = facts.analysis.member
    given = next((at for at, argument in enumerate(call.arguments) if argument.value == register), None)
    names = _classes(call, facts)
    if member is None or given is None or not names:
        return False
    argument = call.arguments[given]
    for name in names:
        forwards = list(_forwards(name, member.project))
        if not forwards or not all(_takes_from_anywhere(argument, given, *forward) for forward in forwards):
            return False
    return True


def _takes_from_anywhere(argument: ir.Argument, at: int, forward: ir.Body, facts: Facts) -> bool:
    names = [parameter.name for parameter in forward.parameters[1:]]
    name = argument.keyword or (names[at] if at < len(names) else "")
    return name in names and facts.analysis.index_of(forward).takes_from_anywhere(name)


def _classes(call: ir.Call, facts: Facts) -> set[str]:
    """The last names of what the called name is bound to: {"A", "B"} for `net = A()` on one path and `net = B()` on another."""
    called = facts.definition(call.function)
    if isinstance(called, ir.Attribute) and called.name == "forward":
        called = facts.definition(called.object)
    if not isinstance(called, ir.Load):
        return set()
    bound = [
        facts.definition(op.value)
        for op in operations(facts.body)
        if isinstance(op, ir.Store) and op.name == called.name
    ]
    made = {last_name(op, facts.body, facts) if isinstance(op, ir.Call) else "" for op in bound}
    return set() if "" in made else made


def _forwards(name: str, project: Project) -> Iterator[tuple[ir.Body, Facts]]:
    """The `forward` of each class of this name."""
    for path in project.holding((name.encode(),), re.compile(rf"\bclass\s+{re.escape(name)}\b".encode())):
        facts = facts_of(Member(project, path))
        for body in facts.program.bodies if facts is not None else ():
            if facts is not None and body.name == "forward" and body.owner is not None and body.owner.name == name:
                yield body, facts
