"""Code that nobody in a project reaches: what no file names, what another function takes the place of, and files that cannot be imported."""

from __future__ import annotations

import builtins
from pathlib import PurePath

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.files import facts_of, required_statements
from torchdevlint.facts.said import has_programs
from torchdevlint.facts.scopes import binds, scopes_of
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import is_unconditional
from torchdevlint.program.project import Member
from torchdevlint.source.grounds import remembered

_MAKES_NAMES = ("__getattr__", "globals", "vars", "locals", "exec", "setattr", "modules")


def is_unreachable(body: ir.Body, analysis: FileFacts) -> bool:
    """True for a function that another one takes the place of, and for all of a file that imports what the project lacks."""
    member = analysis.member
    if member is None:
        return False
    return _cannot_be_imported(analysis, member) or (body.kind != "module" and _is_shadowed(body, analysis))


@remembered(2)
def _cannot_be_imported(analysis: FileFacts, member: Member) -> bool:
    """True for a file that needs a module of a package of the project which is not there, or a name that no module of the project knows."""
    return any(
        member.project.lacks(op.qualified if op.name == "*" else op.qualified.rpartition(".")[0], member.path)
        or (op.name != "*" and _lacks_name(op.qualified, member))
        for op in required_statements(analysis)
        if "." in op.qualified
    )


def _lacks_name(qualified: str, member: Member) -> bool:
    """True for `from utils import load` where `utils` is a file of the project in which no such identifier stands, and that makes none otherwise."""
    module, _, name = qualified.rpartition(".")
    found = member.project.resolve(module, member.path)
    if not found or PurePath(found[-1]).stem != module.rpartition(".")[2]:
        return False
    home = PurePath(found[0]).parents[found[0].endswith("__init__.py")]
    if not module.startswith(".") and not member.project.is_path_entry(str(home), member.path):
        return False
    there = (
        facts_of(Member(member.project, found[-1])) if found == member.project.resolve(qualified, member.path) else None
    )
    return there is not None and not there.mentions(name, *_MAKES_NAMES) and not _star_imports(there)


def _star_imports(analysis: FileFacts) -> list[ir.Import]:
    return [op for op in Lookup.of(analysis.program.module).kind(ir.Import) if op.name == "*"]


def is_named_nowhere(body: ir.Body, analysis: FileFacts) -> bool:
    """True in a function, or a class without bases, whose name stands nowhere in its project but where it is defined: in no file, notebook, setting,
    script or documentation. So are methods of such classes that nobody names.

    What a package defines others may call, but for its tests of itself, and what a decorator takes may be called by it. A class with bases may be
    found by them, or by a name that is put together.
    """
    member = analysis.member
    if member is None or not member.project.tells_by_silence or not has_programs(analysis):
        return False
    inside = [one for one in scopes_of(body) if one.kind != "module"] or [body]
    outer = inside[-1]
    if outer.decorators or (outer.owner is not None and any(base != "object" for base in outer.owner.bases)):
        return False
    several = inside[-2:] if outer.kind == "class" else [outer]
    return any(_is_unnamed(one, analysis, member) for one in several)


def _is_unnamed(body: ir.Body, analysis: FileFacts, member: Member) -> bool:
    return (
        body.kind in ("function", "class")
        and body.parent is not None
        and not body.decorators
        and (not analysis.roles.is_library or body.name.startswith("_") or _is_self_test(body))
        and not body.name.startswith("__")
        and not member.project.is_mentioned(body.name, besides="")
    )


def _is_self_test(function: ir.Body) -> bool:
    """True for `def test_logits():`, which needs nothing from who calls it."""
    return function.name.startswith("test_") and all(given.default is not None for given in function.parameters)


def reads_unbound_name(register: ir.Register | None, body: ir.Body, analysis: FileFacts) -> bool:
    """True for `Net(args).cuda()` where nothing binds `Net`: no name of the file, none of Python's own, none of the files that it imports everything from.

    It raises a NameError before anything else. Nothing is concluded where one of these files is not at hand.
    """
    index, member = analysis.index_of(body), analysis.member
    written = None if register is None else index.definitions[register]
    while isinstance(written, (ir.Call, ir.Attribute)):
        written = index.definitions[written.function if isinstance(written, ir.Call) else written.object]
    if member is None or not isinstance(written, ir.Load) or analysis.mentions("globals", "exec"):
        return False
    name = written.name
    if hasattr(builtins, name) or name.startswith("__") or "@" in name or name in analysis.aliases:
        return False
    is_global = any(name in inner.global_names for inner in analysis.program.bodies)
    return (
        not is_global
        and not any(binds(one, name) for one in scopes_of(body))
        and _is_in_no_star_import(name, analysis, member, frozenset())
    )


def _is_in_no_star_import(name: str, analysis: FileFacts, member: Member, seen: frozenset[str]) -> bool:
    """True where a file imports everything from files of the project alone, at least one, and none of these binds the name."""
    stars = _star_imports(analysis)
    for star in stars:
        found = member.project.resolve(star.qualified, member.path)
        stem = PurePath(found[-1]).parent.name if found and found[-1].endswith("__init__.py") else ""
        if not found or (stem or PurePath(found[-1]).stem) != star.qualified.rpartition(".")[2]:
            return False
        place = Member(member.project, found[-1])
        there = facts_of(place)
        if there is None or there.mentions(*_MAKES_NAMES) or binds(there.program.module, name):
            return False
        if _star_imports(there) and (
            place.path in seen or not _is_in_no_star_import(name, there, place, seen | {place.path})
        ):
            return False
    return bool(stars)


def _is_shadowed(function: ir.Body, analysis: FileFacts) -> bool:
    """True for a function that another one of its name takes the place of in any case, before anything there reads it."""
    parent = function.parent
    if parent is None or function.decorators:
        return False
    definitions = analysis.index_of(parent).definitions
    waits = False
    for block in parent.blocks:
        for op in block.ops:
            if isinstance(op, ir.Store) and op.name == function.name:
                made = definitions[op.value]
                if waits:
                    is_function = isinstance(made, ir.MakeFunction) and not made.function.decorators
                    return is_function and is_unconditional(block, parent)
                waits = isinstance(made, ir.MakeFunction) and made.function is function
            elif isinstance(op, ir.Load) and op.name == function.name and waits:
                return False
    return False
