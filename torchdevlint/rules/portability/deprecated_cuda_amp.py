"""TDL805."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.files import facts_of
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.program.order import deciding_tests
from torchdevlint.program.project import Member, worked_out
from torchdevlint.rules.rule import WARNING, NodeFix, Report, Rule, on_any_call, on_file

if TYPE_CHECKING:
    from torchdevlint.fixes.builders import Edits

_WARNS_SINCE = (2, 4)
_NAMES = ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
# torch/cuda/amp/autocast_mode.py; the second positional argument of torch.amp.autocast is another one.
_AUTOCAST_PARAMETERS = ("enabled", "dtype", "cache_enabled")
_MODULES = {
    f"torch.{device}.amp{inner}.{name}": (device, name)
    for device in ("cuda", "cpu")
    for name in _NAMES
    for inner in ("", ".autocast_mode", ".grad_scaler")
}
_NEWER = {name: frozenset({f"torch.amp.{name}"}) for name in _NAMES} | {
    "autocast": frozenset({"torch.amp.autocast", "torch.autocast"})
}


_ASKS_CLASS = re.compile(rb"\bGradScaler\b|\bautocast\b")


class DeprecatedCudaAmp(Rule):
    """Finds `torch.cuda.amp` and `torch.cpu.amp`, which are deprecated.

    ## What it does
    Reports calls of `autocast`, `GradScaler`, `custom_fwd` and `custom_bwd` from `torch.cuda.amp` and `torch.cpu.amp`.

    ## Why is this bad?
    Since PyTorch 2.4 they give a `FutureWarning`: `torch.amp` has the same functions for every device, with the device type as an argument.

    ## Example
        with torch.cuda.amp.autocast(use_amp):
            loss = criterion(model(images), labels)

    ## Use instead
        with torch.amp.autocast("cuda", enabled=use_amp):
            loss = criterion(model(images), labels)

    ## When it stays silent
    Names of other packages (apex, accelerate); a `try` or a test of the version that has both spellings. It is a note where the requirements
    of the project (or the commands of its README and scripts that install torch) rule out torch 2.4 and all that follow, where they let in a
    torch before 1.10, which has no `torch.amp`, where the file has this very warning ignored, and for all but one of the calls of what a file imports.

    ## Fix safety
    Safe where the project's oldest torch is known to have the new name (`target-torch`, or the lower bound in its dependencies): `torch.amp.autocast`
    came with 1.10, `GradScaler` with 2.3, `custom_fwd` with 2.4. Else it is unsafe, and none is made where the requirements let in no torch
    that has it, or where another file asks `isinstance` of the old class. Also unsafe in a file that asks `isinstance`.
    Positional arguments of `autocast` become keywords, as `torch.amp.autocast("cuda", True)` would set the dtype. An import is rewritten
    together with all its uses.

    ## Proof
    Constructing the old context manager warns; the new one does not, and casts the same operations.

    ## References
    torch/cuda/amp/autocast_mode.py, torch/cuda/amp/grad_scaler.py, torch/amp/autocast_mode.py.
    """

    code, name, severity = "TDL805", "deprecated-cuda-amp", WARNING
    needs = ("amp",)
    fixable = "sometimes"

    def __init__(self) -> None:
        self._found: list[tuple[ir.Call, str, str]] = []  # the call, its dotted name, its callee as written

    @on_any_call
    def collect(self, call: ir.Call, facts: Facts) -> None:
        """Note a use: its fix may need to change all others with it."""
        name = facts.qualified(call.function)
        if name in _MODULES and all(known is not call for known, _, _ in self._found):
            self._found.append((call, name, facts.place(call.function)))

    @on_file
    def check(self, facts: Facts) -> Iterator[Report]:
        is_told = False
        for call, name, written in self._found:
            if _is_tried(name, facts.program):
                continue  # both spellings are imported, for old versions
            device, last = _MODULES[name]
            if _names_one_of(_NEWER[last], facts) and _is_for_old_versions(call, name, facts):
                continue
            is_imported = f"{device}.amp.{last}" not in written
            case = "another call of what is imported has told of it" if is_told and is_imported else ""
            if _is_out_of_reach(facts) or _is_silenced(last, facts):
                case = "no torch that warns is allowed, or the warning is silenced"
            elif facts.runs_on_torch_before(*_SINCE["autocast"]):
                case = "the oldest torch of the project has no `torch.amp`"
            is_told = is_told or is_imported
            yield self.report(
                call,
                f'`torch.{device}.amp.{last}` is deprecated since torch 2.4; use `torch.amp.{last}` with the type "{device}"',
                detail="It gives a FutureWarning. `torch.amp` has the same functions for every device, with the device type as an argument.",
                case=case,
                fix=lambda call=call, name=name, written=written: self._fix(call, name, written, facts),  # type: ignore[misc]
            )

    def _fix(self, call: ir.Call, name: str, written: str, facts: Facts) -> NodeFix | None:
        device, last = _MODULES[name]
        is_written_out = f"{device}.amp.{last}" in written
        since = _SINCE[last] if is_written_out else max(_SINCE[_MODULES[other][1]] for _, other, _ in self._found)
        if facts.rules_out_torch(*since) or _is_asked_elsewhere(name, facts):
            return None
        if is_written_out:
            callee = written.replace(f"{device}.amp.", "amp.")
            edits = builders.combine(*_edits(call, device, last), builders.replace_callee(call, callee))
        else:
            edits = self._fix_with_import(written, device, facts.program)
        ground = Ground.SAME_OPERATION if facts.may_use_torch(*since) else Ground.NEEDS_NEWER_TORCH
        if facts.mentions("isinstance"):
            ground = Ground.UNSEEN_CODE
        return NodeFix(ground, f"Use `torch.amp.{last}`", edits)

    def _fix_with_import(self, written: str, device: str, program: ir.Program) -> Edits | None:
        """Rewrites `from torch.cuda.amp import ...` and every call of its names, or nothing."""
        module = f"torch.{device}.amp"
        lookups = [*map(Lookup.of, program.bodies)]
        imports = (op for lookup in lookups for op in lookup.kind(ir.Import))
        imported = [op for op in imports if op.qualified.rpartition(".")[0] == module]
        if not imported or any(op.qualified not in _MODULES for op in imported):
            return None
        names = {op.name for op in imported}
        calls = [(call, name) for call, name, spelled in self._found if spelled in names]
        reads = sum(len(lookup.loads(name)) for lookup in lookups for name in names)
        if written not in names or reads != len(calls):
            return None
        sources = {
            edit.target: edit
            for op in imported
            for edit in builders.replace_import_source(program, op, "torch.amp") or ()
        }
        parts = [part for call, name in calls for part in _edits(call, *_MODULES[name])]
        return builders.combine(tuple(sources.values()), *parts) if sources else None


def _is_for_old_versions(call: ir.Call, name: str, facts: Facts) -> bool:
    """True for a call, or an import of what it calls, that a test of the version chooses."""
    return any(
        _is_for_some_versions(block, body, facts)
        for body in facts.program.bodies
        for block in body.blocks
        if any(op is call or (isinstance(op, ir.Import) and op.qualified == name) for op in block.ops)
    )


# torch/amp/__init__.py of each release.
_SINCE = {"autocast": (1, 10), "GradScaler": (2, 3), "custom_fwd": (2, 4), "custom_bwd": (2, 4)}


def _is_out_of_reach(facts: Facts) -> bool:
    """True in a project whose requirements let in no torch that warns."""
    return facts.rules_out_torch(*_WARNS_SINCE)


def _is_asked_elsewhere(name: str, facts: Facts) -> bool:
    """True where another file of the project asks `isinstance` of this class: the new one is its base, and none of its instances."""
    member = facts.analysis.member
    return member is not None and any(
        path != member.path and name in _asked_classes(Member(member.project, path))
        for path in member.project.holding((b"isinstance(",), _ASKS_CLASS)
    )


@worked_out(512, frozenset)
def _asked_classes(place: Member) -> frozenset[str]:
    """The deprecated classes that a file gives to `isinstance` or `issubclass`, alone or in a tuple."""
    facts = facts_of(place)
    found = set()
    for body in facts.program.bodies if facts is not None else ():
        assert facts is not None
        lookup = Lookup.of(body)
        for call in facts.calls_to(("isinstance", "issubclass", "builtins.isinstance", "builtins.issubclass"), body):
            register = call.positional(1)
            given = lookup.definition(register)
            classes = [one.value for one in given.elements] if isinstance(given, ir.Sequence) else [register]
            found |= {facts.spelled(one, body) for one in classes if one is not None}
    return frozenset(found & _MODULES.keys())


def _is_silenced(name: str, facts: Facts) -> bool:
    """True in a file that has the warning of this function ignored: `filterwarnings("ignore", message="`torch.cuda.amp.autocast.*")`."""
    module = facts.program.module
    lookup = Lookup.of(module)
    for call in facts.analysis.calls_to(("warnings.filterwarnings",), module):
        action, message = map(lookup.definition, (call.argument("action", 0), call.argument("message", 1)))
        ignored = isinstance(action, ir.Constant) and action.value == "ignore"
        if ignored and isinstance(message, ir.Constant) and f"amp.{name}" in str(message.value):
            return True
    return False


