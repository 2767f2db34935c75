"""`torchdevlint verify`: run a program before and after each fix, and say which findings are true."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchdevlint import cli
from torchdevlint.cli.run import CannotRun, add_shape_options, check_script, say, shape_of
from torchdevlint.machine import Shape
from torchdevlint.reporting.plain import shown
from torchdevlint.settings import Resolver, Selection, SettingsError, check_codes, parse_level
from torchdevlint.source.reading import read_bytes
from torchdevlint.verify.program import Program, program_in, project_files
from torchdevlint.verify.proofs import ProofError, look_at_host
from torchdevlint.verify.telling import shorten
from torchdevlint.verify.trial import Machine, Runner, Trial
from torchdevlint.verify.workplace import Workplace, WorkplaceError, workplace

_TIMEOUT = 300.0
_MATRIX = ("cpu", "no-driver", "1", "2")
_EPILOG = """\
verdicts:
  confirmed               the error showed, and the fix removed it
  silent fault confirmed  no error, but a hazard, an unregistered parameter, other memory; the fix removed it
  not on this machine     the rule's fault shows on another machine, which is named
  not reached             the line never ran
  not judged              the machine cannot judge it, or no fix may be applied
  refuted                 it ran where it should have shown, and nothing was wrong
  fix failed, regression  the fix did not help, or it broke something

exit codes: 0 something was confirmed and nothing went wrong, 1 something was refuted, failed or regressed, 3 nothing was confirmed,
2 the program could not be run; with --observe: 0, or 2
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "verify",
        help=cli.COMMANDS["verify"].help,
        description=(
            "Lints a program and the project files that it imports, then runs it before and after each fix on a machine with GPUs, "
            "virtual or real. The program runs without a sandbox, in a temporary copy of its folder."
        ),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="torchdevlint verify [options] (SCRIPT | -m MODULE | [--device-mutants] --pytest) [-- ARGS ...]",
    )
    parser.add_argument(
        "--device",
        choices=("auto", "virtual", "cuda", "mps", "xpu"),
        default="auto",
        help="real GPUs, virtual ones, or real where there are some (default: auto)",
    )
    add_shape_options(parser)
    parser.add_argument(
        "--matrix", action="store_true", help="also run before and after on no GPU, no driver, 1 and 2 GPUs"
    )
    parser.add_argument(
        "--observe",
        action="store_true",
        help="no fixes and no verdicts: run once, and list the findings that follow from the devices seen, marked `observed`",
    )
    parser.add_argument(
        "--device-mutants",
        action="store_true",
        help="with --pytest: run the tests as if their author had put every value on a GPU",
    )
    parser.add_argument("--unsafe-fixes", action="store_true", help="try the unsafe fixes as well")
    parser.add_argument("--select", action="append", metavar="CODES", help="verify the findings of these rules alone")
    parser.add_argument("--level", default=None, metavar="LEVEL", help="the lowest severity: info, warning or error")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--timeout", type=_seconds, default=_TIMEOUT, metavar="S", help="seconds for one run (default: 300)"
    )
    parser.add_argument(
        "--in-place", action="store_true", help="run in the folder itself; files are still not changed by us"
    )
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="run a module instead of a script"
    )
    parser.add_argument("--pytest", nargs=argparse.REMAINDER, metavar="ARGS", help="run pytest with these arguments")
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="SCRIPT", help="the program and, behind --, its arguments"
    )
    return parser


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("a number of seconds above 0 is wanted")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that nothing is left behind
    try:
        program = program_of(arguments)
        resolver = _resolver(arguments)
        machine, version = machine_for(arguments.device, shape_of(arguments), named=arguments.build is not None)
        return _verify(arguments, program, resolver, machine, version)
    except (CannotRun, ProofError, WorkplaceError, SettingsError, ValueError) as error:
        if arguments.json:
            print(json.dumps({"trouble": str(error), "exit_code": cli.USAGE_ERROR}))
        return cli.fail(str(error))


def program_of(arguments: argparse.Namespace) -> Program:
    """The program of a command line. Raises CannotRun."""
    if arguments.pytest is not None:
        # pytest's own rewriting of asserts would read the files past the overlay
        words = ["pytest", "--assert=plain", *_without_dashes(arguments.pytest)]
        return program_in(words, True, Path.cwd(), pytest=True, mutants=arguments.device_mutants)
    if arguments.device_mutants:
        raise CannotRun("--device-mutants is for --pytest")
    words = arguments.module if arguments.module is not None else arguments.program
    words = _without_dashes(words)
    if not words:
        raise CannotRun("no program given: name a script, a module behind -m, or --pytest")
    words = [words[0], *_without_dashes(words[1:])]
    if arguments.module is None:
        _check_source(Path(words[0]))
    return program_in(words, arguments.module is not None, Path.cwd())


