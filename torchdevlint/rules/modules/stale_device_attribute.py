"""TDL608."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.facts.class_shape import reached
from torchdevlint.facts.facts import AttributeStore, ClassSummary, Facts
from torchdevlint.facts.scopes import default_of
from torchdevlint.facts.values import Kind
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import WARNING, Mention, Report, Rule, on_device_call, on_file, on_method
from torchdevlint.rules.structure import moves_itself, only_plain_bases, operations

_DEVICE = re.compile(r"_?device\Z")
_OVERRIDES = frozenset({"to", "cuda", "cpu", "_apply"})
# What a data set or a DataLoader is given to call on its samples.
_CALLBACKS = frozenset({"collate_fn", "transform", "target_transform", "transforms"})


class StaleDeviceAttribute(Rule):
    """Finds modules that remember a device in the constructor and place tensors on it later.

    ## What it does
    Reports `self.device = ...` in the constructor of a class that derives from `nn.Module` where another method gives `self.device` to a
    factory or a move.

    ## Why is this bad?
    `.to()`, `.cuda()` and `torch.load(map_location=...)` move parameters and buffers; they do not change the attribute. After
    `model.to(other)` new tensors are made on
    the old device: `RuntimeError: Expected all tensors to be on the same device`. A pickled module keeps the device of the machine that saved it.

    ## Example
        def __init__(self, device):
            super().__init__()
            self.device = device

        def forward(self, x):
            return self.head(x) + torch.zeros(4, device=self.device)

    ## Use instead
        def forward(self, x):
            return self.head(x) + torch.zeros(4, device=x.device)

    ## When it stays silent
    The class is no module, overrides `to`, `cuda` or `_apply`, or sets the attribute again; a DataLoader or a data set alone calls it. It is a
    note where the constructor places the module itself, or takes the device of another tensor, of the settings or of a caller that has
    to name it: the attribute is right until somebody moves the module again.

    ## Proof
    The module is moved after its construction and called: the tensor made on `self.device` raises; on the input's device it works.

    ## References
    torch/nn/modules/module.py (_apply).
    """

    code, name, severity = "TDL608", "stale-device-attribute", WARNING

    def __init__(self) -> None:
        self._uses: dict[tuple[int, str], tuple[ir.Op, str]] = {}

    @on_method("to", "cuda")
    def note_move(self, call: ir.Call, facts: Facts) -> None:
        """`x.to(self.device)`."""
        for argument in call.arguments[:1]:
            self._note(call, argument.value, facts)

    @on_device_call
    def note_factory(self, call: ir.Call, facts: Facts) -> None:
        """`torch.zeros(n, device=self.device)`."""
        register = call.keyword("device")
        if register is not None and facts.callee(call).startswith("torch."):
            self._note(call, register, facts)

    def _note(self, call: ir.Call, register: ir.Register, facts: Facts) -> None:
        summary = facts.class_summary
        read = facts.definition(register)
        if (
            summary is None
            or not summary.is_module
            or facts.body.name == "__init__"
            or facts.analysis.inference.unit.is_of_constructors(facts.body.name)
            or not isinstance(read, ir.Attribute)
        ):
            return
        if _DEVICE.match(read.name) and facts.value(read.object).ref == "self":
            self._uses.setdefault((id(summary), read.name), (call, facts.body.name))

    @on_file
    def check(self, facts: Facts) -> Iterator[Report]:
        for cls in facts.program.classes:
            summary = facts.analysis.summary_of(cls)
            for name, stores in summary.stores.items():
                used = self._uses.get((id(summary), name))
                if used is None or not _is_fixed_at_start(stores) or _follows(summary, facts):
                    continue
                if _is_its_own(stores[0], facts) or _serves_loaders(cls, facts):
                    continue
                op, method = used
                yield self.report(
                    stores[0].op,
                    f"`self.{name}` stays when the module moves, and `{method}` places tensors on it; use an input's device",
                    detail=f"`self.{name}` is set once, in the constructor, and `{method}` uses it on line {{0}}. `.to()`, `.cuda()` and "
                    "`map_location` do not change it: after a move these tensors are on the old device "
                    '("Expected all tensors to be on the same device"). `x.device` and `next(self.parameters()).device` follow the module.',
                    case="the constructor places what the module has there as well"
                    if _is_placed_there(stores[0], summary, facts)
                    else "",
                    related=(Mention(op, f"here `self.{name}` places a tensor"),),
                )


def _is_fixed_at_start(stores: list[AttributeStore]) -> bool:
    """True when every store is in the constructor and is of a device."""
    return all(store.body.name == "__init__" and store.value.kind is not Kind.NONE for store in stores)


def _is_its_own(store: AttributeStore, facts: Facts) -> bool:
    """True for `self.device = self.device`: somebody else keeps it."""
    written = Lookup.of(store.body).definition(store.op.value)
    if not isinstance(written, ir.Attribute) or written.name != store.op.name:
        return False
    owner = Lookup.of(store.body).definition(written.object)
    return isinstance(owner, ir.Load) and owner.name == facts.analysis.index_of(store.body).self_name


def _serves_loaders(cls: ir.Class, facts: Facts) -> bool:
    """True for a class of a file that nobody imports, each reading of which makes what a DataLoader or a data set calls on its samples."""
    member = facts.analysis.member
    if member is not None and not facts.roles.is_program:
        return False
    read = [(op, body) for body in facts.program.bodies for op in Lookup.of(body).loads(cls.name)]
    return bool(read) and all(
        (made := _called(op, body)) is not None and _is_callback(made, body, facts) for op, body in read
    )


def _is_callback(register: ir.Register, body: ir.Body, facts: Facts) -> bool:
    """True for what goes into `collate_fn=`, by itself or by a name that goes nowhere else."""
    stored = Lookup.of(body).store_of(register)
    if stored is not None:
        if not isinstance(stored, ir.Store):
            return False
        loads = [(op.dst, other) for other in facts.program.bodies for op in Lookup.of(other).loads(stored.name)]
        return bool(loads) and all(_is_given(*load) for load in loads)
    return _is_given(register, body)


def _is_given(register: ir.Register, body: ir.Body) -> bool:
    return any(
        argument.value == register and argument.keyword in _CALLBACKS
        for op in Lookup.of(body).readers(register)
        if isinstance(op, ir.Call)
        for argument in op.arguments
    )


def _called(read: ir.Load, body: ir.Body) -> ir.Register | None:
    """The result of the call of what is read."""
    readers = Lookup.of(body).readers(read.dst)
    return next((op.dst for op in readers if isinstance(op, ir.Call) and op.function == read.dst), None)


def _is_placed_there(store: AttributeStore, summary: ClassSummary, facts: Facts) -> bool:
    """True when the module starts out on the device: the constructor places things, or the caller has to name it."""
    analysis = facts.analysis
    if moves_itself(summary, analysis):
        return True
    run = (summary.method(name) for name in reached(analysis, summary, [store.body.name]))
    for body in (body for body in run if body is not None):
        for op in operations(body):
            if isinstance(op, ir.Attribute) and op.name in ("to", "cuda"):
                return True
            if isinstance(op, ir.Call) and op.keyword("device") is not None:
                return True
    parameters = {parameter.name: parameter for parameter in store.body.parameters}
    written = Lookup.of(store.body).definition(store.op.value)
    if isinstance(written, ir.Attribute) and written.name == "device":
        return True  # the device of something that the caller placed
    if isinstance(written, ir.Subscript):
        return True  # `config["device"]`, by which the caller places the module as well
    given = parameters.get(store.value.parameter or (written.name if isinstance(written, ir.Load) else ""))
    if given is None or store.body.parent is None:
        return given is not None
    default = default_of(store.body, given)
    return default is None or (isinstance(default, ir.Constant) and default.value is None)


def _follows(summary: ClassSummary, facts: Facts) -> bool:
    """True when the class keeps the attribute up to date itself, or a class of another file may."""
    if not only_plain_bases(summary, facts.analysis) or summary.has_device_property:
        return True
    return any(one.cls.methods.keys() & _OVERRIDES for one in (summary, *summary.ancestors))
