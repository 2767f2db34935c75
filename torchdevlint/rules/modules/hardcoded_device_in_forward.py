"""TDL605."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from torchdevlint.facts.cuda_alone import is_cuda_only
from torchdevlint.facts.facts import ClassSummary, Facts
from torchdevlint.facts.scopes import nested
from torchdevlint.facts.values import Evidence, Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.rules.cuda_by_design import lets_nobody_choose
from torchdevlint.rules.literals import spelled_accelerator
from torchdevlint.rules.machine_choice import machine_decides
from torchdevlint.rules.rule import WARNING, Mention, NodeFix, Report, Rule, on_call, on_device_call, on_file
from torchdevlint.rules.structure import literal_accelerator, makes_tensor, may_follow, operations
from torchdevlint.rules.wording import MISMATCH, is_surely_tensor, may_be_none, needed, operands_of, raised
from torchdevlint.stubs.knowledge import functions

_ENTRY_POINTS = ("torch.Generator", "torch.load", "torch.autocast", "torch.amp.autocast")
_AUTOCAST = ("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast", "torch.autocast_mode.autocast")
_SPELLED = {".cuda": ".cuda()", ".to": '.to("{}")', "torch.device": 'torch.device("{}")'}

# The caller asked for this very device: torch's methods that move a module, and those that libraries add and name alike.
_OVERRIDES = frozenset({"cuda", "mps", "xpu", "npu", "hpu", "ipu", "to", "_apply"})
_NAMED = re.compile(r"(?:\A|_)(?:gpu|cuda)(?:_|\Z)")  # `to_gpu`, `one_unet_in_gpu`: who calls it asks for CUDA

_ALIKE = "the machine decides for the programs that use it too"


class HardcodedDeviceInForward(Rule):
    """Finds devices that are spelled literally in the methods of a module.

    ## What it does
    Reports `.cuda()`, `.to("cuda")` and `device="cuda"` in a method of an `nn.Module`, and, once for a class, `with torch.autocast("cuda")`.
    Also, in `forward` and in the `__call__` of other classes, a tensor that an availability test there puts on CUDA. Where no device to
    follow is at hand, the first place of a class stands for all of them.

    ## Why is this bad?
    The module then runs on the current CUDA device only, wherever it was moved to. Without CUDA the line raises
    `AssertionError: Torch not compiled with CUDA enabled` or `RuntimeError: Found no NVIDIA driver`; when the module is on `cuda:1` the next
    operation raises `Expected all tensors to be on the same device`. `torch.autocast("cuda")` changes nothing for a module that is elsewhere.

    ## Example
        def forward(self, x):
            return x + torch.zeros(x.shape).cuda()

    ## Use instead
        def forward(self, x):
            return x + torch.zeros(x.shape, device=x.device)

    ## When it stays silent
    An override of `cuda`, `to` or `_apply`; behind a test of the device; a device that the module or the file chose once; Lightning
    modules (TDL609).

    ## Fix safety
    Safe where `forward` makes a tensor and combines it with an argument that it uses as it came; elsewhere the fix is unsafe, because
    inputs may come from another device than the module's.

    ## Proof
    On a machine without an accelerator the forward pass raises; on the input's device it gives the same values everywhere.

    ## References
    torch/cuda/__init__.py (_lazy_init).
    """

    code, name, severity = "TDL605", "hardcoded-device-in-forward", WARNING
    fixable = "sometimes"

    def __init__(self) -> None:
        self._autocast: set[int] = set()
        self._kept: dict[int, list[tuple[ir.Call, Callable[[Sequence[ir.Call]], Report]]]] = {}

    @on_device_call
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        summary = facts.class_summary
        if summary is None or not summary.is_module or summary.is_lightning or facts.body.kind == "module":
            return
        if facts.body.name in _OVERRIDES or _NAMED.search(facts.body.name):
            return
        device = literal_accelerator(call, facts)
        name = facts.callee(call)
        if name == "torch.device" and _is_kept(call, facts):
            device = spelled_accelerator(call.dst, facts)
        if not name.startswith((".", "torch.")) and facts.value(call.function).kind not in (Kind.FUNCTION, Kind.CLASS):
            return  # `device=` of another library may be anything
        if (
            device is None
            or not device.is_accelerator
            or name in _ENTRY_POINTS
            or facts.guarded(device.type)
            or _needs_cuda(facts)
        ):
            return
        if name in (".cuda", ".to") and facts.value(facts.receiver(call)).kind in (Kind.GENERATOR, Kind.OTHER):
            return
        written = _SPELLED.get(name, 'device="{}"').format(device.name)
        follows = _follows_argument(call, name, facts)
        sources = [] if follows else _sources(call, facts)
        certain = _makes_tensor(call, facts) and not _moves_inputs(facts)
        advice = f"use `{sources[0]}`" if sources else "follow the device of an input or a parameter"
        if follows:
            advice = f"delete it: `{follows}` is where its argument is"

        def reported(others: Sequence[ir.Call] = ()) -> Report:
            more = f" ({len(others)} more)" if others else ""
            return self.report(
                call,
                f"`{written}` ties this module to {_which(device.name)}{more}; {advice}",
                detail=f"Without {needed(device.name)} {raised(device.name)}. Where the module is on another device the next operation raises "
                f"{MISMATCH}.",
                related=tuple(Mention(one, "so does this") for one in others),
                fix=lambda: _delete(call) if follows else _fix(call, name, sources, certain, facts),
            )

        if sources or follows:
            yield reported()
        else:
            self._kept.setdefault(id(summary.cls), []).append((call, reported))

    @on_file
    def check_kept(self, _: Facts) -> Iterator[Report]:
        """One finding for what a class decides without an argument to follow."""
        for (_first, reported), *others in self._kept.values():
            yield reported([call for call, _ in others])

    @on_device_call
    def check_choice(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        """A tensor that goes where the machine has a GPU, in code that runs where its module or its arguments are."""
        summary = facts.class_summary
        if summary is None or summary.is_lightning or not (facts.in_forward or facts.body.name == "__call__"):
            return
        if not _is_tensor(call, facts) or not machine_decides(call, facts) or _needs_cuda(facts):
            return
        if _places_itself(summary, facts):
            return
        sources = _sources(call, facts)
        follow = f"`{sources[0]}`" if sources else "the device of an argument"
        where = "the module is" if summary.is_module else "the arguments are"
        yield self.report(
            call,
            f"this goes to CUDA wherever there is one, even for {'a module' if summary.is_module else 'arguments'} on the CPU; use {follow}",
            detail=f"On such a machine, where {where} on the CPU or on `cuda:1`, the operations that follow raise {MISMATCH}.",
            case=_ALIKE if facts.analysis.member is not None and lets_nobody_choose(facts.analysis.member) else "",
            fix=lambda: _fix(call, facts.callee(call), sources, False, facts),
        )

    @on_call(*_AUTOCAST)
    def check_autocast(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        summary = facts.class_summary
        if summary is None or not summary.is_module or summary.is_lightning or id(summary) in self._autocast:
            return
        written = facts.definition(call.argument("device_type", 0))
        if not isinstance(written, ir.Constant) or written.value != "cuda" or not _is_entered(call, facts):
            return
        if facts.guarded("cuda") or _needs_cuda(facts) or _depends_on_device(call, facts):
            return
        self._autocast.add(id(summary))
        sources = _sources(call, facts)
        follow = f"`{sources[0]}.type`" if sources else "the device type of an input or a parameter"
        yield self.report(
            call,
            f'`torch.autocast("cuda")` in a module acts on CUDA alone; use {follow}',
            detail="On the CPU or another accelerator autocast stays as it was outside.",
            case="autocast is turned off" if facts.constant(call.keyword("enabled")) is False else "",
        )


def _follows_argument(call: ir.Call, name: str, facts: Facts) -> str:
    """The last name of the factory in `torch.randn_like(z).cuda()`, whose tensor is where `z` is; "" for any other call."""
    made = facts.definition(facts.receiver(call)) if name in (".cuda", ".to") else None
    if not isinstance(made, ir.Call) or made.keyword("device") is not None or len(call.arguments) > (name == ".to"):
        return ""
    callee = facts.callee(made)
    return callee.rpartition(".")[2] if callee in functions.LIKE_FACTORIES else ""


def _is_tensor(call: ir.Call, facts: Facts) -> bool:
    """True for a move of a tensor (of one made here, where the class is no module), and for a factory with a device."""
    if facts.callee(call) not in (".cuda", ".to"):
        return facts.callee(call) in functions.FACTORIES and call.keyword("device") is not None
    value = facts.value(facts.receiver(call))
    return value.kind is Kind.TENSOR and (value.origin is not None or facts.in_forward)


def _places_itself(summary: ClassSummary, facts: Facts) -> bool:
    """True for a module whose constructor moves the module itself, by the same test as a rule: `self.cuda()`."""
    made = summary.method("__init__")
    definitions = facts.analysis.index_of(made).definitions if made is not None else []
    return made is not None and any(
        isinstance(op, ir.Attribute)
        and op.name in ("cuda", "to")
        and isinstance(receiver := definitions[op.object], ir.Load)
        and receiver.name == facts.analysis.index_of(made).self_name
        for op in operations(made)
    )


def _is_entered(call: ir.Call, facts: Facts) -> bool:
    return call.dst in Lookup.of(facts.body).entered


def _depends_on_device(call: ir.Call, facts: Facts) -> bool:
    """True for `enabled=x.is_cuda` and other tests of the place."""
    register = call.keyword("enabled")
    if register is None or isinstance(facts.definition(register), ir.Constant):
        return False
    return facts.value(register).kind is Kind.CONDITION or not isinstance(
        facts.definition(register), (ir.Load, ir.Attribute)
    )


def _needs_cuda(facts: Facts) -> bool:
    """True for files that have no other place to run: kernels, and what imports a package's kernels."""
    return is_cuda_only(facts.analysis) or any("triton" in name.split(".") for name in facts.program.imported)


