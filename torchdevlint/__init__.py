"""Finds, repairs and proves device-placement faults in PyTorch code.

The public API: `check_source`, `fix_source`, `check_paths`, `Finding` and `Rule`. Importing this package imports neither torch nor LibCST.

PYTEST_DONT_REWRITE (with `pytest --virtual-gpus` this package is imported before pytest, which would warn that it comes too late)
"""

# Nothing is imported here: `python -m torchdevlint` reads this file while the current folder still comes first on the path, and a file
# of that folder that is called typing.py would run. See `__main__`.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from torchdevlint.api import check_paths, check_source, fix_source
    from torchdevlint.findings import Finding
    from torchdevlint.rules.rule import Rule

__version__ = "0.2.0"
__all__ = ["Finding", "Rule", "__version__", "check_paths", "check_source", "fix_source"]

_HOMES = {
    "check_paths": "torchdevlint.api",
    "check_source": "torchdevlint.api",
    "fix_source": "torchdevlint.api",
    "Finding": "torchdevlint.findings",
    "Rule": "torchdevlint.rules.rule",
}


def __getattr__(name: str) -> "Any":
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
