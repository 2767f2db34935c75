"""What the other files of the project say: what the modules need that a file imports, who imports it, and who uses what it defines.

Without a project (a text, a file outside of any repository) there are no other files, and nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from torchdevlint.flow.analysis import Analysis
from torchdevlint.flow.facts import Facts
from torchdevlint.flow.knowledge import functions
from torchdevlint.program import ir
from torchdevlint.program.project import Member
from torchdevlint.rules.order import import_time_blocks, is_unconditional
from torchdevlint.rules.structure import failing_branch_stops, operations

_MOST_PROGRAMS = 40  # who is imported by more files than these serves more than one purpose


def required_imports(facts: Facts) -> Iterator[str]:
    """What the file imports at its top level, outside of conditions and of a `try` that goes on without it."""
    module = facts.program.module
    for block in module.blocks:
        imported = [op for op in block.ops if isinstance(op, ir.Import)]
        if not imported or any(context.part == "handler" for context in block.tries):
            continue
        tried = [context.identity for context in block.tries if context.part == "body"]
        if not tried and not is_unconditional(block, module):
            continue
        handlers = [list(_handling(identity, module)) for identity in tried]
        yield from (op.qualified for op in imported if all(_is_needed(op, handler) for handler in handlers))


def _handling(identity: int, module: ir.Body) -> Iterator[ir.Op]:
    """The operations of the handlers of a `try`."""
    for block in module.blocks:
        if any(context.identity == identity and context.part == "handler" for context in block.tries):
            yield from block.ops


def _is_needed(imported: ir.Import, handler: list[ir.Op]) -> bool:
    """True for an import whose failure is raised again, or answered by importing the same by another way (`from .ops import f`)."""
    same = imported.qualified.lstrip(".")
    return any(
        isinstance(op, ir.Raise) or (isinstance(op, ir.Import) and op.qualified.lstrip(".") == same) for op in handler
    )


def imported_files(facts: Facts) -> Iterator[Facts]:
    """The other files of the project that run when this one is imported."""
    member = facts.analysis.member
    if member is None:
        return
    seen = {member.path}
    waiting = [(facts, member)]
    while waiting:
        here, place = waiting.pop()
        for dotted in required_imports(here):
            for path in place.project.resolve(dotted, place.path):
                if path not in seen:
                    seen.add(path)
                    other = _facts(Member(place.project, path))
                    if other is not None:
                        yield other
                        waiting.append((other, Member(place.project, path)))


def stops_without_cuda(facts: Facts) -> bool:
    """True when every program of the project that leads here stops where there is no CUDA: `assert torch.cuda.is_available()` in its main."""
    programs = list(_programs(facts))
    return bool(programs) and all(_stops_without_cuda(program) for program in programs)


def _programs(facts: Facts) -> Iterator[Facts]:
    """The files that import this one, through others or not, and that nobody imports; none where nobody imports this one."""
    if facts.analysis.member is None:
        return
    start = facts.analysis.member
    seen = {start.path}
    waiting = [start]
    while waiting and len(seen) <= _MOST_PROGRAMS:
        place = waiting.pop()
        importers = _importers(place)
        if not importers and place is not start:
            found = _facts(place)
            if found is not None:
                yield found
        for path in importers:
            if path not in seen:
                seen.add(path)
                waiting.append(Member(place.project, path))


@lru_cache(maxsize=512)
def _importers(place: Member) -> tuple[str, ...]:
    """The files that import a file, anywhere in them."""
    folder, _, name = place.path.rpartition("/")
    word = folder.rpartition("/")[2] if name == "__init__.py" else name.removesuffix(".py")
    return tuple(
        path
        for path, program in place.others(word)
        if any(
            place.path in place.project.resolve(op.qualified, path)
            for body in program.bodies
            for op in operations(body)
            if isinstance(op, ir.Import)
        )
    )


def is_unreached(body: ir.Body, facts: Facts) -> bool:
    """True for a function, or a method, that nobody in the project names, in a file that the project imports.

    What a package defines is for those who install it.
    """
    member = facts.analysis.member
    if member is None or member.project.is_package or body.kind == "module" or not _importers(member):
        return False
    names: set[str] = set()
    around: ir.Body | None = body
    while around is not None and around.kind != "module":
        if around.decorators:
            return False  # what decorates it may keep it under another name
        if around.kind == "function" and not _is_called_by_base(around, facts):
            names.add(around.name)
        if around.owner is not None:
            names.add(around.owner.name)
        around = around.parent
    return any(not _is_named(name, facts, member) for name in names)


def _is_called_by_base(method: ir.Body, facts: Facts) -> bool:
    """True for a method that Python, torch's Module or another base of the class may call."""
    if method.name.startswith("__") or method.name == "forward":
        return True
    return method.owner is not None and any(
        facts.analysis.resolve_text(base) not in ("object", "torch.nn.Module") for base in method.owner.bases
    )


def _is_named(name: str, facts: Facts, member: Member) -> bool:
    """True when a name is read in this file, or stands in another one."""
    here = any(
        (isinstance(op, (ir.Load, ir.Attribute)) and op.name == name)
        or (isinstance(op, ir.Constant) and op.value == name)
        for body in facts.program.bodies
        if body.name != name
        for op in operations(body)
    )
    return here or member.project.is_mentioned(name, besides=member.path)


@lru_cache(maxsize=512)
def _facts(place: Member) -> Facts | None:
    program = place.project.program(place.path)
    return None if program is None else Facts(Analysis(program, member=place), None, None)


def _stops_without_cuda(facts: Facts) -> bool:
    return any(
        isinstance(op, ir.Call)
        and functions.AVAILABILITY.get(_callee(op, body, facts)) == "cuda"
        and failing_branch_stops(op, body, facts)
        for body in facts.program.bodies
        if body.kind == "module" or body.name == "main"
        for op in operations(body)
    )


def runs_on_cuda_at_import(facts: Facts) -> bool:
    """True for a file that cannot be imported without CUDA, as it moves or asks something there at its top level."""
    module = facts.program.module
    blocks = import_time_blocks(module)
    return any(
        isinstance(op, ir.Call)
        and (_callee(op, module, facts) == "torch.cuda.current_device" or _is_cuda_method(op, module, facts))
        for block in module.blocks
        if block.index in blocks and is_unconditional(block, module) and not block.tries
        for op in block.ops
    )


def _is_cuda_method(call: ir.Call, body: ir.Body, facts: Facts) -> bool:
    written = facts.analysis.index_of(body).definitions[call.function]
    return isinstance(written, ir.Attribute) and written.name == "cuda" and not call.arguments


def _callee(call: ir.Call, body: ir.Body, facts: Facts) -> str:
    return facts.analysis.resolve_text(facts.analysis.index_of(body).dotted(call.function))
