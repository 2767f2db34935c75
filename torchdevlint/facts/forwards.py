"""What the classes of a project do with the inputs of their `forward`, where the model of a call is made by one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.calls import argument_given, calls_of
from torchdevlint.facts.files import facts_of
from torchdevlint.facts.proof import is_something_else
from torchdevlint.facts.scopes import parameter_of
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Member
from torchdevlint.stubs.knowledge import methods

# Methods of a module that return the module, and functions that return one which gives its inputs to that which they are given.
_GIVE_THEMSELVES = methods.MOVES | methods.CASTS | {"train", "eval", "requires_grad_"}
_WRAPPERS = frozenset({"torch.compile", "torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel"})


class _Place(NamedTuple):
    """A body and the facts of its file."""

    body: ir.Body
    analysis: FileFacts


def may_be_given_on_host(call: ir.Call, register: ir.Register | None, body: ir.Body, analysis: FileFacts) -> bool:
    """True for an input of a model whose classes are known, when `forward` of each of them moves that input itself, wants no tensor, or never reads it."""
    given = next((at for at, argument in enumerate(call.arguments) if argument.value == register), None)
    if given is None:
        return False
    called = analysis.index_of(body).definitions[call.function]
    model = called.object if isinstance(called, ir.Attribute) and called.name == "forward" else call.function
    argument = call.arguments[given]
    names: set[str] = set()
    for name in _classes(model, _Place(body, analysis), set()):
        if name not in names:
            names.add(name)
            forwards = list(_forwards(name, analysis)) if name else []
            if not forwards or not all(_takes_from_anywhere(argument, given, *forward) for forward in forwards):
                return False
    return bool(names)


def _takes_from_anywhere(argument: ir.Argument, at: int, forward: ir.Body, analysis: FileFacts) -> bool:
    names = [parameter.name for parameter in forward.parameters[1:]]
    name = argument.keyword or (names[at] if at < len(names) else "")
    return name in names and (
        analysis.index_of(forward).takes_from_anywhere(name)
        or is_something_else(name, forward, analysis)
        or _is_moved_by_methods(name, forward, analysis)
    )


def _is_moved_by_methods(name: str, forward: ir.Body, analysis: FileFacts) -> bool:
    """True for an argument that goes into methods of the class alone, each of which moves it, or what it makes of it."""
    index = analysis.index_of(forward)
    read = [load.dst for load in Lookup.of(forward).loads(name)]
    given: set[ir.Register] = set()
    for op in Lookup.of(forward).kind(ir.Call):
        method = index.definitions[op.function]
        if not isinstance(method, ir.Attribute) or forward.owner is None:
            continue
        body = forward.owner.methods.get(method.name)
        if body is None or index.dotted(method.object) != index.self_name:
            continue
        names = [parameter.name for parameter in body.parameters[1:]]
        for at, argument in enumerate(op.arguments):
            taken = argument.keyword or (names[at] if at < len(names) else "")
            if argument.value in read and not argument.star and _moves(taken, body, analysis):
                given.add(argument.value)
                stored = Lookup.of(forward).store_of(op.dst)
                if argument.value == read[0] and isinstance(stored, ir.Store) and stored.name == name:
                    return True
    return bool(given) and given == set(read)


def _moves(name: str, body: ir.Body, analysis: FileFacts) -> bool:
    """True for `name.to(...)`, and for `f(name).to(...)`."""
    index = analysis.index_of(body)
    for op in (op for move in methods.MOVES for op in Lookup.of(body).attributes(move)):
        made = index.definitions[op.object]
        sources = [argument.value for argument in made.arguments] if isinstance(made, ir.Call) else [op.object]
        if any(index.dotted(source) == name for source in sources):
            return True
    return False


def _classes(register: ir.Register, place: _Place, seen: set[tuple[ir.Body, str]]) -> Iterator[str]:
    """The last names of what makes a model: "A" and "B" for `net = A()` on one path and `net = B.from_pretrained(p)` on another; "" for what is not known."""
    written = place.analysis.index_of(place.body).definitions[register]
    if isinstance(written, ir.Call):
        inner = _wrapped(written, place)
        if inner is None:
            yield _constructed(written, place)
        else:
            yield from _classes(inner, place, seen)
    elif isinstance(written, ir.Choice):
        for value in written.values:
            yield from _classes(value, place, seen)
    elif isinstance(written, ir.Load):
        yield from _bound(written.name, place, seen)
    else:
        yield ""


def _bound(name: str, place: _Place, seen: set[tuple[ir.Body, str]]) -> Iterator[str]:
    """What makes all that is stored under a name, but for what is made of it (`net = wrap(net)`), and all that the callers give for a parameter."""
    body, analysis = place
    if (body, name) in seen:
        return
    seen.add((body, name))
    bound = analysis.index_of(body).bound_to(name)
    for value in bound:
        if not _is_made_of(name, value, place):
            yield from _classes(value, place, seen)
    if parameter_of(body, name) is not None:
        for site in calls_of(body, analysis):
            given = None if site.call.has_splat else argument_given(site, body, name)
            if given is None:
                yield ""
            else:
                yield from _classes(given, _Place(site.body, site.analysis), seen)
    elif not bound:
        yield ""


def _is_made_of(name: str, register: ir.Register, place: _Place) -> bool:
    index = place.analysis.index_of(place.body)
    made = index.definitions[register]
    return isinstance(made, ir.Call) and any(index.dotted(argument.value) == name for argument in made.arguments)


def _wrapped(call: ir.Call, place: _Place) -> ir.Register | None:
    """The model in `model.to(device)` and `torch.compile(model)`."""
    analysis = place.analysis
    index = analysis.index_of(place.body)
    method = index.definitions[call.function]
    if analysis.spelled(call.function, place.body) in _WRAPPERS:
        return call.positional(0)
    known = isinstance(method, ir.Attribute) and method.name in _GIVE_THEMSELVES
    return method.object if known and isinstance(method, ir.Attribute) else None


def _constructed(call: ir.Call, place: _Place) -> str:
    """The last name of the class in `models.Net(...)` and `Net.from_pretrained(...)`."""
    name = Lookup.of(place.body).called(call)
    if not name.startswith(("from_", "load_from_")):
        return name
    dotted = place.analysis.index_of(place.body).dotted(call.function)
    return dotted.rpartition(".")[0].rpartition(".")[2]


def _forwards(name: str, analysis: FileFacts) -> Iterator[tuple[ir.Body, FileFacts]]:
    """The `forward` of each class of this name, in this file and the others of its project."""
    for one in (analysis, *_others(name, analysis.member)):
        for body in one.program.bodies:
            if body.name == "forward" and body.owner is not None and body.owner.name == name:
                yield body, one


def _others(name: str, member: Member | None) -> Iterator[FileFacts]:
    """The other files of a project that define a class of this name."""
    if member is None:
        return
    for path in member.project.holding((name.encode(),), re.compile(rf"\bclass\s+{re.escape(name)}\b".encode())):
        there = facts_of(Member(member.project, path)) if path != member.path else None
        if there is not None:
            yield there
