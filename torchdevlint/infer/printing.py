"""Values in words, for whoever asks what the analysis believes."""

from __future__ import annotations

from torchdevlint.infer.values import (
    HOST,
    MANY,
    UNKNOWN,
    Bound,
    Cls,
    Const,
    Device,
    Ext,
    Func,
    OneOf,
    Partial,
    Place,
    Ref,
    Site,
    Sort,
    Tensor,
    Term,
    Tup,
    Value,
    said,
)


def show(value: Value, heap: object = None) -> str:
    """A value in one line; with a heap, objects tell what they hold."""
    if isinstance(value, Tensor):
        rank = {None: "any rank", MANY: "rank 1 or more"}.get(value.rank, f"rank {value.rank}")
        how = {"default": ", because nobody said where", "always": ", always"}.get(value.implicit, "")
        kept = f", kept as `{value.kept}`" if value.kept else ""
        made = f", made at {place_of(value.origin)}" if value.origin is not None else ""
        return f"tensor on {show_place(value.device)} ({rank}{made}{how}{kept}{', follows its module' if value.follows else ''})"
    if value is UNKNOWN:
        return "unknown"
    if isinstance(value, Term):
        return f"open: {show_term(value)}"
    if isinstance(value, OneOf):
        options = [
            f"{show(one, heap)}{''.join(f' if {show_guard(*guard)}' for guard in guards)}"
            for guards, one in value.options
        ]
        return "one of " + "; or ".join(options) if options else "nothing"
    if isinstance(value, Device):
        return f"device {show_place(value.place)}"
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Tup):
        return f"({', '.join(show(item, heap) for item in value.items)})"
    if isinstance(value, Func):
        return f"function {value.body.qualname}"
    if isinstance(value, Cls):
        return f"class {value.cls.qualname}"
    if isinstance(value, Ext):
        return value.name
    if isinstance(value, Sort):
        return f"some {value.name}"
    if isinstance(value, Bound):
        return f"{show(value.object, heap)}.{value.name}"
    if isinstance(value, Partial):
        return f"{show(value.function, heap)} with arguments given"
    if isinstance(value, Ref):
        return _show_object(value, heap)
    return type(value).__name__.lower()


def _show_object(value: Ref, heap: object) -> str:
    rec = heap.get(value) if isinstance(heap, dict) else None
    if rec is None:
        return "object"
    name = f" {show(rec.cls)}" if rec.cls is not None else ""
    where = f" on {show_place(rec.fields['@device'])}" if "@device" in rec.fields else ""
    return f"{rec.kind}{name}{where}"


def show_place(place: Place) -> str:
    """A device in words; of an open one, the term."""
    return f"{said(place)} [{show_term(place)}]" if isinstance(place, Term) else said(place)


def show_term(term: object) -> str:
    """A term, parameters by their names."""
    if isinstance(term, Term):
        if term.op == "parameter":
            return str(term.args[1])
        return f"{term.op}({', '.join(show_term(one) for one in term.args)})"
    if isinstance(term, tuple):
        return f"({', '.join(map(show_term, term))})"
    if isinstance(term, Site):
        return place_of(term)
    if isinstance(term, str):
        return "the CPU" if term == HOST else term
    return show(term) if term is not None else "None"  # type: ignore[arg-type]


def show_guard(term: Term, outcome: bool) -> str:
    """A condition and how it came out."""
    return f"{'' if outcome else 'not '}{show_term(term)}"


def place_of(site: Site) -> str:
    """Where a site is, as far as the syntax node tells."""
    row = getattr(site.op.node, "lineno", None)
    return f"line {row}" if row is not None else "a place"
