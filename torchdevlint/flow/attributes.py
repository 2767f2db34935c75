"""The attributes of self across the methods of a class: what is stored, registered, read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.flow import class_shape, entries, index, module_calls, values
from torchdevlint.flow.devices import CPU, TOP, symbolic
from torchdevlint.flow.facts import AttributeStore, ClassSummary
from torchdevlint.flow.naming import looks_like_device
from torchdevlint.flow.summaries import substitute
from torchdevlint.flow.values import NOTHING, OTHER, UNKNOWN, Evidence, Kind, Value, replace, tensor
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.flow.analysis import Analysis
    from torchdevlint.flow.frame import Frame


def store(analysis: Analysis, summary: ClassSummary, store: AttributeStore) -> Value:
    """Note `self.name = value`; gives the value as the method sees it from now on."""
    name, value = store.op.name, store.value
    known = summary.stores.setdefault(name, [])
    for at, old in enumerate(known):
        if old.op is store.op:
            known[at] = store
            break
    else:
        known.append(store)
    analysis.attribute_cache.pop((id(summary), name), None)
    if value.kind is Kind.TENSOR and value.symbol in ("parameter", "buffer"):
        (summary.parameters if value.symbol == "parameter" else summary.buffers).add(name)
        return replace(value, device=symbolic("self"), origin=None, others=(), evidence=Evidence.STRONG, attribute=name)
    if value.kind is Kind.TENSOR and summary.is_module and store.body.name in summary.first_methods:
        made = _computed_from_module(analysis, store)
        if made is not None:
            store.value = replace(value, device=CPU, origin=made, moved=None, others=(), attribute="", parameter="")
        elif value.device.name == "self" and isinstance(_written(analysis, store), ir.Call):
            store.value = replace(
                value, device=TOP
            )  # a Parameter follows the module, what was computed from one does not
    if value.kind is Kind.MODULE and summary.is_module:
        return replace(
            value,
            device=symbolic("self") if value.device in (CPU, TOP) else value.device,
            ref=f"self.{name}",
            attribute=name,
        )
    return value


def _computed_from_module(analysis: Analysis, store: AttributeStore) -> ir.Op | None:
    """The operation that made a stored tensor of parameters or buffers: the result stays where those were in the constructor."""
    value = store.value
    if value.device.name != "self" or value.others or value.symbol or value.rank == 0:
        return None
    made = _written(analysis, store)
    if isinstance(made, (ir.Binary, ir.Subscript)):
        return made
    written = analysis.index_of(store.body).definitions[made.function] if isinstance(made, ir.Call) else None
    # A function may give the Parameter itself, which is registered by the assignment; a tensor's method gives a new tensor.
    computes = isinstance(written, ir.Attribute) and written.name in entries.GIVE_NEW_TENSORS
    return made if computes else None


def _written(analysis: Analysis, store: AttributeStore) -> ir.Op | None:
    """The operation whose result is stored, also through a name that is bound once."""
    found = analysis.index_of(store.body)
    made = found.definitions[store.op.value]
    return found.bound_once(made.name) if isinstance(made, ir.Load) else made


def register(analysis: Analysis, frame: Frame, op: ir.Call, method: str, summary: ClassSummary) -> Value:
    """`self.register_buffer(name, tensor)`, `self.register_parameter`, and a metric's `self.add_state(name, default)`."""
    first = op.argument("name", 0)
    name = frame.values[first].constant if first is not None else NOTHING
    default = op.argument("default", 1) if method == "add_state" else None
    if isinstance(name, str) and default is not None and frame.values[default].kind is Kind.LIST:
        summary.lists.add(name)
        analysis.attribute_cache.pop((id(summary), name), None)
    elif isinstance(name, str):
        (summary.parameters if method == "register_parameter" else summary.buffers).add(name)
        second = default or (op.argument("tensor", 1) if method == "register_buffer" else op.argument("param", 1))
        rank = frame.values[second].rank if second is not None else None
        frame.store_place(
            f"{frame.index.self_name}.{name}",
            tensor(symbolic("self"), rank=rank, evidence=Evidence.STRONG, attribute=name),
        )
        analysis.attribute_cache.pop((id(summary), name), None)
    return OTHER


