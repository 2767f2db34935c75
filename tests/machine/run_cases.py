"""Runs the cases of each file on a machine, in a process of its own, and writes what became of each as JSON.

usage: run_cases.py FOLDER CASES.py SHAPE_JSON LEDGER [CASES.py SHAPE_JSON LEDGER ...]

LEDGER is 0 or 1. torch is imported once: the processes are forked from one that has no machine yet. The results of NAME.py go to
FOLDER/NAME.json, what its process printed to FOLDER/NAME.txt.
"""

import json
import os
import runpy
import sys
import traceback
import warnings
from pathlib import Path

import torch

from torchdevlint.machine import Shape, start


def main() -> None:
    torch.set_num_threads(1)  # a forked child cannot use its parent's pool of threads
    warnings.simplefilter("ignore")
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    for path, shape, ledger in zip(words[::3], words[1::3], words[2::3], strict=True):
        pid = os.fork()
        if pid == 0:
            try:
                run(Path(path), Shape.from_json(shape), ledger == "1", folder)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(0)
        os.waitpid(pid, 0)


def run(path: Path, shape: Shape, ledger: bool, folder: Path) -> None:
    printed = os.open(folder / f"{path.stem}.txt", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(printed, stream)
    machine = start(shape, ledger=ledger)
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
    (folder / f"{path.stem}.json").write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main()