def _check_source(path: Path) -> None:
    """Refuses a script that cannot be run or linted. Raises CannotRun."""
    check_script(path)
    source = path / "__main__.py" if path.is_dir() else path
    try:
        read_bytes(str(source))
    except OSError as error:
        raise CannotRun(f"{source}: {error.strerror}") from None


def _without_dashes(words: Sequence[str]) -> list[str]:
    return list(words[1:] if words[:1] == ["--"] else words)


def _resolver(arguments: argparse.Namespace) -> Resolver:
    codes = [code for item in arguments.select or () for code in item.split(",") if code.strip()]
    selection = Selection(select=check_codes(codes)) if codes else Selection()
    overrides: dict[str, Any] = {} if arguments.level is None else {"level": parse_level(arguments.level)}
    return Resolver(selection, overrides)


def machine_for(device: str, shape: Shape, *, named: bool = False) -> tuple[Machine, str]:
    """The machine to run on, and the torch there. A virtual shape that was named is taken even where a GPU is. Raises ProofError."""
    if device == "virtual" or (device == "auto" and named):
        return Machine("virtual", shape), ""  # the program itself will say which torch it runs on
    host = look_at_host()
    if device == "cuda" or (device == "auto" and host.gpus):
        if not host.gpus:
            raise ProofError(f"torch {host.torch} sees no CUDA GPU here: use --device virtual")
        return Machine("cuda", None, host.gpus, f"{host.gpus} x {host.gpu_name}"), host.torch
    if device in ("mps", "xpu"):
        return Machine(device, None, 1, device.upper()), host.torch
    return Machine("virtual", shape), host.torch


def _verify(arguments: argparse.Namespace, program: Program, resolver: Resolver, machine: Machine, version: str) -> int:
    from torchdevlint.verify.judge import Judge, Report

    if arguments.observe and (arguments.matrix or arguments.unsafe_fixes):
        raise CannotRun("--observe runs the program once, without fixes: leave out --matrix and --unsafe-fixes")
    where = f"in {program.folder}" if arguments.in_place else f"in a temporary copy of {program.folder}"
    say(f"{program.name} runs on {machine.describe()}{version and f' (torch {version})'} {where}, without a sandbox")
    with workplace(program.folder, arguments.in_place) as place:
        level_info = arguments.level == "info"
        runner = Runner(program, place, machine, arguments.timeout, ledger=level_info and not arguments.observe)
        if arguments.observe:
            return _observe(arguments, runner, resolver, version)
        judge = Judge(runner, resolver, arguments.unsafe_fixes, say)
        problems = judge.load(project_files(program))
        for problem in problems:
            say(problem)
        report: Report = judge.judge()
        rows = _matrix(arguments, program, place, resolver, report) if arguments.matrix else []
    if arguments.json:
        print(json.dumps(as_object(program, machine, version, report, rows), indent=2))
    else:
        print("\n".join(map(shown, as_lines(program, machine, version, report, rows))))
    return report.exit_code


def _observe(arguments: argparse.Namespace, runner: Runner, resolver: Resolver, version: str) -> int:
    """`--observe`: the findings that the devices of one run add; the exit code."""
    from torchdevlint.verify.observe import observe

    made = observe(runner, resolver, project_files(runner.program), say)
    if arguments.json:
        machine = {
            "kind": runner.machine.kind,
            "description": runner.machine.describe(),
            "torch": made.torch or version,
        }
        print(json.dumps({"program": runner.program.name, "machine": machine, **made.to_dict()}, indent=2))
        return made.exit_code
    for finding in made.findings:
        place = finding.span.start
        path = shorten(finding.filename)
        print(shown(f"{path}:{place.row}:{place.column}: {finding.code} {finding.name}: {finding.message} [observed]"))
    if made.trouble:
        print(shown(f"{runner.program.name} could not be observed: {made.trouble}"))
    else:
        count = len(made.findings)
        print(
            f"the run ({made.ending}) adds {count or 'no'} finding{'s'[: count != 1]}; {made.places} places were seen"
        )
    return made.exit_code


