"""What the other files of the project say: what the modules need that a file imports, who imports it, and what these do.

Without a project (a text, a file outside of any repository) there are no other files, and nothing is concluded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Member, Project, worked_out
from torchdevlint.program.roles import importers
from torchdevlint.rules.order import is_unconditional
from torchdevlint.rules.structure import (
    calls_to,
    failing_branch_stops,
    once_per_body,
    once_per_file,
    operations,
    roles,
)
from torchdevlint.source.grounds import remembered
from torchdevlint.stubs.knowledge import functions

# What a file must hold, as bytes, to be one that stops without CUDA: a test that is asserted, negated or compared.
_STOPS_HINTS = (b"is_available(", b"device_count(")
_STOPS = re.compile(  # each way begins with a letter of its own: `re` skips all others fast
    rb"assert[ (]+[\w.]*(?:is_available|device_count)\(|not[ (]+[\w.]*(?:is_available|device_count)\("
    rb"|device_count\(\) *[<=]|is_available\(\) *(?:is\b|or\b|==)"
)
_SETS_DEFAULT_HINTS = (b"set_default_", b"with torch.device(")
_SETS_DEFAULT = re.compile(rb"\bset_default_(?:device|tensor_type)\(|\bwith torch\.device\(")
_MOST_FILES = 40  # who is imported by more files than these serves more than one purpose


def required_imports(facts: Facts) -> Iterator[str]:
    """What the file imports at its top level, outside of conditions and of a `try` that goes on without it."""
    return (op.qualified for op in required_statements(facts))


@once_per_file
def required_statements(facts: Facts) -> tuple[ir.Import, ...]:
    """The imports at a file's top level, outside of conditions and of a `try` that goes on without them."""
    return tuple(_required_statements(facts))


def _required_statements(facts: Facts) -> Iterator[ir.Import]:
    module = facts.program.module
    handling = _handling(module)
    for block in module.blocks:
        imported = [op for op in block.ops if isinstance(op, ir.Import)]
        if not imported or any(context.part == "handler" for context in block.tries):
            continue
        tried = [context.identity for context in block.tries if context.part == "body"]
        if not tried and not is_unconditional(block, module):
            continue
        handlers = [handling.get(identity, []) for identity in tried]
        yield from (op for op in imported if all(_is_needed(op, handler) for handler in handlers))


def _handling(module: ir.Body) -> dict[int, list[ir.Op]]:
    """The operations of the handlers of each `try`."""
    found: dict[int, list[ir.Op]] = {}
    for block in module.blocks:
        for identity in dict.fromkeys(context.identity for context in block.tries if context.part == "handler"):
            found.setdefault(identity, []).extend(block.ops)
    return found


def _is_needed(imported: ir.Import, handler: list[ir.Op]) -> bool:
    """True for an import whose failure is raised again, or answered by importing the same by another way (`from .ops import f`)."""
    same = imported.qualified.lstrip(".")
    return any(
        isinstance(op, ir.Raise) or (isinstance(op, ir.Import) and op.qualified.lstrip(".") == same) for op in handler
    )


def imports_one_of(facts: Facts, wanted: frozenset[str]) -> bool:
    """True when one of these files of the project, but this one, runs when this one is imported."""
    member = facts.analysis.member
    if member is None or wanted <= {member.path}:
        return False
    seen = {member.path}
    waiting = [*_required(member, facts)]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            if path in wanted:
                return True
            waiting += _required_of(Member(member.project, path))
    return False


def _required(member: Member, facts: Facts) -> Iterator[str]:
    for dotted in required_imports(facts):
        yield from member.project.resolve(dotted, member.path)


@worked_out(4096, tuple)
def _required_of(member: Member) -> tuple[str, ...]:
    """The files that run when a file is imported."""
    facts = facts_of(member)
    return () if facts is None else tuple(_required(member, facts))


@once_per_file
def stops_without_cuda(facts: Facts) -> bool:
    """True when every program of the project that leads here stops where there is no CUDA: `assert torch.cuda.is_available()` in its main."""
    member = facts.analysis.member
    stopping = _stopping(member.project) if member is not None else frozenset()
    if member is None or stopping <= {member.path}:
        return False
    programs = list(programs_to(member))
    return bool(programs) and all(path in stopping for path in programs)


@worked_out(64, frozenset)
def _stopping(project: Project) -> frozenset[str]:
    """The files of a project whose main stops without CUDA."""
    return frozenset(
        path
        for path in project.holding(_STOPS_HINTS, _STOPS)
        if (facts := facts_of(Member(project, path))) is not None and _stops_without_cuda(facts)
    )


def programs_to(start: Member) -> Iterator[str]:
    """The files that lead to a file and that nobody imports; none where nobody imports it."""
    return (path for path in _leading_to(start) if not importers(Member(start.project, path)))


@worked_out(512, tuple)
def _leading_to(start: Member) -> tuple[str, ...]:
    """The files that import a file, through others or not; none where they are too many."""
    seen = {start.path}
    waiting = [start]
    while waiting:
        for path in importers(waiting.pop()):
            if path not in seen:
                seen.add(path)
                waiting.append(Member(start.project, path))
        if len(seen) > _MOST_FILES:
            return ()
    return tuple(seen - {start.path})


