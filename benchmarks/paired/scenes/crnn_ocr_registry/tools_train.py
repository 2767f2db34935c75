"""Train, stop half way, resume from the checkpoint, as a preempted job does."""
import argparse
import importlib
import tempfile

import torch

from ocr.runner import Runner


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--config", default="config")
    p.add_argument("--epochs", type=int)
    p.add_argument("--preempt-at", type=int, default=1)
    return p.parse_args()


def main():
    args = parse()
    cfg = dict(importlib.import_module(args.config).cfg)
    epochs = args.epochs or cfg["epochs"]
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(cfg)
        while runner.epoch < epochs:
            loss = runner.train_epoch()
            print(f"epoch {runner.epoch} ctc {loss:.3f} CER {runner.validate():.3f}")
            path = runner.save(folder)
            if runner.epoch == args.preempt_at:
                del runner
                runner = Runner(cfg)
                runner.resume(path)
                print("resumed from", path.split("/")[-1])


if __name__ == "__main__":
    main()
