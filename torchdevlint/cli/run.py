"""`torchdevlint run`: an unmodified program on the virtual machine, as if it had been started by `python`."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from torchdevlint import cli
from torchdevlint.machine import Shape
from torchdevlint.machine.launch import ProcessReport, environment, read_reports
from torchdevlint.reporting.plain import shown
from torchdevlint.verify.telling import has_hazard, source_name, tell

HAZARD = 3
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH")


class CannotRun(Exception):
    """The program cannot be started; the message says what to do."""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "run",
        help=cli.COMMANDS["run"].help,
        description=(
            "Runs an unmodified program on a virtual GPU machine: it and its children see CUDA devices, values are "
            "computed on the CPU. Output, exit code and signals are the program's own. There is no sandbox."
        ),
        usage="torchdevlint run [options] (SCRIPT | -m MODULE) [ARGS ...]",
    )
    add_shape_options(parser)
    parser.add_argument("--ledger", action="store_true", help="list copies and synchronisations by line")
    parser.add_argument("--strict", action="store_true", help=f"exit with {HAZARD} when a hazard was seen")
    add_program_options(parser)
    return parser


def add_shape_options(parser: argparse.ArgumentParser) -> None:
    """`--gpus` and `--build`."""
    parser.add_argument("--gpus", type=_count, default=1, metavar="N", help="number of virtual GPUs (default: 1)")
    parser.add_argument(
        "--build",
        choices=("cpu", "no-driver", "hidden"),
        help="a machine without GPU: CPU-only wheel, no driver, hidden",
    )


def add_program_options(parser: argparse.ArgumentParser) -> None:
    """The program: a script or `-m module`, and everything behind it."""
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="run a module instead")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="SCRIPT [ARGS ...]", help="the program")


def _count(text: str) -> int:
    """The type of `--gpus`, with the machine's own limits."""
    try:
        return Shape(gpus=int(text)).gpus
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def shape_of(args: argparse.Namespace) -> Shape:
    """The machine that `--gpus` and `--build` name."""
    return Shape(build=args.build) if args.build else Shape(gpus=args.gpus)


def program_of(args: argparse.Namespace) -> tuple[list[str], bool]:
    """The program's words, and whether the first is a module. Raises CannotRun when there is none, or no Python file."""
    words = list(args.module if args.module is not None else args.program)
    if words and words[0] == "--":
        words = words[1:]
    if not words:
        raise CannotRun("no program given: name a script, or a module behind -m")
    if args.module is None:
        check_script(Path(words[0]))
    return words, args.module is not None


def check_script(path: Path) -> None:
    """Refuse what Python could not run. Raises CannotRun."""
    if not path.exists():
        raise CannotRun(f"{path}: no such file")
    if path.suffix == ".ipynb":
        raise CannotRun(f"{path}: is a notebook; export it first: jupyter nbconvert --to script {path}")
    if path.is_dir() and not (path / "__main__.py").is_file():
        raise CannotRun(f"{path}: is a folder without __main__.py")


def run(args: argparse.Namespace) -> int:
    """The command; gives its exit code."""
    try:
        program, module = program_of(args)
    except CannotRun as error:
        return cli.fail(str(error))
    shape = shape_of(args)
    say(f"{source_name(program, module)} runs on a virtual machine with {shape.describe()}, without a sandbox")
    command = [sys.executable, *(("-m",) if module else ()), *program]
    with report_folder() as folder:
        returncode = _run_as_ours(command, environment(shape, ledger=args.ledger, report_dir=folder))
        reports = read_reports(folder)
    for line in _summary(reports, args.ledger):
        say(line)
    if args.strict and has_hazard(reports):
        return HAZARD
    return _end_like(returncode)


def say(line: str) -> None:
    """A line of ours among the program's own output."""
    print(f"torchdevlint: {shown(line)}", file=sys.stderr, flush=True)


def _summary(reports: Sequence[ProcessReport], ledger: bool) -> Iterator[str]:
    yield from tell(reports, ledger)
    if reports and not any(report.started or report.refused for report in reports):
        from torchdevlint.verify.proofs import no_torch_here

        yield f"note: no process of this program imported torch{no_torch_here()}"


@contextlib.contextmanager
def report_folder() -> Iterator[Path]:
    """A folder for the reports of one run; it is gone afterwards."""
    folder = tempfile.mkdtemp(prefix="torchdevlint-")
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_as_ours(command: Sequence[str], variables: dict[str, str]) -> int:
    """Run a child in our place: it owns the terminal, and signals sent to us reach it."""
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def forward(number: int, _: FrameType | None) -> None:
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    # a Ctrl-C reaches the whole foreground group: the child gets it without our help
    handlers = {signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None)}
    for name in _FORWARDED:
        number = getattr(signal, name, None)
        if number is not None:
            handlers[number] = signal.signal(number, forward)
    try:
        child = subprocess.Popen(command, env=variables)
        for number in early:
            child.send_signal(number)
        return child.wait()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _end_like(returncode: int) -> int:
    """The program's exit code; a program that died of a signal takes us with it."""
    if returncode >= 0:
        return returncode
    sys.stdout.flush()
    sys.stderr.flush()
    number = -returncode
    with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler to reset
        signal.signal(number, signal.SIG_DFL)
    if number in (getattr(signal, "SIGSEGV", None), getattr(signal, "SIGABRT", None)):
        return 128 + number  # dying of these would leave a second core file
    os.kill(os.getpid(), number)
    return 128 + number
