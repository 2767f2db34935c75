"""`torchdevlint check`: lint files and folders, and repair them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from torchdevlint import cli
from torchdevlint.reporting import FORMATS, renderer
from torchdevlint.reporting.style import WIDTH, Style
from torchdevlint.settings import (
    Resolver,
    Selection,
    SettingsError,
    cache_folder,
    check_codes,
    check_patterns,
    parse_level,
)
from torchdevlint.source.disk import CACHE_FOLDER, CACHE_VARIABLE
from torchdevlint.source.reading import LARGEST_SOURCE
from torchdevlint.workspace import runner
from torchdevlint.workspace.discovery import Target

if TYPE_CHECKING:
    from torchdevlint.workspace.answers import Answers
    from torchdevlint.workspace.baseline import Baseline
    from torchdevlint.workspace.cache import Cache

STDIN = "-"
PROGRESS_FROM = 100  # files; fewer are done before a bar is read

_EPILOG = """\
examples:
  torchdevlint check                             the current folder
  torchdevlint check --fix .                     apply the safe fixes
  torchdevlint check --diff --unsafe-fixes .     show what all fixes would change, write nothing
  torchdevlint check --select TDL1,TDL501 src    some rules alone
  torchdevlint check --level info .              show notes on style and speed too
  torchdevlint check --output-format github .    annotations on a pull request
  torchdevlint check --baseline known.json --write-baseline .   begin with what is there,
  torchdevlint check --baseline known.json .                    and see what is new
  cat train.py | torchdevlint check --stdin-filename train.py -

exit codes: 0 nothing found, 1 findings remain (or --diff would change something), 2 a file, a setting or a rule failed, 130 Ctrl-C
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(
        subparsers, "check", "Finds device-placement faults in PyTorch code, and repairs them with --fix.", _EPILOG
    )
    parser.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH", help="files and folders; - reads standard input (default: .)"
    )

    fixes = parser.add_argument_group("fixes")
    fixes.add_argument("--fix", action="store_true", help="apply the safe fixes")
    fixes.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: the unsafe fixes as well")
    fixes.add_argument(
        "--verify",
        metavar="SCRIPT",
        help='with --fix: run SCRIPT before and after each fix, and keep the fixes that a run confirms; "SCRIPT ARGS" gives it arguments',
    )
    fixes.add_argument(
        "--diff", action="store_true", help="print what the fixes would change, for git apply, and write nothing"
    )
    fixes.add_argument(
        "--add-noqa", action="store_true", help="write a suppression comment on each line that has a finding"
    )

    known = parser.add_argument_group("known findings")
    known.add_argument(
        "--baseline",
        metavar="FILE",
        help="do not report the findings that FILE knows, by their code and the text of their line (--fix repairs them all the same)",
    )
    known.add_argument(
        "--write-baseline",
        action="store_true",
        help="with --baseline: store the findings of the paths in FILE, and report none; what FILE knows of other files stays",
    )

    rules = parser.add_argument_group("rules (CODES: TDL101, or a prefix such as TDL1; several with commas)")
    for option, text in (
        ("--select", "run these rules alone"),
        ("--extend-select", "run these rules as well"),
        ("--ignore", "do not run these rules"),
        ("--extend-ignore", "do not run these rules either"),
    ):
        rules.add_argument(option, action="append", metavar="CODES", help=text)
    rules.add_argument(
        "--level", metavar="LEVEL", help="the lowest severity to show: info, warning or error (default: warning)"
    )

    files = parser.add_argument_group("files and settings")
    files.add_argument("--stdin-filename", metavar="PATH", help="the name of what is read from standard input")
    files.add_argument(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help="skip what matches (as in a .gitignore) instead of the defaults",
    )
    files.add_argument("--extend-exclude", action="append", metavar="PATTERN", help="skip what matches as well")
    files.add_argument("--force-exclude", action="store_true", help="skip excluded files even when they are named")
    files.add_argument(
        "--stubs",
        action="append",
        metavar="PATH",
        help="a file of device stubs, or a folder of them (several: repeat the option), instead of those of the settings",
    )
    files.add_argument(
        "--python",
        metavar="PATH",
        help="the interpreter or environment that the code runs in: installed packages that need torch are read, never run "
        "(default: the active environment, or .venv)",
    )
    files.add_argument("--config", metavar="FILE", help="read the settings from this file alone")
    files.add_argument("--isolated", action="store_true", help="read no settings")
    files.add_argument(
        "--no-cache", action="store_true", help="look at every file anew, and keep nothing for the next run"
    )
    files.add_argument(
        "--cache-dir",
        metavar="FOLDER",
        help=f"where results are kept (default: {CACHE_FOLDER} beside the settings, else in the current folder)",
    )
    files.add_argument(
        "--no-project", action="store_true", help="look at each file by itself, without the other files of its project"
    )
    files.add_argument("--no-sieve", action="store_true", help="read every file in full: slower, the same findings")
    files.add_argument("-j", "--jobs", type=_jobs, metavar="N", help="processes to use (default: one for each CPU)")

    output = parser.add_argument_group("output")
    output.add_argument("--output-format", choices=tuple(FORMATS), default="full", help="default: full")
    output.add_argument(
        "--output-file",
        metavar="FILE",
        help="write the report to a file; never to one that is checked, or Python source",
    )
    output.add_argument(
        "--statistics", action="store_true", help="count the findings of each rule instead of listing them"
    )
    output.add_argument(
        "--watch", action="store_true", help="report again whenever a file has changed, until Ctrl-C (exit code 130)"
    )
    output.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print the findings and what failed, no summary, no notes, no progress",
    )
    output.add_argument("--exit-zero", action="store_true", help="exit with 0 even when findings remain")
    output.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 when something was repaired")
    return parser


