"""`torchdevlint doctor`: why torch sees no GPU here, the likeliest cause first, with the command that mends it."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torchdevlint import cli
from torchdevlint.reporting.plain import shown

if TYPE_CHECKING:
    from torchdevlint.doctor.diagnosis import Report
    from torchdevlint.doctor.system import System

_WIDTH = 110
_DESCRIPTION = """\
Tells why PyTorch sees no GPU on this machine, the likeliest cause first, with the command that mends it. It reads the files of the
installed torch, /proc, /dev, the environment and what nvidia-smi prints. torch is not imported, and need not be installed.
"""
_EPILOG = """\
examples:
  torchdevlint doctor
  torchdevlint doctor --python .venv/bin/python   look at another environment's torch; that Python is not run
  torchdevlint doctor --json

exit code: 0 nothing stands between torch and a GPU, 1 a cause was found, 2 it could not look (no such Python)
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(subparsers, "doctor", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "--python", metavar="PATH", help="the Python whose packages are looked at (default: the one that runs this)"
    )
    parser.add_argument("--json", action="store_true", help="one object, for programs")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    from torchdevlint.doctor.system import System

    return tell(System(), arguments.python, arguments.json)


def tell(system: System, python: str | None, as_json: bool) -> int:
    """Examines a machine and prints the report; the exit code."""
    from torchdevlint.doctor.diagnosis import examine
    from torchdevlint.doctor.installs import NoSuchPython

    try:
        report = examine(system, python)
    except NoSuchPython as error:
        return cli.fail(str(error))
    if as_json:
        from torchdevlint.reporting.json import dumps

        print(dumps(as_object(report), indent=2))
    else:
        for line in _lines(report, system, python):
            print(line)
    return 0 if report.is_clear else 1


def as_object(report: Report) -> dict[str, Any]:
    """The report for programs."""
    machine = report.machine
    return {
        "causes": [dataclasses.asdict(cause) for cause in report.causes],
        "torch": [dataclasses.asdict(torch) for torch in report.torches],
        "packages": [dataclasses.asdict(package) for package in report.packages],
        "machine": {
            "gpus": [{"name": gpu.name, "capability": list(gpu.capability)} for gpu in machine.gpus],
            "driver": machine.driver or None,
            "newest_cuda": machine.newest_cuda or None,
            "devices": list(machine.devices),
            "container": machine.is_container,
            "wsl": machine.is_wsl,
        },
    }


def _lines(report: Report, system: System, python: str | None) -> Iterator[str]:
    for number, cause in enumerate(report.causes, 1):
        yield f"{number}. {cause.title} ({cause.certainty})"
        for line in cause.evidence:
            yield from _wrapped(shown(line), "   ")
        for line in cause.mend:
            yield f"   $ {shown(line)}"
        for line in cause.notes:
            yield from _wrapped(shown(line), "   - ", "     ")
        yield ""
    if report.is_clear:
        yield "Nothing was found that keeps torch from a GPU."
        yield ""
    yield "seen"
    for name, told in _seen(report, system, python):
        yield f"  {name:<10} {shown(told)}"


def _seen(report: Report, system: System, python: str | None) -> Iterator[tuple[str, str]]:
    yield "python", python or sys.executable
    virtual = system.environ.get("VIRTUAL_ENV")
    if python is None and virtual and not sys.prefix.startswith(virtual):
        yield "", f"another environment is active: --python {virtual}/bin/python"
    for torch in report.torches:
        build = (
            f"CUDA {torch.cuda}"
            if torch.cuda
            else f"ROCm {torch.hip}"
            if torch.hip
            else f"XPU {torch.xpu}"
            if torch.xpu
            else "the CPU"
        )
        yield "torch", f"{torch.version}, for {build}, in {torch.folder}"
    machine = report.machine
    if system.platform != "darwin":
        yield "driver", machine.driver or ("of the Windows host" if machine.is_wsl else "none")
        for gpu in machine.gpus:
            yield "GPU", f"{gpu.name}, compute capability {gpu.capability[0]}.{gpu.capability[1]}"
        if not machine.gpus:
            yield "GPU", "none that nvidia-smi shows"
    if machine.is_container:
        yield "container", "yes"


def _wrapped(text: str, first: str, rest: str | None = None) -> Iterator[str]:
    following = first if rest is None else rest
    yield from textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=following, break_long_words=False, break_on_hyphens=False
    ) or [first]
