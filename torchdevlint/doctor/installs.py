"""The installations of torch, and of packages that are built for one torch, as their files tell."""

# Paths are strings here: see system.
# ruff: noqa: PTH120

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from torchdevlint.doctor.system import System


@dataclass(frozen=True, slots=True)
class Torch:
    """One folder `torch`. `cuda`, `hip` and `xpu` are the versions it was built for, "" for none; `tag` is the wheel's platform."""

    folder: str
    version: str
    cuda: str = ""
    hip: str = ""
    xpu: str = ""
    tag: str = ""
    recorded: str = ""  # the version in its METADATA

    @property
    def is_cpu_only(self) -> bool:
        """True for a build without CUDA, ROCm or XPU."""
        return not (self.cuda or self.hip or self.xpu)

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor version; (0, 0) where it is not known."""
        return numbers(self.version)


@dataclass(frozen=True, slots=True)
class Package:
    """A package that belongs to one torch: the version that it requires ("" for any), and the CUDA and torch that its name tells."""

    name: str
    version: str
    requires: str = ""
    cuda: str = ""
    torch: str = ""


class NoSuchPython(Exception):
    """An interpreter that is not there; the message says so."""


def numbers(version: str) -> tuple[int, int]:
    """The first two numbers of a version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found is not None else (0, 0)


# ---------------------------------------------------------------------------------------------------- where packages are


def package_folders(system: System, python: str | None) -> tuple[str, ...]:
    """The folders that an interpreter imports from, in its order. Without one: the interpreter that runs this."""
    if python is None:
        given = [os.path.abspath(entry) for entry in sys.path if entry]  # noqa: PTH100
        return tuple(dict.fromkeys(entry for entry in given if not entry.endswith(".zip")))
    if not system.exists(python):
        raise NoSuchPython(f"{python}: no such interpreter")
    prefix = os.path.dirname(os.path.dirname(python)) if not system.is_folder(python) else python
    if system.platform == "win32" and not system.is_folder(python):
        prefix = os.path.dirname(python)
        prefix = os.path.dirname(prefix) if os.path.basename(prefix).lower() == "scripts" else prefix  # noqa: PTH119
    folders = [entry for entry in system.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    folders += _folders_of(system, prefix)
    config = dict(re.findall(r"(?m)^\s*([\w-]+)\s*=\s*(.*?)\s*$", system.read(f"{prefix}/pyvenv.cfg")))
    if config.get("include-system-site-packages", "").lower() == "true":
        folders += _folders_of(system, os.path.dirname(config.get("home", "")))
    if not config and system.environ.get("HOME"):
        folders += _folders_of(system, system.environ["HOME"] + "/.local")
    return tuple(dict.fromkeys(folders))


def _folders_of(system: System, prefix: str) -> Iterator[str]:
    """The site folders below a prefix, with what their .pth files add. Code in .pth files is not run."""
    found = [f"{prefix}/Lib/site-packages"] if system.is_folder(f"{prefix}/Lib/site-packages") else []
    for library in ("lib", "lib64", "local/lib"):
        for name in system.names(f"{prefix}/{library}"):
            if re.fullmatch(r"python3(?:\.\d+)?", name):
                found += [f"{prefix}/{library}/{name}/{kind}" for kind in ("site-packages", "dist-packages")]
    for folder in found:
        if not system.is_folder(folder):
            continue
        yield folder
        for name in system.names(folder):
            if name.endswith(".pth"):
                for line in system.read(f"{folder}/{name}").splitlines():
                    entry = line.strip()
                    if entry and not entry.startswith(("#", "import ", "import\t")):
                        added = entry if entry.startswith("/") else f"{folder}/{entry}"
                        if system.is_folder(added):
                            yield added


# ---------------------------------------------------------------------------------------------------- what is there

_FIELD = r"(?m)^{name}(?:\s*:\s*[^=\n]+)?\s*=\s*(?:'([^'\n]*)'|\"([^\"\n]*)\"|None)"


def torches(system: System, folders: tuple[str, ...]) -> tuple[Torch, ...]:
    """Every torch, the one that is imported first."""
    found = []
    for folder in folders:
        text = system.read(f"{folder}/torch/version.py")
        if text:
            recorded, tag = _recorded(system, folder, "torch")
            fields = {name: _field(text, name) for name in ("__version__", "cuda", "hip", "xpu")}
            version = fields["__version__"] or recorded
            found.append(Torch(folder, version, fields["cuda"], fields["hip"], fields["xpu"], tag, recorded))
    return tuple(found)


def _field(text: str, name: str) -> str:
    found = re.search(_FIELD.format(name=re.escape(name)), text)
    return (found[1] or found[2] or "") if found is not None else ""


def _recorded(system: System, folder: str, name: str) -> tuple[str, str]:
    """The version in a package's METADATA and the tag of its wheel."""
    for entry in system.names(folder):
        if re.match(rf"{name}-[^-]+\.dist-info$", entry, re.IGNORECASE):
            version = re.search(r"(?m)^Version:\s*(\S+)", system.read(f"{folder}/{entry}/METADATA"))
            tag = re.search(r"(?m)^Tag:\s*\S+?-\S+?-(\S+)", system.read(f"{folder}/{entry}/WHEEL"))
            return (version[1] if version else "", tag[1] if tag else "")
    return "", ""


_COMPANIONS = ("torchvision", "torchaudio", "torchtext")
_LOCAL_CUDA = re.compile(r"cu(\d{2,3})(?!\d)")
_LOCAL_TORCH = re.compile(r"(?:torch|pt)(\d)\.?(\d{1,2})")


def companions(system: System, folder: str) -> tuple[Package, ...]:
    """The packages beside a torch that are built for one torch: by what they require, or by what their version says."""
    found = []
    for entry in system.names(folder):
        matched = re.match(r"(?P<name>[\w.]+)-(?P<version>[^-]+)\.dist-info$", entry)
        if matched is None or matched["name"].lower() == "torch":
            continue
        name, version = matched["name"], matched["version"]
        local = version.partition("+")[2]
        is_companion = name.lower() in _COMPANIONS
        if not is_companion and not _LOCAL_CUDA.search(local) and not _LOCAL_TORCH.search(local):
            continue
        metadata = system.read(f"{folder}/{entry}/METADATA")
        required = re.search(r"(?m)^Requires-Dist:\s*torch\s*\(?\s*==\s*([\d.]+)", metadata)
        cuda = _LOCAL_CUDA.search(local)
        own = _field(system.read(f"{folder}/{name}/version.py"), "cuda") if is_companion else ""
        torch = _LOCAL_TORCH.search(local)
        found.append(
            Package(
                name,
                version,
                required[1] if required else "",
                own or (_dotted(cuda[1]) if cuda else "cpu" if local == "cpu" else ""),
                f"{torch[1]}.{torch[2]}" if torch else "",
            )
        )
    return tuple(found)


def _dotted(digits: str) -> str:
    """ "121" as "12.1", "92" as "9.2", "12" as "12"."""
    return f"{digits[:-1]}.{digits[-1]}" if len(digits) == 3 or digits[0] != "1" else digits