def _jobs(text: str) -> int:
    number = int(text) if text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError("a number of processes from 1 is wanted")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    if arguments.config and arguments.isolated:
        return cli.fail("--config and --isolated exclude each other")
    if STDIN in arguments.paths and len(arguments.paths) > 1:
        if not os.path.lexists(STDIN):
            return cli.fail("- (standard input) cannot be checked together with other paths")
        arguments.paths = [f".{os.sep}-" if path == STDIN else path for path in arguments.paths]
    if arguments.add_noqa and (arguments.fix or arguments.diff or STDIN in arguments.paths):
        return cli.fail("--add-noqa goes without --fix, --diff and -")
    if arguments.verify and (not arguments.fix or arguments.diff or arguments.add_noqa or arguments.paths != ["."]):
        return cli.fail(
            "--verify goes with --fix and without --diff and paths: it repairs SCRIPT and the project files that it imports "
            '(arguments of SCRIPT: --verify "SCRIPT ARGS")'
        )
    if arguments.write_baseline and (
        arguments.baseline is None
        or arguments.fix
        or arguments.diff
        or arguments.add_noqa
        or arguments.output_file
        or STDIN in arguments.paths
    ):
        return cli.fail(
            "--write-baseline goes with --baseline FILE, and without --fix, --diff, --add-noqa, --output-file and -"
        )
    if arguments.watch and (
        arguments.fix
        or arguments.diff
        or arguments.add_noqa
        or arguments.write_baseline
        or arguments.output_file
        or STDIN in arguments.paths
    ):
        return cli.fail("--watch goes without --fix, --diff, --add-noqa, --write-baseline, --output-file and -")
    if arguments.output_file or arguments.baseline:
        refused = _refused_output(arguments)
        if refused is not None:
            return cli.fail(refused)
    known = None
    try:
        if arguments.baseline is not None:
            from torchdevlint.workspace import baseline

            known = baseline.read(arguments.baseline, may_be_new=arguments.write_baseline)
        cache = _cache(arguments)
        result = None if cache is None else cache.recall()
        if result is not None:
            _inspect(arguments, result.checked)
            return _conclude(arguments, known, result)
        resolver = _resolver(arguments)
        if arguments.config:
            resolver.for_folder(os.getcwd())  # noqa: PTH109
        resolver.given_stubs()
        resolver.given_environment()
    except (ValueError, SettingsError, _Refused) as error:
        return cli.fail(str(error))
    if arguments.verify:
        from torchdevlint.cli.verify import fix_verified

        return fix_verified(arguments.verify, resolver, arguments.unsafe_fixes)
    if arguments.watch:
        return _watch(arguments, resolver, known)
    try:
        if arguments.paths == [STDIN]:
            result = _check_stdin(arguments, resolver)
        elif cache is None:
            result = _check_paths(arguments, resolver)
        else:
            result = cache.keep(lambda answers: _check_paths(arguments, _anew(resolver), answers))
    except _Refused as error:
        return cli.fail(str(error))
    return _conclude(arguments, known, result)


