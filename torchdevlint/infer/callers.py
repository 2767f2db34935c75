"""The files that call a file: who may break what its functions claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torchdevlint.infer.imports import Global
from torchdevlint.infer.registries import bound_at_top
from torchdevlint.infer.summary import Claim, Summary
from torchdevlint.infer.units import Unit
from torchdevlint.infer.values import HOST, Cls, Ext, Func, Ref, Tensor, Term, Value, alternatives, terms_in, waits
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis

MOST_CALLERS = 8  # files that are asked about what they give to the functions of one file
MOST_STAGES = 3  # callers of callers

_OF_MODULES = frozenset("parameters named_parameters buffers named_buffers state_dict".split())

Names = Callable[["Analysis", Unit], list[str]]


def of(analysis: Analysis, names_of: Names | None = None) -> list[Analysis]:
    """The analyses of the files, tests aside, that call functions of a file: those whose names are given, or of which a claim may be broken."""
    names_of = names_of or names_to_break
    files = analysis.kept.imports.files
    if files is None:
        return []
    names = names_of(analysis, analysis.unit)
    stage = [(analysis.unit.path, names)]
    passed_over = {analysis.unit.path}
    for registry in _registries(analysis, names):
        stage.append((registry.path, sorted(bound_at_top(registry.program))))
        passed_over |= {one.path for one in analysis.kept.imports.registering(registry)}
    found: dict[str, Analysis] = {}
    for _ in range(MOST_STAGES):
        following: list[tuple[str, list[str]]] = []
        for asked, names in stage:
            for path in files.importing(asked) if names else ():
                if path in found or path in passed_over or analysis.kept.imports.is_test(path):
                    continue
                if not files.says(path, b"import *", *(name.encode() for name in names)):
                    continue
                other = analysis.kept.imports.unit(path)
                if other is None:
                    continue
                handed_on = [name for name in names if _hands_on(other, name)]
                handed_on += [table for name in names for table in _tables(other, name)]
                if handed_on and (path, handed_on) not in stage and len(stage) <= MOST_CALLERS:
                    stage.append((path, handed_on))  # whoever imports them from there is met at the same stage
                if not files.says(path, *(name.encode() for name in names)):
                    continue
                if len(found) == MOST_CALLERS:
                    analysis.bounds["files of callers that are asked"] += 1
                    return list(found.values())
                found[path] = caller = analysis.kept.analysis(path)
                following.append((path, names_of(caller, analysis.unit)))
        stage = following
    return list(found.values())


def _hands_on(unit: Unit, name: str) -> bool:
    """True for a file that others may import a name from which it imports itself, as the `__init__.py` of a package does."""
    return isinstance(unit.statics.get(name), Ext) or bool(unit.stars)


def _registries(analysis: Analysis, names: list[str]) -> list[Unit]:
    """The files of the decorators under which functions and classes of a file are put into tables."""
    unit, imports = analysis.unit, analysis.kept.imports
    bodies = [body for body in unit.program.bodies if body.name in names]
    bodies += [cls.body for cls in unit.program.classes if cls.name in names]
    found: dict[Unit, None] = {}
    for decorator in {decorator for body in bodies for decorator in body.decorators}:
        root, *rest = decorator.split(".")
        static = unit.statics.get(root)
        for count in range(2):
            meant = imports.resolve(unit, ".".join((static.name, *rest[:count]))) if isinstance(static, Ext) else None
            body = meant.body if isinstance(meant, Func) else meant.cls.body if isinstance(meant, Cls) else None
            other = meant.unit if isinstance(meant, Global) else analysis.unit_of(body) if body is not None else None
            if other is not None and unit in imports.registering(other):
                found[other] = None
    return list(found)


def _tables(unit: Unit, name: str) -> list[str]:
    """The lists and dicts of a module in which a name is an item: whoever imports one may call it."""
    lookup = Lookup.of(unit.program.module)
    held = lookup.trail(*(load.dst for load in lookup.loads(name)))
    found: dict[str, None] = {}
    is_held = False
    for op in held:
        if isinstance(op, (ir.Sequence, ir.Mapping)):
            held.add(op.dst)
            is_held = True
        elif isinstance(op, ir.Store) and is_held:
            found[op.name] = None
    return list(found)


def names_to_break(analysis: Analysis, unit: Unit) -> list[str]:
    """What a caller writes to reach a claim about a tensor of `unit` that its argument may break: functions, and classes for their methods."""
    found: dict[str, None] = {}
    kept = _kept_on_host(analysis, unit)
    for body, summary in analysis.summaries_reached().items():
        if _may_break(summary, unit, kept):
            found[called_as(body)] = None
    for fault in analysis.faults.values():
        if fault.verdict == "open" and fault.told_at.unit is unit:
            ways = [way.body for way in (fault.site, *fault.chain) if way is fault.site or way.unit is unit]
            found.update((called_as(body), None) for body in ways if body is not None)
    return list(found)


def called_as(body: ir.Body) -> str:
    """What a caller writes to reach a function: its name, that of the function around it, or of the class."""
    while body.parent is not None and body.parent.kind in ("function", "lambda"):
        body = body.parent
    return body.owner.name if body.owner is not None else body.name


def _kept_on_host(analysis: Analysis, unit: Unit) -> frozenset[str]:
    """The attributes in which methods keep tensors that a file makes on the CPU, or copies of a module's parameters, which stay where those were."""
    return frozenset(
        key[1:]
        for body, summary in analysis.summaries_reached().items()
        if body.owner is not None
        for rec in summary.effects.values()
        for key, content in rec.fields.items()
        if isinstance(key, str)
        and key.startswith(".")
        and any(_is_made_on_host(one, unit) or _is_of_parameters(one) for one in _held(content, summary))
    )


