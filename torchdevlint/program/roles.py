"""What a file is for: a test, data code, a program, a part of a package that others install; and what a function is for.

Answered once for a file, by what it does and how its project reaches it. The name of a folder or of a function is the weakest evidence: it counts beside
what the code does, and alone where nothing else tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import COMMAND_LINES, Member, worked_out
from torchdevlint.source.grounds import kept_in

_DATA_FOLDER = re.compile(
    r"data|datasets?|data_?(?:loaders?|loading|parsers?|processing|utils|preprocessing)|preprocess(?:ing)?|transforms|augmentations?"
)
_PARAMETERS = (b"Parameter(",)
_MAKES_PARAMETERS = re.compile(rb"\bnn\.(?:parameter\.)?Parameter\(")
_SAMPLES = frozenset({"__call__", "__getitem__", "collate_fn", "collate", "get_batch"})
_PLACES = frozenset({"device", "to", "cuda", "is_cuda"})
_BENCHMARK = re.compile(r"(?:\A|_)(?:bench(?:mark(?:s|ing)?)?|probe|speed_?test|profile)(?:_|\Z)")
# How the time of kernels and the memory of a GPU are measured.
_MEASURES = frozenset(
    "ProfilerActivity max_memory_allocated reset_peak_memory_stats reset_max_memory_allocated mem_get_info do_bench "
    "do_bench_using_profiling".split()
)


class Roles:
    """What one file is for. `member` is its place in a project, None for a text by itself."""

    def __init__(self, program: ir.Program, member: Member | None) -> None:
        self._program, self._member = program, member
        self._known: dict[Any, Any] = {}

    @property
    def is_test(self) -> bool:
        """True in a file of tests, also in their helpers: by its place in the project, its imports, or functions that assert.

        A name alone is no evidence: `def test_epoch(model, loader)` evaluates a model.
        """
        return kept_in(self._known, "is_test", self._is_test)

    def _is_test(self) -> bool:
        program, member = self._program, self._member
        return (
            (member is not None and member.project.is_test(member.path))
            or self._imports("pytest", "unittest")
            or any(body.name.startswith("test_") and _asserts(body) for body in program.bodies)
        )

    @property
    def is_library(self) -> bool:
        """True for a file of the package that a project is: others install it and call what it defines.

        A file that is also run is written for the program that it is, unless the package imports it: then it runs a self-test or a demonstration.
        """
        return self._member is not None and is_offered(self._member) and not self.is_run_alone

    @property
    def is_script(self) -> bool:
        """True for a file that says what happens when it is run: it has a main guard, or reads its command line."""
        return not self._program.words.isdisjoint(("__name__", "parse_args", "argv"))

    @property
    def is_run_alone(self) -> bool:
        """True for a script that no other file of its project imports."""
        return self.is_script and not self.is_imported

    @property
    def reads_command_line(self) -> bool:
        """True for a program that imports a library with which it reads its command line."""
        return self._imports(*COMMAND_LINES)

    @property
    def is_imported(self) -> bool:
        """True for a file that another file of its project imports."""
        return self._member is not None and bool(importers(self._member))

    @property
    def is_program(self) -> bool:
        """True for a program of a project that stands in no package."""
        member = self._member
        return member is not None and is_program(member) and not member.project.is_in_package(member.path)

    @property
    def is_data_code(self) -> bool:
        """True in a module of a folder for data sets, loaders or transforms, unless something in it learns: the transforms of a flow are layers."""
        return any(_DATA_FOLDER.fullmatch(folder) for folder in self._folders) and not self._is_among_layers

    @property
    def _is_among_layers(self) -> bool:
        """True where a file of the same folder makes parameters."""
        assert self._member is not None
        project, path = self._member
        return any(
            PurePath(other).parent == PurePath(path).parent and not project.is_test(other)
            for other in project.holding(_PARAMETERS, _MAKES_PARAMETERS)
        )

    def is_benchmark(self, body: ir.Body | None) -> bool:
        """True in a file or a function that measures times or memory of a GPU, and is called a benchmark."""
        words = self._program.words
        if words.isdisjoint(_MEASURES) and not ("cuda" in words and ("Event" in words or "synchronize" in words)):
            return False
        names = [*self._folders]
        if self._member is not None:
            names.append(PurePath(self._member.path).stem)
        return any(map(_BENCHMARK.search, (*names, *(around.name for around in _around(body)))))

    @property
    def _folders(self) -> tuple[str, ...]:
        """The folders between the root of the project and the file; none without a project."""
        member = self._member
        return PurePath(member.path).relative_to(member.project.root).parts[:-1] if member is not None else ()

    def _imports(self, *roots: str) -> bool:
        return any(name == root or name.startswith(root + ".") for name in self._program.imported for root in roots)


def is_offered(place: Member) -> bool:
    """True for a file of the package that a project is."""
    return place.project.is_package and place.project.is_in_package(place.path)


@worked_out(512, tuple)
def importers(place: Member) -> tuple[str, ...]:
    """The files that import a file, anywhere in them."""
    project, path = place
    return tuple(other for other in project.importing(path) if path in project.imported_by(other))


@worked_out(512, bool)
def is_program(place: Member) -> bool:
    """True for a file of a project that no other file imports, and that is no test."""
    return bool(place.project.files) and not importers(place) and not place.project.is_test(place.path)


def has_public_subclass(place: Member, program: ir.Program, name: str, deep: int = 4) -> bool:
    """True for a class that another with a public name inherits from, in its file or in one that imports it: whoever has that one calls its methods."""
    project, path = place
    others = ((other, project.program(other)) for other in importers(place))
    for file, read in ((path, program), *others):
        for cls in read.classes if read is not None else ():
            if any(base.rpartition(".")[2] == name for base in cls.bases) and cls.name != name:
                if not cls.name.startswith("_"):
                    return True
                if deep and read is not None and has_public_subclass(Member(project, file), read, cls.name, deep - 1):
                    return True
    return False


SETS_TYPE = "set_default_tensor_type"
SETS_DEFAULT = frozenset({"set_default_device", SETS_TYPE})


def sets_default_device(program: ir.Program, *, is_offered: bool) -> bool:
    """True for a file that sets PyTorch's default device or tensor type; what a package offers does so for others unless it is private."""
    if SETS_DEFAULT.isdisjoint(program.words):
        return False
    return not is_offered or any(
        all(is_public(around.name) for around in _around(body))
        and any(lookup.attributes(name) or lookup.loads(name) for name in SETS_DEFAULT)
        for body in program.bodies
        for lookup in (Lookup.of(body),)
    )