def of_self(analysis: Analysis, frame: Frame, summary: ClassSummary, name: str, place: str) -> Value:
    """What `self.name` holds on entry of a method."""
    if name == "device" and not summary.stores_of("device"):
        return Value(Kind.DEVICE, symbolic(place or "self.device"))
    method = summary.method(name)
    if method is not None and name != "device" and class_shape.is_property(method):
        return substitute(analysis.returned_by(frame, method), {}, symbolic("self"), 0)
    key = (id(summary), name)
    found = analysis.attribute_cache.get(key)
    if found is None:
        found = analysis.attribute_cache[key] = _attribute(analysis, summary, name)
    if found.kind is Kind.DICT:
        return entries.seen_from(analysis, frame.body, summary, name, found)
    if found.kind is Kind.UNKNOWN and place:
        kind, evidence = frame.index.use(place).kind()
        if kind is Kind.UNKNOWN and frame.index.use(place).called:
            kind, evidence = _kind_in_class(analysis, summary, name)
        if kind is Kind.MODULE:
            return Value(
                kind, symbolic("self") if summary.is_module else TOP, ref=place, evidence=evidence, attribute=name
            )
        if kind is Kind.OPTIMIZER:
            return Value(kind, evidence=evidence)
        if found.moved is not None and frame.index.use(place).is_module_call:
            return replace(module_calls.called_after_move(found, place), attribute=name)
        if looks_like_device(name):
            return Value(Kind.DEVICE, symbolic(place))
        stores = summary.stores_of(name)
        is_function = any(store.value.kind is Kind.FUNCTION for store in stores)
        if summary.is_module and stores and not is_function and frame.index.use(place).called:
            # Stored from an argument and called: a submodule.
            return Value(Kind.MODULE, symbolic("self"), ref=place, evidence=Evidence.USAGE, attribute=name)
    if (
        found.kind is Kind.DEVICE
        and found.device.place == "sym"
        and place
        and not found.device.name.startswith("self.")
    ):
        return replace(found, device=symbolic(place, chosen=found.device.chosen))
    return found


def called_elsewhere(frame: Frame, place: str) -> Value | None:
    """The module that a statement `self.net.to(device)` moves: what a method of the class calls and a statement moves is nothing else."""
    name = place.removeprefix(f"{frame.index.self_name}.")
    summary = frame.class_summary
    if summary is None or name == place or not name.isidentifier():
        return None
    for body in summary.cls.methods.values():
        found = frame.analysis.index_of(body)
        if found.self_name and found.use(f"{found.self_name}.{name}").is_module_call:
            return Value(Kind.MODULE, TOP, ref=place, evidence=Evidence.USAGE, attribute=name)
    return None


def _kind_in_class(analysis: Analysis, summary: ClassSummary, name: str) -> tuple[Kind, Evidence]:
    """What the methods of the class, taken together, tell of an attribute that one of them calls."""
    kind, evidence = index.NameUse(attributes=_used_in_class(analysis, summary).get(name, set())).kind()
    return (kind, evidence) if kind is Kind.MODULE else (Kind.UNKNOWN, Evidence.NONE)


def _used_in_class(analysis: Analysis, summary: ClassSummary) -> dict[str, set[str]]:
    """What the methods of a class, taken together, read of each attribute of self: looked up once for the class."""
    key = (_used_in_class, id(summary))
    if key not in analysis.remembered:
        used: dict[str, set[str]] = {}
        for body in summary.cls.methods.values():
            found = analysis.index_of(body)
            for path, use in found.uses.items() if found.self_name else ():
                own, dot, name = path.partition(".")
                if dot and own == found.self_name:
                    used.setdefault(name, set()).update(use.attributes)
        analysis.remembered[key] = used
    found_before: dict[str, set[str]] = analysis.remembered[key]
    return found_before


def settle(analysis: Analysis, summary: ClassSummary, body: ir.Body, env: dict[str, object]) -> None:
    """What a method stored on self is taken as the method leaves it: moved, or filled, since."""
    _settle_moves(summary, body, env)
    _settle_containers(analysis, summary, body, env)


def _settle_moves(summary: ClassSummary, body: ir.Body, env: dict[str, object]) -> None:
    """Modules that a method stored on self and then moved in a statement of its own are kept where they were moved to."""
    own = body.parameters[0].name if body.parameters else ""
    for stores in summary.stores.values():
        for store in stores:
            if store.body is not body or store.value.kind not in (Kind.MODULE, Kind.UNKNOWN):
                continue
            state = env.get("@" + (store.value.ref or f"{own}.{store.op.name}"))
            if isinstance(state, Value) and state.device.may_be_accelerator:
                store.value = replace(store.value, device=state.device, moved=state.moved)


def _settle_containers(analysis: Analysis, summary: ClassSummary, body: ir.Body, env: dict[str, object]) -> None:
    """Lists and dicts that a set-up method stored on self and then filled with tensors that it made."""
    if body.name not in summary.first_methods:
        return
    own = analysis.index_of(body).self_name
    for name, stores in summary.stores.items():
        filled = env.get(f"{own}.{name}")
        for store in stores:
            empty = store.value.kind in (Kind.LIST, Kind.DICT) and store.value.items == ()
            if store.body is body and empty and isinstance(filled, Value) and filled.kind is store.value.kind:
                element = filled.element
                if element is not None and element.is_fresh_cpu and not element.others:
                    store.value = filled
                    analysis.attribute_cache.pop((id(summary), name), None)


