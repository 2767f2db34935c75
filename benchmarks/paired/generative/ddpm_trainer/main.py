import argparse
import logging
import tempfile

import torch
import yaml
from torch.utils.data import DataLoader, Dataset

from trainer import Trainer

CONFIG = """
model: {ch: 8, emb: 16}
diffusion_steps: 40
ema_decay: 0.95
lr: 0.001
batch_size: 8
save_every: 4
"""


class Crosses(Dataset):
    def __init__(self, n=64, size=8):
        self.imgs = torch.full((n, 1, size, size), -1.0)
        rows = torch.randint(0, size, (n,))
        cols = torch.randint(0, size, (n,))
        for i in range(n):
            self.imgs[i, 0, rows[i], :] = 1
            self.imgs[i, 0, :, cols[i]] = 1

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, i):
        return self.imgs[i]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--device", default=None)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO)

    cfg = yaml.safe_load(CONFIG)
    cfg["device"] = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    loader = DataLoader(Crosses(), batch_size=cfg["batch_size"], shuffle=True)

    with tempfile.TemporaryDirectory() as folder:
        Trainer(cfg, loader, folder).train(args.steps)
        # the job may be preempted at any time, so always exercise the resume path
        resumed = Trainer(cfg, loader, folder)
        resumed.load()
        resumed.train(args.steps // 2)
        d = resumed.diffusion
        per_t = d.loss_sum / d.loss_cnt.clip(1)
        logging.info("resumed at %d, worst timestep %d", resumed.step, int(per_t.argmax()))


if __name__ == "__main__":
    main()
