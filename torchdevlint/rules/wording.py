"""Pieces of messages that several rules share, and the fix that gives a factory its device."""

from __future__ import annotations

from torchdevlint.findings import Applicability
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.values import Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.order import block_of, deciding_tests
from torchdevlint.rules.rule import NodeFix

MISMATCH = '"Expected all tensors to be on the same device"'  # c10/core adaption.h, TensorIterator.cpp


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
    body = next((body for body in facts.program.bodies if any(made in block.ops for block in body.blocks)), None)
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
    made_here = meeting.cpu.origin is not None and owns(facts, meeting.cpu.origin)
    if not made_here or _may_be_none(root, meeting.cpu.origin, facts):
        return None
    if (
        meeting.other.device.place == "sym"
        and (root in parameters or root in frame.env)
        and root not in ("self", frame.index.self_name)
    ):
        if (
            root in frame.index.stored
            and name != root
            and frame.env.get(root) is not None
            and frame.env[root].kind is not Kind.TENSOR
        ):
            return None
        return name if name.isidentifier() or all(part.isidentifier() for part in name.split(".")) else None
    nearest = facts.nearest_device()
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
            ):
                return f"{parameter.name}.device"
    return None


def _may_be_none(name: str, made: ir.Op | None, facts: Facts) -> bool:
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


def give_device(call: ir.Op, expression: str, applicability: Applicability) -> NodeFix | None:
    """The fix that adds `device=expression` to a factory call."""
    from torchdevlint.fixes import builders

    edits = builders.add_keyword(call, "device", expression)
    return NodeFix(applicability, f"Create it with `device={expression}`", edits) if edits else None


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
