import argparse
import logging
import os
import tempfile
from dataclasses import asdict, dataclass

import numpy as np
import torch
import torch.nn.functional as F

from data.scene import RayBank
from nerf import OccupancyGrid, RadianceField, render_image, render_rays

log = logging.getLogger("nerf")


@dataclass
class Config:
    hidden: int = 32
    near: float = 0.8
    far: float = 3.2
    batch_rays: int = 144
    lr: float = 5e-3
    grid_res: int = 8
    grid_every: int = 2
    bound: float = 1.0


def psnr(pred, target):
    mse = np.mean((pred.numpy() - target.numpy()) ** 2)
    return -10.0 * np.log10(mse + 1e-12)


class Trainer:
    def __init__(self, cfg, device, out_dir):
        self.cfg, self.device, self.out_dir = cfg, device, out_dir
        self.bank = RayBank()
        b = cfg.bound
        self.field = RadianceField(cfg.hidden).to(device)
        self.grid = OccupancyGrid([-b, -b, -b, b, b, b], cfg.grid_res).to(device)
        self.optimizer = torch.optim.Adam(self.field.parameters(), lr=cfg.lr)
        self.step = 0

    def train_epoch(self):
        cfg, losses = self.cfg, []
        for origins, dirs, target in self.bank.batches(cfg.batch_rays, self.device):
            if self.step % cfg.grid_every == 0:
                self.grid.update(self.field)
            color, _, weights = render_rays(self.field, self.grid, origins, dirs, cfg.near, cfg.far)
            loss = F.mse_loss(color, target) + 1e-4 * weights.sum(1).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.detach())
            self.step += 1
        return torch.stack(losses).mean().item()

    def evaluate(self, view=0):
        o, d, target = self.bank.view(view)
        frame, depth = render_image(self.field, self.grid, o, d, self.cfg.near, self.cfg.far)
        return psnr(frame, target), float(depth.median())

    def save(self, name="last.pt"):
        path = os.path.join(self.out_dir, name)
        self.field.cpu()
        self.grid.cpu()
        torch.save({"field": self.field.state_dict(), "grid": self.grid.state_dict(), "cfg": asdict(self.cfg)}, path)
        self.field.to(self.device)
        self.grid.to(self.device)
        return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    torch.manual_seed(args.seed)

    with tempfile.TemporaryDirectory() as out_dir:
        trainer = Trainer(Config(), torch.device(args.device), out_dir)
        for epoch in range(args.epochs):
            loss = trainer.train_epoch()
            score, depth = trainer.evaluate()
            log.info("epoch %d loss %.4f psnr %.2f depth %.2f", epoch, loss, score, depth)
            trainer.save()


if __name__ == "__main__":
    main()
