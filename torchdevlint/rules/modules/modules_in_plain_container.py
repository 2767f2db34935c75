"""TDL602."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchdevlint.facts.class_shape import holds_nothing
from torchdevlint.facts.facts import AttributeStore, ClassSummary, Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, is_unconditional
from torchdevlint.rules.rule import ERROR, Report, Rule, on_class, on_method, on_op
from torchdevlint.rules.structure import is_made_of, operations
from torchdevlint.rules.wording import kept_in_container
from torchdevlint.stubs.knowledge.modules import EMPTY_MODULES


class ModulesInPlainContainer(Rule):
    """Finds submodules and parameters that are kept in a plain list, tuple or dict of a module.

    ## What it does
    Reports `self.layers = [nn.Linear(...), ...]`, comprehensions of module constructors, `self.layers.append(nn.Linear(...))` and dicts of modules in a class that
    derives from `nn.Module`.

    ## Why is this bad?
    `.to()`, `parameters()`, `state_dict()`, `train()` and `eval()` do not see them: after `.to(device)` the weights are on the CPU and the first call raises
    `RuntimeError: Expected all tensors to be on the same device`; on the CPU they are silently neither trained nor saved.

    ## Example
        self.layers = [nn.Linear(8, 8) for _ in range(3)]

    ## Use instead
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

    ## When it stays silent
    The same modules are registered another way (`nn.Sequential(*self.layers)`, `nn.ModuleList(self.layers)`, `add_module`, `setattr`); a teacher that is hidden on
    purpose (`self.teacher = [teacher]`); modules that hold neither parameters nor buffers, of torch.nn or built of such ones in this file; classes that
    are no modules.

    ## Fix safety
    Unsafe: the keys of the state dict and the parameters change, which is the point of the repair.

    ## Proof
    After `.to(device)` the hidden layer's weights are on the CPU and the call raises; in a ModuleList they move.

    ## References
    torch/nn/modules/module.py (__setattr__), torch/nn/modules/container.py.
    """

    code, name, severity = "TDL602", "modules-in-plain-container", ERROR
    fixable = "unsafe"

    def __init__(self) -> None:
        self._appended: dict[tuple[int, str], ir.Op] = {}

    @on_method("append", "extend", "insert")
    def remember(self, call: ir.Call, facts: Facts) -> None:
        """`self.x.append(nn.Linear(...))`."""
        kept = _kept_in(facts.receiver(call), facts)
        if kept is None:
            return
        value = facts.value(call.positional(1 if facts.callee(call) == ".insert" else 0))
        if _is_owned_module(value, facts) or any(_is_owned_module(item, facts) for item in value.items or ()):
            self._appended.setdefault(kept, call)

    @on_op(ir.StoreSubscript)
    def remember_entry(self, op: ir.StoreSubscript, facts: Facts) -> None:
        """`self.x[name] = nn.Linear(...)`."""
        kept, summary = _kept_in(op.object, facts), facts.class_summary
        if kept is None or summary is None or facts.body.name not in summary.first_methods:
            return
        if _is_owned_module(facts.value(op.value), facts):
            self._appended.setdefault(kept, op)

    @on_class
    def check(self, summary: ClassSummary, facts: Facts) -> Iterator[Report]:
        if not summary.is_module:
            return
        for name, stores in summary.stores.items():
            for store in stores:
                value = store.value
                if value.kind not in (Kind.LIST, Kind.TUPLE, Kind.DICT):
                    continue
                held = _held(value, facts)
                appended = self._appended.get((id(summary), name))
                if held is None and appended is None:
                    continue
                if appended is None and not _is_made_in(store, held, summary):
                    continue  # what a call of the module keeps was made, and registered, before
                if _is_replaced(store, stores):
                    continue
                if _registered_otherwise(summary, name, facts) or _registered_where_made(store, facts):
                    continue
                yield self._told(store, name, value, held, facts)
                break

    def _told(self, store: AttributeStore, name: str, value: Value, held: Value | None, facts: Facts) -> Report:
        parameters = held is not None and held.kind is Kind.TENSOR
        container = "ParameterList" if parameters else "ModuleDict" if value.kind is Kind.DICT else "ModuleList"
        if parameters and value.kind is Kind.DICT:
            container = "ParameterDict"
        what = "parameters" if parameters else "submodules"
        return self.report(
            store.op,
            f"`self.{name}` hides its {what} in a plain {value.kind.value}; keep them in `nn.{container}`",
            detail="`.to()`, `parameters()` and `state_dict()` do not see them: after `.to(device)` they stay on the CPU and using them "
            "raises, and they are neither trained nor saved.",
            fix=lambda: kept_in_container(store, container, Ground.CHANGES_A_RUN, facts),
        )


def _kept_in(holder: ir.Register | None, facts: Facts) -> tuple[int, str] | None:
    """The class of a module, by its identity, and the attribute of it that a register was read from."""
    summary, place = facts.class_summary, facts.place(holder)
    is_own = summary is not None and summary.is_module and place.count(".") == 1 and place.startswith("self.")
    return (id(summary), place.removeprefix("self.")) if is_own else None


_PARAMETERS = frozenset({"Parameter", "UninitializedParameter"})
_GIVEN_BY_MODULES = frozenset("parameters named_parameters buffers named_buffers".split())
_CONTAINERS = frozenset("ModuleList ModuleDict Sequential ParameterList ParameterDict nested_children".split())


def _held(value: Value, facts: Facts) -> Value | None:
    """The module or parameter that a container holds, or None; a single bare name in a list hides it on purpose."""
    owned = [item for item in value.held if _is_owned_module(item, facts)]
    return owned[0] if owned and len(owned) == len(value.held) else None


def _is_owned_module(value: Value, facts: Facts) -> bool:
    if value.kind is Kind.TENSOR:
        return value.symbol == "parameter" and not _is_held_elsewhere(value.origin, facts)
    known = value.symbol.startswith("torch.nn.") or value.definition is not None
    return (
        value.kind is Kind.MODULE
        and known
        and value.origin is not None
        and value.symbol not in EMPTY_MODULES  # pooling, activations: nothing of them could stay behind
        and not value.attribute  # `[self.first, self.second]`: registered under their own names
        and not (value.definition is not None and holds_nothing(facts.analysis, value.definition))
        and value.moved is None  # whoever moves each of them keeps them apart on purpose
        and value.symbol not in ("wrapper", "dispatched")
    )


def _is_held_elsewhere(made: ir.Op | None, facts: Facts) -> bool:
    """True for a parameter that is an attribute of its own, or in a `ParameterList`, where it is made: the list holds it a second time. So does one
    that is made out of sight, as a buffer is, and what `layer.parameters()` gives is of the layer, which is made in sight or not.
    """
    body = next((one for one in facts.program.bodies if made in Lookup.of(one).kind(ir.Call)), None)
    if body is None or not isinstance(made, ir.Call):
        return made is not None
    lookup, pending = Lookup.of(body), [made.dst]
    maker = lookup.called(made)
    if maker in _GIVEN_BY_MODULES or (maker[:1].isupper() and maker not in _PARAMETERS):
        return True
    while pending:
        for reader in lookup.readers(pending.pop()):
            if isinstance(reader, ir.StoreAttribute):
                return True
            called = lookup.called(reader) if isinstance(reader, ir.Call) else ""
            if isinstance(reader, ir.Call) and called == "Parameter":
                pending.append(reader.dst)
            elif isinstance(reader, ir.Call) and called in ("append", "insert"):
                function = lookup.definition(reader.function)
                held = lookup.definition(function.object) if isinstance(function, ir.Attribute) else None
                stores = lookup.attribute_stores(held.name) if isinstance(held, ir.Attribute) else ()
                makers = [lookup.definition(store.value) for store in stores]
                if any(isinstance(one, ir.Call) and lookup.called(one) in _CONTAINERS for one in makers):
                    return True
            elif called in _CONTAINERS or called in ("register_parameter", "register_buffer"):
                return True
    return False


def _is_made_in(store: AttributeStore, held: Value | None, summary: ClassSummary) -> bool:
    """True in what the constructor runs, and where the method makes what it keeps itself."""
    made = held.origin if held is not None else None
    return store.body.name in summary.first_methods or made in Lookup.of(store.body).kind(ir.Call)


def _is_replaced(store: AttributeStore, stores: Sequence[AttributeStore]) -> bool:
    """True where the same method always stores something else there afterwards: the container is none that the module keeps."""
    graph = Cfg.of(store.body)
    later = (one.op for one in stores if one.body is store.body and one.op is not store.op)
    blocks = (block_of(store.body, one) for one in later if graph.dominates(store.op, one))
    return any(block is not None and is_unconditional(block, store.body) for block in blocks)


def _registered_otherwise(summary: ClassSummary, name: str, facts: Facts) -> bool:
    """True when a method gives `self.name` (or its elements) to a container, `add_module`, `setattr` or `register_module`, or moves an element where it uses it."""
    for body in summary.cls.methods.values():
        lookup = Lookup.of(body)
        wanted = {read.dst for read in lookup.attributes(name)}
        if not wanted:
            continue
        moves = [*lookup.attributes("to"), *lookup.attributes("cuda")] if body.name == "forward" else []
        if any(_taken_from(lookup, move.object) in wanted for move in moves):
            return True  # moved where it is used
        if any(lookup.loads(one) or lookup.attributes(one) for one in _REGISTERS):
            return True
        made = (call for call in lookup.kind(ir.Call) if lookup.called(call) in _CONTAINERS)
        if any(is_made_of(one.value, wanted, body, facts) for call in made for one in call.arguments):
            return True
    return False


_REGISTERS = ("add_module", "register_module", "setattr", "__setattr__", "register_parameter")


def _taken_from(lookup: Lookup, register: ir.Register) -> ir.Register:
    """The container of `self.x[name]`."""
    op = lookup.definition(register)
    return op.object if isinstance(op, ir.Subscript) else register


def _registered_where_made(store: AttributeStore, facts: Facts) -> bool:
    """True when the storing method gives the list, or another list with the same modules, to a container: `nn.Sequential(*layers)`."""
    definitions = facts.analysis.index_of(store.body).definitions
    filled: dict[str, set[str]] = {}
    given: set[str] = set()
    for op in definitions:
        function = definitions[op.function] if isinstance(op, ir.Call) else None
        if not isinstance(op, ir.Call) or not isinstance(function, (ir.Attribute, ir.Load)):
            continue
        names = {read.name for a in op.arguments if isinstance(read := definitions[a.value], ir.Load)}
        if function.name in _CONTAINERS:
            given |= names
        elif isinstance(function, ir.Attribute) and function.name in ("append", "extend", "insert"):
            filled.setdefault(_name_of(definitions[function.object]), set()).update(names)
    stored = _name_of(definitions[store.op.value])
    held = {stored} | filled.get(stored, set()) | _looped_over(stored, store.body, facts)
    return bool(stored) and any(name in held or filled.get(name, set()) & held for name in given)


def _looped_over(name: str, body: ir.Body, facts: Facts) -> set[str]:
    """The variables of loops over a list, also through `zip` and `enumerate`."""
    definitions = facts.analysis.index_of(body).definitions
    items: set[int] = set()
    found: set[str] = set()
    for op in operations(body):
        if isinstance(op, ir.Iterate):
            source = definitions[op.iterable]
            given = [definitions[a.value] for a in source.arguments] if isinstance(source, ir.Call) else []
            if any(_name_of(each) == name for each in (source, *given)):
                items.add(op.dst)
        elif isinstance(op, ir.Unpack) and op.source in items:
            items.add(op.dst)
        elif isinstance(op, ir.Store) and op.value in items:
            found.add(op.name)
    return found


def _name_of(op: ir.Op | None) -> str:
    return op.name if isinstance(op, ir.Load) else ""
