"""TDL801."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.calls import called_as
from torchdevlint.facts.cuda_alone import is_cuda_only, needs_cuda_anyway
from torchdevlint.facts.devices import from_string
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.index import BodyIndex
from torchdevlint.facts.naming import looks_like_device
from torchdevlint.facts.once import once_per_body
from torchdevlint.facts.scopes import parameter_of
from torchdevlint.facts.spelled import accelerator_in, literals_of_own
from torchdevlint.facts.stops import starts_program, stops_where_it_fails
from torchdevlint.facts.unreached import is_run_by_nobody, reads_unbound_name
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, deciding_sides, import_time_blocks
from torchdevlint.rules.default_devices import DefaultDevice, DefaultDevices, is_always_given
from torchdevlint.rules.literals import (
    calls_collective,
    chosen_device,
    is_conditional_test,
    is_of_another_framework,
    names_first_cuda,
    spelled_accelerator,
)
from torchdevlint.rules.machine_choice import is_moved_by_callers, model_left_behind
from torchdevlint.rules.rule import WARNING, NodeFix, Report, Rule, on_device_call, on_file, on_op
from torchdevlint.rules.structure import moves_nothing, runs_for_each_gpu
from torchdevlint.rules.wording import MISMATCH, needed, raised
from torchdevlint.stubs.knowledge import functions

# Names by which a file asks the machine, or its caller, for the device.
_ASKS = ("is_cuda", "current_accelerator", "is_torch_cuda_available", "no_cuda", "use_cuda")
_POSITIONAL = frozenset({"torch.device", "torch.set_default_device", "torch.Generator"})
_TAKE_DEVICE = _POSITIONAL | {".to", ".cuda", ".to_empty"}
# Libraries whose `device=` has a meaning of its own, and containers of settings.
_OTHER_DEVICES = (
    "xgboost.",
    "lightgbm.",
    "catboost.",
    "cudf.",
    "cuml.",
    "jax.",
    "torchsummary.",  # takes the CPU where there is no CUDA
    "builtins.dict",
    "types.",
    "argparse.",
    ".add_argument",
)
_ONE_PROCESS_PER_GPU = ("init_process_group", "set_device", "local_rank", "LOCAL_RANK")
_RANK = re.compile(r"rank", re.IGNORECASE)
_SETS_DEVICE = re.compile(rb"\bcuda\.set_device\(")


class HardcodedAccelerator(Rule):
    """Finds literal accelerators that nobody looked for.

    ## What it does
    Reports `.cuda()`, `.to("cuda")`, `device="cuda:0"`, `torch.device("cuda")` and `torch.device(f"cuda:{index}")` outside of an availability
    test: each place where a device is in scope, else the first of a function or of a file that never asks for a device, as it is one decision. In a
    program that is for CUDA by design, since neither it nor what it imports lets anybody choose a device, it is a note. Also the default
    `device="cuda"` of a public function that places something on it, the input of a model that is placed by the caller, and a `.cuda()` of a
    value that was moved to a named device before. In methods of modules this is TDL605.

    ## Why is this bad?
    On a machine without CUDA the line raises `AssertionError: Torch not compiled with CUDA enabled` or `RuntimeError: Found no NVIDIA driver on
    your system`; the program cannot run on the CPU, on Apple's or on Intel's accelerators.

    ## Example
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        labels = labels.cuda()

    ## Use instead
        labels = labels.to(device)

    ## When it stays silent
    Behind an availability test, a flag, an assertion, an early exit or a `try`; in tests that may be skipped; in files that need CUDA anyway
    (Triton, CuPy, CUDA extensions, one process per GPU) or whose `main` stops without it; for a computed index, and where a condition chooses
    between it and the CPU.

    ## Fix safety
    The name of a device in scope is safe when an availability test picks it and picks CUDA where it is, and the literal has no index above
    0. For any other name in scope it is unsafe. Without one no fix is made.

    ## Proof
    The line raises on a machine without a GPU; with the chosen device the program gives the same values there.

    ## References
    torch/cuda/__init__.py (`_lazy_init`).
    """

    code, name, severity = "TDL801", "hardcoded-accelerator", WARNING
    fixable = "sometimes"

    def __init__(self) -> None:
        self._found: list[_Found] = []
        self._known: set[int] = set()  # the calls that were found
        self._asks = False
        self._demands = False
        self._defaults = DefaultDevices()
        self._choices: list[tuple[ir.Call, str]] = []
        self._places_model = False
        self._moved: set[str] = set()  # names of what the file moves

    @on_device_call
    def collect(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        """Note a hard-coded accelerator: what it means is judged when the whole file is known."""
        if is_of_another_framework(facts):
            return
        if functions.AVAILABILITY.get(facts.callee(call)):
            self._asks = True
            self._demands = self._demands or (
                starts_program(facts.body, facts.analysis) and stops_where_it_fails(call, facts.body, facts.analysis)
            )
        self._defaults.note_call(call, facts)
        self._note_choice(call, facts)
        found = _hardcoded(call, facts)
        if (
            found is None
            or _is_default(call, facts)
            or reads_unbound_name(facts.receiver(call), facts.body, facts.analysis)
        ):
            return
        if _is_one_way_of_two(call, facts):
            return
        guarded = facts.guarded(found.type) or runs_for_each_gpu(call, facts)
        left = _left_device(call, facts)
        if left is not None and (guarded or not _is_elsewhere(facts)):
            yield self._reported_second_move(call, *left, _sets_current_gpu(facts))
        elif not guarded and not _is_elsewhere(facts):
            name, safe = chosen_device(call, facts) or ("", False)
            if found.computed or found.kept or _is_choice(call.dst, facts):
                name = ""  # this very line chooses a device: another one in scope is none to replace it with
            place = found.literal if found.kept else call
            if id(place) not in self._known:
                self._known.add(id(place))
                self._found.append(found._replace(name=name, safe=safe and found.device in ("cuda", "cuda:0")))

    def _note_choice(self, call: ir.Call, facts: Facts) -> None:
        """Note an input that follows the machine, and whether the file places a model itself, known as one or by the name of the argument."""
        if facts.callee(call) in (".cuda", ".to"):
            receiver = facts.receiver(call)
            self._places_model = self._places_model or facts.value(receiver).kind is Kind.MODULE
            self._moved.add(facts.place(receiver))
        model = model_left_behind(call, facts)
        if model and all(known is not call for known, _ in self._choices):
            self._choices.append((call, model))

    @on_op(ir.StoreAttribute)
    def note_attribute(self, op: ir.StoreAttribute, facts: Facts) -> None:
        """Note a device that a constructor keeps."""
        self._defaults.note_store(op, facts)

    @on_file
    def check(self, facts: Facts) -> Iterator[Report]:
        """One report for each place with a device in scope; for the rest one for a function, or for a file that never asks."""
        found = [] if is_cuda_only(facts.analysis) or self._demands else self._found
        asks = self._asks or facts.mentions(*_ASKS) or any(one.name for one in found)
        if not asks and facts.mentions("init_process_group"):
            return  # the file starts a process for each GPU and has no other place to run
        told: dict[tuple[int, bool], list[_Found]] = {}
        for one in found:
            is_note = (
                _is_chosen(one, facts) or needs_cuda_anyway(one.body, facts.analysis, one.call) or _is_trial(one, facts)
            )
            if one.name:
                yield self._reported(one, is_note)
            else:
                told.setdefault((id(one.body) if asks else 0, is_note), []).append(one)
        for (_, is_note), (first, *others) in told.items():
            where = "function" if asks and first.body.kind == "function" else "file"
            yield self._reported(first, is_note, len(others), where)
        defaults = [] if is_cuda_only(facts.analysis) else list(self._defaults.found(facts))
        for call, model in [] if self._places_model else self._choices:
            if model not in self._moved and not is_moved_by_callers(call, model, facts):
                yield self._reported_choice(call, model)
        if defaults:
            is_note = needs_cuda_anyway(defaults[0].function, facts.analysis) or all(
                is_always_given(one, facts) or is_run_by_nobody(one.function, facts.analysis) for one in defaults
            )
            yield self._reported_default(defaults[0], len(defaults) - 1, is_note)

    def _reported_second_move(self, call: ir.Call, device: str, spelled: str, is_note: bool) -> Report:
        return self.report(
            call,
            f"this goes to the current GPU, but {spelled}; use `{device}`",
            detail="Where that is another GPU, the program goes on with tensors on two devices.",
            case="each process sets its current GPU" if is_note else "",
            fix=lambda: NodeFix(
                Ground.CHANGES_A_RUN, f"Move to `{device}`", builders.replace_call_arguments(call, "to", device)
            ),
        )

    def _reported_choice(self, call: ir.Call, model: str) -> Report:
        return self.report(
            call,
            f"this goes to CUDA wherever there is one, but `{model}` may not; use `next({model}.parameters()).device`",
            detail=f"`{model}` stays where the caller put it: with a model on the CPU of such a machine, or on `cuda:1`, the call raises "
            f"{MISMATCH}.",
        )

    def _reported_default(self, default: DefaultDevice, others: int, is_note: bool) -> Report:
        called = called_as(default.function)
        more = f" ({others} more)" if others else ""
        return self.report(
            default.op,
            f"`{called}(...)` without `{default.parameter.name}` needs {needed(default.device)}{more}; "
            "default to None and choose the device inside",
            detail=f"Where there is none {raised(default.device)}. Choose it by an availability test in the function."
            + (f" {others} more in this file." if others else ""),
            case="no call leaves the default" if is_note else "",
        )

    def _reported(self, found: _Found, is_note: bool, others: int = 0, where: str = "file") -> Report:
        counted = f" ({others} more)" if others else ""
        fails = "takes {} for granted" if found.spelled.startswith("torch.device") else "fails on machines without {}"
        return self.report(
            found.literal or found.call,
            f"`{found.spelled}` {fails.format(needed(found.device))}{counted}; {_advice(found)}",
            detail=f"Where there is none {raised(found.device)}."
            + (f" {others} more in this {where}." if others else ""),
            case=_CUDA_IS_THERE if is_note else "",
            fix=lambda: _fix(found),
        )


_CUDA_IS_THERE = "the project is for another accelerator, CUDA works there, or who runs this trial has a GPU"


class _Found(NamedTuple):
    """A hard-coded accelerator. `name` is a device in scope; `safe`: it means the same where there is an accelerator."""

    call: ir.Call
    body: ir.Body
    device: str
    spelled: str
    literal: ir.Op | None  # the string or torch.device(...) to replace; None for `.cuda()`
    name: str = ""
    safe: bool = False
    computed: bool = False  # the index is read from a setting: no other device to replace it with
    kept: bool = False  # the literal is bound to a name, and this call reads the name

    @property
    def type(self) -> str:
        return self.device.partition(":")[0]


def _advice(found: _Found) -> str:
    if not found.name:
        return "choose the device with an availability test"
    form = (
        "`.to({})`"
        if found.spelled.startswith(".")
        else "`device={}`"
        if found.spelled.startswith("device=")
        else "`{}`"
    )
    return f"use {form.format(found.name)}"


def _sets_current_gpu(facts: Facts) -> bool:
    """True in a project that makes the device of a process the current GPU: `.cuda()` goes there then."""
    member = facts.analysis.member
    return member is not None and any(True for _ in member.project.holding((b"set_device(",), _SETS_DEVICE))


def _is_chosen(found: _Found, facts: Facts) -> bool:
    """True in a project for another accelerator than CUDA: who names one has it."""
    return found.type != "cuda" and facts.analysis.member is not None


def _is_trial(found: _Found, facts: Facts) -> bool:
    """True under `if __name__ == "__main__"` of a file of modules, or that others import: who wrote the trial ran it on the machine that it names."""
    if found.body.kind != "module" or facts.roles.reads_command_line or facts.mentions("argv"):
        return False
    block = block_of(found.body, found.call)
    if block is None or block.index in import_time_blocks(found.body):
        return False
    return facts.roles.is_imported or any(facts.analysis.summary_of(cls).is_module for cls in facts.program.classes)


def _hardcoded(call: ir.Call, facts: Facts) -> _Found | None:
    """The accelerator that a call spells in place, or None."""
    callee = facts.callee(call)
    if callee in (".cuda", ".to") and moves_nothing(call, facts):
        return None
    if callee == ".cuda":
        return _cuda_call(call, facts)
    if callee in _POSITIONAL:
        register = call.argument("device", 0)
        if callee != "torch.device":
            if isinstance(facts.definition(register), ir.Call):
                return None  # torch.device(...) in there is told by itself
            device = spelled_accelerator(register, facts)
            return (
                _Found(call, facts.body, device.name, callee, facts.definition(register))
                if device is not None
                else None
            )
        device = spelled_accelerator(call.dst, facts)
        if device is None:
            return _computed(call, facts)
        if not _is_placed_on(call, facts):
            return None
        return _Found(call, facts.body, device.name, f'torch.device("{device.name}")', call)
    register = call.keyword("device")
    if callee == ".to" and register is None:
        register = call.positional(0)
    elif (
        register is None
        or callee in functions.DEVICES_OF_LOADS
        or callee.startswith(("torch.cuda.", "torch.amp."))  # a GradScaler without CUDA warns and does nothing
        or callee.startswith(_OTHER_DEVICES)
        or _is_record(facts.value(call.function))
    ):
        return None
    written = facts.definition(register)
    device = spelled_accelerator(register, facts) if isinstance(written, ir.Constant) else None
    if device is None:
        return _kept(call, register, facts)
    spelled = f'.to("{device.name}")' if callee == ".to" else f'device="{device.name}"'
    return _Found(call, facts.body, device.name, spelled, written)


def _kept(call: ir.Call, register: ir.Register | None, facts: Facts) -> _Found | None:
    """A literal that a name keeps, or an attribute of `self`: `device = "cuda"`, bound once."""
    read, held = facts.definition(register), facts.constant(register)
    own = literals_of_own(read, facts.body, facts.analysis)
    if isinstance(read, ir.Attribute) and len(own) == 1:
        value, body = own[0]
        device, written = accelerator_in(value, body, facts.analysis), Lookup.of(body).definition(value)
        is_literal = device is not None and isinstance(written, ir.Constant)
        spelled = f'self.{read.name} = "{device.name}"' if device is not None else ""
        return _Found(call, facts.body, device.name, spelled, written, kept=True) if device and is_literal else None
    device = from_string(held) if isinstance(held, str) else None
    if not isinstance(read, ir.Load) or device is None or not device.is_accelerator:
        return None
    for body in dict.fromkeys((facts.body, facts.program.module)):
        stores = list(Lookup.of(body).stores(read.name))
        if stores or parameter_of(body, read.name) is not None:
            written = Lookup.of(body).definition(stores[0].value) if len(stores) == 1 else None
            if not isinstance(written, ir.Constant) or written.value != held:
                return None
            return _Found(call, facts.body, device.name, f'{read.name} = "{device.name}"', written, kept=True)
    return None


def _is_record(callee: Value) -> bool:
    """True for a class of the file without a constructor or a base: a dataclass, which keeps the device as it keeps a name."""
    cls = callee.definition
    return isinstance(cls, ir.Class) and callee.kind is Kind.CLASS and not cls.bases and "__init__" not in cls.methods


def _computed(call: ir.Call, facts: Facts) -> _Found | None:
    """`torch.device(f"cuda:{index}")`, however the text is put together, outside of programs with one process per GPU."""
    written = Lookup.of(facts.body).put_together(call.positional(0))
    if written is None or written[0] != "cuda:" or len(call.arguments) != 1:
        return None
    if _has_process_per_gpu(facts) or not _is_placed_on(call, facts):
        return None
    return _Found(call, facts.body, "cuda", 'torch.device(f"cuda:...")', call, computed=True)


def _cuda_call(call: ir.Call, facts: Facts) -> _Found | None:
    if facts.body.kind == "lambda":
        return None  # `map_location=lambda storage, location: storage.cuda()` is TDL102's
    if facts.value(facts.receiver(call)).kind in (Kind.OTHER, Kind.GENERATOR, Kind.STRING, Kind.SCALAR):
        return None
    register = call.argument("device", 0)
    if register is None:
        return None if call.has_splat else _Found(call, facts.body, "cuda", ".cuda()", None)
    index = facts.constant(register) if isinstance(facts.definition(register), ir.Constant) else None
    if isinstance(index, int) and not isinstance(index, bool):
        return _Found(call, facts.body, f"cuda:{index}", f".cuda({index})", None)
    place = facts.place(register)
    if not place or not _is_setting(place, facts):
        return None  # `.cuda(rank)`: one process per GPU, which asks elsewhere
    return _Found(call, facts.body, "cuda", f".cuda({place})", None, computed=True)


def _has_process_per_gpu(facts: Facts) -> bool:
    """True in a file that starts one process for each GPU, and in a function that is one of them."""
    names = {parameter.name for parameter in facts.body.parameters} | facts.body.local_names
    return facts.mentions(*_ONE_PROCESS_PER_GPU) or "world_size" in names


def _is_setting(place: str, facts: Facts) -> bool:
    """True for a device that the program's user sets: `args.gpu`, `cfg.gpu_ids[0]`, `self.device`, `device`."""
    if _RANK.search(place) or facts.body.name == "cuda" or _has_process_per_gpu(facts):
        return False
    return "." in place or looks_like_device(place)


