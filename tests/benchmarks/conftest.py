"""The scripts of benchmarks/ are no package: they are imported by their own names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
