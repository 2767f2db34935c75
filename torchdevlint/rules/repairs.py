"""The repair of what a claim tells of: where the tensor is to be made instead, or what is to be brought to the CPU.

The words of a finding and its edits name the same expression. Where nothing in scope names the device, there is no repair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.devices import TOP
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.frame import Frame
from torchdevlint.facts.naming import as_written
from torchdevlint.facts.once import once_per_body
from torchdevlint.facts.scopes import owner_of
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.infer.analysis import OWN_SELF
from torchdevlint.infer.claims import RETURNED
from torchdevlint.infer.summary import Fault
from torchdevlint.infer.units import Unit
from torchdevlint.infer.values import Place, Site, Term, index_of, is_accelerator, is_elsewhere
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.program.order import block_of
from torchdevlint.rules.rule import NodeFix
from torchdevlint.rules.structure import makes_tensor, operations
from torchdevlint.rules.ways import handed_on
from torchdevlint.rules.wording import is_surely_tensor, may_be_none, operands_of
from torchdevlint.stubs.knowledge import functions


class There(NamedTuple):
    """An expression that names the other tensor's device where this one is made. `exact`: it is the very device, and none that is taken for it."""

    expression: str
    exact: bool


def facts_at(site: Site, facts: Facts) -> Facts | None:
    """The facts of the body that a site stands in, of this file."""
    if site.body is None or site.body not in facts.program.bodies:
        return None
    block = block_of(site.body, site.op)
    return Facts(facts.analysis, Frame(facts.analysis, site.body, site.op, block), block)


def device_there(fault: Fault, facts: Facts) -> There | None:
    """How to spell the device of the tensor that is met where the one on the CPU is made."""
    made = fault.place
    inside = facts_at(made, facts)
    if inside is None or made.body is None or fault.host is None or fault.beside is not None:
        return None
    if _is_told_where(made.op, made.body):
        return None  # the caller decides
    place = _place_met(fault)
    parameter = _parameter_met(made, place)
    if parameter is not None:
        is_device, name = parameter
        if may_be_none(name, made.op, inside):
            return None
        return There(name if is_device else f"{name}.device", exact=True)
    nearest = inside.nearest_device(made.op)
    if nearest is not None and (
        _is_chosen_or_open(nearest, inside) or _is_given_before(nearest, fault.site, made.body)
    ):
        return There(nearest, exact=_is_that(nearest, place, inside))
    if inside.in_forward and place == OWN_SELF:
        for given in made.body.parameters[1:]:
            if given.default is None and is_surely_tensor(given.name, inside):
                return There(f"{given.name}.device", exact=True)
    beside = _variable_beside(made.op, fault.site.op, made.body) if fault.site.body is made.body else None
    return There(f"{beside}.device", exact=inside.in_forward) if beside is not None else None


def _is_told_where(made: ir.Op, body: ir.Body) -> bool:
    """True for a factory that is given a device by a variable: `torch.zeros(3, device=device)`."""
    given = made.keyword("device") if isinstance(made, ir.Call) else None
    return given is not None and isinstance(Lookup.of(body).definition(given), ir.Load)


def _is_that(nearest: str, place: Place, inside: Facts) -> bool:
    """True for a variable that holds the device which the program has chosen, or named, for the other tensor."""
    device = inside.frame.lookup(nearest).device if nearest.isidentifier() else TOP
    if not is_elsewhere(place) or index_of(place):
        return False
    return device.chosen or (is_accelerator(place) and device.is_accelerator)


def _is_chosen_or_open(name: str, inside: Facts) -> bool:
    """False for a variable that names an accelerator: only a program that uses it fails without one."""
    device = inside.frame.lookup(name).device if name.isidentifier() else TOP
    return device.chosen or not device.is_accelerator


def _is_given_before(name: str, met: Site, body: ir.Body) -> bool:
    """True where a call that is always made before the tensors meet is given this variable."""
    lookup, cfg = Lookup.of(body), Cfg.of(body)
    given = [call for call in lookup.kind(ir.Call) for one in call.arguments if _reads_name(lookup, one.value, name)]
    return any(met.body is not body or cfg.dominates(call, met.op) for call in given)


