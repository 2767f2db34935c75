"""Pieces of messages that several rules share, and the fix that gives a factory its device."""

from __future__ import annotations

from torchdevlint.facts.calls import argument_given, calls_of, calls_of_forward
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.proof import is_no_tensor, is_proven_tensor
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, deciding_tests
from torchdevlint.rules.rule import NodeFix
from torchdevlint.rules.structure import operations, tensors_within
from torchdevlint.stubs.knowledge import functions

MISMATCH = '"Expected all tensors to be on the same device"'  # c10/core adaption.h, TensorIterator.cpp


def owns(facts: Facts, op: ir.Op) -> bool:
    """True when `op` stands in the body that the facts speak of."""
    return (
        isinstance(op, ir.ValueOp)
        and facts.frame is not None
        and op.dst < len(facts.frame.definitions)
        and facts.definition(op.dst) is op
    )


def is_placeholder(made: ir.Op, facts: Facts) -> bool:
    """True for `torch.empty(0)` and `torch.tensor([])`, which are replaced (or skipped by `cat`) before they matter."""
    if not isinstance(made, ir.Call):
        return False
    if not owns(facts, made):
        return _is_empty_elsewhere(made, facts)
    first = facts.value(made.positional(0))
    sized = facts.callee(made) in functions.SIZED_FACTORIES
    return (sized and first.constant == 0) or (first.kind is Kind.LIST and first.items == () and first.element is None)


def _is_empty_elsewhere(made: ir.Call, facts: Facts) -> bool:
    """True for a factory of another body that gets `[]`, or 0 as its only size."""
    body = facts.analysis.body_of(made)
    register = made.positional(0)
    if body is None or register is None:
        return False
    index = facts.analysis.index_of(body)
    written = index.definitions[register]
    if isinstance(written, ir.Constant):
        sized = facts.analysis.resolve_text(index.dotted(made.function)) in functions.SIZED_FACTORIES
        return sized and made.positional_count == 1 and type(written.value) is int and written.value == 0
    return isinstance(written, ir.Sequence) and not written.elements


def variable_beside(made: ir.Op, met: ir.Op, body: ir.Body) -> str | None:
    """The variable that an operation (`variable / made`, `torch.cat((variable, made))`) takes besides a tensor that is made in it.

    None where there is none, where there are more operands than two, or where the variable may not be bound when the tensor is made.
    """
    lookup = Lookup.of(body)
    operands = [lookup.definition(register) for register in _operands(met, lookup)]
    others = [op for op in operands if op is not made]
    if len(operands) != 2 or len(others) != 1 or not isinstance(others[0], ir.Load):
        return None
    name = others[0].name
    return name if Cfg.of(body).definitely_bound(name, made) else None


def _operands(met: ir.Op, lookup: Lookup) -> tuple[ir.Register, ...]:
    """The registers of an operator, or of the tuple or list that a function is given first."""
    if isinstance(met, ir.Binary):
        return (met.left, met.right)
    if isinstance(met, ir.Compare):
        return (met.left, *met.comparators)
    if isinstance(met, ir.Call) and met.arguments:
        display = lookup.definition(met.arguments[0].value)
        if isinstance(display, ir.Sequence) and not any(element.starred for element in display.elements):
            return tuple(element.value for element in display.elements)
    return ()


def is_surely_tensor(parameter: str, facts: Facts) -> bool:
    """True for an argument that is proven to be a tensor, and that is no tensor of lengths: these stay on the CPU, for `pack_padded_sequence`."""
    return (
        "len" not in parameter.lower()
        and is_proven_tensor(parameter, facts.body, facts.analysis)
        and not any(
            given is not None and is_no_tensor(given, site.body, site.analysis)
            for site in (*calls_of(facts.body, facts.analysis), *calls_of_forward(facts.body, facts.analysis))
            for given in [argument_given(site, facts.body, parameter)]
        )
    )


def may_be_none(name: str, made: ir.Op | None, facts: Facts) -> bool:
    """True for an argument that may be left out and is None then, where no test of it decides that the tensor is made."""
    parameter = next((p for p in facts.body.parameters if p.name == name and p.default is not None), None)
    if parameter is None or facts.body.parent is None or made is None:
        return False
    default = facts.analysis.index_of(facts.body.parent).definitions[parameter.default or 0]
    if not isinstance(default, ir.Constant) or default.value is not None:
        return False
    at = block_of(facts.body, made)
    return at is None or not any(_asks_for(name, test, facts) for test in deciding_tests(facts.body, at))


def _asks_for(name: str, test: ir.Register, facts: Facts) -> bool:
    written = facts.definition(test)
    while isinstance(written, ir.Unary):
        written = facts.definition(written.operand)
    asked = written.left if isinstance(written, ir.Compare) else test
    if isinstance(written, ir.Call) and written.positional_count:
        return facts.place(written.positional(0)) == name
    return facts.place(asked) == name


