"""Why torch sees no GPU: each cause with what stands for it and the command that mends it, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from torchdevlint.doctor.installs import Package, Torch, companions, numbers, package_folders, torches
from torchdevlint.doctor.machine import AMD, INTEL, NVIDIA, Machine, architectures, is_older, look, oldest_driver
from torchdevlint.doctor.system import System

Certainty = Literal["certain", "likely", "possible"]
_ORDER: Final = ("certain", "likely", "possible")
_PLAIN_CUDA: Final = 13  # the CUDA that the wheel of the default index is built for, or will be soon
_SELECTOR: Final = "URL: what the selector on pytorch.org shows for that platform"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One cause. "certain": it alone keeps torch from the GPU. `mend` are commands, `notes` what to know about them."""

    cause: str
    certainty: Certainty
    title: str
    evidence: tuple[str, ...]
    mend: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Report(NamedTuple):
    """What was seen, and the causes in their order."""

    folders: tuple[str, ...]
    torches: tuple[Torch, ...]
    packages: tuple[Package, ...]
    machine: Machine
    causes: tuple[Diagnosis, ...]

    @property
    def is_clear(self) -> bool:
        """True where nothing stands between torch and a GPU."""
        return not self.causes


def examine(system: System, python: str | None = None) -> Report:
    """Looks at a machine and at one interpreter's packages; raises `NoSuchPython`."""
    folders = package_folders(system, python)
    found = torches(system, folders)
    packages = companions(system, found[0].folder) if found else ()
    machine = look(system)
    causes = [
        *_of_installation(system, machine, found, packages, python or "python"),
        *_of_machine(system, machine, found[0] if found else None),
    ]
    causes.sort(key=lambda one: _ORDER.index(one.certainty))  # stable: the rest of the order is that of the checks
    return Report(folders, found, packages, machine, tuple(causes))


# ---------------------------------------------------------------------------------------------------- the installation


def _of_installation(
    system: System, machine: Machine, found: tuple[Torch, ...], packages: tuple[Package, ...], python: str
) -> Iterator[Diagnosis]:
    pip = f"{python} -m pip"
    if not found:
        yield Diagnosis("no-torch", "certain", "torch is not installed for this Python", (), (f"{pip} install torch",))
    yield from _shadowed(system)
    if not found:
        return
    torch = found[0]
    if torch.is_cpu_only and system.platform != "darwin":
        yield _cpu_only(system, machine, torch, pip)
    if system.platform == "darwin":
        yield from _mps(system, torch, pip)
    if len(found) > 1:
        others = tuple(f"{other.version or 'unknown'} in {other.folder}" for other in found[1:])
        yield Diagnosis(
            "several-torches",
            "likely" if any(not other.is_cpu_only for other in found[1:]) and torch.is_cpu_only else "possible",
            "several installations of torch: the first one is imported",
            (f"{torch.version} in {torch.folder} is imported", *others),
            (f"{pip} uninstall torch", f"{pip} install torch"),
            ("repeat the first command until it finds none",),
        )
    if torch.recorded and torch.recorded.partition("+")[0] != torch.version.partition("+")[0]:
        yield Diagnosis(
            "mixed-torch",
            "likely",
            "two versions of torch are mixed in one folder",
            (f"METADATA says {torch.recorded}, torch/version.py says {torch.version}, in {torch.folder}",),
            (f"{pip} uninstall -y torch", f"{pip} install torch"),
        )
    yield from _skew(torch, packages, pip)


def _cpu_only(system: System, machine: Machine, torch: Torch, pip: str) -> Diagnosis:
    evidence = f"torch {torch.version} in {torch.folder}: cuda, hip and xpu are None in torch/version.py"
    newest = numbers(machine.newest_cuda)
    if newest != (0, 0) and newest[0] < _PLAIN_CUDA:
        told = f"driver {machine.driver} knows CUDA {newest[0]}.x, and newer wheels need a newer driver"
        mend: tuple[str, ...] = (f"{pip} install --force-reinstall --no-cache-dir torch --index-url URL",)
        notes: tuple[str, ...] = (f"{told}: take a platform of CUDA {newest[0]}.x; {_SELECTOR}",)
    elif system.platform == "linux" and system.machine in ("x86_64", "AMD64"):
        mend = (f"{pip} install --force-reinstall --no-cache-dir torch",)
        notes = (
            "the plain wheel for Linux holds CUDA; look for an index of CPU wheels in requirements, pip.conf or PIP_INDEX_URL if it does not",
            "for ROCm or XPU: `--index-url URL`; " + _SELECTOR,
        )
    else:
        mend = (f"{pip} install --force-reinstall --no-cache-dir torch --index-url URL",)
        notes = (_SELECTOR + " (the plain wheel for this platform is for the CPU)",)
    return Diagnosis("cpu-only-torch", "certain", "this torch is built for the CPU alone", (evidence,), mend, notes)


