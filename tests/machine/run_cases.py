"""Runs the cases of one file on a machine, in this process, and prints what became of each as JSON.

usage: run_cases.py CASES.py SHAPE_JSON [--ledger]
"""

import json
import runpy
import sys
import traceback
import warnings
from pathlib import Path

from torchdevlint.machine import Shape, start


def main() -> None:
    path, shape = Path(sys.argv[1]), Shape.from_json(sys.argv[2])
    machine = start(shape, ledger="--ledger" in sys.argv)
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(path.parent))
    names = runpy.run_path(str(path), {"MACHINE": machine})
    results = {}
    for name, case in names.items():
        if name.startswith("case_"):
            torch.manual_seed(0)
            try:
                case()
                results[name] = None
            except BaseException:
                results[name] = traceback.format_exc()
    print("\nRESULTS " + json.dumps(results))


if __name__ == "__main__":
    main()
