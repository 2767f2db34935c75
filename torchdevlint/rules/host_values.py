"""What is certainly on the CPU, or no tensor at all, by how it is written: what `.cpu()` gave, numbers, texts, and what is put together of such."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.flow.facts import Facts
from torchdevlint.flow.knowledge.checkpoints import COUNTERS, PLAIN_STATE
from torchdevlint.program import ir
from torchdevlint.rules.callers import Site, argument_given, calls_of
from torchdevlint.rules.order import block_of, deciding_sides, leads_through
from torchdevlint.rules.paths import last_name, spelling
from torchdevlint.rules.structure import operations

_DEPTH = 12
_LIBRARIES = ("numpy.", "time.", "json.", "datetime.", "os.")
# What gives no tensor, or one on the CPU, whatever it is given.
_PLAIN = frozenset(
    "cpu numpy tolist item int float str len bool range sorted vars type repr format round dumps asdict".split()
)
# What gives something where its parts are.
_KEEPS = frozenset("dict list tuple set OrderedDict deepcopy copy max min".split())
_OF_PAIRS = frozenset({"dict", "OrderedDict"})
_KEEPS_RECEIVER = frozenset("state_dict detach clone float half contiguous copy items values keys".split())
_FILLS = frozenset({"update", "append", "extend", "setdefault", "insert"})
_TO_CPU = re.compile(r"(?:\A|_)cpu(?:_|\Z)")
_COUNTERS = COUNTERS | {"best_acc", "name"}


class _Place(NamedTuple):
    """Where a value is asked for: before an operation of a body. `seen` are the names that are being asked for already, each with its body."""

    body: ir.Body
    facts: Facts
    before: ir.Op
    seen: frozenset[tuple[int, str]] = frozenset()

    def definition(self, register: ir.Register) -> ir.Op | None:
        return self.facts.analysis.index_of(self.body).definitions[register]


def is_on_host(register: ir.Register | None, site: Site) -> bool:
    """True when what a call is given is certainly on the CPU, or no tensor; False where it is not known."""
    return register is not None and _is_on_host(register, _Place(site.body, site.facts, site.call))


def _is_on_host(register: ir.Register, place: _Place) -> bool:
    if len(place.seen) > _DEPTH:
        return False
    written = place.definition(register)
    if isinstance(written, (ir.Constant, ir.FormattedString, ir.Compare)):
        return True
    if isinstance(written, ir.Load):
        return written.name in _COUNTERS or _is_name_on_host(written.name, place)
    if isinstance(written, ir.Attribute):
        return written.name in _COUNTERS or _is_moved_here(spelling(register, place.body, place.facts), place)
    if isinstance(written, ir.Subscript):
        text = spelling(register, place.body, place.facts)
        return _is_moved_here(text, place) or _is_on_host(written.object, place)
    if isinstance(written, ir.Call):
        return _is_result_on_host(written, place)
    parts = _parts(written)
    return parts is not None and all(_is_on_host(part, place) for part in parts)


def _parts(written: ir.Op | None) -> tuple[ir.Register, ...] | None:
    """What a value is put together of; None where that is not known."""
    if isinstance(written, ir.Binary):
        return written.left, written.right
    if isinstance(written, ir.Unary):
        return (written.operand,)
    if isinstance(written, ir.AugmentedAssign):
        return (written.value,)
    if isinstance(written, (ir.Choice, ir.Mapping)):
        return written.values
    if isinstance(written, ir.Sequence):
        return tuple(element.value for element in written.elements)
    return (written.value,) if isinstance(written, ir.Comprehension) else None


def _is_result_on_host(call: ir.Call, place: _Place) -> bool:
    name = last_name(call, place.body, place.facts)
    dotted = place.facts.analysis.index_of(place.body).dotted(call.function)
    if name in _PLAIN or _TO_CPU.search(name) or place.facts.analysis.resolve_text(dotted).startswith(_LIBRARIES):
        return True
    if name == "to":
        return _names_cpu(call.argument("device", 0), place)
    method = place.definition(call.function)
    if isinstance(method, ir.Attribute) and name in _KEEPS_RECEIVER:
        receiver = place.definition(method.object)
        if isinstance(receiver, (ir.Load, ir.Attribute)) and PLAIN_STATE.search(receiver.name):
            return name == "state_dict"
        return _is_on_host(method.object, place)
    if name not in _KEEPS:
        return False
    given = [_values_of_pairs(argument.value, place) if name in _OF_PAIRS else None for argument in call.arguments]
    return all(
        _is_on_host(argument.value if values is None else values, place)
        for argument, values in zip(call.arguments, given, strict=True)
    )


def _values_of_pairs(register: ir.Register, place: _Place) -> ir.Register | None:
    """What becomes the values of a dict that is made of pairs: `v.cpu()` of `[[k, v.cpu()] for k, v in state.items()]`; None for anything else."""
    pairs = place.definition(register)
    pair = place.definition(pairs.value) if isinstance(pairs, ir.Comprehension) else None
    if not isinstance(pair, ir.Sequence) or len(pair.elements) != 2:
        return None
    return pair.elements[1].value


def _names_cpu(register: ir.Register | None, place: _Place) -> bool:
    """True for "cpu" and `torch.device("cpu")`."""
    written = None if register is None else place.definition(register)
    if isinstance(written, ir.Call) and len(written.arguments) == 1:
        written = place.definition(written.arguments[0].value)
    return isinstance(written, ir.Constant) and written.value == "cpu"


def _is_name_on_host(name: str, place: _Place) -> bool:
    """True when all that is bound to a name, or stored below it, is on the host; for a parameter, when each call gives such."""
    if (id(place.body), name) in place.seen:
        return True  # `state["step"] = state["step"] + 1`
    if _is_moved_here(name, place):
        return True
    place = place._replace(seen=place.seen | {(id(place.body), name)})
    bound = place.facts.analysis.index_of(place.body).bound_to(name)
    is_parameter = any(parameter.name == name for parameter in place.body.parameters)
    if not bound and not is_parameter:
        parent = place.body.parent
        return parent is not None and _is_name_on_host(name, place._replace(body=parent))
    fills = list(_fills(name, place))
    if any(_renews_all(fill, name, place) for fill in fills):
        return True
    if not all(_is_on_host(value, place) for op in fills for value in _filled(op)):
        return False
    if len(bound) == 1 and _is_module_that_stays(bound[0], place):
        return True
    return all(_is_on_host(value, place) for value in bound) and (not is_parameter or _is_given_host(name, place))


def _is_module_that_stays(register: ir.Register, place: _Place) -> bool:
    """True for a module of `torch.nn` that is made in a file in which nothing is moved."""
    made = place.definition(register)
    if not isinstance(made, ir.Call) or place.facts.mentions("cuda", "to", "device"):
        return False
    index = place.facts.analysis.index_of(place.body)
    return place.facts.analysis.resolve_text(index.dotted(made.function)).startswith("torch.nn.")


def _is_given_host(name: str, place: _Place) -> bool:
    """True when functions call this one, and each gives what is on the host as a parameter."""
    sites = list(calls_of(place.body, place.facts))
    given = [(argument_given(site, place.body, name), site) for site in sites]
    return bool(given) and all(
        register is not None and _is_on_host(register, _Place(site.body, site.facts, site.call, place.seen))
        for register, site in given
    )


def _fills(name: str, place: _Place) -> Iterator[ir.StoreSubscript | ir.Call]:
    """What stores something in the value of a name, also below its keys, in branches that somebody takes."""
    for block in place.body.blocks:
        for op in block.ops:
            if isinstance(op, ir.StoreSubscript):
                stored_in = op.object
            elif isinstance(op, ir.Call) and last_name(op, place.body, place.facts) in _FILLS:
                method = place.definition(op.function)
                if not isinstance(method, ir.Attribute):
                    continue
                stored_in = method.object
            else:
                continue
            if _root(stored_in, place) == name and not _is_left_out(block, place):
                yield op


def _filled(op: ir.StoreSubscript | ir.Call) -> tuple[ir.Register, ...]:
    return (op.value,) if isinstance(op, ir.StoreSubscript) else tuple(argument.value for argument in op.arguments)


def _root(register: ir.Register, place: _Place) -> str:
    """The name below whose keys something is: "payload" for `payload["state"][key]`."""
    written = place.definition(register)
    while isinstance(written, ir.Subscript):
        written = place.definition(written.object)
    return written.name if isinstance(written, ir.Load) else ""


def _is_left_out(block: ir.Block, place: _Place) -> bool:
    """True in the branch for the other side of a parameter's default, which no call changes."""
    for test, side in deciding_sides(place.body, block):
        written = place.definition(test)
        for parameter in place.body.parameters:
            if not isinstance(written, ir.Load) or parameter.name != written.name or parameter.default is None:
                continue
            parent = place.body.parent
            default = None if parent is None else place.facts.analysis.index_of(parent).definitions[parameter.default]
            if isinstance(default, ir.Constant) and bool(default.value) is not side:
                return all(
                    not site.call.has_splat and argument_given(site, place.body, parameter.name) is None
                    for site in calls_of(place.body, place.facts)
                )
    return False


