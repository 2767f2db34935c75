from collections import defaultdict

import torch
from tqdm import tqdm

from .losses import ELBO
from .model import BetaVAE


def pick_device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda:0" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


class Trainer:
    def __init__(self, cfg, train_loader, val_loader, pixel_freq):
        self.cfg = cfg
        self.device = pick_device(cfg["gpu"])
        self.train_loader, self.val_loader = train_loader, val_loader
        self.model = BetaVAE(size=cfg["data"]["size"], **cfg["model"]).to(self.device)
        self.criterion = ELBO(
            cfg["loss"]["beta"],
            cfg["loss"]["warmup_steps"],
            pixel_freq if cfg["loss"]["balance_pixels"] else None,
        ).to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["train"]["lr"])

    def run_epoch(self, loader, train: bool):
        self.model.train(train)
        self.criterion.train(train)
        sums, n = defaultdict(float), 0
        with torch.set_grad_enabled(train):
            for x in tqdm(loader, disable=True):
                x = x.to(self.device)
                logits, mu, logvar = self.model(x)
                loss, parts = self.criterion(logits, x, mu, logvar)
                if train:
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                for k, v in {"loss": loss.item(), **parts}.items():
                    sums[k] += v * len(x)
                n += len(x)
        return {k: v / n for k, v in sums.items()}

    def fit(self):
        for epoch in range(1, self.cfg["train"]["epochs"] + 1):
            tr = self.run_epoch(self.train_loader, True)
            va = self.run_epoch(self.val_loader, False)
            print(f"[{epoch}] train {tr['loss']:.2f} (rec {tr['rec']:.2f}, kl {tr['kl']:.2f})  val {va['loss']:.2f}")
        return self.model
