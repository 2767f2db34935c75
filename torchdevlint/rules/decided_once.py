"""A project that is for CUDA alone has made one decision: it is told at one of its programs, and is no news at the other places."""

from __future__ import annotations

import re
from functools import lru_cache

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.project import Member, Project
from torchdevlint.rules.behind_cuda import hardcoded_moves
from torchdevlint.rules.cuda_alone import needs_cuda_anyway
from torchdevlint.rules.literals import is_cuda_only
from torchdevlint.rules.neighbours import facts_of, importers
from torchdevlint.rules.structure import is_test_file

_PLACES = (b"cuda",)
_PLACED = re.compile(rb"\.cuda\(|[\"']cuda[\"':]")
# How a text asks the machine, or lets its user choose: a test, an option, the CPU or another accelerator by name. Where a checkpoint is read
# to, and which GPU is taken, say nothing of the machine.
_CHOICES = (b"available", b"accelerator", b"cuda", b"cpu", b"mps", b"xpu", b"device", b"gpu")
_CHOOSES = re.compile(
    rb"(?:cuda|mps|xpu|npu)\.is_available|import is_available|is_torch_\w+_available|torch\.accelerator|current_accelerator"
    rb"|no[-_]cuda|use[-_](?:cuda|gpu)|--(?:device|cpu|cuda)\b|(?<!map_location=)[\"'](?:cpu|mps|xpu)[\"':]"
)


def is_told_at_another_program(_: ir.Op, facts: Facts) -> bool:
    """True in a project whose files let nobody choose a device: one of its programs is told."""
    member = facts.analysis.member
    told = _told_program(member.project) if member is not None else None
    return member is not None and told is not None and told != member.path


@lru_cache(maxsize=64)
def _told_program(project: Project) -> str | None:
    """The first program, by its path, that stops at a move of its own to a literal CUDA device; None where a file of the project lets anybody choose."""
    if next(project.holding(_CHOICES, _CHOOSES), None) is not None:
        return None
    programs = (path for path in project.holding(_PLACES, _PLACED) if not importers(Member(project, path)))
    return next((path for path in programs if _is_told(Member(project, path))), None)


def _is_told(place: Member) -> bool:
    facts = facts_of(place)
    if facts is None or is_test_file(facts) or is_cuda_only(facts) or facts.mentions("init_process_group"):
        return False
    return any(not needs_cuda_anyway(body, facts, call) for body, call in hardcoded_moves(facts))