def _shadowed(system: System) -> Iterator[Diagnosis]:
    for name in ("torch.py", "torch"):
        path = f"{system.folder}/{name}"
        if (
            system.exists(path)
            and not system.exists(f"{path}/version.py")
            and (name == "torch.py" or system.exists(f"{path}/__init__.py"))
        ):
            yield Diagnosis(
                "shadowed-torch",
                "likely",
                "a file of the current folder is imported instead of torch",
                (f"{path} comes first where programs are run from this folder",),
                (f"mv {path} {path.removesuffix('.py')}_mine{'.py' * name.endswith('.py')}",),
            )


def _mps(system: System, torch: Torch, pip: str) -> Iterator[Diagnosis]:
    """MPS: an arm64 build of torch 1.12 or later, on macOS 12.3 or later."""
    plist = system.read("/System/Library/CoreServices/SystemVersion.plist")
    found = re.search(r"<key>ProductVersion</key>\s*<string>([\d.]+)</string>", plist)
    if system.machine != "arm64":
        yield Diagnosis(
            "mps-not-built",
            "certain",
            "MPS needs a Python for Apple silicon",
            (f"this Python runs as {system.machine}: an Intel Mac, or Rosetta",),
            (),
            ("on Apple silicon install an arm64 Python, and torch in it; Intel Macs have no torch after 2.2",),
        )
    elif "x86_64" in torch.tag or torch.release < (1, 12):
        yield Diagnosis(
            "mps-not-built",
            "certain",
            "this torch is built without MPS",
            (f"torch {torch.version}, wheel for {torch.tag or 'an unknown platform'}",),
            (f"{pip} install --force-reinstall --upgrade torch",),
        )
    if found is not None and numbers(found[1] + ".0") < (12, 3):
        yield Diagnosis(
            "old-macos",
            "certain",
            "MPS needs macOS 12.3 or later",
            (f"this is macOS {found[1]}",),
            ("softwareupdate --install --all --restart",),
            ("recent releases of torch need macOS 13 or 14",),
        )


def _skew(torch: Torch, packages: tuple[Package, ...], pip: str) -> Iterator[Diagnosis]:
    """Packages that are built for another torch, or for another CUDA."""
    release = re.match(r"[\d.]+", torch.version)
    own = release[0] if release is not None else ""
    evidence, names = [], []
    for package in packages:
        why = ""
        if package.requires and own and package.requires != own:
            why = f"requires torch {package.requires}"
        elif package.torch and torch.release != (0, 0) and numbers(package.torch) != torch.release:
            why = f"is built for torch {package.torch}"
        elif package.cuda and package.cuda != (torch.cuda or "cpu") and not torch.hip and not torch.xpu:
            same_major = "." not in package.cuda and torch.cuda.split(".")[0] == package.cuda
            why = "" if same_major else f"is built for {_platform(package.cuda)}"
        if why:
            evidence.append(
                f"{package.name} {package.version} {why}; torch is {torch.version}, for {_platform(torch.cuda or 'cpu')}"
            )
            names.append(package.name)
    if evidence:
        yield Diagnosis(
            "version-skew",
            "possible",
            "packages that are built for another torch",
            tuple(evidence),
            (f"{pip} install --force-reinstall {' '.join(['torch', *names])}",),
            ("torch itself may work; these packages fail to load, or run on the CPU alone",),
        )


def _platform(cuda: str) -> str:
    return "the CPU" if cuda == "cpu" else f"CUDA {cuda}"


# ---------------------------------------------------------------------------------------------------- the machine


