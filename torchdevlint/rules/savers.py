"""What the other functions of a project save, and which of them wrote a file that is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from torchdevlint.flow.facts import Facts
from torchdevlint.flow.knowledge.functions import CONVERSIONS, SAVES
from torchdevlint.program import ir
from torchdevlint.program.project import Member, Project, worked_out
from torchdevlint.rules.callers import Site
from torchdevlint.rules.host_values import is_on_host
from torchdevlint.rules.neighbours import bound_elsewhere, facts_of
from torchdevlint.rules.paths import last_name, parts, spelling
from torchdevlint.rules.structure import operations
from torchdevlint.source.grounds import remembered

_SAVES_HINT = re.compile(
    rb"\b(?:torch|serialization)\.save *\(|dcp_to_torch_save|(?m:^[ \t]*from torch(?:\.serialization)? import .*\bsave\b)"
)
# Other ways to save than `torch.save`, as bytes: a file must hold one of the first, and match.
_OTHER_HINTS = (b"save_", b"Trainer", b"ModelCheckpoint", b"lightning", b".save", b"safetensors")
_OTHER_WAYS = re.compile(
    rb"save_pretrained|Trainer\b|ModelCheckpoint|lightning|save_file\b|safetensors|\b(?:xm|accelerator|fabric)\.save"
)
_FILE_NAME = re.compile(r"(?:\A|/)([\w-]{3,}\.\w+)\Z")


def is_saved_on_host(call: ir.Call, keys: frozenset[str], facts: Facts) -> bool:
    """True when what the project saves in the file of a load, from which `keys` are read, is certainly on the CPU or plain values.

    Those who save it are known by the keys, by the literal name of the file (where the load's own folder has such, by those), or by the spelling of
    its path; else all who save must do so.
    """
    member = facts.analysis.member
    if member is None:
        return False
    saves = _saves(member.project)
    for paired in (
        [save for save in saves if keys and keys <= _saved_keys(save)],
        _nearest(
            [save for save in saves if _file_names(save) & _names(call.argument("f", 0), facts.body, facts)], member
        ),
        [save for save in saves if _is_same_path(save, call, facts)],
    ):
        if paired:
            return all(_saves_from_host(save) for save in paired)
    return bool(saves) and not _saves_otherwise(member.project) and all(_saves_from_host(save) for save in saves)


def _nearest(saves: list[Site], member: Member) -> list[Site]:
    """The saves in the folder of a file, where there are such: programs that stand together write and read the same files."""
    folder = PurePath(member.path).parent
    beside = [save for save in saves if PurePath(_path(save)).parent == folder]
    return beside or saves


def _path(save: Site) -> str:
    member = save.facts.analysis.member
    return "" if member is None else member.path


def _saves_from_host(save: Site) -> bool:
    return _callee(save.call, save.body, save.facts) in CONVERSIONS or is_on_host(save.call.argument("obj", 0), save)


def _callee(call: ir.Call, body: ir.Body, facts: Facts) -> str:
    return facts.analysis.resolve_text(facts.analysis.index_of(body).dotted(call.function))


@remembered(64)
def _saves(project: Project) -> tuple[Site, ...]:
    """The calls of `torch.save` in a project."""
    files = (facts_of(Member(project, path)) for path in project.holding((b"torch",), _SAVES_HINT))
    return tuple(save for facts in files if facts is not None for save in _saves_of(facts))


def _saves_of(facts: Facts) -> Iterator[Site]:
    for body in facts.program.bodies:
        for op in operations(body):
            if isinstance(op, ir.Call) and _callee(op, body, facts) in SAVES | CONVERSIONS:
                yield Site(op, body, facts)


@worked_out(64, bool)
def _saves_otherwise(project: Project) -> bool:
    return any(True for _ in project.holding(_OTHER_HINTS, _OTHER_WAYS))


@remembered(1024)
def _saved_keys(save: Site) -> frozenset[str]:
    """The keys of a dict that is saved, also by a name that is bound once; none for anything else."""
    register, body = save.call.argument("obj", 0), save.body
    definitions = save.facts.analysis.index_of(body).definitions
    written = None if register is None else definitions[register]
    keys: set[object] = set()
    if isinstance(written, ir.Load):
        name = written.name
        around: ir.Body | None = body
        while around is not None and name not in save.facts.analysis.index_of(around).stored:
            around = around.parent
        if around is None:
            return frozenset()
        body, definitions = around, save.facts.analysis.index_of(around).definitions
        written = save.facts.analysis.index_of(body).bound_once(name)
        for op in operations(body):
            if isinstance(op, ir.StoreSubscript) and spelling(op.object, body, save.facts) == name:
                keys |= _constants([op.index], definitions)
    if isinstance(written, ir.Mapping):
        keys |= _constants([key for key in written.keys if key is not None], definitions)
    elif isinstance(written, ir.Call) and last_name(written, body, save.facts) == "dict":
        keys |= {argument.keyword for argument in written.arguments}
    else:
        return frozenset()
    return frozenset(key for key in keys if isinstance(key, str))


def _constants(registers: list[ir.Register], definitions: list[ir.Op | None]) -> set[object]:
    written = [definitions[register] for register in registers]
    return {op.value for op in written if isinstance(op, ir.Constant)}


@remembered(1024)
def _file_names(save: Site) -> frozenset[str]:
    return _names(_file(save), save.body, save.facts)


def _file(save: Site) -> ir.Register | None:
    path = save.call.argument("f", 1)
    return save.call.keyword("torch_save_path") if path is None else path


def _names(path: ir.Register | None, body: ir.Body, facts: Facts) -> frozenset[str]:
    """The literal file names in a path: "manifest.pt" of `folder / "manifest.pt"`."""
    made_of = list(parts(path, facts, body))
    texts = [op.value for op, _ in made_of if isinstance(op, ir.Constant) and isinstance(op.value, str)]
    for op, inside in made_of:
        if isinstance(op, (ir.Load, ir.Attribute)):
            for register, there in bound_elsewhere(op, inside, facts):
                written = there.analysis.index_of(there.program.module).definitions[register]
                texts += [written.value] if isinstance(written, ir.Constant) and isinstance(written.value, str) else []
    return frozenset(found.group(1) for text in texts if (found := _FILE_NAME.search(text)))


def _is_same_path(save: Site, call: ir.Call, facts: Facts) -> bool:
    """True for a path that one file spells in the same way, with a literal in it: `join(folder, "net" + suffix)`."""
    if save.facts.analysis.member != facts.analysis.member:
        return False
    text = spelling(call.argument("f", 0), facts.body, facts)
    return "'" in text and spelling(_file(save), save.body, save.facts) == text