def _is_kept(call: ir.Call, facts: Facts) -> bool:
    """True for a `torch.device("cuda")` that gets a name which something reads: the device of what follows."""
    return any(
        (isinstance(op, ir.StoreAttribute) and op.value == call.dst)
        or (isinstance(op, ir.Store) and any(Lookup.of(inner).loads(op.name) for inner in nested(facts.body)))
        for op in Lookup.of(facts.body).readers(call.dst)
    )


def _which(device: str) -> str:
    return f"`{device}`" if ":" in device else f"the current `{device}` device"


def _sources(call: ir.Call, facts: Facts) -> list[str]:
    """The devices that may be followed here: those of arguments that nothing moves."""
    if not facts.in_forward:
        return []
    moved = set(_moved_roots(facts))  # an input that is moved itself is none to follow: it would move nothing
    found = []
    for parameter in facts.body.parameters[1:]:
        value = facts.frame.held(parameter.name)
        if value is None or value.kind is not Kind.TENSOR or value.evidence < Evidence.USAGE:
            continue
        if (
            value.parameter == parameter.name
            and parameter.name not in moved
            and value.moved is None
            and facts.place(facts.receiver(call)) != parameter.name
            and is_surely_tensor(parameter.name, facts)
            and not may_be_none(parameter.name, call, facts)
            and _is_used_along(parameter.name, call, facts)
            and not _is_read_on_host(parameter.name, facts)
        ):
            found.append(f"{parameter.name}.device")
    return found


