"""The command line: a file per command, imported when the command is asked for.

A command module has `add_parser(subparsers)`, which returns its parser, and `run(arguments) -> int`, which returns the exit code:
0 nothing found, 1 findings remain, 2 the tool could not do its work, 130 Ctrl-C.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from torchdevlint.source.deadline import OutOfTime

if TYPE_CHECKING:
    import argparse

USAGE_ERROR = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)  # open files, processes, memory
TRACEBACK = "TORCHDEVLINT_TRACEBACK"  # an environment variable: set, a failure shows where it happened


class Command(NamedTuple):
    """A command's module and the line that `torchdevlint --help` shows for it."""

    module: str
    help: str


COMMANDS = {
    "check": Command("torchdevlint.cli.check", "find device faults in files and folders, and repair them"),
    "clean": Command("torchdevlint.cli.clean", "remove what earlier runs have kept"),
    "rule": Command("torchdevlint.cli.rule", "explain a rule, or list all rules"),
    "checkpoint": Command("torchdevlint.cli.checkpoint", "tell which devices a checkpoint needs, without loading it"),
    "explain": Command("torchdevlint.cli.explain", "explain a PyTorch device error, from its message or traceback"),
    "doctor": Command("torchdevlint.cli.doctor", "tell why torch sees no GPU on this machine, and what mends it"),
    "run": Command("torchdevlint.cli.run", "run a program on a virtual GPU machine"),
    "prove": Command("torchdevlint.cli.prove", "show each rule's fault and its repair by running them"),
    "stubs": Command("torchdevlint.cli.stubs", "print what is known of a name of torch or another library"),
    "debug": Command("torchdevlint.cli.debug", "print what the analysis believes at a line, and why"),
    "new-rule": Command("torchdevlint.cli.new_rule", "make the files of a new rule, in a checkout of torchdevlint"),
    "server": Command("torchdevlint.cli.server", "tell an editor of faults as one types (language server)"),
    "verify": Command(
        "torchdevlint.cli.verify", "run a program before and after each fix, to see which findings are true"
    ),
}

_EPILOG = """\
examples:
  torchdevlint check                      look at the current folder
  torchdevlint check --diff src train.py  show what the safe fixes would change
  torchdevlint check --fix .              apply them
  torchdevlint rule TDL101                what a rule finds, and why
"""