def default_device_is_set(facts: Facts) -> bool:
    """True when a file that imports this one, through others or not, sets PyTorch's default device or tensor type, also by `with torch.device(...)`.

    Where many files lead to this one, it is true when a program of the project does so by `torch.set_default_device` or the like.
    """
    member = facts.analysis.member
    if member is None:
        return False
    setting = _setting_default(member.project) - {member.path}
    if not setting:
        return False
    leading = _leading_to(member)
    if leading or not importers(member):
        return not setting.isdisjoint(leading)
    return any(_sets_for_all(Member(member.project, path)) for path in setting)


@worked_out(512, bool)
def _sets_for_all(place: Member) -> bool:
    """True for a program, of no package and no test, that sets the default device of all that it runs."""
    facts = facts_of(place)
    return (
        facts is not None
        and facts.mentions("set_default_device", "set_default_tensor_type")
        and not place.project.is_in_package(place.path)
        and not roles(facts).is_test
    )


@worked_out(64, frozenset)
def _setting_default(project: Project) -> frozenset[str]:
    return frozenset(project.holding(_SETS_DEFAULT_HINTS, _SETS_DEFAULT))


# Words of a project that places something, or that leaves this to a library.
_PLACES = re.compile(
    rb"cuda|device|accelerat|lightning|\bmps\b|\bignite\b|\bfastai\b|Trainer\b|\bskorch\b|\.to\(", re.IGNORECASE
)


def places_nothing(facts: Facts) -> bool:
    """True for a file of a project of several files, no package for others, of which none speaks of a device."""
    member = facts.analysis.member
    return member is not None and not member.project.is_package and _is_for_host(member.project)


@once_per_file
def is_program_for_host(facts: Facts) -> bool:
    """True for a program of a project, no package for others, that nobody imports: neither it nor a file that it imports speaks of a device."""
    member = facts.analysis.member
    if member is None or member.project.is_package or not member.project.tells_by_silence or importers(member):
        return False
    placing = _placing(member.project)
    starts = member.project.matches(member.path, _STARTS) or acts(facts)
    return starts and member.path not in placing and not imports_one_of(facts, placing)


# What makes the move of a module give it other Parameters, or other storage, than an optimizer over it holds (torch/nn/modules/module.py, `_apply`).
_REPLACING = (
    b"torch_xla",
    b'"xla',
    b"'xla",
    b"FSDP",
    b"FullyShardedDataParallel",
    b"fully_shard",
    b"to_empty",
    b"assign=True",
    b"overwrite_module_params",
)
_REPLACES = re.compile(
    rb"torch_xla|[\"']xla\b|FSDP|FullyShardedDataParallel|fully_shard|to_empty|assign=True|overwrite_module_params"
)


def moves_keep_parameters(facts: Facts) -> bool:
    """True for a file of a project of several files, in none of which the move of a module replaces its Parameters."""
    member = facts.analysis.member
    return member is not None and _keeps_parameters(member.project)


@worked_out(64, bool)
def _keeps_parameters(project: Project) -> bool:
    return project.tells_by_silence and not any(True for _ in project.holding(_REPLACING, _REPLACES))


def may_meet_mps(facts: Facts) -> bool:
    """True for a file by itself, and for one of a project that speaks of MPS somewhere."""
    member = facts.analysis.member
    return member is None or _speaks_of_mps(member.project)


@worked_out(64, bool)
def _speaks_of_mps(project: Project) -> bool:
    return any(True for _ in project.holding((b"mps",), re.compile(rb"\bmps\b")))


@worked_out(64, bool)
def _is_for_host(project: Project) -> bool:
    return project.tells_by_silence and not _placing(project)


@worked_out(64, frozenset)
def _placing(project: Project) -> frozenset[str]:
    """The files of a project that speak of a device, or leave that to a library."""
    return frozenset(project.holding((b"",), _PLACES))


_STARTS = re.compile(rb"(?m)^if[ (]+__name__[ ]*==[ ]*[\"']__main__[\"']")


def has_programs(facts: Facts) -> bool:
    """True for a file of a project in which a file says what happens when it is run."""
    member = facts.analysis.member
    return member is not None and _has_programs(member.project)


@worked_out(64, bool)
def _has_programs(project: Project) -> bool:
    return any(True for _ in project.holding((b"__main__",), _STARTS))


@once_per_file
def acts(facts: Facts) -> bool:
    """True for a file without definitions, and for one that calls something behind its first one."""
    module = facts.program.module
    ops = list(operations(module))
    first = next((at for at, op in enumerate(ops) if isinstance(op, (ir.MakeClass, ir.MakeFunction))), None)
    definitions = facts.analysis.index_of(module).definitions
    return first is None or any(
        isinstance(op, ir.Discard) and isinstance(definitions[op.value], ir.Call) for op in ops[first:]
    )


