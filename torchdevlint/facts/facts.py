"""What a rule may ask: the facts at one operation, and what the whole file says.

A rule gets a `Facts` with every event. Registers are those of the operation's body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from torchdevlint.facts.devices import TOP, Device, symbolic
from torchdevlint.facts.imported import named
from torchdevlint.facts.naming import as_written
from torchdevlint.facts.scopes import owner_of
from torchdevlint.facts.spelled import texts_in
from torchdevlint.facts.uses import Use, uses_of
from torchdevlint.facts.values import NOTHING, UNKNOWN, Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.roles import Roles
from torchdevlint.stubs.knowledge import functions, modules

if TYPE_CHECKING:
    from torchdevlint.facts.analysis import FileFacts
    from torchdevlint.facts.frame import Frame
    from torchdevlint.facts.index import BodyIndex


_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})


class AttributeStore(NamedTuple):
    """One `self.name = value` of a class."""

    op: ir.StoreAttribute
    body: ir.Body
    analysis: FileFacts

    @property
    def value(self) -> Value:
        """What is stored, as the method leaves it."""
        return self.analysis.frame_of(self.body).values[self.op.value]


@dataclass(slots=True, eq=False)
class ClassSummary:
    """What is known of a class of this file."""

    cls: ir.Class
    analysis: FileFacts
    is_module: bool = False
    is_lightning: bool = False
    bases: tuple[str, ...] = ()  # resolved dotted names
    base_summaries: tuple[ClassSummary, ...] = ()
    forward_methods: frozenset[str] = frozenset()  # methods that forward reaches
    first_methods: frozenset[str] = frozenset()  # __init__ and what it reaches, run again on a condition at most
    has_device_property: bool = False
    _inherited: dict[str, ir.Body | None] = field(default_factory=dict)
    _stores: dict[str, list[AttributeStore]] | None = None
    _registered: dict[str, str] | None = None

    def method(self, name: str) -> ir.Body | None:
        """The method `name` of the class or of its bases in this file."""
        found = self.cls.methods.get(name)
        if found is not None or not self.base_summaries:
            return found
        if name not in self._inherited:
            self._inherited[name] = None  # of classes that are bases of each other
            self._inherited[name] = next(filter(None, (base.method(name) for base in self.base_summaries)), None)
        return self._inherited[name]

    @property
    def ancestors(self) -> list[ClassSummary]:
        """The bases in this file, and theirs."""
        return [*self.base_summaries, *(one for base in self.base_summaries for one in base.ancestors)]

    @property
    def stores(self) -> dict[str, list[AttributeStore]]:
        """Every `self.name = value` of the methods of this class, by name."""
        if self._stores is None:
            self._stores = {}
            for body in self.cls.methods.values():
                index = self.analysis.index_of(body)
                for op in Lookup.of(body).kind(ir.StoreAttribute):
                    if index.self_name and index.dotted(op.object) == index.self_name:
                        self._stores.setdefault(op.name, []).append(AttributeStore(op, body, self.analysis))
        return self._stores

    def stores_of(self, name: str) -> list[AttributeStore]:
        """Every store of `self.name` in the class and its bases in this file."""
        found = list(self.stores.get(name, ()))
        for base in self.base_summaries:
            found += base.stores_of(name)
        return found

    @property
    def registered(self) -> dict[str, str]:
        """The parameters and buffers that this class makes: "parameter" or "buffer" by name."""
        if self._registered is None:
            self._registered = {}
            self._registered = dict(_registered(self))
        return self._registered

    @property
    def buffers(self) -> set[str]:
        """The buffers of the class, and the states of a metric."""
        return {name for name, kind in self.registered.items() if kind == "buffer"}

    def is_buffer(self, name: str) -> bool:
        """True when `name` is a buffer of the module, which another tensor can replace."""
        return name in self.buffers or any(base.is_buffer(name) for base in self.base_summaries)

    def is_registered(self, name: str) -> bool:
        """True when `name` is a buffer or parameter of the module."""
        return name in self.registered or any(base.is_registered(name) for base in self.base_summaries)


_REGISTERS = {"register_buffer": "buffer", "register_parameter": "parameter", "add_state": "buffer"}


def _registered(summary: ClassSummary) -> Iterator[tuple[str, str]]:
    analysis = summary.analysis
    for body in summary.cls.methods.values():
        index = analysis.index_of(body)
        for call in Lookup.of(body).kind(ir.Call):
            own, _, method = index.dotted(call.function).rpartition(".")
            first = call.argument("name", 0)
            written = index.definitions[first] if first is not None else None
            if own and own == index.self_name and method in _REGISTERS and isinstance(written, ir.Constant):
                yield str(written.value), _REGISTERS[method]
    for name, stores in summary.stores.items():
        for store in stores:
            index = analysis.index_of(store.body)
            made = index.definitions[store.op.value]
            called = analysis.spelled(made.function, store.body) if isinstance(made, ir.Call) else ""
            if called in modules.PARAMETERS or called in modules.BUFFERS:
                yield name, "parameter" if called in modules.PARAMETERS else "buffer"
            elif summary.is_module and store.value.symbol == "parameter":
                yield name, "parameter"


class Facts:
    """The facts at one operation; those of a class or of the whole file have no frame and no block."""

    def __init__(self, analysis: FileFacts, frame: Frame | None = None, block: ir.Block | None = None) -> None:
        self.analysis = analysis
        self._frame = frame
        self._block = block
        self._called: ir.Call | None = None
        self._callee = ""

    @property
    def frame(self) -> Frame:
        """The body in front of the operation."""
        assert self._frame is not None
        return self._frame

    @property
    def block(self) -> ir.Block:
        """The block that the operation stands in."""
        assert self._block is not None
        return self._block

    @property
    def is_reached(self) -> bool:
        """False where control never comes to the operation."""
        return self._frame is None or self._frame.is_reached

    # ---------------------------------------------------------------------------------------------- values

    @property
    def program(self) -> ir.Program:
        """The whole file."""
        return self.analysis.program

    @property
    def body(self) -> ir.Body:
        """The body that the operation stands in."""
        return self.frame.body

    @property
    def index(self) -> BodyIndex:
        """The index of that body."""
        return self.frame.index

    def value(self, register: ir.Register | None) -> Value:
        """What the analysis knows of a register; UNKNOWN for None."""
        return UNKNOWN if register is None else self.frame.values[register]

    def qualified(self, register: ir.Register | None) -> str | None:
        """The dotted name of an imported thing ("torch.cuda.is_available"), or None."""
        if register is None:
            return None
        name = named(self.analysis, self.frame.body, register)
        if name is None:
            value = self.value(register)
            name = value.symbol if value.kind is Kind.SYMBOL else ""
        return name or None

    def callee(self, call: ir.Call) -> str:
        """The resolved dotted name of the callee, or ".name" for a method of something else, or ""."""
        if self._called is not call:  # every rule that hears of a call asks
            name = self.qualified(call.function)
            if name is None:
                written = self.definition(call.function)
                name = "." + written.name if isinstance(written, ir.Attribute) else ""
            self._called, self._callee = call, name
        return self._callee

    def constant(self, register: ir.Register | None) -> Any:
        """The constant that the register certainly holds (also through a name), or NOTHING."""
        return NOTHING if register is None else self.value(register).constant

    def definition(self, register: ir.Register | None) -> ir.Op | None:
        """The operation that wrote the register."""
        return None if register is None else self.frame.definitions[register]

    def makes(self, op: ir.Op) -> bool:
        """True for an operation of this body."""
        return isinstance(op, ir.ValueOp) and Lookup.of(self.body).definition(op.dst) is op

    def receiver(self, call: ir.Call) -> ir.Register | None:
        """The register of `x` in `x.method(...)`, or None."""
        written = self.definition(call.function)
        return written.object if isinstance(written, ir.Attribute) else None

    def methods(self, register: ir.Register | None) -> Iterator[tuple[ir.Call, ir.Attribute]]:
        """The calls of `x.a().b()`, from the last, each with the method that it calls."""
        while isinstance(call := self.definition(register), ir.Call):
            method = self.definition(call.function)
            if not isinstance(method, ir.Attribute):
                return
            yield call, method
            register = method.object

    def place(self, register: ir.Register | None) -> str:
        """The name or path that the register was read from ("model", "self.net", "batch['x']"), or ""."""
        return "" if register is None else self.frame.place(register)

    def own_attribute(self, register: ir.Register | None) -> str:
        """The attribute of `self` that the register was read from; "" for anything else."""
        written = self.definition(register)
        is_own = isinstance(written, ir.Attribute) and self.value(written.object).ref == "self"
        return written.name if isinstance(written, ir.Attribute) and is_own else ""

    def text(self, register: ir.Register | None) -> str:
        """The expression as it is written, for messages and edits: a path, or "" when it has none."""
        return as_written(self.place(register))

    def placed_on(self, call: ir.Call) -> Device | None:
        """The device that `.to(...)`, `.cuda(...)` or the `device=` of a factory puts something on; None for another call."""
        name = self.callee(call)
        if name in (".to", ".cuda"):
            return self.target_of_move(call)
        register = call.keyword("device") if name in functions.FACTORIES else None
        return None if register is None else self.device_of(register)

    def device_of(self, register: ir.Register | None) -> Device:
        """The device that an expression in a device position names (literal, torch.device, name, tensor)."""
        return self.frame.device_argument(register)

    def target_of_move(self, call: ir.Call) -> Device | None:
        """The device that `.to(...)` or `.cuda(...)` moves to; None for a cast, TOP when it is unknown."""
        return self.frame.move_target(call)

    def devices_in(self, register: ir.Register | None) -> Iterator[str]:
        """Device strings written literally in the expression ("cuda:0"), looking through torch.device(...) and conditional expressions."""
        return (text for text in texts_in(register, self.body, self.analysis) if text != "?")

    # ---------------------------------------------------------------------------------------------- place in the program

    def guarded(self, device_type: str = "cuda") -> bool:
        """True when the operation runs only where the program found such a device (availability test, flag, try/except, early exit)."""
        return self.frame.is_guarded(self.block, device_type)

    @property
    def expects_error(self) -> bool:
        """True in `with pytest.raises(...)` and `with self.assertRaises(...)`: the error is what is tested."""
        return self._block is not None and any(
            isinstance(written := self.definition(register), ir.Call)
            and self.callee(written).rpartition(".")[2] in _RAISES
            for register in self._block.withs
        )

    @property
    def in_loop(self) -> bool:
        """True inside a loop of the body."""
        return bool(self.block.loops)

    def in_handler_of(self, *names: str) -> bool:
        """True inside an `except` clause that catches one of the exceptions (by last name)."""
        return self._is_tried("handler", names)

    def in_try_catching(self, *names: str) -> bool:
        """True in the body of a `try` whose handlers catch one of the exceptions (by last name)."""
        return self._is_tried("body", names)

    def _is_tried(self, part: str, names: tuple[str, ...]) -> bool:
        parts = (one for one in self.block.tries if one.part == part)
        return any(caught.rpartition(".")[2] in names for one in parts for caught in one.catches)

    def under(self, *qualified: str) -> bool:
        """True inside `with` of a manager with one of these dotted names (`torch.no_grad`), or in a function decorated with it."""
        for register in self.block.withs:
            written = self.definition(register)
            name = self.callee(written) if isinstance(written, ir.Call) else self.qualified(register)
            if name in qualified:
                return True
        return any(self.analysis.resolve_text(text) in qualified for text in self.body.decorators)

    @property
    def default_device(self) -> Device | None:
        """The default device where the file set one, or a `with torch.device(...)` around the operation."""
        for register in self.block.withs:
            if self.value(register).kind is Kind.DEVICE:
                device = self.device_of(register)
                return device if device is not TOP else symbolic("the default device")
        return symbolic("the default device") if self.analysis.has_default_device else None

    @property
    def no_grad(self) -> bool:
        """True where gradients are off."""
        return self.under(*functions.WITHOUT_GRADIENTS)

    @property
    def class_summary(self) -> ClassSummary | None:
        """The class whose method this is (also for functions nested in a method)."""
        owner = owner_of(self.body)
        return self.analysis.summary_of(owner) if owner is not None else None

    @property
    def in_forward(self) -> bool:
        """True in forward of a module, or in a method that forward reaches."""
        summary = self.class_summary
        return summary is not None and summary.is_module and self.body.name in summary.forward_methods

    def nearest_device(self, at: ir.Op | None = None) -> str | None:
        """The spelling of a device that is in scope here (`device`, `self.device`, `args.device`), or None; at operation `at` of this body, if given.

        A check that runs later than its event must name the operation: the facts are those of where the analysis is by then.
        """
        return self.frame.nearest_device(at)

    # ---------------------------------------------------------------------------------------------- whole-file facts

    def uses(self, op: ir.Op, leaves: Callable[[ir.Subscript], bool] = lambda _: False) -> tuple[Use, ...]:
        """Every use of the value that `op` made, through names, in this body, but for those of the parts that it `leaves`."""
        return tuple(uses_of(op, self.body, self.analysis, leaves)) if isinstance(op, ir.ValueOp) else ()

    def imports(self, *roots: str) -> bool:
        """True when the file imports one of these packages or modules."""
        return self.analysis.imports(*roots)

    def may_use_torch(self, major: int, minor: int) -> bool:
        """True when the oldest torch that the project runs on is known, and has what came with this version."""
        oldest = self.analysis.target_torch
        return oldest is not None and oldest >= (major, minor)

    def rules_out_torch(self, major: int, minor: int) -> bool:
        """True in a project whose requirements let in no torch of this version or a later one: what it brought is never there."""
        member = self.analysis.member
        beyond = member.project.torch_beyond(member.path) if member is not None else None
        return beyond is not None and beyond <= (major, minor)

    def runs_on_torch_before(self, major: int, minor: int) -> bool:
        """True in a project whose requirements let in a torch that is older than this version, as the oldest that they name."""
        member = self.analysis.member
        oldest = member.project.torch_oldest(member.path) if member is not None else None
        return oldest is not None and oldest < (major, minor)

    def mentions(self, *words: str) -> bool:
        """True when one of the identifiers occurs anywhere in the file."""
        return self.analysis.mentions(*words)

    @property
    def roles(self) -> Roles:
        """What the file is for."""
        return self.analysis.roles

    @property
    def remembered(self) -> dict[Any, Any]:
        """Answers that stay while the file is asked about."""
        return self.analysis.remembered
