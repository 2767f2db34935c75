import argparse
import logging
import tempfile

import torch

from data import random_link_split, stochastic_block_model
from models import BilinearDecoder, GCNEncoder, LinkPredictor
from trainer import Trainer


def parse_args():
    p = argparse.ArgumentParser(description="Link prediction with a GCN encoder")
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--latent", type=int, default=16)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--seed", type=int, default=7)
    p.add_argument("--device", default=None)
    return p.parse_args()


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(args.seed)
    device = torch.device(args.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    x, edges, _ = stochastic_block_model(seed=args.seed)
    split = random_link_split(edges, seed=args.seed)
    logging.info("edges: %s", split.sizes())

    model = LinkPredictor(GCNEncoder(x.size(1), args.hidden, args.latent), BilinearDecoder(args.latent))
    with tempfile.TemporaryDirectory() as tmp:
        trainer = Trainer(model, x, split, device, lr=args.lr, seed=args.seed, ckpt_dir=tmp)
        auc, ap = trainer.fit(args.epochs)
    logging.info("test auc %.3f ap %.3f", auc, ap)


if __name__ == "__main__":
    main()
