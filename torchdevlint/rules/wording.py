"""Pieces of messages and fixes that several rules share."""

from __future__ import annotations

from torchdevlint.facts.calls import argument_given, calls_of, calls_of_forward
from torchdevlint.facts.facts import AttributeStore, Facts
from torchdevlint.facts.proof import is_no_tensor, is_proven_tensor
from torchdevlint.facts.scopes import default_of, parameter_of
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.program.order import block_of, deciding_tests
from torchdevlint.rules.rule import NodeFix
from torchdevlint.rules.structure import tensors_within

MISMATCH = '"Expected all tensors to be on the same device"'  # c10/core adaption.h, TensorIterator.cpp


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
    parameter = parameter_of(facts.body, name)
    default = default_of(facts.body, parameter) if parameter is not None else None
    if made is None or not isinstance(default, ir.Constant) or default.value is not None:
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


def give_device(call: ir.Op, expression: str, ground: Ground) -> NodeFix | None:
    """The fix that adds `device=expression` to a call that takes it."""
    return NodeFix(ground, f"Create it with `device={expression}`", builders.add_keyword(call, "device", expression))


def kept_in_container(store: AttributeStore, container: str, ground: Ground, facts: Facts) -> NodeFix | None:
    """The fix that keeps what a module stores in a container of `torch.nn`, which the module knows."""
    display = Lookup.of(store.body).definition(store.op.value)
    spelled = facts.analysis.spelling_of("torch.nn")
    is_written_out = isinstance(display, (ir.Sequence, ir.Mapping, ir.Comprehension))
    if spelled is None or store.value.kind is Kind.TUPLE or not is_written_out:
        return None
    if container.endswith("Dict") and not _may_name_parts(display, store.body):
        return None
    edits = builders.wrap_in_call(display, f"{spelled}.{container}")
    return NodeFix(ground, f"Keep them in `{spelled}.{container}`", edits)


def _may_name_parts(display: ir.Op | None, body: ir.Body) -> bool:
    """False for keys that `ModuleDict` and `ParameterDict` refuse: no strings, or with a dot, as the names of a module's parts have."""
    lookup = Lookup.of(body)
    if isinstance(display, ir.Mapping):
        keys = [lookup.definition(key) for key in display.keys if key is not None]
        known = [key.value for key in keys if isinstance(key, ir.Constant)]
        return all(isinstance(key, str) and key and "." not in key for key in known)
    return not any(
        lookup.attributes(name) for name in ("named_parameters", "named_buffers", "named_modules", "state_dict")
    )


def operands_of(op: ir.Op, facts: Facts) -> list[tuple[ir.Register, Value]]:
    """The tensors that an operation computes with, each with its register or that of what holds it."""
    if isinstance(op, ir.Call):
        receiver = facts.receiver(op)
        registers = [argument.value for argument in op.arguments] + ([] if receiver is None else [receiver])
    else:
        registers = reads(op) if isinstance(op, (ir.Binary, ir.AugmentedAssign)) else []
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
