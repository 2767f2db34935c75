"""What annotations say of tensors: of a parameter, of a part of one, of a field of a class of the project, and of what its methods give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchdevlint.infer.values import NUMBER, Cls, Const, Term, Value
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.units import Unit

_TENSORS = frozenset("Tensor FloatTensor DoubleTensor HalfTensor LongTensor IntTensor BoolTensor ByteTensor".split())
_NUMBERS = frozenset({"int", "float", "bool", "complex"})
# What makes a number of what a user has written, and the method that it calls.
AS_NUMBER = {"int": "__int__", "float": "__float__"}
_UNIONS = frozenset({"Optional", "|", "Union"})
_SEQUENCES = frozenset(
    "list List tuple Tuple Sequence MutableSequence Collection Iterable Iterator Generator set Set".split()
)
_MAPPINGS = frozenset("dict Dict Mapping MutableMapping OrderedDict DefaultDict defaultdict".split())
_DATA = (_SEQUENCES - {"Iterator", "Generator", "set", "Set"}) | {"Size"}  # what `torch.tensor` reads


def says_tensor(annotation: ir.Annotation) -> bool:
    """True for `Tensor`, and for a union of tensors and None."""
    several = _alternatives(annotation)
    return bool(several) and all(_last(one) in _TENSORS for one in several)


def says_sequence(annotation: ir.Annotation) -> bool:
    """True for lists, tuples, and a union of such with None."""
    several = _alternatives(annotation)
    return bool(several) and all(_last(one) in _DATA for one in several)


def is_tensor(analysis: Analysis, term: Term) -> bool:
    """True for what an annotation says is a tensor wherever it is an operand: no operator takes a list of tensors for one."""
    return any(_is_tensor_as_operand(one.annotation) for one in _said(analysis, term))


def class_of(analysis: Analysis, term: Term) -> ir.Class | None:
    """The class of the project that an annotation names."""
    for one in _said(analysis, term):
        several = _alternatives(one.annotation)
        found = analysis.named(one.unit, several[0].name) if len(several) == 1 else None
        if isinstance(found, Cls):
            return found.cls
    return None


def is_number(value: Value) -> bool:
    """True for a parameter that is said to be a number, for what was made one, and for what is computed from such alone."""
    if isinstance(value, Term) and value.op == "binary":
        return all(map(is_number, value.args[1:3]))
    if isinstance(value, Term) and value.op == "attribute" and value.args[1] in AS_NUMBER.values():
        return True
    said = annotation_of(value) if isinstance(value, Term) else None
    if said is not None:
        return all(_last(one) in _NUMBERS for one in _alternatives(said))
    return value == NUMBER or (isinstance(value, Const) and type(value.value) in (int, float, bool, complex))


def annotation_of(term: Term) -> ir.Annotation | None:
    """The annotation of a parameter; None for one without, and for `*args` and `**kwargs`."""
    if term.op != "parameter":
        return None
    body, name = term.args
    found = next((one for one in body.parameters if one.name == name), None)
    return found.annotation if found is not None and found.kind not in ("*", "**") else None


def _is_tensor_as_operand(annotation: ir.Annotation) -> bool:
    plain = [one for one in _alternatives(annotation) if _last(one) not in _SEQUENCES]
    return bool(plain) and all(_last(one) in _TENSORS for one in plain)


class _Said(NamedTuple):
    """An annotation, and the file whose names it is written in."""

    annotation: ir.Annotation
    unit: Unit


def _said(analysis: Analysis, term: Term) -> Iterator[_Said]:
    """The annotation of a value, where its own or that of what it is taken out of tells."""
    own = annotation_of(term)
    if own is not None:
        yield _Said(own, analysis.unit_of(term.args[0]))
    elif term.op in ("element", "item", "unpack") and isinstance(term.args[0], Term):
        for holder, unit in _said(analysis, term.args[0]):
            parts = [_part(one, term.op) for one in _alternatives(holder)]
            if parts and all(part is not None for part in parts):
                yield _Said(ir.Annotation("|", tuple(part for part in parts if part is not None)), unit)
    elif term.op == "attribute" and isinstance(term.args[0], Term):
        cls = class_of(analysis, term.args[0])
        field = analysis.field_of(cls, term.args[1]) if cls is not None else None
        if field is not None:
            yield _Said(*field)
    elif term.op == "call" and isinstance(term.args[0], Term) and term.args[0].op == "attribute":
        receiver, name = term.args[0].args[:2]
        cls = class_of(analysis, receiver) if isinstance(receiver, Term) else None
        result = analysis.result_of(cls, name) if cls is not None else None
        if result is not None:
            yield _Said(*result)


def _part(holder: ir.Annotation, taken: str) -> ir.Annotation | None:
    """What is taken out of a container; None where that is not said, or may be one of several things."""
    name, parts = _last(holder), [one for one in holder.arguments if one.name not in ("?", "...")]
    if name in _TENSORS:
        return holder
    if name in _SEQUENCES and len(set(parts)) == 1:
        return parts[0]
    if name in _MAPPINGS and len(holder.arguments) == 2 and taken == "item":
        return holder.arguments[1]
    return None


def _alternatives(annotation: ir.Annotation) -> list[ir.Annotation]:
    """The members of a union, None aside."""
    if _last(annotation) not in _UNIONS:
        return [annotation]
    return [one for member in annotation.arguments if member.name != "None" for one in _alternatives(member)]


def _last(annotation: ir.Annotation) -> str:
    return annotation.name.rpartition(".")[2]
