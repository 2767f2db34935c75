"""How a load is run, by its callers: the path, who has written the file, and from where. What inference knows of loads, for rules."""

from __future__ import annotations

import re

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.files import facts_of
from torchdevlint.infer import holding, paths
from torchdevlint.infer.holding import Loads, may_be
from torchdevlint.infer.origins import is_temporary
from torchdevlint.infer.stored import Read
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Member, Project
from torchdevlint.source.grounds import kept_in, remembered


def _loads(facts: Facts) -> Loads:
    return kept_in(facts.analysis.remembered, _loads, lambda: Loads(facts.analysis.inference))


def loads(call: ir.Call, facts: Facts) -> list[Read]:
    """A load as its callers run it."""
    return _loads(facts).of(call)


def is_just_written(call: ir.Call, facts: Facts, *, on_host: bool) -> bool:
    """True where this very function has written the file before; `on_host`: and from the CPU."""
    alone = _loads(facts).alone(call)
    return bool(alone) and all(one.is_written and one.is_here and (one.on_host or not on_host) for one in alone)


def is_saved_on_host(call: ir.Call, keys: frozenset[str], facts: Facts) -> bool:
    """True when all that the project saves in the file of a load, from which `keys` are read, is on the CPU, or no tensor."""
    loaded = _loads(facts)
    writes = holding.holding(loaded.analysis, loaded.of(call), keys)
    return writes is not None and all(map(holding.is_on_host, writes))


def path_words(call: ir.Call, facts: Facts) -> set[str]:
    """The names and literals that a path is made of, and those of the variables that hold it where it is loaded."""
    reads, body = [*loads(call, facts), *_loads(facts).alone(call)], facts.analysis.body_of(call)
    found = {word for read in reads for path in may_be(read) for word in paths.words(path)}
    return found | (paths.words_at(call.argument("f", 0), body) if body is not None else set())


def paths_written(call: ir.Call, facts: Facts) -> set[str]:
    """The paths of a load, with `{}` for what is no literal."""
    return {paths.written(path) for read in loads(call, facts) for path in may_be(read)}


def is_of_temporary(call: ir.Call, facts: Facts) -> bool:
    """True for a file in a temporary folder that the caller, or pytest, has made for it."""
    reads = loads(call, facts)
    return bool(reads) and all(is_temporary(read.path) for read in reads)


def is_given_no_file(op: ir.Op, facts: Facts) -> bool:
    """True for a load whose path is an argument that no call in this file gives, or gives with an ending for which another branch is there."""
    if not isinstance(op, ir.Call):
        return False
    loaded = _loads(facts)
    found = loaded.of(op)
    return not loaded.analysis.bounds and (not any(map(may_be, found)) if found else loaded.is_called(op))


def settings_of(register: ir.Register | None, facts: Facts) -> list[object]:
    """What the project binds to a setting, which an attribute or a literal key names: the defaults of fields and all that is stored or given under its name.

    Nothing for any other expression. What is no literal is None.
    """
    index, member = facts.index, facts.analysis.member
    written = None if register is None else index.definitions[register]
    key = index.definitions[written.index] if isinstance(written, ir.Subscript) else None
    name = written.name if isinstance(written, ir.Attribute) else getattr(key, "value", None)
    return (
        []
        if member is None or not isinstance(name, str) or not name.isidentifier()
        else list(_bound(name, member.project))
    )


@remembered(256)
def _bound(name: str, project: Project) -> tuple[object, ...]:
    found: list[object] = []
    for path in project.holding((name.encode(),), re.compile(rf"\b{name}\b[\"']?\s*[:=]".encode())):
        facts = facts_of(Member(project, path))
        for body in facts.program.bodies if facts is not None else ():
            definitions = facts.index_of(body).definitions if facts is not None else []
            for op in Lookup.of(body).kinds(ir.StoreAttribute, ir.Store, ir.Call, ir.StoreSubscript):
                given: list[ir.Register] = []
                if isinstance(op, ir.StoreAttribute) or (isinstance(op, ir.Store) and body.kind == "class"):
                    given = [op.value] if op.name == name else []
                elif isinstance(op, ir.Call):
                    given = [argument.value for argument in op.arguments if argument.keyword == name]
                elif isinstance(op, ir.StoreSubscript):
                    key = definitions[op.index]
                    given = [op.value] if isinstance(key, ir.Constant) and key.value == name else []
                found += [getattr(definitions[value], "value", None) for value in given]
    return tuple(found)
