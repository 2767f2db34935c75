"""Unreachable code of a project: definitions that no reachable code names, shadowed functions, and files that cannot be imported."""

from __future__ import annotations

import builtins
import re
from functools import partial
from pathlib import PurePath

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.files import acts, facts_of, has_programs, has_scripts, required_statements
from torchdevlint.facts.scopes import binds, scopes_of
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import is_unconditional
from torchdevlint.program.project import STARTS, Member, Project, worked_out
from torchdevlint.program.roles import importers, is_offered
from torchdevlint.source.grounds import remembered

_MAKES_NAMES = ("__getattr__", "globals", "vars", "locals", "exec", "setattr", "modules")


def is_unreachable(body: ir.Body, analysis: FileFacts) -> bool:
    """True for a shadowed function, and for all of a file that imports what the project lacks."""
    member = analysis.member
    if member is None:
        return False
    return _cannot_be_imported(analysis, member) or (body.kind != "module" and _is_shadowed(body, analysis))


@remembered(2)
def _cannot_be_imported(analysis: FileFacts, member: Member) -> bool:
    """True for a file that needs a module of a package of the project which is not there, or a name that no module of the project knows."""
    return any(
        member.project.lacks(op.qualified if op.name == "*" else op.qualified.rpartition(".")[0], member.path)
        or (op.name != "*" and _lacks_name(op.qualified, member))
        for op in required_statements(analysis)
        if "." in op.qualified
    )


def _lacks_name(qualified: str, member: Member) -> bool:
    """True for `from utils import load` where `utils` is a file of the project in which no such identifier stands, and that makes none otherwise."""
    module, _, name = qualified.rpartition(".")
    found = member.project.resolve(module, member.path)
    if not found or PurePath(found[-1]).stem != module.rpartition(".")[2]:
        return False
    home = PurePath(found[0]).parents[found[0].endswith("__init__.py")]
    if not module.startswith(".") and not member.project.is_path_entry(str(home), member.path):
        return False
    there = (
        facts_of(Member(member.project, found[-1])) if found == member.project.resolve(qualified, member.path) else None
    )
    return there is not None and not there.mentions(name, *_MAKES_NAMES) and not _star_imports(there)


def _star_imports(analysis: FileFacts) -> list[ir.Import]:
    return [op for op in Lookup.of(analysis.program.module).kind(ir.Import) if op.name == "*"]


def is_run_by_nobody(body: ir.Body, analysis: FileFacts) -> bool:
    """True in a function or class of a project of programs that nothing reachable names: no code, notebook, setting, script or documentation.

    So is a method that nobody names, of a class without bases. An import statement, a comment and unreachable code are no use of a name. What a package
    defines may be called by whoever installs it, except its self-tests; a decorated function may be called by its decorator. A class with bases other than
    those of torch may be found through them, and any class by a name that is computed (`getattr(models, name)`) where its module is imported.
    """
    member = analysis.member
    if member is None or not member.project.tells_by_silence:
        return False
    if _is_left_out(member):
        return True
    return has_programs(member.project) and _Search(member).is_dead(body, analysis, frozenset())


@worked_out(512, bool)
def _is_left_out(place: Member) -> bool:
    """True for a module of definitions that no file of a project with programs imports, runs or names.

    In a package others may import it, but for a package whose own files import most of its modules.
    """
    project, path = place
    analysis = facts_of(place)
    if analysis is None or _is_used_by_itself(analysis, place) or importers(place):
        return False
    naming = _naming(path)
    named = (other for other in project.mentioning(PurePath(path).stem) if other != path)
    if project.holding(_IMPORTERS, _IMPORTS) or any(project.matches(other, naming) for other in named):
        return False
    return _imports_its_modules(project) if analysis.roles.is_library else has_scripts(project)


def _is_used_by_itself(analysis: FileFacts, place: Member) -> bool:
    """True for a file that does something when it is run or imported, for the front of a package, and for tests, which are collected."""
    is_front = PurePath(place.path).name in ("__init__.py", "conftest.py") or not place.path.endswith(".py")
    return is_front or analysis.roles.is_test or place.project.matches(place.path, STARTS) or acts(analysis)


def _naming(path: str) -> re.Pattern[bytes]:
    """How a text names a module: `net.py`, `models.net`, `models/net`, `net:load`, `import net`, `from net import load`."""
    file = PurePath(path)
    folder, stem = re.escape(file.parent.name).encode(), re.escape(file.stem).encode()
    spelled = rb"\b(?:%s\.py|%s[./]%s|%s:\w+|(?:import|from) %s)\b"
    return re.compile(spelled % (stem, folder, stem, stem, stem))


