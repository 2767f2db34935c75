import logging
import os

import torch

from models import GaussianDiffusion, TinyUNet
from utils.checkpoint import load_checkpoint, save_checkpoint
from utils.ema import EMA

logger = logging.getLogger(__name__)


def cycle(dl):
    while True:
        for data in dl:
            yield data


class Trainer:
    def __init__(self, cfg, loader, results_folder):
        self.cfg = cfg
        self.device = torch.device(cfg["device"])
        self.model = TinyUNet(**cfg["model"]).to(self.device)
        self.diffusion = GaussianDiffusion(cfg["diffusion_steps"])
        self.ema = EMA(self.model, cfg["ema_decay"])
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"])
        self.dl = cycle(loader)
        self.step = 0
        self.results_folder = results_folder

    @property
    def ckpt_path(self):
        return os.path.join(self.results_folder, "model.pt")

    def save(self):
        save_checkpoint(
            self.ckpt_path,
            step=self.step,
            model=self.model.state_dict(),
            opt=self.opt.state_dict(),
            ema=self.ema.state_dict(),
        )

    def load(self):
        data = load_checkpoint(self.ckpt_path)
        self.step = data["step"]
        self.model.load_state_dict(data["model"])
        self.opt.load_state_dict(data["opt"])
        self.ema.load_state_dict(data["ema"])

    def sample(self, n):
        self.ema.apply_to(self.model)
        self.model.eval()
        imgs = self.diffusion.sample(self.model, (n, 1, 8, 8))
        self.model.train()
        self.ema.restore(self.model)
        return imgs.clamp(-1, 1).cpu()

    def train(self, num_steps):
        end = self.step + num_steps
        while self.step < end:
            x = next(self.dl).to(self.device)
            loss = self.diffusion.training_loss(self.model, x)
            self.opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            self.step += 1
            self.ema.update(self.model)
            if self.step % self.cfg["save_every"] == 0:
                grid = self.sample(4)
                logger.info("step %d loss %.4f sample std %.3f", self.step, loss.item(), grid.std().item())
                self.save()