def _conclude(arguments: argparse.Namespace, known: Baseline | None, result: runner.Run) -> int:
    """What is done with what was found; the exit code."""
    if known is not None and arguments.write_baseline:
        return _write_baseline(arguments, known, result)
    _leave_out(arguments, known, result)
    if arguments.add_noqa:
        return _add_noqa(arguments, result)
    return _report(arguments, result)


def _leave_out(arguments: argparse.Namespace, known: Baseline | None, result: runner.Run) -> None:
    """Takes the findings out that a baseline knows."""
    if known is not None:
        from torchdevlint.workspace import baseline

        result.outcomes, hidden = baseline.without_known(result.outcomes, known)
        if hidden and not arguments.quiet:
            cli.tell(f"{hidden} finding{'s'[: hidden != 1]} known from {known.path} not shown")


def _watch(arguments: argparse.Namespace, resolver: Resolver, known: Baseline | None) -> int:
    """Reports again and again; the exit code."""
    from torchdevlint.cli.watch import watch

    def anew() -> Resolver:
        return _anew(resolver)

    def check(paths: Sequence[str]) -> runner.Run:
        return runner.check(paths, anew(), processes=arguments.jobs)

    def report(result: runner.Run) -> int:
        _leave_out(arguments, known, result)
        return _report(arguments, result)

    return watch(arguments.paths, anew, check, report)


# ---------------------------------------------------------------------------------------------------- settings


def _resolver(arguments: argparse.Namespace) -> Resolver:
    """The command line's part of the settings; raises `ValueError` with a sentence."""

    def codes(option: str) -> tuple[str, ...] | None:
        given: list[str] | None = getattr(arguments, option.lstrip("-").replace("-", "_"))
        if given is None:
            return None
        try:
            return check_codes([code for item in given for code in item.split(",") if code.strip()])
        except ValueError as error:
            raise ValueError(f"{option}: {error}") from None

    selection = Selection(
        codes("--select"), codes("--extend-select") or (), (codes("--ignore") or ()) + (codes("--extend-ignore") or ())
    )

    def patterns(option: str) -> tuple[str, ...]:
        try:
            return check_patterns(_split(getattr(arguments, option.lstrip("-").replace("-", "_"))))
        except ValueError as error:
            raise ValueError(f"{option}: {error}") from None

    overrides: dict[str, Any] = {"extend_exclude": patterns("--extend-exclude")}
    if arguments.exclude is not None:
        overrides["exclude"] = patterns("--exclude")
    if arguments.force_exclude:
        overrides["force_exclude"] = True
    if arguments.level is not None:
        try:
            overrides["level"] = parse_level(arguments.level)
        except ValueError as error:
            raise ValueError(f"--level: {error}") from None
    if arguments.no_sieve:
        overrides["sieve"] = False
    if arguments.no_project:
        overrides["project"] = False
    if arguments.stubs is not None:
        overrides["stubs"] = tuple(map(os.path.abspath, arguments.stubs))
    if arguments.python is not None:
        overrides["python"] = os.path.abspath(arguments.python)  # noqa: PTH100
    return Resolver(selection, overrides, arguments.config, arguments.isolated)


def _anew(resolver: Resolver) -> Resolver:
    """One that reads the settings again."""
    return Resolver(resolver.command_line, resolver.overrides, resolver.config, resolver.isolated)


# What the findings of a run depend on, of all that the command line says. Settings and files are asked of the disk.
_ASKED = (
    *("paths", "fix", "unsafe_fixes", "diff", "select", "extend_select", "ignore", "extend_ignore", "level"),
    *("exclude", "extend_exclude", "force_exclude", "config", "isolated", "no_project", "no_sieve", "stubs", "python"),
)


