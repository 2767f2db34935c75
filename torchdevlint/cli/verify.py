"""`torchdevlint verify`: run a program before and after each fix, and say which findings are true."""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from torchdevlint.verify.judge import Judge, Report
    from torchdevlint.verify.report import Commands

_TIMEOUT = 300.0
_MATRIX = ("cpu", "no-driver", "1", "2")
_EPILOG = """\
verdicts:
  confirmed               the error showed, and the fix removed it
  shown                   the error showed on the line; there is no fix to try
  silent fault confirmed  no error, but a hazard, an unregistered parameter, other memory; the fix removed it
  repaired with another   the fix of another finding has repaired it
  not on this machine     the rule's fault shows on another machine, which is named
  not reached             the line never ran
  not judged              the machine cannot judge it, no fix may be applied, or an error stops the program in front of it
  refuted                 it ran where it should have shown, and nothing was wrong
  fix failed, regression  the fix did not help, or it broke something

exit codes: 0 something was confirmed or shown and nothing went wrong, 1 something was refuted, failed or regressed, 3 nothing was confirmed,
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
    parser.add_argument("--write", action="store_true", help="write the confirmed fixes, and no other, to the files")
    parser.add_argument("--select", action="append", metavar="CODES", help="verify the findings of these rules alone")
    parser.add_argument("--level", default=None, metavar="LEVEL", help="the lowest severity: info, warning or error")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write a full report: the table, the repairs, copies and synchronisations by line",
    )
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
    known = parser._option_string_actions.items()  # argparse has no public list
    parser.set_defaults(takes_value={option: action.nargs != 0 for option, action in known if option.startswith("--")})
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
    from torchdevlint.verify.judge import Judge

    if arguments.observe and (arguments.matrix or arguments.unsafe_fixes or arguments.write or arguments.html):
        raise CannotRun(
            "--observe runs the program once, without fixes: leave out --matrix, --unsafe-fixes, --write and --html"
        )
    if arguments.html:
        from torchdevlint.workspace import report_file

        refused = report_file.refusal(arguments.html)
        if refused is not None:
            raise CannotRun(refused)
    where = f"in {program.folder}" if arguments.in_place else f"in a temporary copy of {program.folder}"
    say(f"{program.name} runs on {machine.describe()}{version and f' (torch {version})'} {where}, without a sandbox")
    with workplace(program.folder, arguments.in_place) as place:
        ledger = (arguments.level == "info" or bool(arguments.html)) and not arguments.observe
        runner = Runner(program, place, machine, arguments.timeout, ledger=ledger)
        if arguments.observe:
            return _observe(arguments, runner, resolver, version)
        with _progress() as progress:
            judge = Judge(runner, resolver, arguments.unsafe_fixes, say, progress)
            for problem in judge.load(project_files(program)):
                say(problem)
            report = judge.judge()
            ending = _ending_when_written(judge, report) if arguments.write else ""
            rows = _matrix(arguments, program, place, resolver, machine, report) if arguments.matrix else []
    failed, written = _write(judge, program) if arguments.write else (0, [])
    if arguments.html:
        from torchdevlint.verify.page import as_html

        matrix = [(row.machine, row.before, row.after) for row in rows]
        text = as_html(program, machine, version, report, judge, matrix)
        try:
            report_file.write(arguments.html, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            failed = cli.fail(f"{arguments.html}: {error.strerror}")
        else:
            say(f"the full report is {arguments.html}")
    if arguments.json:
        made = as_object(program, machine, version, report, rows)
        print(json.dumps(made | {"written": [str(path) for path in written]}, indent=2))
    else:
        commands = _commands(arguments, program, bool(written))
        _print(program, machine, version, report, commands, rows, written, ending)
    return failed or report.exit_code


def _print(
    program: Program,
    machine: Machine,
    version: str,
    report: Report,
    commands: Commands,
    rows: Sequence[Row],
    written: Sequence[Path],
    ending: str,
) -> None:
    """The report for a person; the last line says what to do next."""
    from torchdevlint.verify.report import as_lines

    width = cli.terminal_width() if sys.stdout.isatty() else 0
    *lines, last = as_lines(program.name, machine.describe(), version, report, commands, width)
    if rows:
        lines += ["", "| machine | before | with all fixes |", "|---|---|---|"]
        lines += [shown(f"| {row.machine} | {row.before} | {row.after} |") for row in rows]
    lines += [shown(f"{shorten(str(path))}: the confirmed fixes are written") for path in written]
    if ending:
        lines.append(shown(f"the program as it is written now: {ending}"))
    print("\n".join((*lines, last)))


def _ending_when_written(judge: Judge, report: Report) -> str:
    """How the program ends with what is about to be written, where that is not what the last run had."""
    repaired = judge.repaired()
    return judge.ending_with(repaired) if repaired and not report.trouble else ""


def _write(judge: Judge, program: Program) -> tuple[int, list[Path]]:
    """Write the confirmed fixes, each file whole or not at all: the exit code of a failure, and what was written."""
    from torchdevlint.workspace.writer import told, write_atomically

    failed, written = 0, []
    for path, content in judge.repaired().items():
        try:
            write_atomically(str(path), content, expected=judge.read[path], within={program.folder.resolve()})
        except OSError as error:
            failed = cli.fail(f"{shorten(str(path))}: {told(error)}")
        else:
            written.append(path)
    return failed, written


def _commands(arguments: argparse.Namespace, program: Program, written: bool = False) -> Commands:
    """The command line as it was given, with what the last line may advise."""
    from torchdevlint.verify.report import Commands

    given = [word for flag in ("unsafe_fixes", "in_place", "device_mutants") for word in _flag(arguments, flag)]
    for option in ("level", "select"):
        value = getattr(arguments, option)
        given += [f"--{option}", ",".join(value) if isinstance(value, list) else value] if value else []
    given += ["--device", arguments.device] if arguments.device != "auto" else []
    given += ["--build", arguments.build] if arguments.build else []
    given += ["--gpus", str(arguments.gpus)] if arguments.gpus != 1 else []
    words = list(program.words)
    first = ["-m", words[0]] if program.module else [words[0]]
    tail = ["--pytest", *words[2:]] if program.pytest else _with_arguments(first, words[1:])
    separator = [] if words[1:] or program.pytest else ["--"]

    def command(*more: str, tail: Sequence[str] = tail) -> str:
        return shlex.join(["torchdevlint", "verify", *given, *more, *tail])

    moved = ""
    if not program.pytest:
        behind = _without_dashes(arguments.program if arguments.module is None else arguments.module)[1:]
        ours, its_own = _apart(behind, arguments.takes_value)
        moved = command(*ours, tail=_with_arguments(first, its_own)) if ours else ""
    return Commands(
        write=command("--write"),
        unsafe=command("--unsafe-fixes"),
        in_place=command("--in-place"),
        arguments=f"{shlex.join(['torchdevlint', 'verify', *given, *tail, *separator])} ARGS",
        written=written,
        moved=moved,
    )


def _with_arguments(program: list[str], words: Sequence[str]) -> list[str]:
    return [*program, *(["--", *words] if words else [])]


def _apart(words: Sequence[str], takes_value: Mapping[str, bool]) -> tuple[list[str], list[str]]:
    """Of what stands behind a program: options that are ours as well, with their values, and the rest; all behind `--` is the program's."""
    ours: list[str] = []
    rest: list[str] = []
    left = iter(words)
    for word in left:
        if word == "--":
            return ours, [*rest, *left]
        if word.partition("=")[0] not in takes_value:
            rest.append(word)
            continue
        ours.append(word)
        if takes_value.get(word):
            ours += [value for value in (next(left, None),) if value is not None]
    return ours, rest


