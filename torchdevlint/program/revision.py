"""The next version of a text, as a change of the Program of the one before.

Most keys change one function. The bodies that stay the same keep their identity, and with it all that is known of them; one that changes
takes over the new operations. Nothing is changed where the outline is another one: other functions or classes, other parameters, another
module or class body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any

from torchdevlint.program import ir

_BODY = attrgetter(
    "kind",
    "name",
    "qualname",
    "parameters",
    "returns",
    "decorators",
    "decorator_registers",
    "is_async",
    "is_generator",
    "global_names",
    "nonlocal_names",
)
_INNER = attrgetter("register_count", "local_names")
_CLASS = attrgetter("name", "qualname", "bases", "base_registers")
_BLOCK = attrgetter("index", "successors", "test", "loops", "withs", "tries")


def _getter(kind: type[ir.Op]) -> Callable[[Any], Any]:
    names = [field.name for field in fields(kind) if field.name not in ("node", "function", "cls")]
    if kind is ir.Constant:
        return lambda op: (op.dst, _exact(op.value))
    if kind is ir.Call:
        names.append("function")  # a register; of `MakeFunction`, the body
    return attrgetter(*names) if names else lambda op: None


def _exact(value: Any) -> tuple[type[Any], object]:
    """What tells `1` from `True` and from `1.0`, and `0.0` from `-0.0`."""
    return type(value), repr(value) if isinstance(value, (float, complex)) else value


_GETTERS: dict[type[ir.Op], Callable[[Any], Any]] = {}


def _alike(old: ir.Op, new: ir.Op, number_of: dict[int, int]) -> bool:
    kind = type(old)
    if kind is not type(new):
        return False
    getter = _GETTERS.get(kind)
    if getter is None:
        getter = _GETTERS[kind] = _getter(kind)
    if getter(old) != getter(new):
        return False
    if isinstance(old, ir.MakeFunction) and isinstance(new, ir.MakeFunction):
        return number_of[id(old.function)] == number_of[id(new.function)]
    if isinstance(old, ir.MakeClass) and isinstance(new, ir.MakeClass):
        return number_of[id(old.cls)] == number_of[id(new.cls)]
    return True


def _have_same_operations(old: ir.Body, new: ir.Body, number_of: dict[int, int]) -> bool:
    if _INNER(old) != _INNER(new) or len(old.blocks) != len(new.blocks):
        return False
    for block, other in zip(old.blocks, new.blocks, strict=True):
        if len(block.ops) != len(other.ops) or _BLOCK(block) != _BLOCK(other):
            return False
        if not all(_alike(op, other_op, number_of) for op, other_op in zip(block.ops, other.ops, strict=True)):
            return False
    return True


def changed_bodies(old: ir.Program, new: ir.Program) -> list[int] | None:
    """The numbers of the functions whose operations differ; None where the outlines do."""
    if len(old.bodies) != len(new.bodies) or len(old.classes) != len(new.classes):
        return None
    number_of: dict[int, int] = {id(None): -1}
    for program in (old, new):
        number_of.update((id(body), number) for number, body in enumerate(program.bodies))
        number_of.update((id(cls), number) for number, cls in enumerate(program.classes))

    def numbers(*items: Any) -> list[int]:
        return [number_of[id(item)] for item in items]

    for cls, other in zip(old.classes, new.classes, strict=True):
        methods = list(cls.methods), numbers(cls.body, cls.parent, *cls.methods.values())
        if _CLASS(cls) != _CLASS(other) or methods != (
            list(other.methods),
            numbers(other.body, other.parent, *other.methods.values()),
        ):
            return None
    found = []
    for number, (body, new_body) in enumerate(zip(old.bodies, new.bodies, strict=True)):
        if _BODY(body) != _BODY(new_body):
            return None
        if numbers(body.parent, body.owner, *body.functions, *body.classes) != numbers(
            new_body.parent, new_body.owner, *new_body.functions, *new_body.classes
        ):
            return None
        if not _have_same_operations(body, new_body, number_of):
            if body.kind in ("module", "class"):
                return None
            found.append(number)
    return found


def revise(old: ir.Program, new: ir.Program, changed: list[int]) -> None:
    """Makes `old` the Program that `new` is, which must not be used any more."""
    bodies = {id(body): old.bodies[number] for number, body in enumerate(new.bodies)}
    classes = {id(cls): old.classes[number] for number, cls in enumerate(new.classes)}
    for number in changed:
        body, other = old.bodies[number], new.bodies[number]
        body.blocks, body.register_count, body.local_names = other.blocks, other.register_count, other.local_names
        body.cfg = body.lookup = body.index = None
        for block in body.blocks:
            for op in block.ops:
                if isinstance(op, ir.MakeFunction):
                    op.function = bodies[id(op.function)]
                elif isinstance(op, ir.MakeClass):
                    op.cls = classes[id(op.cls)]
    old.words, old.imported, old.rows = new.words, new.imported, new.rows
    old.revision += 1