def _of_machine(system: System, machine: Machine, torch: Torch | None) -> Iterator[Diagnosis]:
    if system.platform == "darwin" or (torch is not None and (torch.hip or torch.xpu)):
        yield from _other_accelerator(machine, torch)
        return
    has_driver = bool(machine.driver or machine.gpus) or (machine.is_wsl and system.exists("/dev/dxg"))
    if system.platform == "linux":
        yield from _hidden(system, machine)
        if has_driver:
            yield from _broken_driver(system, machine)
        else:
            yield from _no_driver(machine)
    elif not has_driver:
        yield Diagnosis(
            "no-driver",
            "certain",
            "no NVIDIA driver answers",
            (_smi_said(machine),),
            (),
            ("install the driver from nvidia.com",),
        )
    if system.platform != "linux":
        yield from _hidden(system, machine)
    if torch is not None and torch.cuda:
        yield from _old_driver(machine, torch)
        yield from _architecture(machine, torch)


def _other_accelerator(machine: Machine, torch: Torch | None) -> Iterator[Diagnosis]:
    if torch is None or not machine.has_pci:
        return
    for version, vendor, name in ((torch.hip, AMD, "AMD (ROCm)"), (torch.xpu, INTEL, "Intel (XPU)")):
        if version and vendor not in machine.vendors:
            told = "an NVIDIA GPU" if NVIDIA in machine.vendors else "no GPU of that maker"
            yield Diagnosis(
                "wrong-build",
                "certain",
                f"this torch is built for {name}",
                (f"torch {torch.version}; the PCI bus shows {told}",),
                ("python -m pip install --force-reinstall torch",),
            )


def _no_driver(machine: Machine) -> Iterator[Diagnosis]:
    if machine.is_container:
        shown = "the PCI bus shows an NVIDIA GPU" if NVIDIA in machine.vendors else "no GPU is seen from inside"
        yield Diagnosis(
            "container-without-gpu",
            "certain" if NVIDIA in machine.vendors else "possible" if machine.has_pci else "likely",
            "this container was started without GPUs",
            (f"no /dev/nvidia*, no /proc/driver/nvidia; {shown}",),
            ("docker run --gpus all ...",),
            (
                "the host needs the NVIDIA driver and the NVIDIA Container Toolkit; check there with `nvidia-smi`",
                "Compose: `deploy.resources.reservations.devices`; Kubernetes: `resources.limits: nvidia.com/gpu: 1`; Apptainer: `--nv`",
            ),
        )
    if machine.has_pci and NVIDIA not in machine.vendors and not machine.is_wsl:
        others = [name for vendor, name in ((AMD, "AMD"), (INTEL, "Intel")) if vendor in machine.vendors]
        told = f"display controllers of {' and '.join(others)} alone" if others else "no GPU at all"
        yield Diagnosis(
            "no-gpu",
            "likely",
            "this machine has no NVIDIA GPU",
            (f"the PCI bus shows {told}",),
            (),
            _builds_for(others),
        )
    elif not machine.is_container or NVIDIA in machine.vendors:
        evidence = [_smi_said(machine), "no /proc/driver/nvidia/version"]
        if machine.has_nouveau:
            evidence.append("the module nouveau is loaded in its place")
        if not machine.is_container:
            yield Diagnosis(
                "no-driver",
                "certain",
                "the NVIDIA driver is not installed or not loaded",
                tuple(evidence),
                ("sudo modprobe nvidia", "sudo ubuntu-drivers install"),
                ("the first loads an installed driver, the second installs one on Ubuntu; then reboot",),
            )


def _builds_for(others: list[str]) -> tuple[str, ...]:
    notes = {
        "AMD": "torch for AMD: the ROCm wheels",
        "Intel": "torch for Intel Arc and Data Center GPUs: the XPU wheels",
    }
    return tuple(notes[name] for name in others)


def _smi_said(machine: Machine) -> str:
    if machine.smi is None:
        return "there is no nvidia-smi"
    first = next((line.strip() for line in machine.smi.splitlines() if line.strip()), "nothing")
    return f"nvidia-smi says: {first[:200]}"


def _broken_driver(system: System, machine: Machine) -> Iterator[Diagnosis]:
    if (machine.smi and "version mismatch" in machine.smi) or (
        machine.library and machine.driver and machine.library != machine.driver
    ):
        yield Diagnosis(
            "driver-mismatch",
            "certain",
            "the driver was updated and the old module is still loaded",
            (f"module {machine.driver or 'unknown'}, library {machine.library or 'unknown'}", _smi_said(machine)),
            ("sudo reboot",),
            ("in a container: restart it, so that the host's libraries are mounted anew",)
            if machine.is_container
            else (),
        )
    cards = [name for name in machine.devices if name[6:].isdigit()]
    if machine.is_wsl:
        return
    if not cards and not machine.gpus:
        where = (
            "this container was started without GPUs" if machine.is_container else "the driver has made no device files"
        )
        yield Diagnosis(
            "container-without-gpu" if machine.is_container else "no-device-files",
            "certain",
            where,
            (f"driver {machine.driver} is loaded, and there is no /dev/nvidia0",),
            ("docker run --gpus all ...",) if machine.is_container else ("sudo nvidia-modprobe",),
        )
    elif "nvidia-uvm" not in machine.devices and machine.devices:
        yield Diagnosis(
            "no-device-files",
            "likely",
            "/dev/nvidia-uvm is missing: CUDA cannot start",
            (f"there are {', '.join(machine.devices)}",),
            ("sudo modprobe nvidia-uvm", "sudo nvidia-modprobe -u -c=0"),
            ("after a suspend: `sudo rmmod nvidia_uvm` first",),
        )


