"""Loaders of batches, and where those come from: the host, unless the data set or the collate function put them elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchdevlint.facts.devices import from_string
from torchdevlint.facts.index import BodyIndex
from torchdevlint.facts.naming import follows_an_object, looks_like_device
from torchdevlint.facts.scopes import scopes_of
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts


def any_may_place(analysis: FileFacts) -> bool:
    """True for a file with a loader whose batches may be placed: what a function of it is given as a loader may be that one."""
    if analysis.program.words.isdisjoint(("DataLoader", "collate_fn")):
        return False
    return any(
        _makes_loader(call, index) and may_place(analysis, index, call)
        for index in map(analysis.index_of, analysis.program.bodies)
        for call in Lookup.of(index.body).kind(ir.Call)
    )


def _makes_loader(op: ir.Call, index: BodyIndex) -> bool:
    return op.keyword("collate_fn") is not None or index.dotted(op.function).rpartition(".")[2] == "DataLoader"


def may_place(analysis: FileFacts, index: BodyIndex, op: ir.Call) -> bool:
    """True for a loader whose data set or collate function was told a device, or whose collate function moves what it returns."""
    collate = op.argument("collate_fn", 6)
    made = [_written(index, register) for register in (op.argument("dataset", 0), collate) if register is not None]
    if any(isinstance(call, ir.Call) and _is_told_a_device(call, index) for call in made):
        return True
    return collate is not None and any(_places(body, analysis) for body in _run_by(collate, index, analysis))


def _written(index: BodyIndex, register: ir.Register) -> ir.Op | None:
    """What made a value, also behind the name that it was bound to."""
    op = index.definitions[register]
    return (index.bound_once(op.name) or op) if isinstance(op, ir.Load) else op


def _is_told_a_device(call: ir.Call, index: BodyIndex) -> bool:
    """True for `Data(path, device=device)` and `Collate(device)`."""
    return any(_names_accelerator(index, argument.value) for argument in call.arguments if not argument.star)


def _names_accelerator(index: BodyIndex, register: ir.Register) -> bool:
    """True for a device that the program names, which no other tensor gives."""
    written = index.definitions[register]
    if isinstance(written, ir.Constant):
        return isinstance(written.value, str) and from_string(written.value).is_accelerator
    name = index.dotted(register)
    return looks_like_device(name) and not follows_an_object(name)


def _run_by(collate: ir.Register, index: BodyIndex, analysis: FileFacts) -> Iterator[ir.Body]:
    """The functions of the file that run for each batch: the collate function, and those that it calls by name."""
    written = _written(index, collate)
    if isinstance(written, ir.MakeFunction):
        yield from called_by(written.function, analysis)
    elif isinstance(written, (ir.Load, ir.Attribute)):
        for body in analysis.program.bodies:
            if body.name == written.name and body.kind == "function":
                yield from called_by(body, analysis)
    elif isinstance(written, ir.Call):  # `partial(collate, vocabulary)`, `Collate(vocabulary)`
        made = {index.dotted(register) for register in (written.function, *(a.value for a in written.arguments))}
        for body in analysis.program.bodies:
            is_called = body.owner is not None and body.owner.name in made and body.name == "__call__"
            if body.kind == "function" and (is_called or body.name in made):
                yield from called_by(body, analysis)


def called_by(start: ir.Body, analysis: FileFacts) -> list[ir.Body]:
    """A function and those that it calls by a name of the functions around it."""
    found = [start]
    for body in found:
        called = {path for path, use in analysis.index_of(body).uses.items() if use.called}
        for scope in scopes_of(body.parent):
            found += [inner for inner in scope.functions if inner.name in called and inner not in found]
    return found


def _places(body: ir.Body, analysis: FileFacts) -> bool:
    """True for a function that puts something on a device that the program names."""
    index = analysis.index_of(body)
    for op in Lookup.of(body).kind(ir.Call):
        method, device = index.definitions[op.function], op.keyword("device")
        if isinstance(method, ir.Attribute) and method.name == "cuda":
            return True
        if isinstance(method, ir.Attribute) and method.name == "to" and device is None:
            device = op.positional(0)
        if device is not None and _names_accelerator(index, device):
            return True
    return any(_places(inner, analysis) for inner in body.functions)


def may_place_of_project(analysis: FileFacts, name: str) -> bool:
    """True for a loader of the project's own whose file speaks of devices: its batches may be on one."""
    member = analysis.member
    if member is None:
        return False
    files = member.project.resolve(name, member.path)
    return any(member.project.says(path, b"cuda", b"device") for path in files)
