"""What the sources of a library say of it by their annotations; `torchdevlint.infer.derive_library` makes its stub of that.

The sources in the wheel are parsed, never imported. A class is a module where its bases lead to `torch.nn.Module`, or to a class of another
library that a stub calls one. It is told to have parameters or buffers, or to be empty, only where its `forward` takes one tensor and gives one
by its annotations; of any other module only that it is one ("unknown": it is moved, and calling it claims nothing).
A function that is annotated to give such a module stands for its class; one that takes one tensor and gives one keeps its device.
"""

from __future__ import annotations

import ast
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from torchdevlint.stubs import loader

_MODULES = frozenset(
    {"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module", "torch.jit.ScriptModule"}
)
_TENSORS = frozenset({"torch.Tensor", "torch.FloatTensor"})
_OWN_DEVICE = frozenset({"to", "cuda", "cpu", "device"})  # who moves what it is given wants no common device
_TAKES_IMAGES = ("torchvision.transforms",)  # annotated with tensors, and takes images of PIL as well
_REGISTERS = frozenset({"register_buffer", "register_parameter"})
_CONTAINERS = frozenset({"ModuleList", "ModuleDict", "Sequential"})
_PLAIN = re.compile(
    r"[\[\], .|]*(?:(?:int|float|bool|str|None|Optional|Union|Tuple|tuple|Sequence|List|list|Literal|typing|'[^']*')[\[\], .|]*)+"
)
_MOST_BASES = 30
_PRIVATE = re.compile(r"(^|\.)_|(^|\.)(tests?|testing|scripts|examples|conftest)(\.|$)")


def is_of_tensors(annotation: str) -> bool:
    """True for an annotation that names tensors, also by the short names that torch_geometric has for them."""
    return re.search(r"Tensor|\bAdj\b", annotation) is not None


@dataclass(slots=True)
class File:
    """A source file: `names` leads from what it binds by imports and definitions to dotted names."""

    module: str
    is_package: bool
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    exported: frozenset[str] | None = None
    registered: set[str] = field(default_factory=set)