def _reads_name(lookup: Lookup, register: ir.Register, name: str) -> bool:
    written = lookup.definition(register)
    return isinstance(written, ir.Load) and written.name == name


def _place_met(fault: Fault) -> Place:
    """Where the other tensor is, as the function itself sees it; of a model that nobody can look into, where it was moved."""
    place = (fault.seen_inside or fault.other).device
    inner: Place = place.args[0] if isinstance(place, Term) and place.op == "near" else place
    return inner


def _parameter_met(made: Site, other: Place) -> tuple[bool, str] | None:
    """The parameter, never bound anew, that is the device of the other tensor (True), or on whose device that is."""
    if made.body is None or not isinstance(other, Term) or other.op not in ("own", "as_device"):
        return None
    parameter = other.args[0]
    if not isinstance(parameter, Term) or parameter.op != "parameter" or parameter.args[0] is not made.body:
        return None
    name: str = parameter.args[1]
    if any(op.name == name for op in Lookup.of(made.body).kind(ir.Store)):
        return None
    return other.op == "as_device", name


def is_moved_only(fault: Fault, facts: Facts) -> bool:
    """True for what takes no `device=`: it is moved with `.to(...)` once it was made."""
    inside = facts_at(fault.place, facts)
    made = fault.place.op
    return inside is None or not isinstance(made, ir.Call) or not _takes_device(made, inside)


def repair_of(fault: Fault, there: There | None, facts: Facts) -> NodeFix | None:
    """The edits that repair a fault; None where nobody can be sure of them."""
    if fault.kind == "host":
        return _value_on_host(fault, facts)
    if fault.kind == "index":
        return _index_on_host(fault, facts)
    inside = facts_at(fault.place, facts)
    made = fault.place.op
    if there is None or inside is None or not isinstance(made, ir.Call) or fault.is_of_module:
        return None
    ground = _ground(fault, there, inside)
    if made.keyword("pin_memory") is not None or "pin_memory" in Lookup.of(inside.body).attributes_of(made.dst):
        return None  # what is pinned stays on the host
    if makes_tensor(made, inside):
        return _make_there(made, there.expression, ground, inside) if made.keyword("device") is None else None
    if inside.value(made.dst).kind is not Kind.BATCH_ENCODING or fault.host is None or fault.host.implicit == "batch":
        return None
    edits = builders.wrap_method(made, "to", there.expression)
    return NodeFix(ground, f"Move it with `.to({there.expression})`", edits)


def _ground(fault: Fault, there: There, inside: Facts) -> Ground:
    """Why the tensor may be made where the other one is: the program raised elsewhere, or names that very device."""
    place = _place_met(fault)
    is_guessed = place is not (fault.seen_inside or fault.other).device and fault.roles[0] != "input"
    is_of_unseen = (
        fault.roles[0] == "argument"
    )  # of what nobody can look into, and which may read some of them on the host
    if not there.exact or is_guessed or is_of_unseen or fault.roles == RETURNED:
        return Ground.UNSEEN_CODE
    if inside.in_forward and (place == OWN_SELF or (isinstance(place, Term) and place.op == "own")):
        return Ground.OLD_LINE_RAISED
    is_named = not isinstance(place, Term) or place.op == "as_device"
    is_local = fault.place.body is fault.site.body or fault.roles[0] == "kept weight"
    return Ground.MOVE_DOES_NOTHING if is_named and is_local else Ground.UNSEEN_CODE


# ---------------------------------------------------------------------------------------------------- what must be on the CPU


def _value_on_host(fault: Fault, facts: Facts) -> NodeFix | None:
    """`.cpu()` on what NumPy, or an argument that is read on the host, is given."""
    handed = handed_on(fault) if fault.place is not fault.site else None
    place = fault.site if handed is None else handed[0]
    inside, call = facts_at(place, facts), place.op
    if inside is None or not isinstance(call, ir.Call):
        return None
    role = fault.roles[1] if handed is None else ""
    register = read_on_host(call, role, inside) if handed is None else handed[1]
    if register is None:
        return None
    detach = role != "lengths" and inside.value(register).needs_grad and not inside.no_grad
    if role == "method":
        edits = builders.detach_to_host(call, receiver=True) if detach else builders.insert_method_before(call, "cpu")
    else:
        given = inside.definition(register)
        edits = builders.detach_to_host(given, receiver=False) if detach else builders.wrap_method(given, "cpu")
    return NodeFix(Ground.MOVE_DOES_NOTHING, "Copy it to host memory first", edits)