def _edits(call: ir.Call, device: str, last: str) -> tuple[Edits | None, ...]:
    """The edits of a call's arguments."""
    if last in ("custom_fwd", "custom_bwd"):
        if call.positional_count:
            return (None,)
        return (builders.add_keyword(call, "device_type", f'"{device}"'),)
    names = _AUTOCAST_PARAMETERS if last == "autocast" else ()
    return (builders.insert_first_argument(call, f'"{device}"', names),)


def _is_tried(name: str, program: ir.Program) -> bool:
    """True for a name that the file imports in a handler, or in a `try` whose handler catches its failure."""
    return any(
        context.part == "handler" or not _NO_IMPORT.isdisjoint(caught.rpartition(".")[2] for caught in context.catches)
        for lookup in map(Lookup.of, program.bodies)
        for op in lookup.kind(ir.Import)
        if op.qualified == name and (block := lookup.block(op)) is not None
        for context in block.tries
    )


_NO_IMPORT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "AttributeError"})
# `torch.__version__`, `TORCH_VERSION`, `is_torch_version`, `TORCH_2_4`, `_TORCH_GREATER_EQUAL_2_4`
_VERSION = re.compile(r"version|torch\w*_\d|torch\d|is_torch_", re.IGNORECASE)
_NUMBER = re.compile(r"\d+\.\d+\.\d+")
_ABSENCE = frozenset({"AttributeError", "TypeError", "ImportError", "ModuleNotFoundError", "Exception"})
_DEPTH = 6