class Library:
    """The files of one wheel."""

    def __init__(self, wheel: Path) -> None:
        self.version = wheel.name.split("-")[1]
        self.files: dict[str, File] = {}
        with zipfile.ZipFile(wheel) as archive:
            tops = Counter(path.partition("/")[0] for path in archive.namelist() if path.endswith(".py"))
            self.name = tops.most_common(1)[0][0]
            for path in archive.namelist():
                if path.endswith(".py") and path.startswith(self.name + "/"):
                    parts = path.removesuffix(".py").split("/")
                    is_package = parts[-1] == "__init__"
                    module = ".".join(parts[:-1] if is_package else parts)
                    self.files[module] = _read(module, is_package, archive.read(path).decode("utf-8"))
        self._holds: dict[str, str] = {}
        self._inside: dict[str, str] = {}
        self._lineages: dict[str, list[str]] = {}

    def resolve(self, module: str, name: str, deep: int = 0) -> str:
        """The full name of what a dotted name means in a file."""
        head, _, rest = name.partition(".")
        file = self.files.get(module)
        if file is None or deep > _MOST_BASES:
            return name
        if head in file.classes or head in file.functions:
            return f"{module}.{name}"
        target = file.names.get(head)
        if target is None:
            for star in file.stars:
                if head in self.bound(star):
                    return self.resolve(star, name, deep + 1)
            return name
        full = f"{target}.{rest}" if rest else target
        owner, _, last = full.rpartition(".")
        while owner and owner not in self.files and owner.startswith(self.name):
            owner, _, before = owner.rpartition(".")
            last = f"{before}.{last}"
        return self.resolve(owner, last, deep + 1) if owner in self.files and owner != module else full

    def bound(self, module: str, deep: int = 0) -> frozenset[str]:
        """What `from module import *` binds."""
        file = self.files.get(module)
        if file is None or deep > _MOST_BASES:
            return frozenset()
        if file.exported is not None:
            return file.exported | file.registered
        found = {*file.classes, *file.functions, *file.names}
        for star in file.stars:
            found |= self.bound(star, deep + 1)
        return frozenset(name for name in found if not name.startswith("_"))

    def definition(self, full: str) -> tuple[File, ast.ClassDef | ast.FunctionDef] | None:
        """The file and the node of a full name."""
        module, _, name = full.rpartition(".")
        file = self.files.get(module)
        node = file.classes.get(name) or file.functions.get(name) if file is not None else None
        return (file, node) if file is not None and node is not None else None

    def lineage(self, full: str) -> list[str]:
        """A class and its bases, as full names; those of other libraries end it."""
        if full in self._lineages:
            return self._lineages[full]
        found: list[str] = []
        pending = [full]
        while pending and len(found) < _MOST_BASES:
            one = pending.pop(0)
            if one in found:
                continue
            found.append(one)
            known = self.definition(one)
            if known is not None and isinstance(known[1], ast.ClassDef):
                pending += [self.resolve(known[0].module, base) for base in map(_dotted, known[1].bases) if base]
        self._lineages[full] = found
        return found

    def is_module(self, full: str) -> bool:
        """True for a class of modules."""
        lineage = self.lineage(full)
        return not _MODULES.isdisjoint(lineage) or any(
            not one.startswith(self.name + ".") and loader.shipped().module_class(one) is not None
            for one in lineage[1:]
        )

    def holds(self, full: str) -> str:
        """What a class of modules holds, where its `forward` is of one tensor; "unknown" else."""
        if full not in self._holds:
            self._holds[full] = "unknown"  # a class that makes itself
            forward = self._method(full, "forward")
            plain = forward is not None and self._takes_and_gives_one_tensor(*forward, skipped=1)
            self._holds[full] = self._contents(full) if plain else "unknown"
        return self._holds[full]

    def _method(self, full: str, name: str) -> tuple[File, ast.FunctionDef] | None:
        for one in self.lineage(full):
            known = self.definition(one)
            for node in known[1].body if known is not None and isinstance(known[1], ast.ClassDef) else ():
                if isinstance(node, ast.FunctionDef) and node.name == name and known is not None:
                    return known[0], node
        return None

    def _takes_and_gives_one_tensor(self, file: File, node: ast.FunctionDef, skipped: int = 0) -> bool:
        if file.module.startswith(_TAKES_IMAGES):
            return False
        given = [*node.args.posonlyargs, *node.args.args][skipped:]
        tensors = [
            one for one in (*given, *node.args.kwonlyargs) if one.annotation and "Tensor" in ast.unparse(one.annotation)
        ]
        is_one = len(tensors) == 1 and tensors == given[:1] and self._is_tensor(file, tensors[0].annotation)
        moves = any(isinstance(inner, ast.Attribute) and inner.attr in _OWN_DEVICE for inner in ast.walk(node))
        return is_one and node.args.vararg is None and self._is_tensor(file, node.returns) and not moves

    def _is_tensor(self, file: File, annotation: ast.expr | None) -> bool:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return annotation.value.rpartition(".")[2] == "Tensor"
        written = _dotted(annotation) if annotation is not None else ""
        return bool(written) and self.resolve(file.module, written) in _TENSORS

    def _contents(self, full: str) -> str:
        """What the constructors of a class and of its bases give to `self` on every path; "unknown" where something cannot be told."""
        if full in self._inside:
            return self._inside[full]
        self._inside[full] = "unknown"  # a class that makes itself
        found = {"empty"}
        for one in self.lineage(full):
            known = self.definition(one)
            if known is None:
                if one not in _MODULES and one.partition(".")[0] not in ("abc", "typing", "object", "Generic", "ABC"):
                    found.add("unknown")
                continue
            init = next((n for n in known[1].body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
            if init is not None:
                found |= set(self._given(known[0], init))
        self._inside[full] = next(one for one in ("parameters", "unknown", "empty") if one in found)
        return self._inside[full]

    def _given(self, file: File, init: ast.FunctionDef) -> Iterator[str]:
        always = {
            id(inner)
            for statement in init.body
            if not isinstance(statement, (ast.If, ast.For, ast.While, ast.Try))
            for inner in ast.walk(statement)
        }
        for choice in (one for one in ast.walk(init) if isinstance(one, ast.IfExp)):
            always -= {id(inner) for side in (choice.body, choice.orelse) for inner in ast.walk(side)}
        given = {one.arg for one in (*init.args.args, *init.args.kwonlyargs)} - {"self"}
        own = given | {one.id for one in ast.walk(init) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        if self._keeps_what_it_is_given(init):
            yield "unknown"
        for call in ast.walk(init):
            if not isinstance(call, ast.Call):
                continue
            written = _dotted(call.func)
            if not written or (written.startswith("self.") and written.rpartition(".")[2] not in _REGISTERS):
                if written.startswith("self."):
                    yield "unknown"  # a helper that may register anything
                continue
            what = "unknown" if written.partition(".")[0] in own else self._made(file, written)
            if what:
                yield what if what in ("empty", "unknown") or id(call) in always else "unknown"

    def _keeps_what_it_is_given(self, init: ast.FunctionDef) -> bool:
        """True where a constructor keeps an argument, or puts one into a list of modules: it may be a module with parameters."""
        given = {
            one.arg
            for one in (*init.args.args[1:], *init.args.kwonlyargs)
            if one.annotation is None or not _PLAIN.fullmatch(ast.unparse(one.annotation))
        }
        for node in ast.walk(init):
            kept: list[ast.expr] = []
            if isinstance(node, ast.Assign) and any(isinstance(one, ast.Attribute) for one in node.targets):
                kept = [node.value]
            elif isinstance(node, ast.Call) and _dotted(node.func).rpartition(".")[2] in _CONTAINERS:
                kept = [inner for one in node.args for inner in ast.walk(one) if isinstance(inner, ast.expr)]
            if any(isinstance(one, ast.Name) and one.id in given for one in kept):
                return True
        return False

    def _made(self, file: File, written: str) -> str:
        """What a call in a constructor adds: nothing where it makes no module."""
        if written.rpartition(".")[2] in _REGISTERS:
            return "parameters"  # a buffer of tensors is met by the input as a parameter is
        name = self.resolve(file.module, written)
        if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
            return "parameters"
        if name.startswith("torch.nn."):
            stub = loader.shipped().module_class(name)
            return stub.holds if stub is not None and stub.holds in ("parameters", "empty") else ""
        if self.is_module(name):
            return self._contents(name)
        return "unknown" if isinstance(call_target(self, name), ast.FunctionDef) or name in file.names else ""

    def entries(self) -> Iterator[str]:
        """The entries of the library, each under the name of its definition, and under those that its packages give it."""
        told: dict[str, str] = {}
        for module, file in self.files.items():
            if _PRIVATE.search(module.removeprefix(self.name)) and not self._is_offered(module):
                continue
            for name in file.classes:
                full = f"{module}.{name}"
                if not name.startswith("_") and self.is_module(full):
                    told[full] = f"class {full}(Module): {self.holds(full)}"
            for name, node in file.functions.items():
                line = self._function(file, f"{module}.{name}", node)
                if line and not name.startswith("_"):
                    told[f"{module}.{name}"] = line
        yield from told.values()
        for module, file in self.files.items():
            if file.is_package and not _PRIVATE.search(module.removeprefix(self.name)):
                for name in sorted(self.bound(module)):
                    full = self.resolve(module, name)
                    if full in told and full != f"{module}.{name}":
                        yield f"{module}.{name} = {full}"

    def offered(self) -> Iterator[str]:
        """The classes of modules that the package itself offers, as `from package import ...` names them."""
        for name in sorted(self.bound(self.name)):
            full = self.resolve(self.name, name)
            if not name.startswith("_") and self.definition(full) is not None and self.is_module(full):
                holds = "weights" if self._method(full, "from_pretrained") is not None else "unknown"
                yield f"class {self.name}.{name}(Module): {holds}"

    def _is_offered(self, module: str) -> bool:
        """True for a private file behind a public package, such as torchaudio.transforms._transforms."""
        return not _PRIVATE.search(module.rpartition(".")[0].removeprefix(self.name))

    def _function(self, file: File, full: str, node: ast.FunctionDef) -> str:
        if node.args.args and node.args.args[0].arg == "self":
            return ""  # it becomes a method somewhere
        gives = self.resolve(file.module, _dotted(node.returns)) if node.returns is not None else ""
        if gives and self.definition(gives) is not None and self.is_module(gives):
            return f"class {full}(Module): {self.holds(gives)}"
        if not self._takes_and_gives_one_tensor(file, node) or node.decorator_list:
            return ""
        first, *others = [*node.args.posonlyargs, *node.args.args]
        names = [f"{first.arg}: Tensor @ d", *(f"{one.arg}=..." for one in others)]
        names += ["*", *(f"{one.arg}=..." for one in node.args.kwonlyargs)] if node.args.kwonlyargs else []
        return f"def {full}({', '.join(names)}) -> Tensor[any] @ d: ..."


def call_target(library: Library, name: str) -> ast.AST | None:
    """The definition that a full name leads to."""
    known = library.definition(name)
    return known[1] if known is not None else None


def _read(module: str, is_package: bool, text: str) -> File:
    file = File(module, is_package)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return file
    package = module if is_package else module.rpartition(".")[0]
    for node in _statements(tree.body):
        if isinstance(node, ast.ClassDef):
            file.classes[node.name] = node
        elif isinstance(node, ast.FunctionDef):
            file.functions[node.name] = node
            if any(_dotted(one) == "register_model" for one in node.decorator_list):
                file.registered.add(node.name)  # timm/models/_registry.py appends it to `__all__`
        elif isinstance(node, ast.Import):
            for alias in node.names:
                file.names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            for alias in node.names:
                if alias.name == "*":
                    file.stars.append(source)
                else:
                    file.names[alias.asname or alias.name] = f"{source}.{alias.name}"
        elif isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets
        ):
            listed = [
                one.value
                for one in ast.walk(node.value)
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            file.exported = frozenset(listed) if isinstance(node.value, (ast.List, ast.Tuple)) else None
    return file


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a file, also of those under `if` and `try`."""
    for node in body:
        yield node
        for part in ("body", "orelse", "handlers", "finalbody") if isinstance(node, (ast.If, ast.Try)) else ():
            for inner in getattr(node, part, []):
                yield from _statements(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def _dotted(node: ast.expr | None) -> str:
    """`a.b.c` as it is written; empty for anything else. Of `Base[T]`, Base."""
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    if isinstance(node, ast.Attribute):
        holder = _dotted(node.value)
        return f"{holder}.{node.attr}" if holder else ""
    return node.id if isinstance(node, ast.Name) else ""
