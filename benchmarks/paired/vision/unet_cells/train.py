import argparse
import logging
import shutil

import torch

from dataset import CellDataset
from trainer import Trainer
from unet import UNet


def get_args():
    parser = argparse.ArgumentParser(description='Train the UNet on images and target masks')
    parser.add_argument('--epochs', '-e', type=int, default=2)
    parser.add_argument('--batch-size', '-b', type=int, default=6)
    parser.add_argument('--learning-rate', '-l', type=float, default=1e-3, dest='lr')
    return parser.parse_args()


if __name__ == '__main__':
    args = get_args()
    logging.basicConfig(level=logging.INFO, format='%(levelname)s: %(message)s')
    torch.manual_seed(0)
    train_set, val_set = CellDataset(12), CellDataset(6, seed=1)
    net = UNet(n_channels=1, n_classes=CellDataset.num_classes)
    trainer = Trainer(net, train_set, val_set, args.batch_size, args.lr)
    logging.info('Using device %s', trainer.device)
    best = trainer.fit(args.epochs)
    logging.info('best dice %.4f', best)
    shutil.rmtree(trainer.checkpoint_dir)
