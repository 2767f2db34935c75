"""Programs that are for CUDA by design: they place something there, and nothing in them or in what they import lets anybody choose another device.

That they need CUDA is a decision and no mistake: strict readers of findings in five samples of repositories that nobody had looked at before called it one
in a quarter of the cases, and in nearly all of these the program let its user choose a device somewhere else (benchmarks/judged.jsonl, `blind1` to
`blind5`). A program is a file that nobody imports and that is no test. Where most programs of a project choose, each of the others is a mistake of its own;
and one program alone shows no decision, unless the project's instructions say that CUDA is needed. Where they say so, a file without a choice of its own
follows them, whatever the others do.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from torchdevlint.facts.choices import asks_to_choose
from torchdevlint.facts.demands import hard_codes_cuda
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.files import facts_of, modules_of, programs_to
from torchdevlint.program import ir
from torchdevlint.program.project import STARTS, Member, Project, worked_out
from torchdevlint.program.roles import is_offered, is_program

_PLACES = (b"cuda",)
_PLACED = re.compile(rb"\.cuda\(|[\"']cuda[\"':]")
# How a text lets its user choose: an option, the CPU or another accelerator by name. Where a checkpoint is read to, what is brought to the
# host, and which GPU is taken, say nothing of the machine.
_CHOICES = (b"available", b"accelerator", b"cuda", b"cpu", b"mps", b"xpu", b"device", b"gpu")
_CHOOSES = re.compile(
    rb"is_torch_\w+_available|torch\.accelerator|current_accelerator"
    rb"|no[-_]cuda|use[-_](?:cuda|gpu)|--(?:device|cpu|cuda)\b|(?<!\.to\()(?<!map_location=)(?<!map_location=torch\.device\()[\"'](?:cpu|mps|xpu)[\"':]"
)
_ASKS = re.compile(rb"(?:cuda|mps|xpu|npu)\.is_available|import is_available")
_HAS_OPTION = re.compile(rb"--(?:no[-_]|use[-_])?(?:device|cpu|cuda|gpu)\b")
# A device that is chosen, or an option for one: what a module asks for another purpose, such as pinned memory, is no choice of where a program runs.
_GIVES_CHOICE = re.compile(
    rb"device[^\n]*(?:available|[\"'](?:cpu|mps|xpu)[\"':])|(?:no|use)[-_](?:cuda|gpu)|--(?:device|cpu|cuda|gpu)\b|torch\.accelerator|current_accelerator"
)
_OWN_DEVICE = re.compile(
    rb"(?m)^[ \t]*[\w.]+[ \t]*(?::[^=\n]+)?=[ \t]*(?:torch\.device\()?[\"']cuda(?::\d+)?[\"']\)?[ \t]*(?:#|$)"
)
# Of programs with a process for each GPU.
_RANKS = (b"rank", b"RANK", b"spawn", b"process_group", b"Distributed", b"Fabric", b"Accelerator", b"Trainer")
_HAS_RANKS = re.compile(
    rb"local_rank|LOCAL_RANK|\bspawn\(|init_process_group|\b(?:DistributedDataParallel|Fabric|Accelerator|Trainer)\b"
)


class _Decision(NamedTuple):
    """The files of a project with a choice, its programs that are for CUDA alone, whether these are several and more than those with a choice, and whether
    its package, or no file, knows another device."""

    choosing: frozenset[str]
    programs: frozenset[str]
    is_of_most: bool
    is_of_package: bool
    is_of_all: bool


def in_program_for_cuda_alone(_: ir.Op, facts: Facts) -> bool:
    """True in a program for CUDA by design, and in what only such programs import."""
    member = facts.analysis.member
    if member is None or not _is_for_cuda_alone(member):
        return False
    return _decision(member.project).is_of_most or member.project.asks_for_cuda(member.path)


def in_file_for_cuda_alone(op: ir.Op, facts: Facts) -> bool:
    """True in a program for CUDA by design, and in a file without a choice if a README asks for CUDA."""
    member = facts.analysis.member
    if member is None or in_program_for_cuda_alone(op, facts):
        return member is not None
    return member.project.asks_for_cuda(member.path) and member.path not in _decision(member.project).choosing


def in_program_for_one_gpu(_: ir.Op, facts: Facts) -> bool:
    """True in a program for CUDA by design without a process for each GPU: a file comes back to its GPU."""
    member = facts.analysis.member
    if member is None or not _is_for_cuda_alone(member):
        return False
    several = set(member.project.holding(_RANKS, _HAS_RANKS))
    programs = (member.path, *programs_to(member))
    return not any(several & {path, *modules_of(Member(member.project, path))} for path in programs)


@worked_out(512, bool)
def lets_nobody_choose(place: Member) -> bool:
    """True for a file whose programs are known, and have no option for a device and no launcher that has one: the machine decides for all of them."""
    users = {place.path} if is_program(place) else set(programs_to(place))
    choosing = {*place.project.holding(_CHOICES, _HAS_OPTION), *place.project.holding(_RANKS, _HAS_RANKS)}
    is_free = any(choosing & {path, *modules_of(Member(place.project, path))} for path in users)
    return bool(users) and not is_free and not is_offered(place)


@worked_out(512, bool)
def _is_for_cuda_alone(place: Member) -> bool:
    decision = _decision(place.project)
    users = {place.path} if is_program(place) else set(programs_to(place))
    if not (decision.is_of_all or (users and users <= decision.programs)):
        return False
    is_run = place.path in decision.programs and place.project.matches(place.path, STARTS)
    return (
        is_run or decision.is_of_package or not is_offered(place)
    )  # others install a package, and decide for themselves


@worked_out(64, None)
def _decision(project: Project) -> _Decision:
    """What a project has decided. A package knows another device if a module of it gives its users a choice."""
    choosing = set(project.holding(_CHOICES, _CHOOSES))
    choosing.update(path for path in project.holding((b"is_available",), _ASKS) if _asks(Member(project, path)))
    placing = [place for path in project.holding(_PLACES, _PLACED) if _hard_codes(place := Member(project, path))]
    leading = {path for place in placing for path in (place.path, *programs_to(place))} - choosing
    programs = [path for path in sorted(leading) if is_program(Member(project, path))]
    free = [path for path in choosing if is_program(Member(project, path))]
    decided = [path for path in programs if not _takes_a_choice(Member(project, path), choosing)]
    gives = (path for path in choosing if is_offered(Member(project, path)) and project.matches(path, _GIVES_CHOICE))
    return _Decision(
        frozenset(choosing),
        frozenset(decided),
        len(decided) > max(1, len(free)),
        not any(gives),
        bool(placing) and not choosing,
    )


@worked_out(512, bool)
def _asks(place: Member) -> bool:
    """True for a file that asks the machine where something runs, and for one that cannot be read."""
    analysis = facts_of(place)
    return analysis is None or asks_to_choose(analysis)


@worked_out(512, bool)
def _hard_codes(place: Member) -> bool:
    analysis = facts_of(place)
    return analysis is not None and not analysis.roles.is_test and hard_codes_cuda(analysis)


def _takes_a_choice(program: Member, choosing: set[str]) -> bool:
    """True for a program that imports a file with a choice, and gives no device of its own a name.

    Of the package that the project is, only options of a command line are choices of the program's user.
    """
    project = program.project
    return not project.matches(program.path, _OWN_DEVICE) and any(
        project.matches(path, _HAS_OPTION if is_offered(Member(project, path)) else _GIVES_CHOICE)
        for path in modules_of(program) & choosing
    )