def _is_used_along(name: str, call: ir.Call, facts: Facts) -> bool:
    """True for an argument that is used on a path through the call. One that only another branch uses may be None here."""
    return any(
        may_follow(facts.body, load, call) or may_follow(facts.body, call, load)
        for load in Lookup.of(facts.body).loads(name)
    )


# What tells a number, or the shape, of a tensor.
_READ_ON_HOST = frozenset(("size", "shape", "dim", "ndim", "numel", "item", "tolist", "dtype", "long", "int", "cpu"))


def _is_read_on_host(name: str, facts: Facts) -> bool:
    """True for an argument of which the body reads numbers alone (`for i in range(sizes[k]):`): it may be elsewhere than the module."""
    held: set[ir.Register] = set()
    for op in operations(facts.body):
        if (isinstance(op, ir.Load) and op.name == name) or (isinstance(op, ir.Subscript) and op.object in held):
            held.add(op.dst)
        elif _takes_tensor(op, held, facts):
            return False
    return bool(held)


def _takes_tensor(op: ir.Op, held: set[ir.Register], facts: Facts) -> bool:
    """True for an operation that does more with one of these registers than to read a number."""
    if isinstance(op, ir.Attribute):
        return op.object in held and op.name not in _READ_ON_HOST
    if isinstance(op, ir.Call):
        return any(argument.value in held for argument in op.arguments) and not facts.callee(op).startswith("builtins.")
    if isinstance(op, (ir.Store, ir.StoreAttribute, ir.StoreSubscript, ir.Return)):
        return op.value in held
    return isinstance(op, (ir.Binary, ir.AugmentedAssign, ir.Sequence)) and not held.isdisjoint(reads(op))


