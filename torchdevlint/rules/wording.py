"""Pieces of messages that several rules share, and the fix that gives a factory its device."""

from __future__ import annotations

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.knowledge.modules import LEAF_MODULES_WITH_WEIGHTS
from torchdevlint.flow.proof import is_no_tensor, is_proven_tensor
from torchdevlint.flow.values import Evidence, Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.callers import argument_given, calls_of, calls_of_forward
from torchdevlint.rules.order import block_of, deciding_tests
from torchdevlint.rules.rule import NodeFix
from torchdevlint.rules.structure import body_of, operations, tensors_within

MISMATCH = '"Expected all tensors to be on the same device"'  # c10/core adaption.h, TensorIterator.cpp

_LONGEST_SPELLED = 20  # the device of a tensor is spelled in a message up to this length


def describe(value: Value) -> str:
    """How a message names a tensor that may be on an accelerator."""
    if value.parameter:
        return f"the argument `{value.parameter}`"
    if value.attribute and value.device.name == f"self.{value.attribute}.device":
        return f"`self.{value.attribute}`, which the caller gave"
    if value.attribute and value.attribute != "module":
        return f"`self.{value.attribute}`, which follows the module"
    if value.attribute == "module" or value.device.name == "self":
        return "the module's parameters"
    name = value.device.name
    if value.device.place == "acc":
        return f"a tensor on `{name}`"
    if name.endswith(".device"):
        return f"a tensor on the device of `{name.removesuffix('.device')}`"
    return f"a tensor that was moved to `{name}`" if name else "a tensor on another device"


def briefly(value: Value) -> str:
    """As `describe`, in the few words that a message has room for."""
    name = value.device.name
    if not value.parameter and value.attribute and value.attribute != "module":
        return f"`self.{value.attribute}`"
    if value.parameter or value.attribute == "module" or not name or name == "self":
        return describe(value)
    return f"a tensor on `{name}`" if len(name) <= _LONGEST_SPELLED else "a tensor on another device"


def factory_name(op: ir.Op, facts: Facts) -> str:
    """The spelling of a factory call for a message: `torch.zeros(...)`."""
    frame = facts.frame
    if isinstance(op, ir.Call) and frame is not None and owns(facts, op):
        name = facts.callee(op)
        if name:
            return f"`{name}(...)`"
    return "this"


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
    body = body_of(made, facts)
    register = made.positional(0)
    if body is None or register is None:
        return False
    index = facts.analysis.index_of(body)
    written = index.definitions[register]
    if isinstance(written, ir.Constant):
        sized = facts.analysis.resolve_text(index.dotted(made.function)) in functions.SIZED_FACTORIES
        return sized and made.positional_count == 1 and type(written.value) is int and written.value == 0
    return isinstance(written, ir.Sequence) and not written.elements


def device_expression(meeting: Meeting, facts: Facts) -> str | None:
    """The spelling of the other tensor's device where the CPU tensor is made, or None."""
    frame = facts.frame
    if frame is None:
        return None
    name = meeting.other.device.name
    root = name.partition(".")[0]
    parameters = {parameter.name for parameter in facts.body.parameters}
    made = meeting.cpu.origin
    if made is None or not owns(facts, made) or may_be_none(root, made, facts):
        return None
    is_bound = Cfg.of(facts.body).definitely_bound(root, made)
    if (
        meeting.other.device.place == "sym"
        and (root in parameters or root in frame.env)
        and root not in ("self", frame.index.self_name)
        and is_bound
    ):
        if (
            root in frame.index.stored
            and name != root
            and frame.env.get(root) is not None
            and frame.env[root].kind is not Kind.TENSOR
        ):
            return None
        return name if name.isidentifier() or all(part.isidentifier() for part in name.split(".")) else None
    nearest = facts.nearest_device(made)
    if nearest is not None:
        return nearest
    if facts.in_forward and not meeting.other.device.is_accelerator:
        for parameter in facts.body.parameters[1:]:
            value = frame.env.get(parameter.name)
            if (
                isinstance(value, Value)
                and value.kind is Kind.TENSOR
                and value.parameter == parameter.name
                and value.moved is None
                and is_surely_tensor(parameter.name, facts)
            ):
                return f"{parameter.name}.device"
    beside = variable_beside(made, meeting.op, facts.body)
    return None if beside is None else f"{beside}.device"


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
            given is not None and is_no_tensor(given, site.facts.analysis.index_of(site.body))
            for site in (*calls_of(facts.body, facts), *calls_of_forward(facts.body, facts))
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