def _left_device(call: ir.Call, facts: Facts) -> tuple[str, str] | None:
    """The device that a `.cuda()` takes a value away from, and how a message tells: moved there before, or brought to the CPU in between."""
    if facts.callee(call) != ".cuda" or call.arguments:
        return None
    register = facts.receiver(call)
    value = facts.value(register)
    device = facts.frame.module_device(value) if value.kind is Kind.MODULE else value.device
    is_named = device.place == "sym" and device.name.replace(".", "").isidentifier() and looks_like_device(device.name)
    if is_named and value.moved is not None and not names_first_cuda(device.name, facts):
        return device.name, f"the value was moved to `{device.name}` before"
    source = _brought_to_host(register, facts)
    return (f"{source}.device", f"`{source}` may come from another one") if source else None


def _brought_to_host(register: ir.Register | None, facts: Facts) -> str:
    """The name of `x` in `x.cpu().method()`, or ""."""
    return next((facts.place(method.object) for _, method in facts.methods(register) if method.name == "cpu"), "")


def _is_default(call: ir.Call, facts: Facts) -> bool:
    """True for the default value of a parameter or of a setting in a class body: somebody else may choose."""
    if facts.body.kind == "class":
        return True
    return call.dst in _defaults(facts.body, facts)


@once_per_body
def _defaults(body: ir.Body, facts: Facts) -> frozenset[ir.Register | None]:
    """The default values of the functions that a body makes."""
    return frozenset(parameter.default for function in body.functions for parameter in function.parameters)


