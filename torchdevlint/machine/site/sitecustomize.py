"""Puts this Python process on the virtual machine that TORCHDEVLINT_MACHINE describes, when it imports torch.

This file shadows the distribution's or the user's own sitecustomize, so that one is run as well. It may run in any
Python that the program starts, so it uses nothing new.
"""

import importlib.machinery
import importlib.util
import json
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
    if importlib.util.find_spec("torchdevlint") is None:
        _bring_package(os.path.join(os.environ["TORCHDEVLINT_PACKAGE"], "torchdevlint"))  # noqa: PTH118
    from torchdevlint.machine import child

    child.join()


def _bring_package(folder: str) -> None:
    """Another environment's Python: this one package comes along, and nothing else of its environment."""
    file = os.path.join(folder, "__init__.py")  # noqa: PTH118
    spec = importlib.util.spec_from_file_location("torchdevlint", file, submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["torchdevlint"] = module
    spec.loader.exec_module(module)


def _tell_failure(error: BaseException) -> None:
    """A child that cannot join the machine is reported, never silently real."""
    reason = "%s: %s" % (type(error).__name__, error)  # noqa: UP031 - any Python
    sys.stderr.write("torchdevlint: this Python runs without the virtual machine (%s)\n" % reason)  # noqa: UP031
    nothing = dict.fromkeys(("hazards", "faults", "unjudged", "notes", "without_machine"), ())
    report = dict(nothing, began=0.0, pid=os.getpid(), parent=os.getppid(), command=[sys.executable], started=False)
    report.update(finished=True, refused=reason, torch=None, uncaught=None, ledger=None)
    folder = json.loads(os.environ["TORCHDEVLINT_MACHINE"])["report_dir"]
    with open(os.path.join(folder, "process-%d.json" % os.getpid()), "w") as file:  # noqa: PTH118, PTH123, UP031
        json.dump(report, file)


if os.environ.get("TORCHDEVLINT_MACHINE"):
    try:
        _hook()
    except Exception as error:
        _tell_failure(error)
_run_next()