def _attribute(analysis: Analysis, summary: ClassSummary, name: str) -> Value:
    if summary.is_list_state(name):
        return Value(
            Kind.LIST, element=tensor(symbolic("self"), evidence=Evidence.STRONG, attribute=name), attribute=name
        )
    if summary.is_registered(name):
        return tensor(
            symbolic("self"), evidence=Evidence.STRONG, attribute=name, rank=_registered_rank(analysis, summary, name)
        )
    stores = summary.stores_of(name)
    if not stores:
        return _class_constant(analysis, summary, name)
    if any(store.body.name in ("_apply", "to", "cuda", "cpu") for store in stores):
        return tensor(TOP, attribute=name)  # the class moves it itself
    if any(part.moved is not None and part.attribute == name for store in stores for part in store.value.parts):
        return tensor(TOP, attribute=name)  # a method moves it, also on a condition
    result: Value | None = None
    for store in stores:
        value = _as_attribute(analysis, summary, name, store.value)
        result = value if result is None else values.join(result, value)
    return result or UNKNOWN


def _registered_rank(analysis: Analysis, summary: ClassSummary, name: str) -> int | None:
    ranks = {store.value.rank for store in summary.stores_of(name)}
    return ranks.pop() if len(ranks) == 1 else None


def _as_attribute(analysis: Analysis, summary: ClassSummary, name: str, value: Value) -> Value:
    if value.device.place == "sym" and value.device.name.isidentifier() and value.device.name != "self":
        value = _on_kept_device(summary, value)
    if value.kind is Kind.MODULE and summary.is_module:
        device = value.device if value.device.may_be_accelerator else symbolic("self")
        return replace(value, device=device, ref=f"self.{name}", attribute=name, origin=None)
    if value.kind is Kind.TENSOR:
        parts = [replace(part, attribute=name, group=None, others=()) for part in value.parts]
        parts = [_as_seen_elsewhere(summary, name, part) for part in parts]
        result = parts[0]
        for part in parts[1:]:
            result = values.join(result, part)
        return result
    if value.kind in (Kind.LIST, Kind.DICT, Kind.TUPLE):
        return _container(analysis, summary, name, value)
    if value.kind is Kind.MODULE:
        return replace(value, attribute=name, parameter="")
    return replace(value, parameter="") if value.parameter else value


def _on_kept_device(summary: ClassSummary, value: Value) -> Value:
    """What was placed on an argument that the class keeps lives on that attribute for the other methods."""
    for name, stores in summary.stores.items():
        for store in stores:
            if store.value.kind is Kind.DEVICE and store.value.device == value.device:
                return replace(value, device=symbolic(f"self.{name}", chosen=value.device.chosen))
    return value


def _container(analysis: Analysis, summary: ClassSummary, name: str, value: Value) -> Value:
    """A list, tuple or dict that self keeps: the tensors in it are the attribute's."""

    def held(part: Value) -> Value:
        return _as_attribute(analysis, summary, name, part) if part.is_fresh_cpu else part

    return replace(
        value,
        attribute=name,
        parameter="",
        items=tuple(held(item) for item in value.items) if value.items is not None else None,
        element=held(value.element) if value.element is not None else None,
        entries=tuple((key, held(entry)) for key, entry in value.entries),
    )


def _as_seen_elsewhere(summary: ClassSummary, name: str, part: Value) -> Value:
    """A device named by a local of the storing method (`x.device`) means nothing in another one; an argument stays where it was given."""
    if part.parameter and part.moved is None and part.device.place == "sym" and part.evidence >= Evidence.STRONG:
        if not summary.is_module:
            return replace(part, device=symbolic(f"self.{name}.device"), parameter="")
        return replace(part, device=TOP, symbol="argument", parameter="")
    part = replace(part, parameter="") if part.parameter else part
    if part.device.place == "sym" and not part.device.name.startswith("self"):
        return replace(part, device=TOP)
    return part


def _class_constant(analysis: Analysis, summary: ClassSummary, name: str) -> Value:
    method = summary.method(name)
    if method is not None:
        if class_shape.is_property(method):
            return Value(Kind.DEVICE, symbolic("self.device")) if name == "device" else UNKNOWN
        return Value(Kind.FUNCTION, definition=method, ref="bound") if method.is_static else UNKNOWN
    return UNKNOWN


def of_other(analysis: Analysis, summary: ClassSummary, name: str) -> Value:
    """An attribute of an object that is not self."""
    value = _attribute(analysis, summary, name) if name != "device" else UNKNOWN
    if value.kind is Kind.TENSOR:
        return replace(value, origin=None, device=TOP, others=())
    return value if value.kind not in (Kind.MODULE, Kind.DEVICE) else UNKNOWN