def fix_verified(words: Sequence[str], resolver: Resolver, unsafe: bool) -> int:
    """`check --fix --verify`: write the fixes that a run of the program confirms, and no other; the exit code is that of `verify`."""
    from torchdevlint.verify.judge import Judge
    from torchdevlint.workspace.writer import told, write_atomically

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        _check_source(Path(words[0]))
        program = program_in(list(words), False, Path.cwd())
        machine, version = machine_for("auto", Shape(gpus=1))
        say(f"{program.name} runs on {machine.describe()} in a temporary copy of {program.folder}, without a sandbox")
        with workplace(program.folder, False) as place:
            judge = Judge(Runner(program, place, machine, _TIMEOUT), resolver, unsafe, say)
            for problem in judge.load(project_files(program)):
                say(problem)
            report = judge.judge()
        print("\n".join(map(shown, as_lines(program, machine, version, report, []))))
        written = 0
        for path, content in judge.repaired().items():
            try:
                write_atomically(str(path), content, expected=judge.read[path], within={program.folder.resolve()})
            except OSError as error:
                written = cli.fail(f"{shorten(str(path))}: {told(error)}")
            else:
                print(shown(f"{shorten(str(path))}: the confirmed fixes are written"))
    except (CannotRun, ProofError, WorkplaceError, SettingsError, OSError) as error:
        return cli.fail(str(error))
    return written or report.exit_code


# ---------------------------------------------------------------------------------------------------- the matrix


@dataclass(frozen=True, slots=True)
class Row:
    """One machine of the matrix: how the program ended there before and after all fixes."""

    machine: str
    before: str
    after: str


def _matrix(
    arguments: argparse.Namespace, program: Program, place: Workplace, resolver: Resolver, report: Any
) -> list[Row]:
    from torchdevlint.linter import Repair, lint

    repair = Repair.UNSAFE if arguments.unsafe_fixes else Repair.SAFE
    repaired = {}
    for path in sorted({case.path for case in report.cases}):
        outcome = lint(str(path), read_bytes(str(path)), resolver.for_file(str(path)), repair)
        if outcome.stored is not None:
            repaired[path] = outcome.stored
    rows = []
    for name in _MATRIX:
        machine = Machine("virtual", Shape(gpus=int(name)) if name.isdigit() else Shape(build=name))  # type: ignore[arg-type]
        runner = Runner(program, place, machine, arguments.timeout)
        before = runner.run({}, {})
        rows.append(Row(machine.describe(), _ending(before), _ending(runner.run(repaired, {}))))
    return rows


def _ending(trial: Trial) -> str:
    if trial.works:
        return f"works, {len(trial.hazards)} hazards" if trial.hazards else "works"
    return trial.ending


# ---------------------------------------------------------------------------------------------------- reports


def as_object(program: Program, machine: Machine, version: str, report: Any, rows: Sequence[Row]) -> dict[str, Any]:
    """The report for programs."""
    return {
        "program": program.name,
        "machine": {
            "kind": machine.kind,
            "description": machine.describe(),
            "gpus": machine.shape.gpus if machine.shape else machine.gpus,
            "build": machine.shape.build if machine.shape else None,
            "torch": report.torch or version,
        },
        "baseline": report.baseline,
        "repaired": report.final,
        "runs": report.runs,
        "trouble": report.trouble or None,
        "notes": report.notes,
        "findings": [case.to_dict() for case in report.cases],
        "matrix": [{"machine": row.machine, "before": row.before, "after": row.after} for row in rows],
        "exit_code": report.exit_code,
    }


def as_lines(program: Program, machine: Machine, version: str, report: Any, rows: Sequence[Row]) -> Iterable[str]:
    """The report for a person."""
    for case in report.cases:
        if case.verdict is None:
            continue
        place = case.first.span.start
        yield f"{shorten(str(case.path))}:{place.row}:{place.column}: {case.first.code} {case.first.name}: {case.verdict}"
        if case.before:
            yield f"    before: {case.before}"
        if case.after:
            yield f"    after:  {case.after}"
        if case.reason:
            yield f"    {case.reason}"
    for note in report.notes:
        yield f"note: {note}"
    if report.trouble:
        yield f"{program.name} could not be judged: {report.trouble}"
        if report.cases:
            yield f"{len(report.cases)} finding{'s'[: len(report.cases) != 1]} stay{'s'[: len(report.cases) == 1]} unverified"
    elif report.cases:
        counts: dict[str, int] = {}
        for case in report.cases:
            counts[case.verdict] = counts.get(case.verdict, 0) + 1
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        yield f"{told}; {report.runs} runs on {machine.describe()}, torch {report.torch or version or 'not imported'}"
        yield f"before: {report.baseline}; with the confirmed fixes: {report.final}"
    if rows:
        yield ""
        yield "| machine | before | with all fixes |"
        yield "|---|---|---|"
        for row in rows:
            yield f"| {row.machine} | {row.before} | {row.after} |"
