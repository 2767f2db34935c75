"""The GPUs, the driver and the container of a machine, as its files and nvidia-smi tell."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchdevlint.doctor.system import System

NVIDIA, AMD, INTEL = "0x10de", "0x1002", "0x8086"


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as nvidia-smi tells it; `capability` is (0, 0) where it does not."""

    name: str
    capability: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Machine:
    """What a machine has. Versions are "" where nothing tells them."""

    gpus: tuple[Gpu, ...] = ()
    driver: str = ""  # the kernel module's version
    library: str = ""  # the version of libcuda
    newest_cuda: str = ""  # that the driver knows
    smi: str | None = None  # what nvidia-smi said, None without one
    devices: tuple[str, ...] = ()  # /dev/nvidia*
    vendors: frozenset[str] = frozenset()  # of display controllers on the PCI bus
    has_pci: bool = False
    is_container: bool = False
    is_wsl: bool = False
    has_nouveau: bool = False


def look(system: System) -> Machine:
    """Reads the machine."""
    smi = system.output("nvidia-smi")
    query = system.output("nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader") if smi else None
    module = re.search(r"Kernel Module(?: for \w+)?\s+([\d.]+)", system.read("/proc/driver/nvidia/version"))
    told = re.search(r"Driver Version:\s*([\d.]+)", smi or "")
    newest = re.search(r"CUDA(?: UMD)? Version:\s*(\d+\.\d+)", smi or "")
    driver = (module[1] if module else "") or (told[1] if told else "")
    kernel = system.read("/proc/version").lower()
    modules = system.read("/proc/modules")
    vendors = _vendors(system)
    return Machine(
        gpus=_gpus(query or ""),
        driver=driver,
        library=_library(system),
        newest_cuda=(newest[1] if newest else "") or newest_cuda(driver),
        smi=smi,
        devices=tuple(name for name in system.names("/dev") if re.fullmatch(r"nvidia(?:\d+|ctl|-uvm)", name)),
        vendors=frozenset(vendors),
        has_pci=bool(system.names("/sys/bus/pci/devices")),
        is_container=_is_container(system),
        is_wsl="microsoft" in kernel,
        has_nouveau=bool(re.search(r"(?m)^nouveau\s", modules)),
    )


def _gpus(text: str) -> tuple[Gpu, ...]:
    found = []
    for line in text.splitlines():
        matched = re.match(r"(?P<name>.+?),\s*(?P<major>\d+)\.(?P<minor>\d+)\s*$", line.strip())
        if matched is not None:
            found.append(Gpu(matched["name"], (int(matched["major"]), int(matched["minor"]))))
    return tuple(found)


def _library(system: System) -> str:
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/aarch64-linux-gnu", "/usr/lib"):
        for name in system.names(folder):
            found = re.fullmatch(r"libcuda\.so\.(\d{3}[\d.]+)", name)
            if found is not None:
                return found[1]
    return ""


def _vendors(system: System) -> set[str]:
    """The makers of the display controllers (PCI classes 0x0300 to 0x0302) and accelerators (0x1200)."""
    found = set()
    for name in system.names("/sys/bus/pci/devices"):
        kind = system.read(f"/sys/bus/pci/devices/{name}/class").strip()
        if kind.startswith(("0x03", "0x1200")):
            found.add(system.read(f"/sys/bus/pci/devices/{name}/vendor").strip().lower())
    return found


def _is_container(system: System) -> bool:
    if system.exists("/.dockerenv") or system.exists("/run/.containerenv"):
        return True
    return bool(re.search(r"docker|kubepods|containerd|libpod|lxc", system.read("/proc/1/cgroup"))) or bool(
        system.environ.get("APPTAINER_CONTAINER") or system.environ.get("SINGULARITY_CONTAINER")
    )


# ---------------------------------------------------------------------------------------------------- tables

# The oldest Linux driver for each CUDA; within a major version, CUDA 11 and later need that of its first release ("minor version
# compatibility"). Source: NVIDIA's CUDA compatibility guide and the toolkit's release notes.
_OLDEST_DRIVERS: tuple[tuple[tuple[int, int], tuple[int, ...]], ...] = (
    ((9, 2), (396, 26)),
    ((10, 0), (410, 48)),
    ((10, 1), (418, 39)),
    ((10, 2), (440, 33)),
    ((11, 0), (450, 80, 2)),
    ((12, 0), (525, 60, 13)),
    ((13, 0), (580, 65, 6)),
)

# The lowest compute capability and the highest major one that the official builds of torch hold, by CUDA and the first torch release that
# it is true of. Code for x.y runs on x.z for z >= y. Sources: .ci/manywheel/build_cuda.sh and RELEASE.md of PyTorch, its issue 157517.
_ARCHITECTURES: tuple[tuple[tuple[int, int], tuple[int, int], tuple[int, int], int], ...] = (
    ((10, 2), (1, 5), (3, 7), 7),
    ((11, 0), (1, 7), (3, 7), 8),
    ((11, 8), (2, 0), (3, 7), 9),
    ((11, 8), (2, 1), (5, 0), 9),
    ((12, 1), (2, 1), (5, 0), 9),
    ((12, 8), (2, 7), (7, 5), 12),
    ((12, 8), (2, 8), (7, 0), 12),
    ((12, 8), (2, 11), (7, 5), 12),
    ((13, 0), (2, 9), (7, 5), 12),
)


def newest_cuda(driver: str) -> str:
    """The newest CUDA whose oldest driver this one is, or "" where it is not known."""
    version = _parts(driver)
    known = [cuda for cuda, oldest in _OLDEST_DRIVERS if version >= oldest]
    return f"{known[-1][0]}.{known[-1][1]}" if version and known else ""


def oldest_driver(cuda: tuple[int, int]) -> str:
    """The oldest driver for a CUDA; "" where it is not known."""
    known = [oldest for first, oldest in _OLDEST_DRIVERS if first <= cuda and first[0] == cuda[0]]
    return ".".join(f"{part:02}" if index else str(part) for index, part in enumerate(known[-1])) if known else ""


def is_older(driver: str, oldest: str) -> bool:
    """True where both are known and the first is older."""
    return bool(driver and oldest) and _parts(driver) < _parts(oldest)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def architectures(cuda: tuple[int, int], torch: tuple[int, int]) -> tuple[tuple[int, int], int] | None:
    """The lowest capability and the highest major one in the official build; None where it is not known."""
    known = [
        (lowest, highest)
        for first, release, lowest, highest in _ARCHITECTURES
        if first <= cuda and first[0] == cuda[0] and release <= torch
    ]
    return known[-1] if known else None
