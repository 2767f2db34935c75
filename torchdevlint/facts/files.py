"""What the other files of the project say: what the modules need that a file imports, who imports it, and what these do.

Without a project (a text, a file outside of any repository) there are no other files, and nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.once import once_per_file
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import is_unconditional
from torchdevlint.program.project import STARTS, Member, Project, worked_out
from torchdevlint.program.roles import importers, is_program
from torchdevlint.source.grounds import remembered

_MOST_FILES = 40  # who is imported by more files than these serves more than one purpose


def required_imports(analysis: FileFacts) -> Iterator[str]:
    """What the file imports at its top level, outside of conditions and of a `try` that goes on without it."""
    return (op.qualified for op in required_statements(analysis))


@once_per_file
def required_statements(analysis: FileFacts) -> tuple[ir.Import, ...]:
    """The imports at a file's top level, outside of conditions and of a `try` that goes on without them."""
    return tuple(_required_statements(analysis))


def _required_statements(analysis: FileFacts) -> Iterator[ir.Import]:
    module = analysis.program.module
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


def imports_one_of(analysis: FileFacts, wanted: frozenset[str]) -> bool:
    """True when one of these files of the project, but this one, runs when this one is imported."""
    member = analysis.member
    if member is None or wanted <= {member.path}:
        return False
    seen = {member.path}
    waiting = [*_required(member, analysis)]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            if path in wanted:
                return True
            waiting += _required_of(Member(member.project, path))
    return False


def _required(member: Member, analysis: FileFacts) -> Iterator[str]:
    for dotted in required_imports(analysis):
        yield from member.project.resolve(dotted, member.path)


@worked_out(4096, tuple)
def _required_of(member: Member) -> tuple[str, ...]:
    """The files that run when a file is imported."""
    analysis = facts_of(member)
    return () if analysis is None else tuple(_required(member, analysis))


def programs_to(start: Member) -> Iterator[str]:
    """The files that lead to a file and that nobody imports; none where nobody imports it."""
    return (path for path in leading_to(start) if not importers(Member(start.project, path)))


def programs_of(analysis: FileFacts) -> list[FileFacts | None]:
    """The programs of the project that lead to a file, None for those that do not speak of CUDA; none without a project."""
    member = analysis.member
    if member is None:
        return []
    places = (Member(member.project, path) for path in programs_to(member))
    return [facts_of(place) if member.project.says(place.path, b"cuda") else None for place in places]


@worked_out(512, tuple)
def leading_to(start: Member) -> tuple[str, ...]:
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
def acts(analysis: FileFacts) -> bool:
    """True for a file without definitions, and for one that calls something behind its first one."""
    module = analysis.program.module
    ops = list(Lookup.of(module).all)
    first = next((at for at, op in enumerate(ops) if isinstance(op, (ir.MakeClass, ir.MakeFunction))), None)
    definitions = analysis.index_of(module).definitions
    return first is None or any(
        isinstance(op, ir.Discard) and isinstance(definitions[op.value], ir.Call) for op in ops[first:]
    )


@worked_out(64, bool)
def has_programs(project: Project) -> bool:
    """True for a project with a file that says what happens when it is run."""
    return any(True for _ in project.holding((b"__main__",), STARTS))


@worked_out(64, bool)
def has_scripts(project: Project) -> bool:
    """True for a project with a program, or with one that does something when it is run and does not say so."""
    alone = (Member(project, path) for path in project.files if not path.endswith("__init__.py"))
    return has_programs(project) or any(
        is_program(place) and (analysis := facts_of(place)) is not None and acts(analysis) for place in alone
    )


@remembered(512)
def facts_of(place: Member) -> FileFacts | None:
    """What a file of the project says as a whole; None where it cannot be read."""
    program = place.project.program(place.path)
    return None if program is None else FileFacts(program, member=place)