# What makes batches, and what places something.
_BATCHES = re.compile(rb"Dataset|DataLoader|collate|datamodule", re.IGNORECASE)
_PLACES_DATA = re.compile(
    rb"\.cuda\(|\.to\([^)\n]{0,200}(?:device|cuda|gpu)|\bdevice *=|default_collate|prefetch", re.IGNORECASE
)


@once_per_file
def batches_may_be_placed(facts: Facts) -> bool:
    """True where a file of the project that this one imports, or that those import which import it, makes batches and places something."""
    member = facts.analysis.member
    if member is None:
        return False
    others = set(modules_of(member))
    for path in importers(member):  # its own moves are those of the model as a rule
        others |= modules_of(Member(member.project, path)) - {path}
    others.discard(member.path)
    project = member.project
    return any(project.matches(path, _BATCHES) and project.matches(path, _PLACES_DATA) for path in sorted(others))


@worked_out(512, frozenset)
def modules_of(start: Member) -> frozenset[str]:
    """The files of the project that a file imports, at any place in it, and those that these import."""
    found: set[str] = set()
    waiting = [start.path]
    while waiting:
        new = start.project.imported_by(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


@once_per_file
def moves_no_module(facts: Facts) -> bool:
    """True for a program of a project, which nobody imports, in which nothing is moved by a method, nor given to what may move it."""
    member = facts.analysis.member
    return (
        member is not None
        and not facts.mentions("to", "prepare", "Trainer", "Learner", "NeuralNetClassifier", "NeuralNetRegressor")
        and acts(facts)
        and not any(
            isinstance(op, ir.Call)
            and isinstance(method := facts.analysis.index_of(body).definitions[op.function], ir.Attribute)
            and method.name in ("cuda", "xpu", "mps", "npu")
            for body in facts.program.bodies
            for op in operations(body)
        )
        and not importers(member)
    )


@remembered(512)
def facts_of(place: Member) -> Facts | None:
    """What a file of the project says as a whole; None where it cannot be read."""
    program = place.project.program(place.path)
    return None if program is None else Facts(FileFacts(program, member=place), None, None)


def _stops_without_cuda(facts: Facts) -> bool:
    return any(demands_cuda(body, facts) for body in facts.program.bodies if starts_program(body, facts))


@once_per_body
def starts_program(body: ir.Body, facts: Facts) -> bool:
    """True for the module, for `main`, and for a function that one of them calls."""
    if body.kind == "module" or body.name == "main":
        return True
    callers = [other for other in facts.program.bodies if other.kind == "module" or other.name == "main"]
    return body.owner is None and any(
        body.name == name for caller in callers for name, _ in facts.analysis.index_of(caller).local_calls
    )


@once_per_body
def demands_cuda(body: ir.Body, facts: Facts) -> bool:
    """True for a body that raises or exits where a test for CUDA fails."""
    asks = (name for name, device in functions.AVAILABILITY.items() if device == "cuda")
    return any(failing_branch_stops(call, body, facts) for call in calls_to(asks, body, facts))


@once_per_body
def calls_what_stops(body: ir.Body, facts: Facts) -> bool:
    """True for a body that calls a function of another file which stops where there is no CUDA: `initialize()` with an assertion in it."""
    member = facts.analysis.member
    if member is None or not demanding(member.project):
        return False
    return any(calls_imported(demanding(member.project), op, body, facts) for op in Lookup.of(body).kind(ir.Call))


def calls_imported(functions_of: Mapping[str, frozenset[str]], call: ir.Call, body: ir.Body, facts: Facts) -> bool:
    """True for a call of an imported function that is one of these, by their files, also where a package hands it on."""
    member = facts.analysis.member
    dotted = facts.analysis.index_of(body).dotted(call.function)
    if member is None or dotted.partition(".")[0] not in facts.analysis.aliases:
        return False
    resolved = facts.analysis.resolve_text(dotted)
    name = resolved.rpartition(".")[2]
    found = member.project.resolve(resolved, member.path)
    if any(name in functions_of.get(path, ()) for path in found):
        return True
    package = PurePath(found[-1]).parent if found and found[-1].endswith("__init__.py") else None
    return package is not None and any(
        name in names and package in PurePath(path).parents for path, names in functions_of.items()
    )


def _functions(kept: Iterable[tuple[str, Iterable[str]]]) -> dict[str, frozenset[str]]:
    return {path: frozenset(names) for path, names in kept}


@worked_out(64, _functions)
def demanding(project: Project) -> dict[str, frozenset[str]]:
    """The functions of a project that stop without CUDA, by their files."""
    return functions_that(demands_cuda, project.holding(_STOPS_HINTS, _STOPS), project)


def functions_that(
    is_wanted: Callable[[ir.Body, Facts], bool], paths: Iterable[str], project: Project
) -> dict[str, frozenset[str]]:
    """The names of the functions in these files that are wanted, by their files; methods aside."""
    found = {}
    for path in paths:
        facts = facts_of(Member(project, path))
        names = {
            body.name
            for body in (facts.program.bodies if facts is not None else ())
            if facts is not None and body.kind == "function" and body.owner is None and is_wanted(body, facts)
        }
        if names:
            found[path] = frozenset(names)
    return found