def is_public(name: str) -> bool:
    """False for a name with a leading underscore; Python's own `__call__` is for anybody."""
    return not name.startswith("_") or name.endswith("__")


# ---------------------------------------------------------------------------------------------------- functions


def is_test_function(body: ir.Body | None) -> bool:
    """True in a test by its name, and in what it defines: fixtures are made on the CPU."""
    return any(
        around.name.startswith("test_") or (around.owner is not None and around.owner.name.startswith("Test"))
        for around in _around(body)
    )


def gives_samples(body: ir.Body) -> bool:
    """True for what a loader calls for a sample or a batch; the objects of a module, and of a class that says where tensors are, are called with others."""
    return body.name in _SAMPLES and not (body.name == "__call__" and _is_called_with_batches(body.owner))


def exports(body: ir.Body) -> bool:
    """True for a function that exports or traces a model, as is done on the CPU; `matrix.trace()` is a sum."""
    lookup = Lookup.of(body)
    traced = (lookup.definition(op.object) for op in lookup.attributes("trace"))
    is_traced = any(isinstance(op, (ir.Attribute, ir.Load)) and op.name == "jit" for op in traced)
    return is_traced or lookup.has_attribute("export")


def _is_called_with_batches(cls: ir.Class | None) -> bool:
    if cls is None:
        return False
    return any(base.endswith("Module") for base in cls.bases) or any(
        any(parameter.name == "device" for parameter in method.parameters) or Lookup.of(method).has_attribute(*_PLACES)
        for method in cls.methods.values()
    )


def _asserts(body: ir.Body) -> bool:
    """True for a body with an `assert`: it raises without a value, and outside of a handler, where that would raise again."""
    return any(
        isinstance(op, ir.Raise) and op.value is None and all(part.part != "handler" for part in block.tries)
        for block in body.blocks
        for op in block.ops
    )


def _around(body: ir.Body | None) -> Iterator[ir.Body]:
    """A function and those that it is defined in."""
    while body is not None and body.kind != "module":
        yield body
        body = body.parent
