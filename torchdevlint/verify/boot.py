"""Starts a program as `python SCRIPT` or `python -m MODULE` would, through the overlay of verify/site/sitecustomize.py.

usage: boot.py SCRIPT [ARGS ...] | boot.py -m MODULE [ARGS ...]
"""

# As little as possible is imported before the program.
# ruff: noqa: PTH100, PTH109, PTH120, PTH123

from __future__ import annotations

import builtins
import os
import runpy
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _boot() -> None:
    if sys.argv[1] == "-m":
        module = sys.argv[2]
        sys.argv[:] = sys.argv[2:]
        sys.path[0] = os.getcwd()
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return
    script = os.path.abspath(sys.argv[1])  # as Python names its main file
    overlay = builtins.__torchdevlint_overlay__  # type: ignore[attr-defined]
    entry = overlay.find(script)
    code = _compiled(script) if entry is None else overlay.compile(script, entry)
    sys.argv[:] = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    main = type(sys)("__main__")
    main.__dict__.update(__file__=script, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _compiled(script: str) -> Any:
    with open(script, "rb") as file:
        return compile(file.read(), script, "exec", dont_inherit=True)


_boot()
