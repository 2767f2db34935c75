"""The entries of dicts that self keeps, across the methods of a module: what one method puts in is where it was when another takes it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.flow import class_shape, values
from torchdevlint.flow.devices import CPU
from torchdevlint.flow.facts import ClassSummary, EntryStore
from torchdevlint.flow.knowledge import methods
from torchdevlint.flow.values import Evidence, Kind, Value, replace, tensor
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.flow.analysis import Analysis

_DEEPEST = 4
# What may be done with such a dict besides storing entries one by one.
_HARMLESS = frozenset("get pop items keys values clear".split())
_MOVE_ALL = ("_apply", "to", "cuda")
GIVE_NEW_TENSORS = (
    methods.TENSOR_ONLY | methods.TENSOR_POINTWISE | methods.TENSOR_STRICT
) - methods.TENSOR_SIZES - frozenset(name for name in methods.TENSOR_ONLY if name.endswith("_")) | frozenset(
    "sum mean clone t transpose reshape flatten repeat cos sin log abs pow cat stack".split()
)


def note(summary: ClassSummary, name: str, store: EntryStore) -> None:
    """Note `self.name[key] = value`; a body that is interpreted again says better what it stores."""
    known = summary.entries.setdefault(name, [])
    known[:] = [old for old in known if old.op is not store.op] + [store]


def seen_from(analysis: Analysis, body: ir.Body, summary: ClassSummary, name: str, found: Value) -> Value:
    """A dict that self keeps as another method than those that fill it sees it: with the tensors that stayed behind."""
    stores = summary.entries_of(name)
    if not stores or found.items != () or not summary.is_module:
        return found
    if any(summary.method(move) is not None for move in _MOVE_ALL) or _is_handled_otherwise(analysis, summary, name):
        return found
    while body.owner is None and body.parent is not None:
        body = body.parent  # the method that a nested function belongs to
    if _in_one_run(analysis, summary, body.name, {store.body.name for store in stores}):
        return found
    left = [(store.key, _left_behind(analysis, summary, store, name)) for store in stores]
    keys = {key for key, _ in left}
    if None in keys:
        element = _joined([value for _, value in left])
        return replace(found, items=None, element=element) if element is not None else found
    entries = [(key, _joined([value for other, value in left if other == key])) for key in keys]
    return replace(found, items=None, entries=tuple((key, value) for key, value in entries if value is not None))


def _joined(found: list[Value | None]) -> Value | None:
    """The entry when whatever stores it leaves it behind."""
    result = found[0]
    for value in found[1:]:
        result = values.join(result, value) if result is not None and value is not None else None
    return result


def _left_behind(analysis: Analysis, summary: ClassSummary, store: EntryStore, name: str) -> Value | None:
    """The entry as the module leaves it when it moves: made on the CPU, or computed from the module where that was."""

    def left(register: ir.Register, value: Value) -> Value | None:
        made = analysis.index_of(store.body).definitions[register]
        if value.kind is Kind.TUPLE and value.items and isinstance(made, ir.Sequence):
            parts = [left(part.value, item) for part, item in zip(made.elements, value.items, strict=True)]
            items = tuple(part for part in parts if part is not None)
            return Value(Kind.TUPLE, items=items) if len(items) == len(parts) else None
        if value.kind is not Kind.TENSOR or value.others or value.symbol:
            return None
        computed = value.device.name == "self" and not summary.is_lightning
        if not value.is_fresh_cpu and not (computed and _gives_new(analysis, summary, store.body, register)):
            return None
        return tensor(CPU, rank=value.rank, origin=store.op, evidence=Evidence.STRONG, attribute=name)

    return None if store.body.name in summary.forward_methods else left(store.op.value, store.value)


def _methods(summary: ClassSummary) -> dict[str, ir.Body]:
    """The methods of the class and of its bases in the file."""
    found: dict[str, ir.Body] = {}
    for base in reversed(summary.base_summaries):
        found |= _methods(base)
    return found | summary.cls.methods


def _is_handled_otherwise(analysis: Analysis, summary: ClassSummary, name: str) -> bool:
    """True when a method updates, copies or gives away the whole dict."""
    for body in _methods(summary).values():
        index = analysis.index_of(body)
        use = index.use(f"{index.self_name}.{name}")
        if use.attributes - _HARMLESS or use.module_argument or use.method_argument or use.torch_argument:
            return True
    return False


def _in_one_run(analysis: Analysis, summary: ClassSummary, reader: str, fillers: set[str]) -> bool:
    """True when a method, set-up apart, leads to both: nobody moves the module in between."""
    for name in _methods(summary):
        if name not in summary.setup_methods:
            reached = class_shape.reached(analysis, summary, [name])
            if reader in reached and reached & fillers:
                return True
    return False


def _gives_new(
    analysis: Analysis, summary: ClassSummary, body: ir.Body, register: ir.Register, depth: int = _DEEPEST
) -> bool:
    """True when a tensor was computed: no parameter or buffer itself, which would move with the module."""
    index = analysis.index_of(body)
    made = index.definitions[register]
    if depth == 0 or made is None:
        return False
    if isinstance(made, ir.Load):
        bound = index.bound_to(made.name)
        return bool(bound) and all(_gives_new(analysis, summary, body, value, depth - 1) for value in bound)
    if isinstance(made, ir.Attribute):
        return made.name in ("data", "T", "mT")
    if not isinstance(made, ir.Call):
        return isinstance(made, (ir.Binary, ir.Compare, ir.Unary, ir.Subscript, ir.Unpack))
    written = index.definitions[made.function]
    if isinstance(written, ir.Attribute):
        own = index.definitions[written.object]
        method = summary.method(written.name) if isinstance(own, ir.Load) and own.name == index.self_name else None
        if method is not None:
            returns = [op for block in method.blocks for op in block.ops if isinstance(op, ir.Return)]
            return bool(returns) and all(
                op.value is not None and _gives_new(analysis, summary, method, op.value, depth - 1) for op in returns
            )
        if written.name in methods.MOVES or written.name in methods.CASTS:
            return _gives_new(analysis, summary, body, written.object, depth - 1)
        if isinstance(own, ir.Load) and analysis.aliases.get(own.name, "").partition(".")[0] == "torch":
            return written.name != "Parameter"
        return written.name in GIVE_NEW_TENSORS
    return False
