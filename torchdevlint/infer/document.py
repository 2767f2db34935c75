"""A document that an editor shows, from one version to the next: what is inferred of the functions that did not change stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchdevlint.infer.imports import ASKED_OF_ALL
from torchdevlint.infer.kept import Kept
from torchdevlint.infer.units import Unit
from torchdevlint.program import ir
from torchdevlint.program.project import Member, Project
from torchdevlint.program.revision import changed_bodies, revise
from torchdevlint.stubs.loader import in_use

if TYPE_CHECKING:
    import libcst as cst

    from torchdevlint.program.reparse import Version


class Document:
    """One document. Whatever its answers rest on beside its own functions is compared for each version: the outline, the imports, other files."""

    def __init__(self) -> None:
        self._program: ir.Program | None = None  # of the last version that was examined to its end
        self._begun: ir.Program | None = None
        self._path = ""
        self._project: Project | None = None
        self._tree: Version | None = None

    def revised(self, program: ir.Program, member: Member | None) -> ir.Program:
        """The Program to go on with, for one that was read of the next version: that of the version before, which is the new one now, or the new one.

        What is kept stays for the version that follows when the examination has ended (see `settle`).
        """
        project, path = (member.project, member.path) if member is not None else (None, "")
        old, self._program = self._program, None
        before: Kept | None = old.kept if old is not None and self._is_of(path, project) else None
        if before is not None and before.stubs is not in_use():
            before = None
        found = self._revised(old, program, before, project) if old is not None and before is not None else None
        if found is None or found.kept is None:
            found = found or program
            found.kept = Kept(project, Unit(found, path), _others(before, project))
            found.kept.roots = {}
        if project is not None:
            project.adopt(path, found)
        self._begun, self._path, self._project = found, path, project
        return found

    def tree(self, text: str, program: ir.Program) -> cst.Module:
        """LibCST's tree of the text that a Program was read of; raises `ParseFailure`."""
        from torchdevlint.program.reparse import reparse

        self._tree = reparse(self._tree, text, program.rows)
        return self._tree.module

    def settle(self, program: ir.Program) -> None:
        """The examination of a Program has come to its end: what is kept is whole."""
        self._program = program if program is self._begun else None
        self._begun = None

    def _revised(self, old: ir.Program, program: ir.Program, kept: Kept, project: Project | None) -> ir.Program | None:
        """The Program of the version before as that of this one; None where too much differs."""
        changed = changed_bodies(old, program)
        unit = kept.imports.unit(self._path)
        dead = kept.resting_on(unit, changed) if unit is not None and changed is not None else None
        if unit is None or changed is None or dead is None:
            return None
        before = unit.standing()
        replaced = [op for number in changed for block in old.bodies[number].blocks for op in block.ops]
        revise(old, program, changed)
        unit.forget(replaced)
        if unit.standing() == before:
            kept.forget(unit, dead, project)
        else:
            old.kept = None
        return old

    def _is_of(self, path: str, project: Project | None) -> bool:
        """Whether the document and its project are what they were, but for what the document says beside its imports."""
        old = self._project
        if path != self._path or old is None or project is None:
            return path == self._path and old is project
        before, after = old.read(path), project.read(path)
        is_same = all((one.search(before) is None) is (one.search(after) is None) for one in ASKED_OF_ALL)
        return is_same and project.goes_on(old, path)


def _others(before: Kept | None, project: Project | None) -> Kept | None:
    """What is known of the files that do not depend on the document: that of the version `before`, which was examined to its end, or nothing yet."""
    if project is None:
        return None
    if before is None or before.base is None:
        return Kept(project)
    before.base.imports.files = project
    return before.base
