"""Puts this Python process on the virtual machine that TORCHDEVLINT_MACHINE describes, when it imports torch.

This file shadows the distribution's or the user's own sitecustomize, so that one is run as well.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _run_next() -> None:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib would slow every child's start
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _hook() -> None:
    package = os.environ["TORCHDEVLINT_PACKAGE"]
    try:
        from torchdevlint.machine import child
    except ImportError:  # another environment's Python: the package comes along, behind everything else
        sys.path.append(package)
        from torchdevlint.machine import child
    child.join()


if os.environ.get("TORCHDEVLINT_MACHINE"):
    _hook()
_run_next()
