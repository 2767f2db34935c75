"""The environment that a project's programs run in: packages installed there are read like files of the project, when a name of theirs is asked for.

They are found by their files, as a type checker finds them; no interpreter is started, and nothing is imported. A package that neither needs
torch nor needs what needs it is not read: it makes no tensors.
"""

# Paths are strings here: see project.
# ruff: noqa: PTH100, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache, cached_property

from torchdevlint.source import disk
from torchdevlint.source.reading import read_bytes

CONFIGURATION = "pyvenv.cfg"
VARIABLE = "VIRTUAL_ENV"  # set by whoever activates an environment
USUAL = ".venv"  # where a project keeps its own
_VERSION = re.compile(r"python3(?:\.\d+)?t?")
_PACKAGES = ("site-packages", "dist-packages")
_METADATA = "METADATA"
_LARGEST = 1_000_000  # bytes of a module, or of what is told of a package
_REQUIRED = re.compile(rb"(?m)^Requires-Dist:[ \t]*([A-Za-z0-9][\w.-]*)")
_NAME = re.compile(rb"(?m)^Name:[ \t]*([A-Za-z0-9][\w.-]*)")
_TORCH = "torch"


class EnvironmentNotFound(ValueError):
    """A path that leads to no environment; the message says what is wanted."""


def packages_of(path: str) -> str:
    """The folder of the installed packages of an environment, by its folder or its interpreter; raises `EnvironmentNotFound`.

    Of several, as a Python of a Linux distribution has them, that in which torch is installed.
    """
    if not disk.exists(path):
        raise EnvironmentNotFound(f"{path} does not exist")
    folder = path if disk.is_folder(path) else os.path.dirname(os.path.dirname(os.path.abspath(path)))
    found = list(_folders_of_packages(folder))
    if not found:
        raise EnvironmentNotFound(f"{path} is no environment of Python, and no interpreter in one")
    return next(filter(_has_torch, found), found[0])


def usual(root: str) -> str:
    """The packages of the environment that is active, or that stands in a folder, if torch is installed there; "" for none."""
    active = os.environ.get(VARIABLE, "")
    for folder in (active, os.path.join(root, USUAL)):
        if folder and disk.exists(os.path.join(folder, CONFIGURATION)):
            found = next(filter(_has_torch, _folders_of_packages(folder)), None)
            if found is not None:
                return found
    return ""


def _has_torch(packages: str) -> bool:
    return disk.is_folder(os.path.join(packages, _TORCH))


def _folders_of_packages(folder: str) -> Iterator[str]:
    """Where packages may be installed below the folder of an environment, or of Python itself."""
    if os.path.basename(folder) in _PACKAGES and disk.is_folder(folder):
        yield os.path.abspath(folder)
    for place in ("lib", "lib64", "Lib"):
        below = os.path.join(os.path.abspath(folder), place)
        names = ["."] if place == "Lib" else sorted(filter(_VERSION.fullmatch, names_in(below)), reverse=True)
        for name in names:
            for packages in _PACKAGES:
                found = os.path.normpath(os.path.join(below, name, packages))
                if disk.is_folder(found):
                    yield found


class Environment:
    """The packages in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def holds(self, path: str) -> bool:
        """True for a file of an installed package."""
        return path.startswith(self.folder + os.sep)

    def resolve(self, dotted: str, importer: str) -> tuple[str, ...]:
        """The files that run when `importer` imports a dotted name (".layers.Norm" when relative): the packages on the way, and the module.

        Nothing for what is not installed, and for packages that have nothing to do with torch.
        """
        stripped = dotted.lstrip(".")
        parts = stripped.split(".") if stripped else []
        if stripped == dotted:
            return self._below(self.folder, parts) if parts and parts[0] in self._read else ()
        folder = package_meant(dotted, importer)
        if not self.holds(os.path.join(folder, "")):
            return ()
        return self._below(folder, parts) or _module(os.path.join(folder, "__init__.py"))

    def _below(self, folder: str, parts: list[str]) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        for part in parts:
            folder = os.path.join(folder, part)
            package = _module(os.path.join(folder, "__init__.py"))
            if not package:  # a package stands above a module of its name
                return found + _module(folder + ".py")
            found += package
        return found

    @cached_property
    def _read(self) -> frozenset[str]:
        """The top-level names of the packages that are read."""
        return frozenset(name for info in self._of_torch for name in _top_level(info)) - {_TORCH}

    @property
    def _of_torch(self) -> Iterator[str]:
        """What is told of each package that needs torch, or needs what needs it."""
        infos: dict[str, str] = {}
        needed_by: dict[str, list[str]] = {}
        for name in names_in(self.folder):
            if not name.endswith(".dist-info"):
                continue
            info = os.path.join(self.folder, name)
            head = _text(os.path.join(info, _METADATA)).partition(b"\n\n")[0]
            if (named := _NAME.search(head)) is not None:
                known = _normal(named[1])
                infos[known] = info
                for required in _REQUIRED.findall(head):
                    needed_by.setdefault(_normal(required), []).append(known)
        found, pending = set[str](), [_TORCH]
        while pending:
            new = set(needed_by.get(pending.pop(), ())) - found
            found |= new
            pending += new
        return (infos[name] for name in sorted(found))


def package_meant(dotted: str, importer: str) -> str:
    """The folder that a relative import starts from, and that of the importer for another one."""
    folder = os.path.dirname(importer)
    for _ in range(len(dotted) - len(dotted.lstrip(".")) - 1):
        folder = os.path.dirname(folder)
    return folder


@cache
def environment_in(folder: str) -> Environment | None:
    """The packages in a folder; None where no folder is named."""
    return Environment(folder) if folder else None


def _top_level(info: str) -> set[str]:
    """The names under which a package is imported, by the list of its files."""
    rows = _text(os.path.join(info, "RECORD")).decode("utf-8", "replace").splitlines()
    paths = [row.partition(",")[0] for row in rows]
    packages = {path.partition("/")[0] for path in paths if path.endswith(".py") and "/" in path}
    modules = {path.removesuffix(".py") for path in paths if path.endswith(".py") and "/" not in path}
    return {name for name in packages | modules if name.isidentifier()}


def _normal(name: bytes) -> str:
    """A name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name.decode("ascii", "replace")).lower()


def _module(path: str) -> tuple[str, ...]:
    size = disk.size(path)
    return (path,) if size is not None and size <= _LARGEST else ()


def _text(path: str) -> bytes:
    try:
        return read_bytes(path, _LARGEST)
    except (OSError, ValueError):
        return b""


def names_in(folder: str) -> list[str]:
    """What stands in a folder; nothing where it cannot be read."""
    try:
        return [entry.name for entry in disk.entries(folder)]
    except OSError:
        return []