def _is_elsewhere(facts: Facts) -> bool:
    """True in methods of an nn.Module (TDL605 speaks of those), in an own method `cuda`, in tests that something may skip, and around a collective."""
    if facts.body.name == "cuda" and facts.body.owner is not None:
        return True
    summary = facts.class_summary
    if summary is not None and summary.is_module and not summary.is_lightning:
        return True
    return is_conditional_test(facts) or calls_collective(facts)


def _is_choice(register: ir.Register, facts: Facts) -> bool:
    """True for a `torch.device(...)` that gives a device its name: `device = torch.device("cuda")`."""
    return any(
        isinstance(op, (ir.Store, ir.StoreAttribute)) and op.value == register and looks_like_device(op.name)
        for op in Lookup.of(facts.body).readers(register)
    )


def _is_one_way_of_two(device: ir.Call, facts: Facts) -> bool:
    """True for a device that gets its name under a condition whose other side gives the name the CPU: who runs the program chooses."""
    lookup, index = Lookup.of(facts.body), facts.index
    for op in lookup.readers(device.dst):
        if not isinstance(op, (ir.Store, ir.StoreAttribute)) or op.value != device.dst:
            continue
        others = _names_of_host(facts.body, facts).get(_place_of(op, index), ())
        block = lookup.block(op) if others else None
        opposed = {(test, not side) for test, side in deciding_sides(facts.body, block)} if block is not None else set()
        for other in others:
            there = lookup.block(other)
            if there is not None and not opposed.isdisjoint(deciding_sides(facts.body, there)):
                return True
    return False


