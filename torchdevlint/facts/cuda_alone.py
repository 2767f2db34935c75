"""Code that has no other place to run than CUDA: there, that a line needs CUDA is no news."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.demands import (
    is_called_where_cuda_works,
    is_where_cuda_works,
    needs_cuda_at_import,
    programs_of_cuda_alone,
    starts_nccl,
)
from torchdevlint.facts.files import facts_of, imports_one_of, required_imports
from torchdevlint.facts.once import once_per_body, once_per_file
from torchdevlint.facts.scopes import owner_of
from torchdevlint.facts.stops import calls_what_stops, demands_cuda, stops_without_cuda
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, is_unconditional
from torchdevlint.program.project import Member, Project, worked_out
from torchdevlint.stubs.knowledge.platforms import (
    COLLECTIVES,
    COLLECTIVES_OF_DIST,
    CUDA_LIBRARIES,
    CUDA_PACKAGES,
    EXTENSIONS,
    KERNEL_LANGUAGES,
    LOADS_EXTENSION,
    is_extension,
)

_LIBRARIES = (*CUDA_LIBRARIES, *CUDA_PACKAGES, *KERNEL_LANGUAGES)
# What a file needs whose import fails without it; kernels of these languages, and optimizers in eight bits, have other ways beside them.
_NEEDED = tuple(name for name in (*CUDA_LIBRARIES, *CUDA_PACKAGES) if name != "bitsandbytes")
# What a kernel's frame may call without being one.
_PLAIN_PACKAGES = frozenset({"torch", "numpy", "math", "functools", "einops", "scipy", "warnings", "typing", "os"})
_CUDA_DECORATORS = frozenset({"torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd"})


# What a file must hold, as bytes, to be one that cannot be imported without CUDA: one of these, and in a statement that imports it.
_HINTS = (b"_cuda", b"current_device", b"cpp_extension", *(word.encode() for word in (*_NEEDED, *EXTENSIONS)))
_IMPORTS_HINT = re.compile(
    rb"(?m)^[ \t]*(?:from|import)\b[^\n]*(?:" + b"|".join(re.escape(hint) for hint in _HINTS) + rb")|current_device"
)
_ASKS_AT_IMPORT = re.compile(rb"(?m)^(?:assert|if)\b[^\n]*\bis_available\(")
# A statement of a module, or the head of a function or method, that places something on CUDA.
_PLACES_AT_IMPORT = re.compile(
    rb"(?m)^(?:\w[^\n]*|[ \t]+def [^\n]*)(?:\n[ \t]+[^\n]*){0,3}?(?:\.cuda\(|[\"']cuda[\"':]|\bcuda\.\w*Tensor\()"
)
# What builds an extension from CUDA sources.
_BUILDS = re.compile(rb"\bCUDAExtension\b|\bExtension\b[^\n]*(?:\n[^\n]*){0,3}\.cu[\"']")
# transformers' switches for bitsandbytes, whose kernels run on CUDA.
_QUANTIZED = ("load_in_8bit", "load_in_4bit")
_STREAMS = frozenset({"torch.cuda.Stream", "torch.cuda.stream"})


def needs_cuda_anyway(body: ir.Body, analysis: FileFacts, found: ir.Op | None = None) -> bool:
    """True in a file that cannot be imported without CUDA's libraries, in a kernel's frame, and in a function of one process per GPU.

    `found` is what a finding is about: it is no reason of its own.
    """
    return (
        imports_cuda_alone(analysis)
        or _uses_streams(body, analysis, found)
        or _is_made_with_cuda(body, analysis)
        or _is_kernel_frame(body, analysis)
        or any(op is not found for op in _runs_on_cuda_alone(body, analysis))
        or _starts_nccl_around(body, analysis)
        or _is_quantized(body, analysis)
        or _is_quantized(analysis.program.module, analysis)
        or _is_built_with_kernels(analysis)
        or stops_without_cuda(analysis)
        or calls_what_stops(body, analysis)
        or is_called_where_cuda_works(body, analysis)
        or (found is not None and is_where_cuda_works(found, body, analysis))
        or programs_of_cuda_alone(analysis)
    )


def _is_built_with_kernels(analysis: FileFacts) -> bool:
    """True in a package of a project whose requirements name kernels for CUDA, such as triton: of those who build with them, few look for another device."""
    member = analysis.member
    return member is not None and member.project.asks_for_kernels and member.project.is_in_package(member.path)


def is_cuda_only(analysis: FileFacts) -> bool:
    """True for files that need CUDA anyway, and for tests that are skipped without it as a whole."""
    if analysis.imports(*KERNEL_LANGUAGES) or requires(analysis, *CUDA_PACKAGES):
        return True
    return analysis.mentions("pytestmark", "skipUnless") and analysis.mentions("is_available")


def requires(analysis: FileFacts, *packages: str) -> bool:
    """True when the file cannot be imported without one of the packages."""
    return analysis.imports(*packages) and any(_is_below(name, packages) for name in required_imports(analysis))


@once_per_file
def imports_cuda_alone(analysis: FileFacts) -> bool:
    """True for a file that cannot be imported without a library or an extension for CUDA alone, be it through other files of the project."""
    if _imports_library(analysis, _LIBRARIES):
        return True
    member = analysis.member
    return member is not None and (
        member.project.builds_for_cuda_alone
        or _imports_built(analysis)
        or imports_one_of(analysis, _needing_cuda(member.project))
    )


@worked_out(64, frozenset)
def _needing_cuda(project: Project) -> frozenset[str]:
    """The files of a project that cannot be imported without CUDA."""
    return frozenset(
        path
        for path in dict.fromkeys(
            (
                *project.holding(_HINTS, _IMPORTS_HINT),
                *project.holding((b"is_available",), _ASKS_AT_IMPORT),
                *project.holding((b"cuda",), _PLACES_AT_IMPORT),
                *_importing_built(project),
            )
        )
        if (analysis := facts_of(Member(project, path))) is not None
        and (
            _imports_library(analysis, _NEEDED)
            or needs_cuda_at_import(analysis)
            or _compiles_for_cuda(analysis)
            or _imports_built(analysis)
            or demands_cuda(analysis.program.module, analysis)
        )
    )


class _Extension(NamedTuple):
    """A compiled module, by its dotted name, and the folder of the set-up script that builds it."""

    name: str
    folder: PurePath

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


@worked_out(64, None)
def _built_for_cuda(project: Project) -> tuple[_Extension, ...]:
    """The extensions that set-up scripts of a project build from CUDA sources, and that have none for the CPU."""
    found = []
    for path in project.holding((b"CUDAExtension", b".cu"), _BUILDS):
        script = PurePath(path)
        if not script.name.startswith("setup") or project.says(path, b"CppExtension", b"is_available"):
            continue
        analysis = facts_of(Member(project, path))
        if analysis is not None:
            names = [name for body in analysis.program.bodies for name in _extensions_of(body, analysis)]
            found += [_Extension(name, script.parent) for name in names if name]
    return tuple(found)


def _extensions_of(body: ir.Body, analysis: FileFacts) -> Iterator[str]:
    """The names of the extensions with CUDA sources that a body of a set-up script makes: `CUDAExtension("ops._C", sources)`."""
    definitions = analysis.index_of(body).definitions
    for call in Lookup.of(body).kind(ir.Call):
        kind = Lookup.of(body).called(call)
        name, sources = (
            definitions[register] if register is not None else None
            for register in (call.argument("name", 0), call.argument("sources", 1))
        )
        if not isinstance(name, ir.Constant) or not isinstance(name.value, str):
            continue
        listed = (definitions[one.value] for one in sources.elements) if isinstance(sources, ir.Sequence) else ()
        has_kernels = any(isinstance(one, ir.Constant) and str(one.value).endswith(".cu") for one in listed)
        if kind == "CUDAExtension" or (kind == "Extension" and has_kernels):
            yield name.value


def _importing_built(project: Project) -> tuple[str, ...]:
    """The files with the name of such an extension."""
    names = tuple(sorted({one.last.encode() for one in _built_for_cuda(project)}))
    return project.holding(names, re.compile(rb"\b(?:" + b"|".join(map(re.escape, names)) + rb")\b")) if names else ()


def _imports_built(analysis: FileFacts) -> bool:
    """True for a file of a project that cannot be imported without an extension that the project builds for CUDA alone."""
    member = analysis.member
    built = _built_for_cuda(member.project) if member is not None else ()
    return member is not None and any(
        _is_import_of(extension, name, member) for extension in built for name in required_imports(analysis)
    )


def _is_import_of(extension: _Extension, imported: str, member: Member) -> bool:
    """True for the dotted name of an extension, or of something in it; inside of the folder that it is built in, its last part is enough."""
    name = imported.lstrip(".")
    if name == extension.name or name.startswith(extension.name + "."):
        return not any(PurePath(path).stem == extension.last for path in member.project.resolve(imported, member.path))
    is_inside = extension.folder in PurePath(member.path).parents
    return is_inside and imported != name and extension.last in name.split(".")[:2]


def _imports_library(analysis: FileFacts, libraries: tuple[str, ...]) -> bool:
    return any(_is_below(name, libraries) or is_extension(name) for name in required_imports(analysis))


def _is_called_at_import(name: str, analysis: FileFacts) -> bool:
    """True for a file that calls this function whenever it is imported."""
    module = analysis.program.module
    blocks = (block_of(module, call) for call in analysis.calls_to((name,), module))
    return any(block is not None and not block.tries and is_unconditional(block, module) for block in blocks)


def _compiles_for_cuda(analysis: FileFacts) -> bool:
    """True for a file that compiles CUDA sources as soon as it is imported: `torch.utils.cpp_extension.load(..., sources=["kernel.cu"])`."""
    return _is_called_at_import("torch.utils.cpp_extension.load", analysis) and any(
        str(op.value).endswith(".cu") for op in Lookup.of(analysis.program.module).kind(ir.Constant)
    )


def _uses_streams(body: ir.Body, analysis: FileFacts, found: ir.Op | None) -> bool:
    """True in a class that works with CUDA streams, such as a prefetcher."""
    owner = owner_of(body)
    return owner is not None and any(call is not found for call in _calls_of_streams(owner.body, analysis))


@once_per_body
def _calls_of_streams(body: ir.Body, analysis: FileFacts) -> list[ir.Call]:
    """The calls of CUDA streams in the methods of the class with this body."""
    methods = body.owner.methods.values() if body.owner is not None else ()
    return [call for method in methods for call in analysis.calls_to(_STREAMS, method)]


def _is_made_with_cuda(body: ir.Body, analysis: FileFacts) -> bool:
    """True in a class whose constructor stops where there is no CUDA."""
    owner = owner_of(body)
    made = owner.methods.get("__init__") if owner is not None else None
    return made is not None and demands_cuda(made, analysis)


def _is_below(name: str, roots: tuple[str, ...]) -> bool:
    return any(name == root or name.startswith(root + ".") for root in roots)


@once_per_body
def _is_quantized(body: ir.Body, analysis: FileFacts) -> bool:
    """True where a model is loaded in eight or four bits."""
    return any(op.keyword(name) is not None for op in Lookup.of(body).kind(ir.Call) for name in _QUANTIZED)


@once_per_body
def _is_kernel_frame(body: ir.Body, analysis: FileFacts) -> bool:
    """True in a `torch.autograd.Function` that calls into another module, or that is decorated for CUDA: its kernel takes CUDA tensors alone."""
    owner = owner_of(body)
    if owner is None or not any(base.endswith("autograd.Function") for base in analysis.summary_of(owner).bases):
        return False
    decorators = [text for method in owner.methods.values() for text in method.decorators]
    if any(analysis.resolve_text(text) in _CUDA_DECORATORS for text in decorators):
        return True
    foreign = _foreign_names(analysis)
    return bool(foreign) and any(
        analysis.index_of(method).dotted(op.function).partition(".")[0] in foreign
        for method in owner.methods.values()
        for op in Lookup.of(method).kind(ir.Call)
    )


@once_per_file
def _foreign_names(analysis: FileFacts) -> frozenset[str]:
    """What the module imports from anywhere but the packages that hold no kernels for one machine."""
    return frozenset(
        op.name
        for op in Lookup.of(analysis.program.module).kind(ir.Import)
        if op.qualified.partition(".")[0] not in _PLAIN_PACKAGES
    )


@once_per_body
def _runs_on_cuda_alone(body: ir.Body, analysis: FileFacts) -> list[ir.Op]:
    """The operations of a body that run on CUDA alone."""
    candidates = Lookup.of(body).kinds(ir.Attribute, ir.Import, ir.Call)
    return [op for op in candidates if _is_for_cuda(op, body, analysis)]


def _is_for_cuda(op: ir.Op, body: ir.Body, analysis: FileFacts) -> bool:
    """True for what runs on CUDA alone: an extension, a collective, a GPU by the rank of the process, a CUDA graph."""
    if isinstance(op, ir.Attribute):
        return op.name == "CUDAGraph"
    if isinstance(op, ir.Import):
        return body.kind != "module" and _is_below(op.qualified, _LIBRARIES)
    if not isinstance(op, ir.Call):
        return False
    written = analysis.index_of(body).dotted(op.function)
    root = written.partition(".")[0]
    return (
        (root in analysis.aliases and is_extension(analysis.resolve_text(written)))
        or root in _loaded_extensions(analysis)
        or _is_collective(analysis.resolve_text(written), op)
        or _names_gpu_of_rank(op, written, body, analysis)
    )


@once_per_file
def _loaded_extensions(analysis: FileFacts) -> frozenset[str]:
    """The names that the module binds to an extension which it builds and loads."""
    module = analysis.program.module
    index = analysis.index_of(module)
    return frozenset(
        name
        for name, values in index.stored.items()
        if any(
            isinstance(made := index.definitions[value], ir.Call) and Lookup.of(module).called(made) in LOADS_EXTENSION
            for value in values
        )
    )


def _is_collective(callee: str, call: ir.Call) -> bool:
    module, _, last = callee.rpartition(".")
    word = last.replace("_", "").lower()
    if last == "DistributedDataParallel":
        return call.keyword("device_ids") is not None
    return word in COLLECTIVES or (word in COLLECTIVES_OF_DIST and "dist" in module)


def _names_gpu_of_rank(call: ir.Call, written: str, body: ir.Body, analysis: FileFacts) -> bool:
    """True for `torch.device("cuda", rank)` and `torch.device(f"cuda:{rank}")`."""
    if analysis.resolve_text(written) != "torch.device" or not call.arguments:
        return False
    definitions = analysis.index_of(body).definitions
    first = definitions[call.arguments[0].value]
    written_out = Lookup.of(body).put_together(call.arguments[0].value)
    if written_out is not None and written_out[0] == "cuda:" and len(written_out[1]) == 1:
        index = definitions[written_out[1][0]]
    elif isinstance(first, ir.Constant) and first.value == "cuda" and len(call.arguments) == 2:
        index = definitions[call.arguments[1].value]
    else:
        return False
    return isinstance(index, (ir.Load, ir.Attribute)) and "rank" in index.name.lower()


@once_per_body
def _starts_nccl(body: ir.Body, analysis: FileFacts) -> bool:
    return any(starts_nccl(call, body) for call in Lookup.of(body).kind(ir.Call))


@once_per_body
def _starts_nccl_around(body: ir.Body, analysis: FileFacts) -> bool:
    """True where the body, the module, or a function of the file that calls the body starts NCCL."""
    callers = (index.body for index, _ in analysis.call_sites.get(body.name, ())) if body.name else ()
    return any(_starts_nccl(other, analysis) for other in (body, analysis.program.module, *callers))