def main(arguments: Sequence[str]) -> int:
    """Runs one command line; the exit code. Whatever fails is one sentence and 2: a 1 would mean findings."""
    _mend_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # names and messages may hold what the terminal cannot show
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _ended("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _silence(sys.stdout)
        return BROKEN_PIPE
    except (Exception, OutOfTime) as error:
        if os.environ.get(TRACEBACK):
            import traceback

            traceback.print_exc()
        return _ended(_sentence(error), USAGE_ERROR)


def _ended(message: str, code: int) -> int:
    """Tells the last that there is to tell, whatever can still be written to."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _silence(sys.stdout)
    try:
        tell(message)
        sys.stderr.flush()
    except (OSError, ValueError):
        _silence(sys.stderr)
    return code


def _is_somewhere() -> bool:
    """False for a process whose current folder was removed."""
    try:
        return bool(os.getcwd())  # noqa: PTH109
    except OSError:
        return False


def _sentence(error: BaseException) -> str:
    if isinstance(error, OutOfTime):
        return error.message
    if isinstance(error, FileNotFoundError) and not _is_somewhere():
        return "the current folder does not exist any more"
    if isinstance(error, OSError) and error.strerror:
        what = "the run needs more than the system gives" if error.errno in _SCARCE else "cannot write the output"
        return f"{error.filename or what}: {error.strerror}"
    told = " ".join(str(error).split())
    return (
        f"failed: {type(error).__name__}{': ' * bool(told)}{told} (a fault of torchdevlint; {TRACEBACK}=1 shows where)"
    )


def _silence(stream: Any) -> None:
    """Sends what is left in a stream that cannot be written to nowhere, so that closing it does not fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Closed(io.TextIOBase):
    """A standard stream that the caller has closed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.buffer = self

    def write(self, _: Any) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), self.name)

    def read(self, _: int | None = -1) -> Any:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), self.name)


def _mend_streams() -> None:
    """Takes the places of closed standard streams: the next file that is opened would get their numbers, and what is written to them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                opened = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
            setattr(sys, name, _Closed(f"<{name}>") if name != "stderr" else open(os.devnull, "w"))  # noqa: PTH123, SIM115


def fail(message: str) -> int:
    """Tells why the tool could not do its work; the exit code for it."""
    tell(message)
    return USAGE_ERROR


def tell(message: str) -> None:
    """Says something on standard error, in one line."""
    from torchdevlint.reporting.plain import shown

    print(f"torchdevlint: {shown(message)}", file=sys.stderr)


def formatter() -> type[argparse.HelpFormatter]:
    """Help with its line breaks kept. argparse asks for a formatter at every option, and its own imports shutil for the width."""
    import argparse

    class Formatter(argparse.RawDescriptionHelpFormatter):
        def __init__(self, prog: str, **options: Any) -> None:
            super().__init__(prog, **{"width": terminal_width() - 2, **options})

    return Formatter


def command_parser(subparsers: Any, name: str, description: str, epilog: str = "") -> argparse.ArgumentParser:
    """The parser of a command, whose options are still to be added; the lines of its texts stay as they are."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, help=COMMANDS[name].help, description=description, epilog=epilog, formatter_class=formatter()
    )
    return parser


def terminal_width() -> int:
    """Columns of the terminal, 80 where that cannot be told."""
    columns = os.environ.get("COLUMNS", "")
    try:
        return int(columns) if columns.isdigit() and int(columns) > 0 else os.get_terminal_size().columns or 80
    except OSError:
        return 80


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) in (["--version"], ["-V"]):
        from torchdevlint import __version__

        print(f"torchdevlint {__version__}")
        return 0
    double = _option_that_is_a_file(arguments)
    if double is not None:
        return fail(f"{double}: an option, and the name of a file here: put -- between the options and the paths")
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        return fail(_unknown_command(arguments[0]))
    parser, modules = _parser(arguments)
    if not arguments:
        parser.print_help()
        return USAGE_ERROR
    parsed = parser.parse_args(arguments)
    code: int = modules[parsed.command].run(parsed)
    return code


def _unknown_command(word: str) -> str:
    """The sentence for a word that is no command: a path whose command was forgotten, or a slip of the keys."""
    import difflib

    close = difflib.get_close_matches(word.lower(), COMMANDS, n=1)
    if os.path.lexists(word):
        meant = f"did you mean `torchdevlint check {word}`?"
    elif close:
        meant = f"did you mean {close[0]!r}?"
    else:
        meant = f"the commands are {', '.join(COMMANDS)}"
    return f"unknown command {word!r} ({meant})"


def _meant_option(message: str, options: Sequence[str]) -> str:
    """What to add to argparse's message where an option is not known: the nearest one that is."""
    import difflib

    words = message.partition("unrecognized arguments: ")[2].split()
    unknown = next((word.partition("=")[0] for word in words if word.startswith("--")), "")
    close = difflib.get_close_matches(unknown, options, n=1) if unknown else []
    return f" (did you mean {close[0]}?)" if close else ""


def _option_that_is_a_file(arguments: Sequence[str]) -> str | None:
    """The first word in front of `--` that could be either: a file of a repository may be called `--output-file=train.py`.

    With `--` there is no doubt: what stands in front of it was written by the user, and not filled in by a pattern or a hook.
    """
    if list(arguments[:1]) != ["check"] or "--" in arguments:
        return None
    return next((word for word in arguments if len(word) > 1 and word[0] == "-" and os.path.lexists(word)), None)


def _parser(arguments: Sequence[str]) -> tuple[argparse.ArgumentParser, dict[str, Any]]:
    """The parser, with the options of the command that is asked for; other commands show their line of help alone."""
    import argparse

    class Parser(argparse.ArgumentParser):
        """Options are spelled in full: a shorter one would change its meaning with the next option."""

        def __init__(self, **options: Any) -> None:
            super().__init__(**{"allow_abbrev": False, **options})

        options: tuple[str, ...] = ()  # those of the command that is asked for

        def error(self, message: str) -> NoReturn:
            from torchdevlint.reporting.plain import shown

            super().error(shown(message + _meant_option(message, self.options)))

    parser = Parser(
        prog="torchdevlint",
        description="Finds, repairs and proves device-placement faults in PyTorch code.",
        epilog=_EPILOG,
        formatter_class=formatter(),
    )
    parser.add_argument("-V", "--version", action="store_true", help="print the version")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog="torchdevlint")
    modules: dict[str, Any] = {}
    for name, command in COMMANDS.items():
        if name in arguments[:1]:
            modules[name] = importlib.import_module(command.module)
            command_parser = modules[name].add_parser(subparsers)
            parser.options = tuple(command_parser._option_string_actions)  # argparse has no public list
        else:
            subparsers.add_parser(name, help=command.help, formatter_class=formatter())
    return parser, modules
