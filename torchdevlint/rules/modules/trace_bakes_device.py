"""TDL610."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Evidence, Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import WARNING, Mention, NodeFix, Report, Rule, on_any_call, on_call, on_file

_TRACERS = ("torch.jit.trace", "torch.jit.trace_module", "torch.export.export")
_NEW = {"torch.zeros": "new_zeros", "torch.ones": "new_ones", "torch.empty": "new_empty", "torch.full": "new_full"}
_FACTORIES = (*_NEW, "torch.arange", "torch.eye", "torch.rand", "torch.randn", "torch.linspace", "torch.tensor")


class TraceBakesDevice(Rule):
    """Finds factories whose device a trace turns into a constant.

    ## What it does
    Reports `torch.zeros(n, device=x.device)` and its kind in `forward` of a class that the same file gives to `torch.jit.trace` or
    `torch.export.export`.

    ## Why is this bad?
    A trace records the device of the run as a constant: traced on the CPU, the graph makes a CPU tensor wherever it runs later, and raises
    `RuntimeError: Expected all tensors to be on the same device`. `x.new_zeros(n)` and `torch.zeros_like(x)` record the tensor instead.

    ## Example
        def forward(self, x):
            return x + torch.zeros(x.shape, device=x.device)

        traced = torch.jit.trace(Net(), example)

    ## Use instead
        def forward(self, x):
            return x + x.new_zeros(x.shape)

    ## When it stays silent
    `torch.jit.script` and `torch.compile`; `*_like` and `new_*`; classes of other files. Where the trace stays in the function that makes it, in a
    file that saves nothing, it runs on the device that it was made on, and the finding is an info.

    ## Fix safety
    Unsafe: `new_zeros` takes the dtype of `x` where the factory used the default dtype.

    ## Proof
    The module is traced on the CPU and run on an accelerator: the factory's tensor is on the CPU and the sum raises; `new_zeros` works.

    ## References
    torch/jit/_trace.py; torch/export/exported_program.py.
    """

    code, name, severity = "TDL610", "trace-bakes-device", WARNING
    needs = ("trace", "trace_module", "export")
    fixable = "unsafe"

    def __init__(self) -> None:
        self._traced: dict[int, ir.Call] = {}
        self._used_here: set[int] = set()  # traces that run where they were made, and nowhere else
        self._traced_parameters: dict[int, tuple[str, ir.Call]] = {}  # of functions that trace what they are given
        self._given: list[tuple[ir.Body, ir.Class, str]] = []
        self._made: list[tuple[ir.Call, ir.Class, str, Facts]] = []

    @on_call(*_TRACERS)
    def note_trace(self, call: ir.Call, facts: Facts) -> None:
        """The classes that are traced."""
        register = call.positional(0)
        value = facts.value(register)
        if _stays_here(call, facts):
            self._used_here.add(id(call))
        if value.kind is Kind.MODULE and isinstance(value.definition, ir.Class):
            self._traced.setdefault(id(value.definition), call)
        elif value.parameter or facts.place(register) in {parameter.name for parameter in facts.body.parameters}:
            self._traced_parameters[id(facts.body)] = (facts.place(register), call)

    @on_any_call
    def note_call(self, call: ir.Call, facts: Facts) -> None:
        """Modules that are given to functions of the file."""
        if not call.arguments:
            return
        callee = facts.value(call.function)
        if callee.kind is not Kind.FUNCTION or not isinstance(callee.definition, ir.Body):
            return
        for number, parameter in enumerate(callee.definition.parameters):
            value = facts.value(call.argument(parameter.name, number))
            if value.kind is Kind.MODULE and isinstance(value.definition, ir.Class):
                self._given.append((callee.definition, value.definition, parameter.name))

    @on_call(*_FACTORIES)
    def note_factory(self, call: ir.Call, facts: Facts) -> None:
        """Factories in forward that follow a tensor's device."""
        register = call.keyword("device")
        read = facts.definition(register)
        summary = facts.class_summary
        if not isinstance(read, ir.Attribute) or read.name != "device" or summary is None or not facts.in_forward:
            return
        tensor = facts.value(read.object)
        if tensor.kind is Kind.TENSOR and tensor.evidence >= Evidence.USAGE and facts.place(read.object):
            self._made.append((call, summary.cls, facts.place(read.object), facts))

    @on_file
    def check(self, facts: Facts) -> Iterator[Report]:
        for body, cls, name in self._given:
            traced = self._traced_parameters.get(id(body))
            if traced is not None and traced[0] == name:
                self._traced.setdefault(id(cls), traced[1])
        for call, cls, place, there in self._made:
            trace = self._traced.get(id(cls))
            if trace is None:
                continue
            name = there.callee(call)
            instead = f"`{place}.{_NEW[name]}(...)`" if name in _NEW else f"a tensor derived from `{place}`"
            yield self.report(
                call,
                f"`{cls.name}` is traced on line {{0}}, which fixes `{place}.device` as a constant; use {instead}",
                detail="Elsewhere the graph makes this tensor on the device of that run, and raises "
                '"Expected all tensors to be on the same device".',
                case="the trace is used in the same run" if id(trace) in self._used_here else "",
                related=(Mention(trace, "here it is traced"),),
                fix=lambda call=call, name=name, place=place: _fix(call, name, place),  # type: ignore[misc]
            )


def _stays_here(trace: ir.Call, facts: Facts) -> bool:
    """True for a trace in a file that saves nothing, whose function neither returns it nor keeps it on an object."""
    if facts.mentions("save", "serialize", "onnx", "_save_for_lite_interpreter"):
        return False
    lookup = Lookup.of(facts.body)
    names = {op.name for op in lookup.readers(trace.dst) if isinstance(op, ir.Store)}
    held = {load.dst for name in names for load in lookup.loads(name)} | {trace.dst}
    leaves = (ir.Return, ir.Yield, ir.StoreAttribute, ir.StoreSubscript)
    return facts.body.kind == "function" and not any(
        isinstance(op, leaves) and op.value == one for one in held for op in lookup.readers(one)
    )


def _fix(call: ir.Call, name: str, place: str) -> NodeFix | None:
    if name not in _NEW or call.has_splat:
        return None
    edits = builders.call_instead(call, f"{place}.{_NEW[name]}", without="device")
    return NodeFix(Ground.CHANGES_A_RUN, f"Derive it from `{place}`", edits)