def _renews_all(fill: ir.StoreSubscript | ir.Call, name: str, place: _Place) -> bool:
    """True for `state[key] = state[key].cpu()` in a loop over the keys of `state`."""
    if not isinstance(fill, ir.StoreSubscript):
        return False
    moved = place.definition(fill.value)
    is_moved = isinstance(moved, ir.Call) and last_name(moved, place.body, place.facts) in ("cpu", "to")
    block = block_of(place.body, fill)
    return (
        is_moved
        and block is not None
        and bool(block.loops)
        and _is_on_host(fill.value, place)
        and any(
            isinstance(op, ir.Iterate)
            and re.search(rf"(?<![\w.]){re.escape(name)}\b", spelling(op.iterable, place.body, place.facts))
            for op in operations(place.body)
        )
    )


def _is_moved_here(text: str, place: _Place) -> bool:
    """True where every path here has moved a module in place, and with it the one that a wrapper holds: `net.cpu()`."""
    end = block_of(place.body, place.before)
    texts = {text, text.removesuffix(".module")}
    return (
        bool(text)
        and end is not None
        and any(
            isinstance(op, ir.Call)
            and isinstance(method := place.definition(op.function), ir.Attribute)
            and method.name == "cpu"
            and spelling(method.object, place.body, place.facts) in texts
            and leads_through(place.body, block, end)
            and (block is not end or block.ops.index(op) < block.ops.index(place.before))
            for block in place.body.blocks
            for op in block.ops
        )
    )