_HOST_WORDS = (
    "len",
    "length",
    "idx",
    "index",
    "id",
    "name",
    "path",
    "file",
    "meta",
    "size",
    "shape",
    "info",
    "text",
    "word",
    "caption",
    "step",
    "epoch",
)


def is_host_name(place: str) -> bool:
    """True for what is called a length, an index, a name: of use on the CPU."""
    last = place.rpartition(".")[2].lower()
    return any(word in last for word in _HOST_WORDS)


def give_device(call: ir.Op, expression: str, ground: Ground) -> NodeFix | None:
    """The fix that adds `device=expression` to a call that takes it."""
    return NodeFix(ground, f"Create it with `device={expression}`", builders.add_keyword(call, "device", expression))


def make_there(made: ir.Call, expression: str, ground: Ground, facts: Facts) -> NodeFix | None:
    """The fix that makes the tensor of a factory on another device, with every CPU tensor that it meets on the way (`torch.cat([made, ones])`).

    None where one of them cannot be made there. Complete only once the file was analysed.
    """
    edits: builders.Edits | None = ()
    together = fellows(made, facts)
    for call in together or ():
        given = takes_device(call, facts)
        new = (
            builders.add_keyword(call, "device", expression) if given else builders.wrap_method(call, "to", expression)
        )
        edits = builders.combine(edits, new)
    how = f"Create it with `device={expression}`" if takes_device(made, facts) else f"Move it with `.to({expression})`"
    return NodeFix(ground, how, edits)


def fellows(made: ir.Call, facts: Facts) -> list[ir.Call] | None:
    """A factory call and all those whose CPU tensors meet its own in this body; None where one of them is no factory or was moved by hand."""
    found, known = [made], {id(made)}
    met = _met_by_origin(facts)
    for call in found:  # grows while it is walked
        for origins in met.get(id(call), ()):
            for other in origins:
                if other is None or id(other) in known:
                    continue
                if not isinstance(other, ir.Call) or not owns(facts, other) or other.keyword("device") is not None:
                    return None
                if not _makes_tensor(other, facts):
                    return None
                known.add(id(other))
                found.append(other)
    return found


def _met_by_origin(facts: Facts) -> dict[int, list[list[ir.Op | None]]]:
    """By what made a CPU tensor of this body: the makers of all CPU tensors in each operation that takes it. Complete once the file was analysed."""
    remembered = facts.analysis.remembered
    key = (_met_by_origin, id(facts.body))
    if key not in remembered:
        found: dict[int, list[list[ir.Op | None]]] = {}
        behind = Facts(facts.analysis, facts.analysis.frame_of(facts.body), None)
        for op in operations(facts.body):
            tensors = operands_of(op, behind)
            if len(tensors) < 2:
                continue
            origins = [
                part.origin for _, value in tensors for part in value.parts if part.is_fresh_cpu and part.rank != 0
            ]
            for origin in {id(origin): origin for origin in origins if origin is not None}:
                found.setdefault(origin, []).append(origins)
        remembered[key] = found
    answer: dict[int, list[list[ir.Op | None]]] = remembered[key]
    return answer


def _makes_tensor(call: ir.Call, facts: Facts) -> bool:
    name = facts.callee(call)
    return name in functions.FACTORIES or name in functions.HOST_FACTORIES


def takes_device(made: ir.Call, facts: Facts) -> bool:
    """True when the factory has a `device` keyword, in every release."""
    name = facts.callee(made)
    return owns(facts, made) and name in functions.FACTORIES and not name.endswith("generate_square_subsequent_mask")


def operands_of(op: ir.Op, facts: Facts) -> list[tuple[ir.Register, Value]]:
    """The tensors that an operation computes with, each with its register or that of what holds it."""
    if isinstance(op, ir.Call):
        receiver = facts.receiver(op)
        registers = [argument.value for argument in op.arguments] + ([] if receiver is None else [receiver])
    elif isinstance(op, ir.Binary):
        registers = [op.left, op.right]
    elif isinstance(op, ir.AugmentedAssign):
        registers = [op.target, op.value]
    else:
        return []
    return [(register, value) for register in registers for value in tensors_within(facts.value(register))]


def needed(device: str) -> str:
    """What a device needs, in words: "CUDA", or the type of another one."""
    return "CUDA" if device.startswith("cuda") else device.partition(":")[0]


def raised(device: str) -> str:
    """What happens where that is missing (torch/cuda/__init__.py, `_lazy_init`)."""
    return (
        '"Torch not compiled with CUDA enabled" or "Found no NVIDIA driver" is raised'
        if device.startswith("cuda")
        else "it raises"
    )