def _flag(arguments: argparse.Namespace, name: str) -> list[str]:
    return [f"--{name.replace('_', '-')}"] if getattr(arguments, name) else []


@contextmanager
def _progress() -> Iterator[Callable[[int, int, float], None]]:
    """On a terminal: which run goes on, of about how many, and what one takes."""
    if not sys.stderr.isatty():
        yield lambda run, about, seconds: None
        return
    from rich.console import Console

    with Console(stderr=True).status("run 1") as status:

        def show(run: int, about: int, seconds: float) -> None:
            each = f", {seconds:.0f} s each" if seconds >= 1 else ""
            status.update(f"run {run} of about {about}{each}")

        yield show


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


def script_words(text: str) -> list[str]:
    """The script of `--verify "SCRIPT ARGS"` and its arguments, split as a shell does; a file of that very name is a script alone."""
    if Path(text).exists():
        return [text]
    try:
        return shlex.split(text)
    except ValueError as error:
        raise CannotRun(f"--verify {text}: {str(error).lower()}") from None


def fix_verified(text: str, resolver: Resolver, unsafe: bool) -> int:
    """`check --fix --verify`: write the fixes that a run of the program confirms, and no other; the exit code is that of `verify`."""
    from torchdevlint.verify.judge import Judge

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        words = script_words(text)
        if not words:
            raise CannotRun("--verify: no script is named")
        _check_source(Path(words[0]))
        program = program_in(words, False, Path.cwd())
        machine, version = machine_for("auto", Shape(gpus=1))
        say(f"{program.name} runs on {machine.describe()} in a temporary copy of {program.folder}, without a sandbox")
        with workplace(program.folder, False) as place, _progress() as progress:
            judge = Judge(Runner(program, place, machine, _TIMEOUT), resolver, unsafe, say, progress)
            for problem in judge.load(project_files(program)):
                say(problem)
            report = judge.judge()
            ending = _ending_when_written(judge, report)
        failed, written = _write(judge, program)
        _print(program, machine, version, report, _check_commands(words, unsafe, bool(written)), [], written, ending)
    except (CannotRun, ProofError, WorkplaceError, SettingsError, OSError) as error:
        return cli.fail(str(error))
    return failed or report.exit_code


def _check_commands(words: Sequence[str], unsafe: bool, written: bool) -> Commands:
    from torchdevlint.verify.report import Commands

    def command(*more: str, behind: str = "") -> str:
        script = shlex.join(words) + behind
        return f"torchdevlint check --fix {' '.join(more)}{' ' * bool(more)}--verify {shlex.quote(script)}"

    flags = ["--unsafe-fixes"] * unsafe
    in_place = shlex.join(["torchdevlint", "verify", *flags, "--write", "--in-place", words[0], "--", *words[1:]])
    return Commands(command(*flags), command("--unsafe-fixes"), in_place, command(*flags, behind=" ARGS"), written)


# ---------------------------------------------------------------------------------------------------- the matrix


@dataclass(frozen=True, slots=True)
class Row:
    """One machine of the matrix: how the program ended there before and after all fixes."""

    machine: str
    before: str
    after: str


def _matrix(
    arguments: argparse.Namespace, program: Program, place: Workplace, resolver: Resolver, judged: Machine, report: Any
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
        before = report.first if report.first is not None and machine == judged else runner.run({}, {})
        after = runner.run(repaired, {}) if repaired else before
        rows.append(Row(machine.describe(), _ending(before), _ending(after)))
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
        "unexplained": report.unexplained,
        "findings": [case.to_dict() for case in report.cases],
        "matrix": [{"machine": row.machine, "before": row.before, "after": row.after} for row in rows],
        "exit_code": report.exit_code,
    }