def _is_for_some_versions(block: ir.Block, body: ir.Body, facts: Facts) -> bool:
    """True behind a test of torch's version, or of what it has, and in the handler of a `try` that failed for want of something newer."""
    if any(tried.part == "handler" and _is_absence(tried) for tried in block.tries):
        return True
    return any(_asks_version(test, body, facts, _DEPTH) for test in deciding_tests(body, block))


def _is_absence(tried: ir.TryContext) -> bool:
    return not tried.catches or not _ABSENCE.isdisjoint(name.rpartition(".")[2] for name in tried.catches)


def _names_one_of(names: frozenset[str], facts: Facts) -> bool:
    """True for a file that imports or reads one of these dotted names."""
    for body in facts.program.bodies:
        lookup = Lookup.of(body)
        if any(op.qualified in names for op in lookup.kind(ir.Import)):
            return True
        if any(facts.analysis.spelled(op.dst, body) in names for op in lookup.kind(ir.Attribute)):
            return True
    return False


def _asks_version(register: ir.Register, body: ir.Body, facts: Facts, depth: int) -> bool:
    index = facts.analysis.index_of(body)
    written = index.definitions[register]
    if depth == 0:
        return False
    if isinstance(written, ir.Attribute):
        return bool(_VERSION.search(written.name))
    if isinstance(written, ir.Load):
        return bool(_VERSION.search(written.name)) or _is_stored_version(written.name, body, facts, depth)
    if isinstance(written, ir.Call):
        function, first = index.dotted(written.function), written.positional(0)
        if function == "hasattr" and first is not None:
            return facts.analysis.spelled(first, body).partition(".")[0] == "torch"
        given = [index.definitions[argument.value] for argument in written.arguments]
        if any(isinstance(op, ir.Constant) and _NUMBER.fullmatch(str(op.value)) for op in given):
            return True  # `requires("2.3.0")`
    return any(_asks_version(part, body, facts, depth - 1) for part in reads(written))


def _is_stored_version(name: str, body: ir.Body, facts: Facts, depth: int) -> bool:
    """True for a name that a test of the version was stored under, in the body or in the module."""
    return any(
        _asks_version(value, place, facts, depth - 1)
        for place in dict.fromkeys((body, facts.program.module))
        for value in facts.analysis.index_of(place).bound_to(name)
    )