def _enters_module(device: str, facts: Facts) -> bool:
    """True where a tensor of a device is given to a layer, or computed with what the module holds: then it is where the module is."""
    for op in operations(facts.body):
        values = [value for _, value in operands_of(op, facts)]
        if any(value.device.name == device for value in values) and (
            any(_is_of_module(value) for value in values)
            or (isinstance(op, ir.Call) and facts.value(op.function).kind is Kind.MODULE)
        ):
            return True
    return False


def _is_of_module(value: Value) -> bool:
    """True for what a layer of the module gives, be it one that was put on a literal device."""
    return value.device.name == "self" or (value.device.is_accelerator and value.evidence >= Evidence.STRONG)


def _meets(call: ir.Call, device: str, facts: Facts) -> bool:
    """True where what a call makes is computed with a tensor of this device, or with one of the module's where these enter it."""
    enters = _enters_module(device, facts)
    lookup = Lookup.of(facts.body)
    names = {op.name for op in lookup.readers(call.dst) if isinstance(op, ir.Store)}
    held = {load.dst for name in names for load in lookup.loads(name)} | {call.dst}

    def is_made_here(register: ir.Register, value: Value) -> bool:
        return register in held or call is value.origin or call is value.moved

    for op in operations(facts.body):
        given = operands_of(op, facts)
        others = [value for register, value in given if not is_made_here(register, value)]
        if 0 < len(others) < len(given) and any(
            value.device.name == device or (enters and _is_of_module(value)) for value in others
        ):
            return True
    return False


def _moved_roots(facts: Facts) -> Iterator[str]:
    """The names that the body moves, or moves what is read from them (`x.data.long().cuda()`)."""
    for op in operations(facts.body):
        if isinstance(op, ir.Attribute) and op.name in ("cuda", "to"):
            read: ir.Op | None = op
            while isinstance(read, (ir.Attribute, ir.Subscript, ir.Call)):
                read = facts.definition(read.function if isinstance(read, ir.Call) else read.object)
            if isinstance(read, ir.Load):
                yield read.name


def _makes_tensor(call: ir.Call, facts: Facts) -> bool:
    """True for a factory, or a factory's result that is moved at once."""
    if facts.callee(call) in functions.FACTORIES:
        return True
    receiver = facts.definition(facts.receiver(call))
    return isinstance(receiver, ir.Call) and makes_tensor(receiver, facts)


def _moves_inputs(facts: Facts) -> bool:
    """True when the body moves one of its arguments: then inputs may come from elsewhere."""
    names = {parameter.name for parameter in facts.body.parameters}
    return any(
        isinstance(op, ir.Attribute) and op.name in ("cuda", "to") and facts.place(op.object).partition("[")[0] in names
        for op in operations(facts.body)
    )


def _delete(call: ir.Call) -> NodeFix | None:
    """The factory without the move, which ran where its argument is on another device, too."""
    return NodeFix(Ground.CHANGES_A_RUN, "Leave it where its argument is", builders.remove_method(call))


def _fix(call: ir.Call, name: str, sources: list[str], certain: bool, facts: Facts) -> NodeFix | None:
    """Follows an argument that the tensor meets, which is safe where the tensor is made here; else the first one."""
    if not sources:
        return None
    met = next((device for device in sources if _meets(call, device, facts)), None)
    expression, same = met or sources[0], certain and met is not None
    if name in (".cuda", ".to"):
        if len(call.arguments) > 1:
            return None
        edits = builders.replace_call_arguments(call, "to", expression)
    else:
        edits = builders.replace_keyword_value(call, "device", expression)
    if edits is None:
        return None
    return NodeFix(Ground.OLD_LINE_RAISED if same else Ground.CHANGES_A_RUN, f"Follow `{expression}`", edits)