@once_per_body
def _names_of_host(body: ir.Body, facts: Facts) -> dict[str, list[ir.Store | ir.StoreAttribute]]:
    """What names the CPU in a body, by the name or attribute that it gets."""
    lookup, index = Lookup.of(body), facts.analysis.index_of(body)
    found: dict[str, list[ir.Store | ir.StoreAttribute]] = {}
    stores: list[ir.Store | ir.StoreAttribute] = [*lookup.kind(ir.Store), *lookup.kind(ir.StoreAttribute)]
    for op in stores:
        if _spells_host(op.value, index) and (place := _place_of(op, index)):
            found.setdefault(place, []).append(op)
    return found


def _spells_host(register: ir.Register, index: BodyIndex) -> bool:
    """True for "cpu" and `torch.device("cpu")`, on a path that the analysis may not have come to yet."""
    written = index.definitions[register]
    if isinstance(written, ir.Call) and written.arguments and index.dotted(written.function).endswith("device"):
        written = index.definitions[written.arguments[0].value]
    return isinstance(written, ir.Constant) and written.value == "cpu"


def _place_of(store: ir.Store | ir.StoreAttribute, index: BodyIndex) -> str:
    """What a store binds: "device", "self.device"; "" for an attribute of what has no name."""
    if isinstance(store, ir.Store):
        return store.name
    holder = index.dotted(store.object)
    return f"{holder}.{store.name}" if holder else ""


