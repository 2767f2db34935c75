"""`python benchmarks/differential`: see command.py."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:1] = [str(Path(__file__).resolve().parents[1])]
    from differential.command import main

    sys.exit(main())
