"""Bodies and their names: which stand around one another, and what a parameter is."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup


def scopes_of(body: ir.Body | None) -> Iterator[ir.Body]:
    """A body and those that it stands in, the module last."""
    while body is not None:
        yield body
        body = body.parent


def nested(body: ir.Body) -> Iterator[ir.Body]:
    """A body and the functions that are made in it."""
    yield body
    for inner in body.functions:
        yield from nested(inner)


def owner_of(body: ir.Body | None) -> ir.Class | None:
    """The class whose method, or own body, a body is, or stands in."""
    return next((one.owner for one in scopes_of(body) if one.owner is not None), None)


def parameter_of(body: ir.Body, name: str) -> ir.Parameter | None:
    """The parameter of this name."""
    return next((parameter for parameter in body.parameters if parameter.name == name), None)


def binds(body: ir.Body, name: str) -> bool:
    """True for a body that gives a name a value of its own, or is given one."""
    return name in body.local_names or parameter_of(body, name) is not None


def default_of(body: ir.Body, parameter: ir.Parameter) -> ir.Op | None:
    """The expression of a parameter's default value."""
    return None if body.parent is None else Lookup.of(body.parent).definition(parameter.default)
