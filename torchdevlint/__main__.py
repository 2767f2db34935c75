"""`python -m torchdevlint` and the console script."""

# Nothing of the library that Python has not loaded itself is imported before the current folder is off the path (`__future__` neither).
# ruff: noqa: PTH100, PTH109, PTH120

import gc
import os
import sys


def _forget_current_folder() -> None:
    """Takes the current folder off the path, where `python -m` puts it first: a checked folder's own argparse.py is not to run."""
    try:
        current = os.getcwd()
    except OSError:  # it was removed: what cannot be found there cannot run either
        return
    if sys.path and not getattr(sys.flags, "safe_path", False) and sys.path[0] in ("", current):
        here = sys.path.pop(0) or current
        if os.path.dirname(os.path.dirname(os.path.abspath(__file__))) == here:
            sys.path.append(here)  # an uninstalled copy, run from its own folder; child processes look for it here


def main() -> int:
    """Runs the command line; the exit code."""
    from torchdevlint.cli import main as run

    # A tenth of a run's time would go into looking for garbage that the end of the process frees anyway: see `runner.lint_job`.
    gc.disable()
    code = run(sys.argv[1:])
    gc.freeze()  # what is left is not looked through once more while the interpreter shuts down
    return code


if __name__ == "__main__":
    _forget_current_folder()
    sys.exit(main())