@worked_out(64, bool)
def _imports_its_modules(project: Project) -> bool:
    """True for a package of which its own files import most modules: one that they leave out is hardly meant for others."""
    modules = [Member(project, path) for path in project.files if not path.endswith("__init__.py")]
    offered = [place for place in modules if is_offered(place) and not project.is_test(place.path)]
    return 2 * sum(bool(importers(place)) for place in offered) > len(offered)


_MOST_LOOKED_AT = 60  # bodies that name what is looked for, and what they stand in
_MOST_FILES = 12
# How a computed name finds a class: in what the file at hand has imported, or in any file.
_FINDERS = (b"eval", b"globals", b"__dict__", b"import_module", b"getattr")
_FINDS = re.compile(
    rb"(?<![.\w])eval\(|\bglobals\(\)|__dict__\[|\bimport_module\(|\bgetattr\((?!self,)[\w.]+, *[^'\"\s]"
)
_FINDS_ANYWHERE = re.compile(rb"\bimport_module\(")

# How a file is imported that no import statement names.
_IMPORTERS = (b"import_module", b"__import__", b"runpy", b"spec_from_file_location", b"exec")
_IMPORTS = re.compile(rb"\b(?:import_module|__import__|run_path|run_module|spec_from_file_location|exec)\(")
_HANDS_ON = re.compile(rb"(?m)^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]*\*")


class _Search:
    """Looks for a use of a definition in code that is run, by names."""

    def __init__(self, member: Member) -> None:
        self._project, self._looked_at = member.project, 0

    def is_dead(self, body: ir.Body, analysis: FileFacts, above: frozenset[str]) -> bool:
        """True in a body that nobody runs. `above` are the definitions for which that is asked."""
        inside = [one for one in scopes_of(body) if one.kind != "module"]
        if not inside or inside[-1].decorators:
            return False
        outer = inside[-1]
        if outer.kind != "class":
            return self._is_unnamed(outer, analysis, above)
        bases = [analysis.resolve_text(base) for base in outer.owner.bases] if outer.owner is not None else []
        if any(base not in ("object", "abc.ABC") and not base.startswith("torch.") for base in bases):
            return False
        several = inside[-2:] if set(bases) <= {"object"} else [outer]  # a base calls methods
        return any(self._is_unnamed(one, analysis, above) for one in several)

    def _is_unnamed(self, body: ir.Body, analysis: FileFacts, above: frozenset[str]) -> bool:
        return (
            body.kind in ("function", "class")
            and body.parent is not None
            and not body.decorators
            and (not analysis.roles.is_library or body.name.startswith("_") or _is_self_test(body))
            and not body.name.startswith("__")
            and not (body.kind == "class" and self._may_be_found(body, analysis))
            and not self._is_used(body, analysis, above)
        )

    def _may_be_found(self, cls: ir.Body, analysis: FileFacts) -> bool:
        """True for a class that a computed name may find: in its own file, in one that imports it, or where any module may be imported by name."""
        home = analysis.member.path if analysis.member is not None else ""
        return any(
            self._project.matches(path, _FINDS_ANYWHERE) or self._may_name(path, cls.name, home)
            for path in self._project.holding(_FINDERS, _FINDS)
        )

    def _is_used(self, definition: ir.Body, analysis: FileFacts, above: frozenset[str]) -> bool:
        """True for a definition whose name stands in code that is run, as far as one can tell."""
        name = definition.name
        if name in above:
            return False  # by itself alone
        home = analysis.member.path if analysis.member is not None else ""
        is_member = definition.parent is not None and definition.parent.kind != "module"
        files = [path for path in self._project.mentioning(name) if is_member or self._may_name(path, name, home)]
        if len(files) > _MOST_FILES:
            return True
        for path in files:
            there = facts_of(Member(self._project, path)) if path.endswith(".py") else None
            if there is None or there.roles.is_test:
                return True
            is_own = not is_member and path != home and _defines_its_own(name, there)
            uses = partial(_uses, name, as_member=is_member or path != home, as_name=not is_own)
            for body in filter(uses, there.program.bodies):
                self._looked_at += 1
                if self._looked_at > _MOST_LOOKED_AT or not self.is_dead(body, there, above | {name}):
                    return True
        return False

    def _may_name(self, path: str, name: str, home: str) -> bool:
        """True for a file that can name what stands at the top of another: it is no code, or imports it, or what hands its names on, or spells
        `module:name` as who registers the commands of a package does.
        """
        if path == home or not path.endswith(".py") or self._project.holding(_IMPORTERS, _IMPORTS):
            return True
        spelled = re.compile(rf"\b{re.escape(PurePath(home).stem)}[.:]{re.escape(name)}\b".encode())
        if self._project.matches(path, spelled):
            return True
        imported, seen = [path], {path}
        while imported:
            for other in self._project.imported_by(imported.pop()):
                if other == home:
                    return True
                if other not in seen and (other.endswith("__init__.py") or self._project.matches(other, _HANDS_ON)):
                    seen.add(other)
                    imported.append(other)
        return False