def _held(content: Value, summary: Summary) -> list[Value]:
    """What an attribute holds, and the items of a list or dict that it holds."""
    recs = [summary.heap.get(one) for one in alternatives(content) if isinstance(one, Ref)]
    return [content, *(item for rec in recs if rec is not None for item in rec.items.values())]


def _is_of_parameters(value: Value) -> bool:
    return any(
        isinstance(one, Tensor) and isinstance(one.device, Term) and any(map(_gives_parameters, terms_in(one.device)))
        for one in alternatives(value)
    )


def _gives_parameters(term: Term) -> bool:
    return term.op == "attribute" and term.args[1] in _OF_MODULES


def _may_break(summary: Summary, unit: Unit, kept: frozenset[str]) -> bool:
    return any(
        _is_about(event.what, unit, kept) if isinstance(event.what, Claim) else _gives(event.what, unit)
        for event in summary.events
    )


def _gives(term: Term, unit: Unit) -> bool:
    """True for a call of what a caller gives, with a tensor that a file makes on the CPU: `model(torch.zeros(3))`."""
    return term.op == "call" and (_loads_state(term.args[0]) or any(_is_made_on_host(v, unit) for v in term.args[1]))


def _loads_state(function: Value) -> bool:
    """True for `x.load_state_dict`: where `x` is an optimizer, what it loads is left behind by who moves its model afterwards."""
    return isinstance(function, Term) and function.op == "attribute" and function.args[1] == "load_state_dict"


def _is_about(claim: Claim, unit: Unit, kept: frozenset[str]) -> bool:
    """True for a claim on a tensor that is made on the CPU in a file, kept by its objects, or given to what reads it there as an array."""
    if claim.kind == "host":
        return claim.site.unit is unit and any(waits(operand.value) for operand in claim.operands)
    return any(
        _is_made_on_host(operand.value, unit) or (kept and _reads(operand.value, kept)) for operand in claim.operands
    )


def _is_made_on_host(value: Value, unit: Unit) -> bool:
    return any(
        (isinstance(one, Tensor) and one.device == HOST and one.origin is not None and one.origin.unit is unit)
        or _is_made_by_name(one)
        for one in alternatives(value)
    )


def _is_made_by_name(value: Value) -> bool:
    """True for `getattr(torch, name)(...)`: a caller tells the name."""
    function = value.args[0] if isinstance(value, Term) and value.op == "call" else None
    return isinstance(function, Term) and function.op == "got" and function.args[0] == Ext("torch")


def _reads(value: object, names: frozenset[str]) -> bool:
    """True for a term that is computed from an attribute of one of these names."""
    if isinstance(value, tuple):
        return any(_reads(one, names) for one in value)
    if isinstance(value, Tensor):
        return _reads(value.device, names)
    if not isinstance(value, Term):
        return False
    return (value.op == "attribute" and value.args[1] in names) or _reads(value.args, names)