_LENGTHS = {"pack_padded_sequence": ("lengths", 1), "tensor_split": ("tensor_indices_or_sections", 1)}


def read_on_host(call: ir.Call, role: str, inside: Facts) -> ir.Register | None:
    """The operand that is read on the host: what the method is called on, the argument by its place, or the one that may be a tensor."""
    if role == "method":
        return inside.receiver(call)
    name = inside.callee(call)
    if role == "lengths":
        keyword, position = _LENGTHS.get(name.rpartition(".")[2], ("", 0))
        return call.argument(keyword, position - name.startswith(".")) if keyword else None
    given = [argument.value for argument in call.arguments if not argument.star]
    tensors = [register for register in given if _may_be_tensor(inside.value(register))]
    return tensors[0] if len(tensors) == 1 else None


def _may_be_tensor(value: Value) -> bool:
    return value.kind in (Kind.TENSOR, Kind.UNKNOWN)


def _index_on_host(fault: Fault, facts: Facts) -> NodeFix | None:
    """`.cpu()` on the one index that is a tensor."""
    inside, op = facts_at(fault.site, facts), fault.site.op
    if inside is None or not isinstance(op, ir.Subscript):
        return None
    written = inside.definition(op.index)
    index = written
    if isinstance(written, ir.Sequence):
        tensors = [e.value for e in written.elements if inside.value(e.value).kind is Kind.TENSOR]
        index = inside.definition(tensors[0]) if len(tensors) == 1 else None
    edits = builders.wrap_method(index, "cpu") if index is not None else None
    # What a caller has made may have to be made elsewhere: who goes on with it here may want it beside the index.
    ground = Ground.UNSEEN_CODE if fault.chain else Ground.MOVE_DOES_NOTHING
    return NodeFix(ground, "Bring the index to the CPU", edits)


# ---------------------------------------------------------------------------------------------------- attributes of modules


def store_of(fault: Fault, facts: Facts) -> Site | None:
    """Where a module keeps the tensor: the one store of the attribute, in the file where it is made."""
    host = fault.host
    made = host.origin if host is not None else None
    if host is None or made is None or not host.kept or made.unit is not fault.told_at.unit:
        return None
    owners = (owner_of(body) for body in (made.body, fault.site.body))
    near = [cls for cls in owners if cls is not None and cls in facts.program.classes]
    others = facts.program.classes if owner_of(made.body) is None else ()  # a function makes it for one of them
    for classes in (*([cls] for cls in dict.fromkeys(near)), others):
        stores = [store for cls in classes for store in _stores(host.kept, cls, made.unit, facts)]
        setup = [site for site in stores if site.body is not None and site.body.name == "__init__"]
        if stores:
            return (setup or stores)[0] if len(setup or stores) == 1 else None
    return None


def _stores(name: str, cls: ir.Class, unit: Unit, facts: Facts) -> Iterator[Site]:
    """Where a module keeps a tensor under a name."""
    for method in cls.methods.values() if facts.analysis.summary_of(cls).is_module else ():
        for op in Lookup.of(method).kind(ir.StoreAttribute):
            if op.name == name and not _is_something_else(op.value, method, facts):
                yield unit.site(op, method)


def _is_something_else(register: ir.Register, body: ir.Body, facts: Facts) -> bool:
    """True for what is no tensor yet (`self.centroids = None`), and for a Parameter that is made in another branch."""
    written = facts.analysis.index_of(body).definitions[register]
    made = facts.analysis.spelled(written.function, body) if isinstance(written, ir.Call) else ""
    return isinstance(written, ir.Constant) or made.rpartition(".")[2] in ("Parameter", "Buffer")


