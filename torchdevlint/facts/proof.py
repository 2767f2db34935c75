"""Is a parameter certainly a tensor? Who writes `x.device` into a program asks this: a number, a list or a dict has no device.

Kinds by use (`NameUse.kind`) are evidence that is good enough to reason about a parameter. An edit needs proof: a use that only a tensor survives, and no
call that gives anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.facts import parameters
from torchdevlint.facts.facts import ClassSummary
from torchdevlint.facts.index import BodyIndex
from torchdevlint.facts.scopes import parameter_of
from torchdevlint.facts.values import UNKNOWN, Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge import methods
from torchdevlint.stubs.knowledge.tensor_attributes import TENSOR_ATTRIBUTES

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts

_DEPTH = 4  # functions that hand the argument on
_CONTAINERS = frozenset(
    {"tuple", "list", "dict", "str", "int", "float", "bool", "Sequence", "Mapping", "PackedSequence"}
)
# Layers of torch.nn that take anything, and containers that cannot be called.
_TAKES_ANYTHING = frozenset({"torch.nn.Module", "torch.nn.Identity", "torch.nn.ModuleList", "torch.nn.ModuleDict"})


def is_proven_tensor(name: str, body: ir.Body, analysis: FileFacts) -> bool:
    """True for a parameter of which the body does what only a tensor survives, or whose annotation says so, and which no call contradicts."""
    return _proven(name, body, analysis, _DEPTH) and not is_contradicted(name, body, analysis)


def is_contradicted(name: str, body: ir.Body, analysis: FileFacts) -> bool:
    """True for a parameter that is used as a container, or that a call of this file gives a number, a string or a container."""
    parameter = parameter_of(body, name)
    if parameter is None or is_used_as_container(name, analysis.index_of(body)):
        return True
    return any(
        register is not None and around.body is not body and is_no_tensor(register, around.body, analysis)
        for around, _, register in analysis.calls_of(body, name)
    )


_NO_TENSORS = frozenset(
    {Kind.STRING, Kind.SCALAR, Kind.NDARRAY, Kind.DEVICE, Kind.DTYPE, Kind.GENERATOR, Kind.SIZE, Kind.TOKENIZER}
)
_HOLDERS = frozenset({Kind.NONE, Kind.LIST, Kind.TUPLE, Kind.DICT})
_OF_TEXTS = frozenset(dir(str)) - TENSOR_ATTRIBUTES - frozenset(dir(list)) - frozenset(dir(dict))


def is_something_else(name: str, body: ir.Body, analysis: FileFacts) -> bool:
    """True for a parameter that is annotated as a text, a number, or the like, and for one of which methods are called that texts alone have."""
    parameter = parameter_of(body, name)
    if parameter is None or parameter.kind in ("*", "**"):
        return False
    if parameter.annotation is not None:
        promised = parameters.annotated(analysis, parameter.annotation, name)
        return promised is not None and promised.kind in _NO_TENSORS
    return bool(analysis.index_of(body).use(name).attributes & _OF_TEXTS)


def _proven(name: str, body: ir.Body, analysis: FileFacts, depth: int) -> bool:
    parameter = parameter_of(body, name)
    if parameter is None or depth == 0 or parameter.kind in ("*", "**"):
        return False
    if parameter.annotation is not None:
        promised = parameters.annotated(analysis, parameter.annotation, name)
        if promised is not None and promised.kind is not Kind.UNKNOWN:
            return promised.kind is Kind.TENSOR
    index = analysis.index_of(body)
    use = index.use(name)
    if use.called or use.is_converted or not use.attributes <= TENSOR_ATTRIBUTES:
        return False
    if not _is_replaced(name, index):
        of_tensors = bool(use.attributes & methods.TENSOR_ONLY) or "device" in use.attributes
        if of_tensors or (use.torch_argument and not use.host_argument):
            return True
        if use.attributes & methods.TENSOR_WEAK and (use.module_argument or use.method_argument):
            return True  # an array has these, and no module takes one
        if use.arithmetic and _is_only_input(parameter, body, analysis):
            return True
    held = {load.dst for load in Lookup.of(body).loads(name) if not Cfg.of(body).bindings(name, load).stores}
    return any(_takes_tensor(op, held, body, analysis, depth) for op in _readers(held, body))


def _is_only_input(parameter: ir.Parameter, body: ir.Body, analysis: FileFacts) -> bool:
    """True for what `forward` of a module needs and computes with, when it needs nothing else: a module computes on a tensor."""
    summary = analysis.enclosing_summary(body)
    needed = [known for known in body.parameters[1:] if known.default is None]
    return summary is not None and summary.is_module and body.name == "forward" and needed == [parameter]


def _is_replaced(name: str, index: BodyIndex) -> bool:
    """True where the name is bound to something that is not made of what it held: `rows = torch.stack(tensors)`."""
    stored = set(index.bound_to(name))
    if not stored:
        return False
    lookup = Lookup.of(index.body)
    made, pending = set[ir.Register](), [load.dst for load in lookup.loads(name)]
    while pending and not stored <= made:
        for op in lookup.readers(pending.pop()):
            if isinstance(op, ir.ValueOp) and op.dst not in made:
                made.add(op.dst)
                pending.append(op.dst)
    return not stored <= made


def _readers(held: set[ir.Register], body: ir.Body) -> list[ir.Op]:
    lookup = Lookup.of(body)
    return [op for register in held for op in lookup.readers(register)]


def _takes_tensor(op: ir.Op, held: set[ir.Register], body: ir.Body, analysis: FileFacts, depth: int) -> bool:
    """True for a call of a layer or a function that takes a tensor there, and for an index of several dimensions."""
    definitions = analysis.index_of(body).definitions
    if isinstance(op, ir.Subscript):
        index = definitions[op.index]
        return (
            op.object in held
            and isinstance(index, ir.Sequence)
            and index.shape == "tuple"
            and _cuts(index, definitions)
        )
    if not isinstance(op, ir.Call) or op.has_splat:
        return False
    at = next((number for number, argument in enumerate(op.arguments) if argument.value in held), None)
    if at is None:
        return False
    keyword = op.arguments[at].keyword
    called = _callee(op, body, analysis)
    if called.kind is Kind.MODULE and called.symbol.startswith("torch.nn."):
        return at == 0 and keyword is None and called.symbol not in _TAKES_ANYTHING
    if called.kind is Kind.MODULE and called.definition is None and called.ref.endswith("[]"):
        return len(op.arguments) == 1  # one of a list of layers, as those of a Sequential are called
    callee = called.definition
    if isinstance(callee, ir.Class):
        callee = analysis.summary_of(callee).method("forward") if called.kind is Kind.MODULE else None
    if not isinstance(callee, ir.Body) or callee is body:
        return False
    names = [parameter.name for parameter in callee.parameters[callee.is_bound :]]
    taken = keyword or (names[at] if at < len(names) else "")
    return bool(taken) and _proven(taken, callee, analysis, depth - 1)


def _cuts(index: ir.Sequence, definitions: list[ir.Op | None]) -> bool:
    """True for `x[:, 0]` and `x[..., 0]`: a list and a dict raise."""
    written = (definitions[element.value] for element in index.elements)
    return any(isinstance(op, ir.Slice) or (isinstance(op, ir.Constant) and op.value is ...) for op in written)


def _callee(call: ir.Call, body: ir.Body, analysis: FileFacts) -> Value:
    """What is called, as far as the file tells by now: a layer of the class, a method of it, a function of the file."""
    index = analysis.index_of(body)
    seen = analysis.frame_of(body).values[call.function]
    if seen.kind in (Kind.MODULE, Kind.FUNCTION):
        return seen
    root, _, rest = index.dotted(call.function).partition(".")
    if root and root == index.self_name and rest:
        return _of_self(rest, analysis.enclosing_summary(body))
    function = next((made for made in analysis.program.module.functions if made.name == root and not rest), None)
    return Value(Kind.FUNCTION, definition=function) if function is not None else UNKNOWN


def _of_self(name: str, summary: ClassSummary | None) -> Value:
    if summary is None:
        return UNKNOWN
    method = summary.method(name)
    if method is not None:
        return Value(Kind.FUNCTION, definition=method)
    stores = summary.stores_of(name)
    return stores[0].value if len(stores) == 1 else UNKNOWN


def is_used_as_container(name: str, index: BodyIndex) -> bool:
    """True for what is read by keys (`data["label"]`, `data.items()`), or asked whether it is a tuple or another container."""
    return bool(index.use(name).attributes & _OF_CONTAINERS) or name in index.once(_containers)


def _containers(index: BodyIndex) -> frozenset[str]:
    """The names that are read by a string, or asked whether they are a tuple or another container."""
    definitions, lookup = index.definitions, Lookup.of(index.body)
    found: set[str] = set()
    for read in lookup.kind(ir.Subscript):
        holder, key = definitions[read.object], definitions[read.index]
        if isinstance(holder, ir.Load) and isinstance(key, ir.Constant) and isinstance(key.value, str):
            found.add(holder.name)
    for call in lookup.kind(ir.Call):
        callee, given = definitions[call.function], call.positional(0)
        holder = definitions[given] if given is not None and call.positional_count == 2 else None
        if isinstance(holder, ir.Load) and isinstance(callee, ir.Load) and callee.name == "isinstance":
            asked = definitions[call.arguments[1].value]
            kinds = [definitions[e.value] for e in asked.elements] if isinstance(asked, ir.Sequence) else [asked]
            if any(isinstance(kind, (ir.Load, ir.Attribute)) and kind.name in _CONTAINERS for kind in kinds):
                found.add(holder.name)
    return frozenset(found)


_OF_CONTAINERS = frozenset({"keys", "items", "values", "get", "append", "extend", "split", "join"})


def is_no_tensor(register: ir.Register, body: ir.Body, analysis: FileFacts) -> bool:
    """True for what is known to be a number, a text, a container, or anything else but a tensor."""
    return analysis.frame_of(body).values[register].kind in _NO_TENSORS | _HOLDERS
