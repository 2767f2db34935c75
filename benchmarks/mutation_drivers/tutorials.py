"""pytorch-tutorial: its image scripts on random data."""

import sys
from pathlib import Path

from harness import part, run_script

PROJECT = "yunjey+pytorch-tutorial"
PATHS = ["."]
PRELOAD = ["numpy"]


def _script(name):
    import fake_torchvision

    fake_torchvision.install()
    root = next(Path(p) for p in sys.path if (Path(p) / "tutorials").exists())
    return run_script(next(root.glob(f"tutorials/*/{name}/main.py")))


for _name in (
    "feedforward_neural_network",
    "bidirectional_recurrent_neural_network",
    "convolutional_neural_network",
):

    def _run(name=_name):
        _script(name)

    _run.__name__ = _name
    part(_run)