def buffer_instead(store: Site, facts: Facts) -> NodeFix | None:
    """`register_buffer` where the constructor alone stores the attribute."""
    body, op = store.body, store.op
    if body is None or body.owner is None or not isinstance(op, ir.StoreAttribute) or body.name != "__init__":
        return None
    summary, inside = facts.analysis.summary_of(body.owner), facts_at(store, facts)
    if inside is None or len(summary.stores_of(op.name)) != 1 or op.name in summary.cls.body.local_names:
        return None
    value = inside.value(op.value)
    made = value.origin
    wanted = made.keyword("requires_grad") if isinstance(made, ir.Call) else None
    if value.kind is not Kind.TENSOR or (wanted is not None and inside.constant(wanted) is True):
        return None  # a buffer is no leaf any more once it was moved
    edits = builders.register_buffer(facts.program, op)
    return NodeFix(Ground.CHANGES_A_RUN, f"Register `{op.name}` as a buffer", edits)


def _variable_beside(made: ir.Op, met: ir.Op, body: ir.Body) -> str | None:
    """The variable that an operation (`variable / made`, `torch.cat((variable, made))`) takes besides a tensor that is made in it.

    None where there is none, where there are more operands than two, or where the variable may not be bound when the tensor is made.
    """
    lookup = Lookup.of(body)
    operands = [lookup.definition(register) for register in _operands(met, lookup)]
    others = [op for op in operands if op is not made]
    if len(operands) != 2 or len(others) != 1 or not isinstance(others[0], ir.Load):
        return None
    name = others[0].name
    return as_written(name) if Cfg.of(body).definitely_bound(name, made) else None


def _operands(met: ir.Op, lookup: Lookup) -> list[ir.Register]:
    """The registers of an operator, or of the tuple or list that a function is given first."""
    display = lookup.definition(met.arguments[0].value) if isinstance(met, ir.Call) and met.arguments else None
    if isinstance(display, ir.Sequence) and not any(element.starred for element in display.elements):
        return reads(display)
    return reads(met) if isinstance(met, (ir.Binary, ir.Compare)) else []


def _make_there(made: ir.Call, expression: str, ground: Ground, facts: Facts) -> NodeFix | None:
    """The fix that makes the tensor of a factory on another device, with every CPU tensor that it meets on the way (`torch.cat([made, ones])`).

    None where one of them cannot be made there. Complete only once the file was analysed.
    """
    edits: builders.Edits | None = ()
    together = _fellows(made, facts)
    for call in together or ():
        given = _takes_device(call, facts)
        new = (
            builders.add_keyword(call, "device", expression) if given else builders.wrap_method(call, "to", expression)
        )
        edits = builders.combine(edits, new)
    how = f"Create it with `device={expression}`" if _takes_device(made, facts) else f"Move it with `.to({expression})`"
    return NodeFix(ground, how, edits)


def _fellows(made: ir.Call, facts: Facts) -> list[ir.Call] | None:
    """A factory call and all those whose CPU tensors meet its own in this body; None where one of them is no factory or was moved by hand."""
    found, known = [made], {id(made)}
    met = _met_by_origin(facts.body, facts)
    for call in found:  # grows while it is walked
        for origins in met.get(id(call), ()):
            for other in origins:
                if other is None or id(other) in known:
                    continue
                if not isinstance(other, ir.Call) or not facts.makes(other) or other.keyword("device") is not None:
                    return None
                if not makes_tensor(other, facts):
                    return None
                known.add(id(other))
                found.append(other)
    return found


@once_per_body
def _met_by_origin(body: ir.Body, facts: Facts) -> dict[int, list[list[ir.Op | None]]]:
    """By what made a CPU tensor of a body: the makers of all CPU tensors in each operation that takes it. Complete once the file was analysed."""
    found: dict[int, list[list[ir.Op | None]]] = {}
    behind = Facts(facts.analysis, facts.analysis.frame_of(body))
    for op in operations(body):
        tensors = operands_of(op, behind)
        if len(tensors) < 2:
            continue
        origins = [part.origin for _, value in tensors for part in value.parts if part.is_fresh_cpu and part.rank != 0]
        for origin in {id(origin): origin for origin in origins if origin is not None}:
            found.setdefault(origin, []).append(origins)
    return found


def _takes_device(made: ir.Call, facts: Facts) -> bool:
    """True when the factory has a `device` keyword, in every release."""
    name = facts.callee(made)
    return facts.makes(made) and name in functions.FACTORIES and not name.endswith("generate_square_subsequent_mask")
