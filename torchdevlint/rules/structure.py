"""Questions of several rules to the operations of a body and to the classes of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.devices import Device
from torchdevlint.facts.facts import ClassSummary, Facts
from torchdevlint.facts.spelled import accelerator_in
from torchdevlint.facts.values import Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.program.order import block_of, follows
from torchdevlint.source.grounds import kept_in
from torchdevlint.stubs.knowledge import functions, modules

_Answer = TypeVar("_Answer")


def once_per_place(question: Callable[[str, Facts], _Answer]) -> Callable[[str, Facts], _Answer]:
    """A question about a name or path of the present body, answered once; not for a path with an index, whose key may not be known yet."""

    @wraps(question)
    def asked(place: str, facts: Facts) -> _Answer:
        if "[" in place:
            return question(place, facts)
        remembered: dict[Any, Any] = facts.analysis.remembered
        key = (question, id(facts.body), place)
        return kept_in(remembered, key, lambda: question(place, facts))

    return asked


def operations(body: ir.Body) -> tuple[ir.Op, ...]:
    """Every operation of a body, block by block."""
    return Lookup.of(body).all


def makes_tensor(call: ir.Call, facts: Facts) -> bool:
    """True for a factory of tensors."""
    name = facts.callee(call)
    return name in functions.FACTORIES or name in functions.HOST_FACTORIES


def may_follow(body: ir.Body, first: ir.Op, second: ir.Op) -> bool:
    """True where control can come from one operation of a body to another."""
    start, end = block_of(body, first), block_of(body, second)
    return start is not None and end is not None and follows(body, (start, first), (end, second))


def is_literal_device(register: ir.Register | None, facts: Facts) -> bool:
    """True for a device spelled in place: "cuda:0", 0, torch.device("cuda")."""
    written = facts.definition(register)
    if isinstance(written, ir.Constant):
        return True
    if isinstance(written, ir.FormattedString):
        return False
    if isinstance(written, ir.Call) and facts.callee(written) == "torch.device":
        return all(isinstance(facts.definition(argument.value), ir.Constant) for argument in written.arguments)
    return False


def moves_nothing(call: ir.Call, facts: Facts) -> bool:
    """True for `.cuda()` or `.to(...)` of a module without parameters and buffers, such as `nn.CrossEntropyLoss()`: it does nothing, on no machine."""
    module = facts.value(facts.receiver(call))
    if (
        module.kind is not Kind.MODULE
        or module.symbol not in modules.EMPTY_MODULES
        or not isinstance(module.origin, ir.Call)
    ):
        return False
    made = module.origin
    weighted = bool(made.arguments) and (
        made.has_splat or any(a.keyword in (None, "weight", "pos_weight") for a in made.arguments)
    )
    return not (module.symbol in modules.WEIGHTED_LOSSES and weighted)


def literal_accelerator(call: ir.Call, facts: Facts) -> Device | None:
    """The accelerator that a `.cuda()`, `.to("cuda")` or `f(device="cuda")` spells literally, or None."""
    name = facts.callee(call)
    if name in (".cuda", ".to") and moves_nothing(call, facts):
        return None
    if name == ".cuda":
        register = call.argument("device", 0)
        if register is not None and not is_literal_device(register, facts):
            return None
        device = facts.target_of_move(call)
        return device if device is not None and device.is_accelerator else None
    if name == ".to":
        register = call.keyword("device")
        register = call.positional(0) if register is None else register
    else:
        register = call.keyword("device")
    return accelerator_in(register, facts.body, facts.analysis)


def only_plain_bases(summary: ClassSummary, analysis: FileFacts) -> bool:
    """True when every base resolves, within the file, to `nn.Module` or a plain container of it, and nothing answers for unknown attributes."""
    in_file = {base.cls.name for base in summary.base_summaries}
    written = summary.cls.bases
    if not written or "__getattr__" in summary.cls.methods or "__getattribute__" in summary.cls.methods:
        return False
    for spelled, resolved in zip(written, summary.bases, strict=True):
        if spelled not in in_file and resolved not in modules.PLAIN_BASES:
            return False
    return all(only_plain_bases(base, analysis) for base in summary.base_summaries)


def moves_itself(summary: ClassSummary, analysis: FileFacts) -> bool:
    """True when a method of the class calls `self.to(...)` or `self.cuda(...)`."""
    methods = (body for one in (summary, *summary.ancestors) for body in one.cls.methods.values())
    indices = map(analysis.index_of, methods)
    return any(one.self_name and one.use(one.self_name).attributes & {"to", "cuda"} for one in indices)


def asks_for_other_start(call: ir.Call, facts: Facts) -> bool:
    """True for a call that starts processes in another way than by fork: "spawn", "forkserver", or one that nobody sees here."""
    if facts.callee(call).rpartition(".")[2] in ("set_start_method", "get_context"):
        register = call.argument("method", 0)
    else:
        register = call.keyword("multiprocessing_context")
        if register is None:
            return False
    return register is None or facts.constant(register) not in ("fork", None)


def variable_set(op: ir.Op, facts: Facts) -> str:
    """The environment variable that an operation sets: `os.environ[name] = value`, `os.putenv(name, value)`; "" for another one."""
    name: object = ""
    if isinstance(op, ir.StoreSubscript) and facts.qualified(op.object) == "os.environ":
        name = facts.constant(op.index)
    elif isinstance(op, ir.Call) and facts.callee(op) in ("os.environ.setdefault", "os.putenv"):
        name = facts.constant(op.positional(0))
    return name if isinstance(name, str) else ""


def tensors_within(value: Value) -> Iterator[Value]:
    """The tensors that a value is or holds."""
    if value.kind is Kind.TENSOR:
        yield value
    elif value.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT):
        yield from (item for item in value.held if item.kind is Kind.TENSOR)


def runs_for_each_gpu(call: ir.Call, facts: Facts) -> bool:
    """True in a loop over the devices that there are, `for index in range(torch.cuda.device_count())`: without one it has no turn."""
    lookup, turns = Lookup.of(facts.body), Cfg.of(facts.body).turns
    around = [turns[number] for number in facts.block.loops if number in turns]
    if any(_counts_devices(turn.iterable, facts) for turn in (*around, *lookup.turns(facts.block))):
        return True
    read = {op.name for op in map(facts.definition, (a.value for a in call.arguments)) if isinstance(op, ir.Load)}
    return any(
        isinstance(source := facts.definition(op.value), ir.Iterate) and _counts_devices(source.iterable, facts)
        for name in read
        for op in lookup.stores(name)
    )


def _counts_devices(register: ir.Register, facts: Facts) -> bool:
    pending, seen = [register], set[ir.Register]()  # `it = iter(it)` is written with itself
    while pending:
        at = pending.pop()
        written = facts.definition(at) if at not in seen else None
        seen.add(at)
        if isinstance(written, ir.Load):  # `count = torch.cuda.device_count()`
            stores = Lookup.of(facts.body).stores(written.name)
            pending += [stores[0].value] if len(stores) == 1 else []
        elif isinstance(written, ir.Call):
            if facts.callee(written).endswith("device_count"):
                return True
            pending += [argument.value for argument in written.arguments]
    return False


# What gives the items of its arguments, in another container or order.
_KEEPS_ITEMS = frozenset("sum zip list tuple reversed sorted enumerate chain from_iterable".split())


def is_made_of(register: ir.Register, wanted: set[ir.Register], body: ir.Body, facts: Facts) -> bool:
    """True for what is put together of one of these values: `*self.x`, `self.x.values()`, `sum(zip(self.x, others), ())[:-1]`, also by a name, and by what is
    taken of it one by one."""
    index = facts.analysis.index_of(body)
    left, seen = [register], set[ir.Register]()
    while left:
        register = left.pop()
        if register in wanted:
            return True
        if register in seen:
            continue
        seen.add(register)
        op = index.definitions[register]
        if isinstance(op, ir.Call):
            function, name = index.definitions[op.function], Lookup.of(body).called(op)
            if isinstance(function, ir.Attribute) and name in ("values", "items", "copy"):
                left.append(function.object)
            elif name in _KEEPS_ITEMS or (isinstance(function, ir.Load) and len(op.arguments) == 1):
                left += [argument.value for argument in op.arguments]
        elif isinstance(op, ir.Subscript):
            left.append(op.object)
        elif isinstance(op, (ir.Binary, ir.Sequence, ir.Comprehension, ir.Unpack, ir.Iterate)):
            left += reads(op)
        elif isinstance(op, ir.Load):
            left += index.stored.get(op.name, ())
    return False
