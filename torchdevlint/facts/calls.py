"""Who calls a function: in its file, and in the other files of its project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.files import facts_of
from torchdevlint.facts.scopes import scopes_of
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Member, Project
from torchdevlint.program.roles import importers
from torchdevlint.source.grounds import remembered

_MOST_FILES = 40


class Site(NamedTuple):
    """A call, with the body that it stands in and the facts of its file."""

    call: ir.Call
    body: ir.Body
    analysis: FileFacts


def calls_of(body: ir.Body, analysis: FileFacts) -> Iterator[Site]:
    """The calls of a function from other bodies, by its name, or by that of the class that it constructs; of what nobody imports those of its file.

    None at all where too many files call something of that name: most of them mean another one.
    """
    if body.kind != "function":
        return
    name = called_as(body)
    member = analysis.member
    if member is None or not importers(member):
        yield from (site for site in calls_named(name, analysis) if site.body is not body)
        return
    files = [Member(member.project, path) for path in files_calling(member.project, name)]
    if len(files) > _MOST_FILES:
        return
    for there in (analysis, *(facts_of(file) for file in files if file != member)):
        if there is not None:
            yield from (site for site in calls_named(name, there) if site.body is not body)


def calls_of_forward(body: ir.Body, analysis: FileFacts) -> Iterator[Site]:
    """The calls of `forward` in the other files of the project: of a name or an attribute that is bound, there, to objects of its class alone."""
    member = analysis.member
    if member is None or body.owner is None or body.name != "forward":
        return
    files = files_calling(member.project, body.owner.name)
    for there in (facts_of(Member(member.project, path)) for path in files if path != member.path):
        if there is None or len(files) > _MOST_FILES:
            continue
        for name in _names_of(body.owner.name, there):
            yield from calls_named(name, there)


def _names_of(made: str, analysis: FileFacts) -> Iterator[str]:
    """The names and attributes that a file binds to what a class of this name makes, and to nothing else."""
    bound: dict[str, bool] = {}
    for body in analysis.program.bodies:
        definitions = analysis.index_of(body).definitions
        for op in Lookup.of(body).all:
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


def calls_named(name: str, analysis: FileFacts) -> Iterator[Site]:
    """The calls, in a file, of what has this last name."""
    return (Site(call, body, analysis) for call, body in _calls_by_name(analysis).get(name, ()))


@remembered(512)
def _calls_by_name(analysis: FileFacts) -> dict[str, list[tuple[ir.Call, ir.Body]]]:
    """The calls of a file by the last name of what is called, but for those of torch: `torch.save` is no call of a project's own `save`."""
    found: dict[str, list[tuple[ir.Call, ir.Body]]] = {}
    for body in analysis.program.bodies:
        for dotted, calls in analysis.calls_in(body).items():
            if not dotted.startswith("torch.") and (name := dotted.rpartition(".")[2]):
                found.setdefault(name, []).extend((call, body) for call in calls)
    return found


def called_as(body: ir.Body) -> str:
    """The name by which a function, or the class that it constructs, is called."""
    return body.owner.name if body.owner is not None and body.name == "__init__" else body.name


_MOST_HANDS = 3  # packages that hand a name on


def callees(
    call: ir.Call, body: ir.Body, analysis: FileFacts, words: tuple[bytes, ...] = (b"cuda",)
) -> Iterator[tuple[ir.Body, FileFacts]]:
    """The function, or the constructor of the class, that a call means by a plain or imported name, or the method by `self.name` and of
    an object that a name is bound to once; none where several have that name.

    Other files are looked into if they say one of the words.
    """
    index = analysis.index_of(body)
    dotted = index.dotted(call.function)
    owner, _, name = dotted.partition(".")
    if owner and owner == index.self_name and body.owner is not None:
        method = analysis.summary_of(body.owner).method(name)
        if method is not None:
            yield method, analysis
        return
    for scope in scopes_of(body):
        if scope.kind == "module":
            break
        inside = [one for one in scope.functions if one.name == dotted]
        if inside:
            yield from ((one, analysis) for one in inside if len(analysis.index_of(scope).bound_to(dotted)) == 1)
            return
    made = index.bound_once(owner) if name and "." not in name else None
    if isinstance(made, ir.Call) and made is not call:  # `runner = Runner(args)` and `runner.run()`
        for init, there in _meant(index.dotted(made.function), analysis, words, _MOST_HANDS):
            method = there.summary_of(init.owner).method(name) if init.owner is not None else None
            if init.name == "__init__" and method is not None:
                yield method, there
        return
    yield from _meant(dotted, analysis, words, _MOST_HANDS)


def _meant(
    dotted: str, analysis: FileFacts, words: tuple[bytes, ...], hands: int
) -> Iterator[tuple[ir.Body, FileFacts]]:
    root, _, rest = dotted.partition(".")
    if root not in analysis.aliases:
        own = [] if rest else _defined(root, analysis)
        yield from ((found, analysis) for found in own)
        if own or rest:
            return
    member = analysis.member
    if member is None or not root or not hands:
        return
    name = dotted.rpartition(".")[2]
    for imported in _imported(dotted, analysis):
        for path in member.project.resolve(imported, member.path):
            is_package = path.endswith("__init__.py")
            if path != member.path and (is_package or member.project.says(path, *words)):
                there = facts_of(Member(member.project, path))
                if there is not None:
                    yield from (
                        _meant(name, there, words, hands - 1)
                        if is_package
                        else ((found, there) for found in _defined(name, there))
                    )


def _imported(dotted: str, analysis: FileFacts) -> list[str]:
    """What a name may mean that the file takes from elsewhere: by its import, or by those that import everything."""
    if dotted.partition(".")[0] in analysis.aliases:
        return [analysis.resolve_text(dotted)]
    return [f"{op.qualified}.{dotted}" for op in Lookup.of(analysis.program.module).kind(ir.Import) if op.name == "*"]


def _defined(name: str, analysis: FileFacts) -> list[ir.Body]:
    """The function of this name at the top level of a file, or the constructor of the class; none where it is bound more than once."""
    module = analysis.program.module
    if len(analysis.index_of(module).bound_to(name)) != 1:
        return []
    found = [body for body in module.functions if body.name == name and body.owner is None]
    made = [
        cls.methods["__init__"] for cls in analysis.program.classes if cls.name == name and "__init__" in cls.methods
    ]
    return found or made
