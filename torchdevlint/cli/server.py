"""`torchdevlint server`: the language server, for an editor."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from typing import Any

from torchdevlint import cli

_MISSING = 'the language server needs pygls: pip install "torchdevlint[lsp]" (from a checkout: pip install ".[lsp]")'

_EPILOG = """\
An editor starts this command and speaks the Language Server Protocol with it on standard input and output: docs/editors.md says how to
set up VS Code, Neovim, Emacs and PyCharm.
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(
        subparsers, "server", "Tells an editor of device faults as one types, and repairs them from there.", _EPILOG
    )
    parser.add_argument(
        "--stdio", action="store_true", help="standard input and output (the default; some editors give it)"
    )
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    if importlib.util.find_spec("pygls") is None:
        return cli.fail(_MISSING)
    try:
        from torchdevlint.server.serve import serve
    except ImportError as error:  # an older pygls
        return cli.fail(f"{_MISSING}; {error}")
    if sys.stdin.isatty():
        cli.tell("waiting for an editor on standard input; end with Ctrl-C (docs/editors.md says how editors start it)")
    stdin = os.fdopen(os.dup(0), "rb")
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything else prints is no message of the protocol
    try:
        return serve(stdin, stdout)
    except KeyboardInterrupt:
        print("torchdevlint: interrupted", file=sys.stderr, flush=True)
        os._exit(cli.INTERRUPTED)  # a thread waits for standard input, and the interpreter would wait for it
