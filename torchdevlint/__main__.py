"""`python -m torchdevlint` and the console script."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command line; the exit code."""
    from torchdevlint.cli import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
