"""Multi-target property prediction for small molecules."""
import argparse

import torch

from molprop.data import RandomMolecules, split
from molprop.model import MPNN
from molprop.train import Trainer
from molprop.utils import Normalizer, set_seed
from torch_geometric.loader import DataLoader


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-mols", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--steps", type=int, default=2, help="message passing steps")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--disable-cuda", action="store_true")
    return parser.parse_args()


def main():
    args = get_args()
    set_seed(args.seed)
    args.device = torch.device(
        "cuda" if torch.cuda.is_available() and not args.disable_cuda else "cpu")

    dataset = RandomMolecules(args.num_mols, seed=args.seed)
    train_set, val_set, test_set = split(dataset, (0.7, 0.15, 0.15))
    loaders = {
        "train": DataLoader(train_set, batch_size=args.batch_size, shuffle=True),
        "val": DataLoader(val_set, batch_size=args.batch_size),
        "test": DataLoader(test_set, batch_size=args.batch_size),
    }

    targets = torch.cat([d.y for d in train_set])
    normalizer = Normalizer(targets, device=args.device)

    model = MPNN(dataset.num_atom_types, dataset.num_bond_types,
                 hidden=args.hidden, steps=args.steps, out_dim=targets.size(1))
    trainer = Trainer(model, normalizer, args)
    trainer.fit(loaders["train"], loaders["val"])

    mae = trainer.evaluate(loaders["test"])
    for name, m in zip(dataset.target_names, mae.tolist()):
        print(f"test MAE {name:>8}: {m:.4f}")


if __name__ == "__main__":
    main()
