"""Nodule segmentation on (synthetic) lung CT volumes with a small 3D U-Net."""
import argparse
import logging
import os
import tempfile

import torch
from torch.utils.data import DataLoader

from data.ct import CTPatchDataset, CTVolumeDataset
from engine.export import export_for_clinic
from engine.trainer import Trainer
from models.unet3d import UNet3D

logger = logging.getLogger("lungseg")


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=2)
    p.add_argument("--patch", type=int, nargs=3, default=[8, 16, 16])
    p.add_argument("--volume", type=int, nargs=3, default=[12, 24, 24])
    p.add_argument("--train-volumes", type=int, default=3)
    p.add_argument("--val-volumes", type=int, default=2)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--width", type=int, default=4)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--out", default=None)
    return p.parse_args()


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    out_dir = args.out or tempfile.mkdtemp(prefix="lungseg_")

    train_set = CTPatchDataset(args.train_volumes, args.volume, args.patch, seed=args.seed)
    val_set = CTVolumeDataset(args.val_volumes, args.volume, seed=args.seed + 100)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True,
                              pin_memory=device.type == "cuda")

    model = UNet3D(in_channels=1, num_classes=2, width=args.width)
    trainer = Trainer(model, args, device, out_dir)
    best = trainer.fit(train_loader, val_set)
    logger.info("best dice %.4f on %s", best, device)

    # the reading stations in the clinic have no GPU, make sure the exported
    # weights behave the same there
    report = export_for_clinic(trainer.model, val_set, args.patch, os.path.join(out_dir, "clinic.pt"))
    for k, v in report.items():
        logger.info("export %s: %s", k, v)


if __name__ == "__main__":
    main()
