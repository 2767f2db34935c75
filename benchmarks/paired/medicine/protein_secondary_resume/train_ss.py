#!/usr/bin/env python
"""Secondary structure (helix / sheet / coil) from sequence.

Runs on a queue with preemption: the job stops after --wall steps, puts
everything into a checkpoint and is started again until it is done.
"""
import argparse
import logging
import pathlib
import tempfile

import torch
from torch.utils.data import DataLoader

from model import SSPredictor
from proteins import AMINO, PAD, ProteinSet, collate
from trainer import Preempted, Trainer


def job(args, workdir, device):
    """One slot on the cluster. Returns the trainer, or raises Preempted."""
    torch.manual_seed(args.seed)
    model = SSPredictor(len(AMINO) + 1, dim=args.dim, layers=args.layers, pad=PAD)
    trainer = Trainer(model, device, lr=args.lr, wall=args.wall)
    ckpt = workdir / "last.pt"
    if ckpt.exists():
        trainer.load(ckpt)
    train = DataLoader(ProteinSet(args.proteins, seed=args.seed), args.batch_size, shuffle=True, collate_fn=collate)
    valid = DataLoader(ProteinSet(8, seed=args.seed + 1), args.batch_size, collate_fn=collate)
    try:
        trainer.fit(train, args.steps)
    except Preempted:
        trainer.save(ckpt)
        raise
    logging.info("Q3 %.4f  per class %s", *trainer.evaluate(valid))
    return trainer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--proteins", type=int, default=16)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--wall", type=int, default=4, help="steps before the queue takes the node away")
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    with tempfile.TemporaryDirectory() as tmp:
        workdir = pathlib.Path(tmp)
        while True:
            try:
                trainer = job(args, workdir, device)
                break
            except Preempted as e:
                logging.info("preempted at step %s, back in the queue", e)
        weights = workdir / "ss_final.pt"
        torch.save({k: v.cpu() for k, v in trainer.model.state_dict().items()}, weights)
        logging.info("final weights: %.1f kB", weights.stat().st_size / 1024)


if __name__ == "__main__":
    main()
