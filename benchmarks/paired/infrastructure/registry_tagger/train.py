import sys
from pathlib import Path

import torch
import yaml

from tagger.trainer import Trainer


def load_config(path, overrides):
    cfg = yaml.safe_load(Path(path).read_text())
    for item in overrides:
        key, value = item.split("=", 1)
        node = cfg
        *parents, leaf = key.split(".")
        for p in parents:
            node = node[p]
        node[leaf] = yaml.safe_load(value)
    return cfg


if __name__ == "__main__":
    cfg = load_config(sys.argv[1], sys.argv[2:])
    torch.manual_seed(cfg["seed"])
    Trainer(cfg).fit()
