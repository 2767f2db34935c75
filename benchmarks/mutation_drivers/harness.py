"""What a driver of the mutation benchmark is made of; it runs inside the virtual machine.

A driver is a Python file with `PROJECT` (the folder's name), `PATHS` (what to put on `sys.path`, relative to the project), `PRELOAD` (modules imported once,
before the forks) and functions marked with `@part`. A part imports the project, builds something small, moves it to `cuda` and uses it: it must pass on the
untouched project, and it returns nothing or a JSON value (devices, say) that a correct mutation would not change.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import random
import runpy
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

PARTS: dict[str, Callable[[], Any]] = {}
"""The parts of the driver that is loaded, by name."""
_mutated: dict[str, str] = {}


def part(function: Callable[[], Any]) -> Callable[[], Any]:
    """Marks a function of a driver as one of its runs."""
    PARTS[function.__name__] = function
    return function


def load_driver(path: Path) -> ModuleType:
    """The driver's module; its parts are in `PARTS`."""
    PARTS.clear()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mutate(path: str, text: str) -> None:
    """From now on, importing or running the file at `path` sees `text`."""
    _mutated[str(Path(path).resolve())] = text


def install() -> None:
    """Lets imports see mutated texts."""
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> CodeType | None:
        text = _mutated.get(self.path)
        return original(self, fullname) if text is None else compile(text, self.path, "exec", dont_inherit=True)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def run_script(path: Path, arguments: Sequence[str] = (), name: str = "__main__") -> dict[str, Any]:
    """Runs a script in this process and gives its globals; `SystemExit(0)` is success."""
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.parent))
    text = _mutated.get(str(path.resolve()))
    if text is None:
        with _exit_allowed():
            return runpy.run_path(str(path), run_name=name)
        return {}
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    with _exit_allowed():
        exec(compile(text, str(path), "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


@contextlib.contextmanager
def _exit_allowed() -> Iterator[None]:
    try:
        yield
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise RuntimeError(f"it ended with exit code {stop.code}") from stop


def seed() -> None:
    """Makes runs alike."""
    import torch

    random.seed(0)
    torch.manual_seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def stub(name: str, **members: Any) -> ModuleType:
    """A module that is not installed, made of `members`; parents are made as needed."""
    head, _, tail = name.rpartition(".")
    module = sys.modules.get(name)
    if module is None:
        module = sys.modules[name] = ModuleType(name)
        module.__path__ = []
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    for key, value in members.items():
        setattr(module, key, value)
    if head:
        setattr(stub(head), tail, module)
    return module


def from_another_machine(path: str | os.PathLike[str], index: int = 7) -> None:
    """Rewrites a checkpoint as if its `cuda:0` storages had lived on `cuda:index`, a device that this machine lacks."""
    with zipfile.ZipFile(path) as archive:
        entries = [(info, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for info, data in entries:
            if info.filename.endswith("data.pkl"):
                data = data.replace(b"cuda:0", b"cuda:%d" % index)
            archive.writestr(info.filename, data)


def devices(*values: Any) -> list[str]:
    """Where the tensors in `values` (tensors, modules, containers of them) live, each place once."""
    import torch

    found: set[str] = set()

    def visit(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            found.add(value.device.type)
        elif isinstance(value, torch.nn.Module):
            for tensor in (*value.parameters(), *value.buffers()):
                visit(tensor)
        elif isinstance(value, dict):
            for item in value.values():
                visit(item)
        elif isinstance(value, list | tuple | set):
            for item in value:
                visit(item)

    visit(values)
    return sorted(found)
