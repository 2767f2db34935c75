import argparse
import logging
from pathlib import Path

import torch
import yaml
from torch.utils.data import DataLoader

from callbacks import History, LRFinder
from charlm import BengioLM, NGramDataset
from trainer import Trainer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default=Path(__file__).with_name("config.yaml"))
    parser.add_argument("--epochs", type=int)
    opts = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(0)

    cfg = yaml.safe_load(Path(opts.config).read_text())
    m, t = cfg["model"], cfg["train"]
    data = NGramDataset(128, m["vocab"], m["context"])
    loader = DataLoader(data, batch_size=t["batch_size"], shuffle=True)
    history = History()
    trainer = Trainer(BengioLM(**m), loader, t["lr"], t["weight_decay"], [history, LRFinder(**cfg["finder"])])
    trainer.fit(opts.epochs or t["epochs"])
    print(history.epochs[-1])


if __name__ == "__main__":
    main()
