"""What the texts of a project say: whether a file of it speaks of a device, sets PyTorch's default one, or makes batches and places them.

Without a project (a text, a file outside of any repository) there are no other files, and nothing is concluded.
"""

from __future__ import annotations

import re

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.files import acts, facts_of, imports_one_of, leading_to, modules_of
from torchdevlint.facts.once import once_per_file
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import STARTS, Member, Project, worked_out
from torchdevlint.program.roles import SETS_DEFAULT, importers, sets_default_device

_SETS_DEFAULT_HINTS = (b"set_default_", b"torch.device(")
_SETS_DEFAULT = re.compile(rb"\bset_default_(?:device|tensor_type)\b|\bwith torch\.device\(")


def default_device_is_set(analysis: FileFacts) -> bool:
    """True when a file that imports this one, through others or not, sets PyTorch's default device or tensor type, also by `with torch.device(...)`.
    A test does it for its own run, and an example beside a package for itself.

    Where many files lead to this one, it is true when a program of the project does so by `torch.set_default_device` or the like.
    """
    member = analysis.member
    if member is None:
        return False
    setting = member.project.that_decide_for(member.path, _setting_default(member.project) - {member.path})
    if not setting:
        return False
    leading = leading_to(member)
    if leading or not importers(member):
        return not setting.isdisjoint(leading)
    return any(_sets_for_all(Member(member.project, path)) for path in setting)


@worked_out(512, bool)
def _sets_for_all(place: Member) -> bool:
    """True for a program, of no package, that sets the default device of all that it runs."""
    analysis = facts_of(place)
    return analysis is not None and analysis.mentions(*SETS_DEFAULT) and not place.project.is_in_package(place.path)


@worked_out(64, frozenset)
def _setting_default(project: Project) -> frozenset[str]:
    found = project.holding(_SETS_DEFAULT_HINTS, _SETS_DEFAULT)
    return frozenset(path for path in found if not project.is_test(path) and _sets_default(Member(project, path)))


@worked_out(512, bool)
def _sets_default(place: Member) -> bool:
    """True for a file that does so in its code, and no comment."""
    analysis = facts_of(place)
    if analysis is None or analysis.roles.is_test:
        return False
    is_offered = bool(place.project.package_of(place.path))
    return sets_default_device(analysis.program, is_offered=is_offered) or any(
        lookup.path(entered.function) == "torch.device"
        for lookup in map(Lookup.of, analysis.program.bodies)
        for enter in lookup.kind(ir.Enter)
        if isinstance(entered := lookup.definition(enter.manager), ir.Call)
    )


# Words of a project that places something, or that leaves this to a library.
_PLACES = re.compile(
    rb"cuda|device|accelerat|lightning|\bmps\b|\bignite\b|\bfastai\b|Trainer\b|\bskorch\b|\.to\(", re.IGNORECASE
)


def places_nothing(analysis: FileFacts) -> bool:
    """True for a file of a project of several files, no package for others, of which none speaks of a device."""
    member = analysis.member
    return member is not None and not member.project.is_package and _is_for_host(member.project)


@once_per_file
def is_program_for_host(analysis: FileFacts) -> bool:
    """True for a program of a project, no package for others, that nobody imports: neither it nor a file that it imports speaks of a device."""
    member = analysis.member
    if member is None or member.project.is_package or not member.project.tells_by_silence or importers(member):
        return False
    placing = _placing(member.project)
    starts = member.project.matches(member.path, STARTS) or acts(analysis)
    return starts and member.path not in placing and not imports_one_of(analysis, placing)


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


def moves_keep_parameters(analysis: FileFacts) -> bool:
    """True for a file of a project of several files, in none of which the move of a module replaces its Parameters."""
    member = analysis.member
    return member is not None and _keeps_parameters(member.project)


@worked_out(64, bool)
def _keeps_parameters(project: Project) -> bool:
    return project.tells_by_silence and not any(True for _ in project.holding(_REPLACING, _REPLACES))


def may_meet_mps(analysis: FileFacts) -> bool:
    """True for a file by itself, and for one of a project that speaks of MPS somewhere."""
    member = analysis.member
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


# What makes batches, and what places something.
_BATCHES = re.compile(rb"Dataset|DataLoader|collate|datamodule", re.IGNORECASE)
_PLACES_DATA = re.compile(
    rb"\.cuda\(|\.to\([^)\n]{0,200}(?:device|cuda|gpu)|\bdevice *=|default_collate|prefetch", re.IGNORECASE
)


@once_per_file
def batches_may_be_placed(analysis: FileFacts) -> bool:
    """True where a file of the project that this one imports, or that those import which import it, makes batches and places something."""
    member = analysis.member
    if member is None:
        return False
    others = set(modules_of(member))
    for path in importers(member):  # its own moves are those of the model as a rule
        others |= modules_of(Member(member.project, path)) - {path}
    others.discard(member.path)
    project = member.project
    return any(project.matches(path, _BATCHES) and project.matches(path, _PLACES_DATA) for path in sorted(others))


@once_per_file
def moves_no_module(analysis: FileFacts) -> bool:
    """True for a program of a project, which nobody imports, in which nothing is moved by a method, nor given to what may move it."""
    member = analysis.member
    return (
        member is not None
        and not analysis.mentions("to", "prepare", "Trainer", "Learner", "NeuralNetClassifier", "NeuralNetRegressor")
        and acts(analysis)
        and not any(
            isinstance(lookup.definition(call.function), ir.Attribute)
            and lookup.called(call) in ("cuda", "xpu", "mps", "npu")
            for lookup in map(Lookup.of, analysis.program.bodies)
            for call in lookup.kind(ir.Call)
        )
        and not importers(member)
    )
