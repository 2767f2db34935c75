import sys
import tempfile

import torch

import fno  # noqa: F401
from fno.trainer import Trainer

CONFIG = {
    "seed": 3,
    "device": "auto",
    "epochs": 3,
    "batch_size": 8,
    "lr": 5e-3,
    "data": {"name": "heat", "n_train": 16, "n_test": 8, "size": 16},
    "net": {"name": "fno2d", "width": 8, "modes": 3, "depth": 2},
    "callbacks": [{"name": "csv"}, {"name": "spectrum", "every": 2}],
}


def override(cfg, items):
    """key.sub=value pairs from the command line, values are Python literals or strings."""
    import ast
    for item in items:
        path, _, value = item.partition("=")
        *parents, leaf = path.split(".")
        node = cfg
        for key in parents:
            node = node[key]
        try:
            node[leaf] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            node[leaf] = value
    return cfg


if __name__ == "__main__":
    cfg = override(CONFIG, sys.argv[1:])
    torch.manual_seed(cfg["seed"])
    with tempfile.TemporaryDirectory() as out:
        Trainer(cfg, out).fit()