def _cache(arguments: argparse.Namespace) -> Cache | None:
    """Where the result of the run is kept; None for one that is not. Raises `ValueError` for a folder that cannot be a cache."""
    if arguments.no_cache or arguments.paths == [STDIN] or arguments.add_noqa or arguments.watch or arguments.verify:
        return None
    given = arguments.cache_dir or os.environ.get(CACHE_VARIABLE)
    folder = os.path.abspath(given) if given else cache_folder(arguments.config, arguments.isolated)  # noqa: PTH100
    if folder is None or folder == os.devnull:
        return None
    from torchdevlint.workspace import cache

    if not cache.may_be_used(folder):
        if arguments.cache_dir:
            raise ValueError(f"--cache-dir: {arguments.cache_dir} is no cache of torchdevlint, and not empty")
        return None
    asked = {name: getattr(arguments, name) for name in _ASKED}
    asked["active environment"] = os.environ.get("VIRTUAL_ENV")
    return cache.Cache(folder, asked, by_file=_repair(arguments) == "NONE")


def _split(patterns: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(pattern for item in patterns or () for pattern in item.split(",") if pattern)


# ---------------------------------------------------------------------------------------------------- checking


def _repair(arguments: argparse.Namespace) -> str:
    """The name of the `linter.Repair` that was asked for."""
    if not (arguments.fix or arguments.diff):
        return "NONE"
    return "UNSAFE" if arguments.unsafe_fixes else "SAFE"


class _Refused(Exception):
    """A run that would harm what it looks at; the message says why."""


def _inspect(arguments: argparse.Namespace, checked: Sequence[str]) -> None:
    """Raises `_Refused` where the run would write its report, or a baseline, over a file that it checks."""
    for name in _outputs(arguments):
        from torchdevlint.workspace import report_file

        if report_file.is_one_of(name, checked):
            raise _Refused(f"{name}: a report is not written over a file that is checked")


def _outputs(arguments: argparse.Namespace) -> list[str]:
    """The files that the run writes beside those that it repairs."""
    return [name for name in (arguments.output_file, arguments.write_baseline and arguments.baseline) if name]


def _refused_output(arguments: argparse.Namespace) -> str | None:
    """Why a file that was named may not be written, as a sentence."""
    from torchdevlint.workspace import report_file

    report, known = arguments.output_file, arguments.baseline
    if report and known and report_file.is_one_of(report, (known,)):
        return f"{report}: a report is not written over the baseline"
    return next(filter(None, map(report_file.refusal, _outputs(arguments))), None)


def _check_paths(arguments: argparse.Namespace, resolver: Resolver, answers: Answers | None = None) -> runner.Run:
    with _progress_bar(arguments.quiet) as progress:
        return runner.check(
            arguments.paths,
            resolver,
            repair=_repair(arguments),
            write=arguments.fix and not arguments.diff,
            processes=arguments.jobs,
            progress=progress,
            inspect=lambda checked: _inspect(arguments, checked),
            answers=answers,
        )


def _check_stdin(arguments: argparse.Namespace, resolver: Resolver) -> runner.Run:
    """Standard input as one file. With --fix its new text goes to standard output, and the report to standard error."""
    name = arguments.stdin_filename or STDIN
    try:
        raw = sys.stdin.buffer.read(LARGEST_SOURCE + 1)
        if len(raw) > LARGEST_SOURCE:
            return runner.Run(problems=[f"{name}: not read, as it is larger than {LARGEST_SOURCE // 1000:,} kB"])
    except OSError as error:
        return runner.Run(problems=[f"{name}: {error.strerror}"])
    try:
        settings = resolver.for_file(name if arguments.stdin_filename else "stdin.py")
    except SettingsError as error:
        return runner.Run(problems=[str(error)])
    result = runner.Run()
    target = Target(name, settings)
    if not (arguments.force_exclude and runner.is_excluded(name, resolver)) and runner.is_candidate(raw, target):
        outcome = runner.lint_text(target, raw, _repair(arguments))
        result.outcomes.append(outcome)
        result.problems += outcome.problems
        raw = outcome.stored if outcome.stored is not None else raw
    if arguments.fix and not arguments.diff:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    return result


@contextmanager
def _progress_bar(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal for runs of many files; rich is imported when it first shows."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bar: Any = None
    task: Any = None

    def show(done: int, total: int) -> None:
        nonlocal bar, task
        if bar is None:
            if total < PROGRESS_FROM:
                return
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            task = bar.add_task("checking", total=total)
            bar.start()
        bar.update(task, completed=done)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


# ---------------------------------------------------------------------------------------------------- reporting


def _tell(arguments: argparse.Namespace, result: runner.Run) -> None:
    for sentence in (*result.problems, *(() if arguments.quiet else result.notes)):
        cli.tell(sentence)


def _report(arguments: argparse.Namespace, result: runner.Run) -> int:
    """Prints the report; the exit code."""
    _tell(arguments, result)
    for outcome in result.outcomes if not arguments.quiet else ():
        for note in outcome.notes:
            cli.tell(note)
    if arguments.output_file:
        import io

        from torchdevlint.workspace import report_file

        report = io.StringIO()
        _print(arguments, result, report)
        try:
            errors = "surrogateescape" if arguments.diff else "backslashreplace"
            report_file.write(arguments.output_file, report.getvalue().encode("utf-8", errors))
        except OSError as error:
            return cli.fail(f"{arguments.output_file}: {error.strerror}")
    else:
        piped = arguments.paths == [STDIN] and arguments.fix and not arguments.diff
        stream = sys.stderr if piped else sys.stdout
        if arguments.diff and not stream.isatty() and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")  # the bytes of the files
        _print(arguments, result, stream)
    return _exit_code(arguments, result)


def _print(arguments: argparse.Namespace, result: runner.Run, file: IO[str]) -> None:
    outcomes = result.outcomes
    style = Style(
        _wants_colour(file),
        arguments.unsafe_fixes,
        file.isatty(),
        tuple(result.problems),
        _width(file),
        arguments.quiet,
    )
    if arguments.diff:
        from torchdevlint.reporting import diff

        lines = diff.render(outcomes, style)
        left = sum(len(outcome.findings) for outcome in outcomes)
        if left and not arguments.quiet:
            cli.tell(f"{left} finding{'s'[: left != 1]} without such a fix would remain")
    elif arguments.statistics:
        from torchdevlint.reporting import statistics

        lines = statistics.render(outcomes, style)
        if arguments.output_format == "json":
            import json

            lines = iter([json.dumps(statistics.as_objects(outcomes, style), indent=2)])
    else:
        lines = renderer(arguments.output_format)(outcomes, style)
    for line in lines:
        file.write(line + "\n")


def _width(file: IO[str]) -> int:
    """Where prose ends: at the terminal's edge, or at the usual width."""
    return min(WIDTH, cli.terminal_width()) if file.isatty() else WIDTH


def _wants_colour(file: IO[str]) -> bool:
    return file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _exit_code(arguments: argparse.Namespace, result: runner.Run) -> int:
    if result.problems:
        return 2
    found = any(outcome.findings for outcome in result.outcomes)
    repaired = any(outcome.fixed for outcome in result.outcomes)
    if (found or (repaired and (arguments.diff or arguments.exit_non_zero_on_fix))) and not arguments.exit_zero:
        return 1
    return 0


def _write_baseline(arguments: argparse.Namespace, known: Baseline, result: runner.Run) -> int:
    """Stores what was found as known; the exit code."""
    from torchdevlint.workspace import baseline
    from torchdevlint.workspace.writer import told

    _tell(arguments, result)
    if result.problems:
        return cli.fail(f"{known.path}: not written, as not everything could be checked")
    try:
        count = baseline.write(known, result.outcomes, result.checked)
    except OSError as error:
        return cli.fail(f"{known.path}: {told(error)}")
    if not arguments.quiet:
        print(f"Wrote {count} known finding{'s'[: count != 1]}.")
    return 0


def _add_noqa(arguments: argparse.Namespace, result: runner.Run) -> int:
    """Writes the suppressions; the exit code."""
    from torchdevlint.workspace.suppress import add_suppressions
    from torchdevlint.workspace.writer import told

    added, within = 0, runner.folders_of(arguments.paths)
    for outcome in result.outcomes:
        try:
            added += add_suppressions(outcome, within)
        except OSError as error:
            result.problems.append(f"{outcome.filename}: {told(error)}")
    _tell(arguments, result)
    if not arguments.quiet:
        print(f"Added {added} suppression{'s'[: added != 1]}.")
    return 2 if result.problems else 0
