"""`torchdevlint clean`: remove what runs have kept."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torchdevlint import cli
from torchdevlint.settings import cache_folder
from torchdevlint.source.disk import CACHE_FOLDER, CACHE_VARIABLE
from torchdevlint.source.folders import DEFAULT_EXCLUDE


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds the command's options."""
    parser = cli.command_parser(
        subparsers,
        "clean",
        f"Removes the caches of torchdevlint in folders and below them, each called {CACHE_FOLDER}, and the one that the settings name.",
    )
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="folders (default: .)")
    parser.add_argument(
        "--cache-dir", metavar="FOLDER", help="a cache in another place, as `check --cache-dir` makes it"
    )
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; the exit code."""
    named = arguments.cache_dir or os.environ.get(CACHE_VARIABLE) or cache_folder(None, isolated=False)
    folders = [*([named] if named else []), *(found for path in arguments.paths for found in _caches_below(path))]
    code = 0
    for folder in dict.fromkeys(os.path.abspath(folder) for folder in folders):  # noqa: PTH100
        from torchdevlint.workspace.cache import is_ours

        if not is_ours(folder) or Path(folder).is_symlink():
            continue
        try:
            shutil.rmtree(folder)
            print(f"Removed {folder}")
        except OSError as error:
            code = cli.fail(f"{error.filename or folder}: {error.strerror}")
    return code


def _caches_below(path: str) -> Iterator[str]:
    for folder, names, _ in os.walk(path):
        if CACHE_FOLDER in names:
            yield os.path.join(folder, CACHE_FOLDER)  # noqa: PTH118
        names[:] = sorted(set(names) - DEFAULT_EXCLUDE)
