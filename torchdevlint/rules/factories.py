"""What a factory is, and how sure it is that the CPU tensor of one meets a tensor on another device."""

from __future__ import annotations

from torchdevlint.findings import Severity
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.index import NameUse
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.knowledge.modules import LEAF_MODULES_WITH_WEIGHTS
from torchdevlint.flow.values import Evidence, Value
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.cases import names_of
from torchdevlint.rules.order import block_of, deciding_sides
from torchdevlint.rules.paths import last_name
from torchdevlint.rules.rule import ERROR, WARNING
from torchdevlint.rules.structure import body_of, converts_on_host, exports, is_test_file, tested_in
from torchdevlint.rules.wording import is_data_code, is_placeholder, owns


def _only_shape_is_read(meeting: Meeting, facts: Facts) -> bool:
    """True for `self.net(torch.zeros(1, 3, 32, 32)).shape[1]`: a probe that set-up code makes before anything moves."""
    if not isinstance(meeting.op, ir.Call) or facts.frame is None:
        return False
    if _ends_in_a_size(meeting.op, facts):
        return True
    for op in Lookup.of(facts.body).readers(meeting.op.dst):
        if isinstance(op, ir.Iterate):
            names = names_of(op, facts)
            return bool(names) and all(_is_measured(facts.frame.index.use(name)) for name in names)
    return False


def _ends_in_a_size(call: ir.Call, facts: Facts) -> bool:
    """True when all that is done with a result, in one expression, leads to its size: `self.second(self.first(x)).view(1, -1).size(1)`."""
    held, attribute = call.dst, None
    trail = Lookup.of(facts.body).trail(held)
    for op in trail:
        if isinstance(op, ir.Attribute) and op.object == held:
            if op.name in ("shape", "size", "numel", "nelement"):
                return True
            attribute = op
            trail.add(op.dst)
        elif isinstance(op, ir.Call) and (
            (attribute is not None and op.function == attribute.dst) or any(a.value == held for a in op.arguments)
        ):
            held, attribute = op.dst, None
            trail.add(held)
    return False


def _is_measured(use: NameUse) -> bool:
    return bool(use.attributes) and use.attributes <= {"shape", "size"} and not (use.torch_argument or use.arithmetic)


def _is_made_on_demand(attribute: str, facts: Facts) -> bool:
    """True for a model that this very method makes when it is not there yet: `if self.net is None: self.net = Net()`."""
    summary = facts.class_summary
    return (
        bool(attribute)
        and summary is not None
        and any(store.body is facts.body for store in summary.stores_of(attribute))
    )


def _is_submodule(module: Value, facts: Facts) -> bool:
    """True for a module by its class, and for what is moved, or kept by a Module as an attribute, and then called."""
    if module.evidence >= Evidence.STRONG or (module.evidence >= Evidence.USAGE and module.moved is not None):
        return True
    summary = facts.class_summary
    own = summary is not None and summary.is_module and bool(module.attribute)
    return own and module.evidence >= Evidence.USAGE


def _is_placed_here(other: Value) -> bool:
    """True for a tensor that was made or moved with `device=device`: set-up code that chooses a place itself."""
    return (
        other.attribute == ""
        and other.evidence >= Evidence.STRONG
        and other.device.name.isidentifier()
        and other.device.name != "self"
    )


def is_of_parameter(other: Value, facts: Facts) -> bool:
    """True for what was computed from an argument of this function and still lives where the argument does."""
    name, _, last = other.device.name.rpartition(".")
    return (
        last == "device" and other.moved is None and any(parameter.name == name for parameter in facts.body.parameters)
    )


def _stores_of(meeting: Meeting, facts: Facts) -> int:
    """How often the name that holds the CPU tensor is bound in the body."""
    made, lookup = meeting.cpu.origin, Lookup.of(facts.body)
    readers = lookup.readers(made.dst) if isinstance(made, ir.ValueOp) else ()
    return sum(len(lookup.stores(name)) for name in {op.name for op in readers if isinstance(op, ir.Store)})


def is_factory(made: ir.Call, facts: Facts) -> bool:
    """True for a call of torch's that makes a tensor on the CPU (of this body or of one that it calls)."""
    if not owns(facts, made):
        return not _makes_layer(made, facts)  # made in a function of this file that was called
    name = facts.callee(made)
    return name in functions.FACTORIES or name in functions.HOST_FACTORIES


def _makes_layer(made: ir.Call, facts: Facts) -> bool:
    """True for `nn.Linear(...)`, or a class of the file, in another body: what it gives when it is called is TDL602's, and has no `device=`."""
    body = body_of(made, facts)
    name = facts.analysis.resolve_text(facts.analysis.index_of(body).dotted(made.function)) if body is not None else ""
    last = name.rpartition(".")[2]
    if any(cls.qualname == name for cls in facts.analysis.program.classes):
        return True
    return name == f"torch.nn.{last}" and last[:1].isupper() and last not in ("Parameter", "Buffer")


