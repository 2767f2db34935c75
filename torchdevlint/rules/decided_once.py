"""A project that is for CUDA alone has made one decision: it is told at one of its programs, and is no news at the other places.

A program is a file that nobody imports and that is no test. One that moves to a literal CUDA device, and that neither lets anybody choose a device nor imports
what does, has decided for CUDA; where such programs are more than those with a choice, the decision is that of the project. Where most programs choose, each
of the others is a mistake of its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.cuda_alone import is_cuda_only, needs_cuda_anyway
from torchdevlint.facts.demands import hardcoded_moves, is_left_to_a_device
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.files import facts_of, modules_of, programs_to
from torchdevlint.facts.spelled import accelerator_in
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Member, Project, worked_out
from torchdevlint.program.roles import importers, is_offered

_PLACES = (b"cuda",)
_PLACED = re.compile(rb"\.cuda\(|[\"']cuda[\"':]")
# How a text asks the machine, or lets its user choose: a test, an option, the CPU or another accelerator by name. Where a checkpoint is read
# to, and which GPU is taken, say nothing of the machine.
_CHOICES = (b"available", b"accelerator", b"cuda", b"cpu", b"mps", b"xpu", b"device", b"gpu")
_CHOOSES = re.compile(
    rb"(?:cuda|mps|xpu|npu)\.is_available|import is_available|is_torch_\w+_available|torch\.accelerator|current_accelerator"
    rb"|no[-_]cuda|use[-_](?:cuda|gpu)|--(?:device|cpu|cuda)\b|(?<!map_location=)(?<!map_location=torch\.device\()[\"'](?:cpu|mps|xpu)[\"':]"
)
_HAS_OPTION = re.compile(rb"--(?:no[-_]|use[-_])?(?:device|cpu|cuda|gpu)\b")
# A device that is chosen, or an option for one: what a module asks for another purpose, such as pinned memory, is no choice of where a program runs.
_GIVES_CHOICE = re.compile(
    rb"device[^\n]*(?:available|[\"'](?:cpu|mps|xpu)[\"':])|(?:no|use)[-_](?:cuda|gpu)|--(?:device|cpu|cuda|gpu)\b|torch\.accelerator|current_accelerator"
)
_OWN_DEVICE = re.compile(
    rb"(?m)^[ \t]*[\w.]+[ \t]*(?::[^=\n]+)?=[ \t]*(?:torch\.device\()?[\"']cuda(?::\d+)?[\"']\)?[ \t]*(?:#|$)"
)
_SPREADS = re.compile(rb"\b(?!Distributed)\w*DataParallel\(")  # also those that a project derives from torch's


class _Decision(NamedTuple):
    """What a project for CUDA alone has decided: the programs that say so, the one of them that is told, and whether no file of it has a choice."""

    programs: frozenset[str]
    told: str
    is_of_all: bool


def is_told_at_another_program(_: ir.Op, facts: Facts) -> bool:
    """True in a project most of whose programs hard-code CUDA: one of them is told."""
    member = facts.analysis.member
    decision = _decision(member.project) if member is not None else None
    if member is None or decision is None or member.path == decision.told:
        return False
    if facts.roles.is_library:
        return False  # others install it, and decide for themselves
    if decision.is_of_all:
        return True
    if member.path in decision.programs:
        return not _defies_own_device(facts)
    users = set(programs_to(member))
    return bool(users) and users <= decision.programs


def in_program_for_several_gpus(_: ir.Op, facts: Facts) -> bool:
    """True in a program that spreads its model over several GPUs and lets nobody choose a device, and in a module that only such programs lead to."""
    member = facts.analysis.member
    if member is None or _is_program_for_several_gpus(member):
        return member is not None
    users = [] if facts.roles.is_library else list(programs_to(member))
    return bool(users) and all(_is_program_for_several_gpus(Member(member.project, path)) for path in users)


@worked_out(512, bool)
def _is_program_for_several_gpus(place: Member) -> bool:
    project = place.project
    choosing = set(project.holding(_CHOICES, _CHOOSES))
    return (
        place.path not in choosing
        and not project.says(place.path, b"device_count(")
        and _is_for_several_gpus(place)
        and _is_program(place)
        and not _takes_a_choice(place, choosing)
    )


def others_of_decision(facts: Facts) -> int:
    """How many other programs of the project have decided for CUDA, where this one is told for all of them."""
    member = facts.analysis.member
    decision = _decision(member.project) if member is not None else None
    is_told = member is not None and decision is not None and member.path == decision.told
    return len(decision.programs) - 1 if decision is not None and is_told else 0


@worked_out(64, None)
def _decision(project: Project) -> _Decision | None:
    """The decision of a project for CUDA; None where it has none, or where no program is there to be told of it."""
    choosing = set(project.holding(_CHOICES, _CHOOSES))
    placing = [path for path in project.holding(_PLACES, _PLACED) if path not in choosing]
    programs = [path for path in placing if _is_program(Member(project, path))]
    free = [path for path in choosing if _is_program(Member(project, path))]
    if not programs or len(programs) <= len(free):
        return None
    decided = [path for path in programs if not _takes_a_choice(Member(project, path), choosing)]
    if len(decided) <= len(free):
        return None
    single = [path for path in decided if not _is_for_several_gpus(Member(project, path))]
    told = next((path for path in single if _is_told(Member(project, path))), None)
    if told is None and len(single) == len(decided):
        return None
    return _Decision(frozenset(decided), told or "", not choosing)


@worked_out(512, bool)
def _is_program(place: Member) -> bool:
    return not importers(place) and not place.project.is_test(place.path)


def _takes_a_choice(program: Member, choosing: set[str]) -> bool:
    """True for a program that imports a file with a choice, and gives no device of its own a name.

    Of the package that the project is, only options of a command line are choices of the program's user.
    """
    project = program.project
    return not project.matches(program.path, _OWN_DEVICE) and any(
        project.matches(path, _HAS_OPTION if is_offered(Member(project, path)) else _GIVES_CHOICE)
        for path in modules_of(program) & choosing
    )


def _is_for_several_gpus(program: Member) -> bool:
    """True for a program that spreads its model over the GPUs of the machine, itself or in a file that it imports."""
    project = program.project
    spreading = set(project.holding((b"DataParallel",), _SPREADS))
    return any(_spreads(Member(project, path)) for path in spreading & {program.path, *modules_of(program)})


@worked_out(512, bool)
def _spreads(place: Member) -> bool:
    """True for a file that makes a `DataParallel` that no test of the GPUs decides about."""
    analysis = facts_of(place)
    return analysis is not None and any(
        _makes_data_parallel(call, body) and not is_left_to_a_device(call, body, analysis)
        for body in analysis.program.bodies
        for call in Lookup.of(body).kind(ir.Call)
    )


def _makes_data_parallel(call: ir.Call, body: ir.Body) -> bool:
    name = Lookup.of(body).called(call)
    return name.endswith("DataParallel") and not name.startswith("Distributed")


def _is_told(place: Member) -> bool:
    analysis = facts_of(place)
    if analysis is None or analysis.roles.is_test or is_cuda_only(analysis) or analysis.mentions("init_process_group"):
        return False
    return any(not needs_cuda_anyway(body, analysis, call) for body, call in hardcoded_moves(analysis))


def _defies_own_device(facts: Facts) -> bool:
    """True for a file that keeps a literal device under a name, moves to it, and elsewhere calls `.cuda()`: who edits the name has not edited all."""
    follows = defies = False
    for body in facts.program.bodies:
        index = facts.analysis.index_of(body)
        for call in Lookup.of(body).kind(ir.Call):
            method = index.definitions[call.function]
            if isinstance(method, ir.Attribute) and method.name == "cuda" and not call.arguments:
                defies = True
            elif isinstance(method, ir.Attribute) and method.name == "to" and call.positional_count == 1:
                follows = follows or _is_kept_device(index.definitions[call.arguments[0].value], body, facts.analysis)
    return follows and defies


def _is_kept_device(read: ir.Op | None, body: ir.Body, analysis: FileFacts) -> bool:
    """True for a name of the body, or else of the module, that is bound once, to a literal CUDA device."""
    if not isinstance(read, ir.Load):
        return False
    for one in (body, analysis.program.module):
        bound = analysis.index_of(one).bound_to(read.name)
        if len(bound) == 1:
            device = accelerator_in(bound[0], one, analysis)
            return device is not None and device.type == "cuda"
    return False
