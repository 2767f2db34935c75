"""What an expression names by the imports of its file and the builtins alone, without a look at what runs."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from torchdevlint.facts.scopes import parameter_of, scopes_of
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts

_BUILTINS = frozenset(dir(builtins))
# What gives an object, and never a module, function or class that was imported.
_MAKES = (
    ir.Call,
    ir.Sequence,
    ir.Mapping,
    ir.Constant,
    ir.MakeFunction,
    ir.MakeClass,
    ir.Binary,
    ir.Compare,
    ir.Unary,
    ir.Iterate,
    ir.Unpack,
    ir.Comprehension,
    ir.FormattedString,
    ir.Enter,
    ir.Await,
    ir.AugmentedAssign,
)


def named(analysis: FileFacts, body: ir.Body, register: ir.Register) -> str | None:
    """The dotted name of an imported thing or a builtin ("torch.load"), "" for anything else; None where only a run of the body can tell."""
    known: dict[ir.Register, str | None] = analysis.remembered.setdefault((named, id(body)), {})
    if register not in known:
        known[register] = _named(analysis, body, register)
    return known[register]


def _named(analysis: FileFacts, body: ir.Body, register: ir.Register) -> str | None:
    definitions = analysis.index_of(body).definitions
    parts: list[str] = []
    op = definitions[register]
    while isinstance(op, ir.Attribute):
        parts.append(op.name)
        op = definitions[op.object]
    if not isinstance(op, ir.Load):
        return ""
    root = _root(analysis, body, op.name)
    if not root:
        return root
    return analysis.symbol(".".join([root, *reversed(parts)])).symbol


def _root(analysis: FileFacts, body: ir.Body, name: str) -> str | None:
    for scope in scopes_of(body):
        if parameter_of(scope, name) is not None:
            return "" if not analysis.index_of(scope).bound_to(name) else None
        if name in scope.local_names and (scope is body or scope.kind != "class"):
            return _bound(analysis, scope, name)
    if name in analysis.aliases:
        return analysis.aliases[name]
    if analysis.has_stars:
        return None
    return f"builtins.{name}" if name in _BUILTINS else ""


def _bound(analysis: FileFacts, scope: ir.Body, name: str) -> str | None:
    definitions = analysis.index_of(scope).definitions
    made = [definitions[store.value] for store in Lookup.of(scope).stores(name)]
    if made and all(isinstance(one, ir.Import) for one in made):
        return analysis.aliases.get(name)
    return "" if made and all(isinstance(one, _MAKES) for one in made) else None