def _defines_its_own(name: str, analysis: FileFacts) -> bool:
    """True for a file in which a name means a function or class of its own and nothing else."""
    lookup = Lookup.of(analysis.program.module)
    made = [lookup.definition(store.value) for store in lookup.stores(name)]
    return bool(made) and all(isinstance(op, (ir.MakeFunction, ir.MakeClass)) for op in made)


def _uses(name: str, body: ir.Body, *, as_member: bool, as_name: bool = True) -> bool:
    """True for a body that reads a name, a string in which it stands, or also a member of that name."""
    lookup = Lookup.of(body)
    is_read = as_name and any(op.name == name for op in lookup.kind(ir.Load))
    if is_read or (as_member and any(lookup.attributes(name))):
        return True
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    if any(isinstance(op.value, str) and word.search(op.value) for op in lookup.kind(ir.Constant)):
        return True
    imported = (op for op in lookup.kind(ir.Import) if op.qualified.rpartition(".")[2] == name)
    return any(
        isinstance(store, ir.Store) and store.name != name for op in imported for store in lookup.readers(op.dst)
    )


def _is_self_test(function: ir.Body) -> bool:
    """True for `def test_logits():`, which needs nothing from who calls it."""
    return function.name.startswith("test_") and all(given.default is not None for given in function.parameters)


def reads_unbound_name(register: ir.Register | None, body: ir.Body, analysis: FileFacts) -> bool:
    """True for `Net(args).cuda()` where nothing binds `Net`: no name of the file, none of Python's own, none of the files that it imports everything from.

    It raises a NameError before anything else. Nothing is concluded where one of these files is not at hand.
    """
    index, member = analysis.index_of(body), analysis.member
    written = None if register is None else index.definitions[register]
    while isinstance(written, (ir.Call, ir.Attribute)):
        written = index.definitions[written.function if isinstance(written, ir.Call) else written.object]
    if member is None or not isinstance(written, ir.Load) or analysis.mentions("globals", "exec"):
        return False
    name = written.name
    if hasattr(builtins, name) or name.startswith("__") or "@" in name or name in analysis.aliases:
        return False
    is_global = any(name in inner.global_names for inner in analysis.program.bodies)
    return (
        not is_global
        and not any(binds(one, name) for one in scopes_of(body))
        and _is_in_no_star_import(name, analysis, member, frozenset())
    )


def _is_in_no_star_import(name: str, analysis: FileFacts, member: Member, seen: frozenset[str]) -> bool:
    """True where a file imports everything from files of the project alone, at least one, and none of these binds the name."""
    stars = _star_imports(analysis)
    for star in stars:
        found = member.project.resolve(star.qualified, member.path)
        stem = PurePath(found[-1]).parent.name if found and found[-1].endswith("__init__.py") else ""
        if not found or (stem or PurePath(found[-1]).stem) != star.qualified.rpartition(".")[2]:
            return False
        place = Member(member.project, found[-1])
        there = facts_of(place)
        if there is None or there.mentions(*_MAKES_NAMES) or binds(there.program.module, name):
            return False
        if _star_imports(there) and (
            place.path in seen or not _is_in_no_star_import(name, there, place, seen | {place.path})
        ):
            return False
    return bool(stars)


def _is_shadowed(function: ir.Body, analysis: FileFacts) -> bool:
    """True for a function that a later definition of its name always shadows before anything there reads it."""
    parent = function.parent
    if parent is None or function.decorators:
        return False
    definitions = analysis.index_of(parent).definitions
    waits = False
    for block in parent.blocks:
        for op in block.ops:
            if isinstance(op, ir.Store) and op.name == function.name:
                made = definitions[op.value]
                if waits:
                    is_function = isinstance(made, ir.MakeFunction) and not made.function.decorators
                    return is_function and is_unconditional(block, parent)
                waits = isinstance(made, ir.MakeFunction) and made.function is function
            elif isinstance(op, ir.Load) and op.name == function.name and waits:
                return False
    return False