def _is_sure(cpu: Value, other: Value) -> bool:
    """True where both tensors are what they are on every path."""
    return not cpu.others and not other.others and other.evidence >= Evidence.STRONG and cpu.evidence >= Evidence.STRONG


def _is_without_accelerator(op: ir.Op, facts: Facts) -> bool:
    """True on the side of an availability test that says no: `if torch.cuda.is_available(): net(x.cuda()) else: net(x)`."""
    at = block_of(facts.body, op)
    return at is not None and any(
        not side
        and isinstance(test := facts.definition(register), ir.Call)
        and facts.callee(test) in functions.AVAILABILITY
        for register, side in deciding_sides(facts.body, at, ir.Call)
    )


def _is_length(meeting: Meeting, facts: Facts) -> bool:
    """True for lengths that a module is given: it slices with them, or packs a sequence, which wants them on the CPU."""
    made = meeting.cpu.origin
    return meeting.role == "input" and made is not None and any("len" in name.lower() for name in names_of(made, facts))


def judged(meeting: Meeting, facts: Facts) -> Severity | None:
    """How sure the premises are: the weakest of them decides. None: say nothing."""
    cpu, other = meeting.cpu, meeting.other
    if meeting.role == "index" and other.evidence < Evidence.USAGE:
        return None
    if cpu.rank is None and not meeting.strict:
        return None
    if other.evidence < Evidence.USAGE and not (
        other.evidence is Evidence.NAME and not facts.mentions("device", "cuda", "to", "cpu")
    ):
        return None
    assert cpu.origin is not None
    local = owns(facts, cpu.origin)
    if not facts.in_forward and (is_data_code(facts) or converts_on_host(facts) or is_test_file(facts)):
        return None
    if facts.in_setup and not facts.in_forward and not _is_placed_here(other):
        return None
    if cpu.others and facts.in_loop and _stores_of(meeting, facts) > 2:
        return None  # a placeholder that the loop replaces before it is used
    if _is_without_accelerator(meeting.op, facts) or _is_length(meeting, facts):
        return None
    if (is_placeholder(cpu.origin, facts) and not _is_joined(meeting, facts)) or (
        not facts.in_forward and _only_shape_is_read(meeting, facts)
    ):
        return None
    module = meeting.module
    if meeting.role == "input" and not facts.in_forward and module is not None and not _is_submodule(module, facts):
        return None  # what an unknown module does with an argument is unknown
    if not facts.in_forward and (exports(facts) or _is_made_on_demand(other.attribute, facts)):
        return None
    if facts.in_forward:
        if not local and meeting.role == "input":
            # One of several things that another function may have given, or what a helper made for a layer of this module.
            return (
                WARNING
                if module is not None
                and module.symbol in LEAF_MODULES_WITH_WEIGHTS
                and other.evidence >= Evidence.STRONG
                else None
            )
        if not local and not meeting.strict:
            return WARNING if other.evidence >= Evidence.STRONG else None
        return WARNING if _is_for_some_inputs(cpu.origin, facts) else ERROR
    if not local:
        return (
            WARNING
            if meeting.strict and meeting.role == "operand" and is_of_parameter(other, facts) and _is_sure(cpu, other)
            else None
        )
    if other.evidence >= Evidence.STRONG:
        return WARNING
    if meeting.strict or meeting.role in ("index", "output") or other.parameter:
        return WARNING
    return WARNING if is_of_parameter(other, facts) else None


_JOINS = frozenset({"torch.cat", "torch.concat", "torch.concatenate"})


def _is_joined(meeting: Meeting, facts: Facts) -> bool:
    """True for an empty tensor of this body that `torch.cat` gets on every path: it skips what is empty, and asks for its device before it does.

    Source: the device check of the CUDA wrapper takes all of a TensorList (torchgen/dest/register_dispatch_key.py).
    """
    made, body = meeting.cpu.origin, body_of(meeting.op, facts)
    block = block_of(body, meeting.op) if body is not None else None
    if made is None or body is None or block is None or meeting.callee not in _JOINS or not owns(facts, made):
        return False  # what another method makes it may fill as well
    return not any(True for _ in deciding_sides(body, block))


_ASKS_INPUT = frozenset({"isinstance", "is_tensor", "len", "dim", "size", "numel", "nelement"})


def _is_for_some_inputs(made: ir.Op, facts: Facts) -> bool:
    """True behind a test of the kind or the shape of something: which inputs come is for the caller to choose."""
    body = body_of(made, facts)
    block = block_of(body, made) if body is not None else None
    return (
        body is not None
        and block is not None
        and any(_asks_input(test, body, facts) for test, _ in deciding_sides(body, block))
    )


def _asks_input(register: ir.Register, body: ir.Body, facts: Facts) -> bool:
    written = facts.analysis.index_of(body).definitions[register]
    if isinstance(written, ir.Attribute):
        return written.name in ("shape", "ndim")
    if isinstance(written, ir.Call) and last_name(written, body, facts) in _ASKS_INPUT:
        return True
    return any(_asks_input(part, body, facts) for part in tested_in(written))