def is_host_argument(value: Value, facts: Facts) -> bool:
    """True for an argument that only CPU tensors are given as: all callers of this file do so, or the function reads it with `.numpy()`. For `holds`."""
    return value.moved is None and (facts.given_on_host(value.device) or facts.read_on_host(value.device))


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


_DATA_WORDS = (
    "dataset",
    "transform",
    "collate",
    "sampler",
    "augment",
    "reader",
    "tokenizer",
    "loader",
    "processor",
    "preprocess",
    "get_batch",
)


_SAMPLES = frozenset("img image pic sample data".split())


def _is_transform(call: ir.Body) -> bool:
    """True for `__call__(self, img)`: the shape of torchvision's transforms, which prepare one sample."""
    return [parameter.name in _SAMPLES for parameter in call.parameters[1:]] == [True]


def is_data_code(facts: Facts) -> bool:
    """True in code that prepares data, where tensors are on the CPU by custom."""
    if facts.frame is None:
        return False
    summary = facts.class_summary
    if summary is not None and summary.is_module:
        return False
    around = facts.body.parent.name if facts.body.parent is not None else ""
    if summary is not None and any(base.lower().endswith(("dataset", "transform")) for base in summary.bases):
        return True
    if facts.body.name == "__call__" and summary is not None and _is_transform(facts.body):
        return True
    names = [facts.body.name.lower(), around.lower(), summary.cls.name.lower() if summary is not None else ""]
    return facts.body.name in ("__getitem__", "__iter__") or any(word in name for word in _DATA_WORDS for name in names)


def give_device(call: ir.Op, expression: str, ground: Ground) -> NodeFix | None:
    """The fix that adds `device=expression` to a call that takes it."""
    from torchdevlint.fixes import builders

    edits = builders.add_keyword(call, "device", expression)
    return NodeFix(ground, f"Create it with `device={expression}`", edits) if edits else None


def how_to_make_there(made: ir.Call, expression: str | None, facts: Facts) -> str:
    """The advice of a message about a tensor that a call makes on the CPU."""
    if expression is None:
        return "create it on the other tensor's device"
    if owns(facts, made) and facts.callee(made) in functions.HOST_FACTORIES:
        return f"move it with `.to({expression})`"
    return f"create it with `device={expression}`"


def make_there(made: ir.Call, expression: str, ground: Ground, facts: Facts) -> NodeFix | None:
    """The fix that makes the tensor of a factory on another device, with every CPU tensor that it meets on the way (`torch.cat([made, ones])`).

    None where one of them cannot be made there. Complete only once the file was analysed.
    """
    from torchdevlint.fixes import builders

    edits: builders.Edits | None = ()
    together = fellows(made, facts)
    for call in together or ():
        given = takes_device(call, facts)
        new = (
            builders.add_keyword(call, "device", expression) if given else builders.wrap_method(call, "to", expression)
        )
        edits = builders.combine(edits, new)
    how = f"Create it with `device={expression}`" if takes_device(made, facts) else f"Move it with `.to({expression})`"
    return NodeFix(ground, how, edits) if edits else None


def is_certainly_there(meeting: Meeting, expression: str | None) -> bool:
    """True where the expression is the device of the very tensor that is met, or that of weights whose place is known.

    A model of unknown class may place its inputs itself, and keep part of its weights on the CPU.
    """
    if expression == meeting.other.device.name:
        return True
    module = meeting.module
    if meeting.role == "input" and module is not None:
        return module.symbol in LEAF_MODULES_WITH_WEIGHTS or isinstance(module.definition, ir.Class)
    return meeting.other.evidence >= Evidence.STRONG


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
        for op in operations(facts.body):
            tensors = operands_of(op, facts)
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