def _hidden(system: System, machine: Machine) -> Iterator[Diagnosis]:
    value = system.environ.get("CUDA_VISIBLE_DEVICES")
    if value is not None:
        entries = [entry.strip() for entry in value.split(",")]
        count = len(machine.gpus)
        first = entries[0]
        why = ""
        if not value.strip() or first in ("-1", "NoDevFiles", "none"):
            why = "hides all GPUs"
        elif first.isdigit() and count and int(first) >= count:
            why = f"names GPU {first}, and there {'is' if count == 1 else 'are'} {count}"
        elif not re.match(r"\d+$|GPU-|MIG-", first):
            why = "is no number and no UUID, which hides all GPUs"
        if why:
            yield Diagnosis(
                "hidden-gpus",
                "certain",
                "CUDA_VISIBLE_DEVICES hides the GPUs",
                (f'CUDA_VISIBLE_DEVICES="{value}" {why}',),
                ("unset CUDA_VISIBLE_DEVICES",),
                ("a scheduler (Slurm, Ray) sets it for jobs without GPUs: ask for one",),
            )
    value = system.environ.get("NVIDIA_VISIBLE_DEVICES")
    if machine.is_container and value is not None and value in ("", "void", "none"):
        yield Diagnosis(
            "hidden-gpus",
            "certain",
            "the container was given no GPU",
            (f'NVIDIA_VISIBLE_DEVICES="{value}"',),
            ("docker run --gpus all -e NVIDIA_VISIBLE_DEVICES=all ...",),
        )


def _old_driver(machine: Machine, torch: Torch) -> Iterator[Diagnosis]:
    cuda = numbers(torch.cuda)
    oldest = oldest_driver(cuda)
    if not is_older(machine.driver, oldest) or machine.is_wsl:
        return
    newest = machine.newest_cuda
    yield Diagnosis(
        "old-driver",
        "certain",
        "the driver is older than the CUDA of this torch",
        (
            f"driver {machine.driver}{f' knows CUDA up to {newest}' if newest else ''}",
            f"torch {torch.version} is built for CUDA {torch.cuda}, which needs driver {oldest} or later",
        ),
        (
            "sudo ubuntu-drivers install",
            f"python -m pip install --force-reinstall torch --index-url URL  # for CUDA {newest or 'of the driver'} or older",
        ),
        ("either a newer driver (then reboot), or a torch for an older CUDA; " + _SELECTOR,),
    )


def _architecture(machine: Machine, torch: Torch) -> Iterator[Diagnosis]:
    known = architectures(numbers(torch.cuda), torch.release)
    if known is None:
        return
    lowest, highest = known
    bad = [
        gpu
        for gpu in machine.gpus
        if gpu.capability != (0, 0) and (gpu.capability < lowest or gpu.capability[0] > highest)
    ]
    if not bad:
        return
    spelled = f"{lowest[0]}.{lowest[1]} to {highest}.x"
    too_new = bad[0].capability[0] > highest
    yield Diagnosis(
        "architecture",
        "certain" if len(bad) == len(machine.gpus) else "possible",
        "this torch holds no code for the GPU",
        tuple(
            f"{gpu.name}: compute capability {gpu.capability[0]}.{gpu.capability[1]}; the official builds of torch {torch.version} for CUDA "
            f"{torch.cuda} hold {spelled}"
            for gpu in bad[:4]
        ),
        (f"python -m pip install --force-reinstall {'--upgrade ' * too_new}torch --index-url URL",),
        (
            f"a build for {'CUDA 12.8 or later' if too_new else 'CUDA 12.6 or older, which keeps older GPUs'}; {_SELECTOR}",
        ),
    )