def _is_placed_on(device: ir.Call, facts: Facts) -> bool:
    """True for a `torch.device(...)` that something is placed on: moved to, created or entered, or a name of a device.

    One that is only compared or listed is harmless, and the map_location of a load is TDL102's.
    """
    lookup = Lookup.of(facts.body)
    for op in lookup.readers(device.dst):
        if isinstance(op, ir.Call) and any(argument.value == device.dst for argument in op.arguments):
            callee = facts.callee(op)
            if callee in functions.DEVICES_OF_LOADS:
                return False
            return op.keyword("device") == device.dst or callee in _TAKE_DEVICE
        if isinstance(op, (ir.Store, ir.StoreAttribute)) and op.value == device.dst:
            return looks_like_device(op.name)
        if isinstance(op, ir.Return):
            return True
    return device.dst in lookup.entered


def _fix(found: _Found) -> NodeFix | None:
    if not found.name:
        return None
    if found.literal is None:
        given = [argument for argument in found.call.arguments if argument.keyword != "non_blocking"]
        if len(given) == len(found.call.arguments):
            edits = builders.replace_call_arguments(found.call, "to", found.name)
        elif given:
            edits = None
        else:
            edits = builders.combine(
                builders.rename_callee(found.call, "to"), builders.insert_first_argument(found.call, found.name)
            )
    else:
        edits = builders.replace_expression(found.literal, found.name)
    ground = Ground.OLD_LINE_RAISED if found.safe else Ground.CHANGES_A_RUN
    return NodeFix(ground, f"Use `{found.name}`", edits)
