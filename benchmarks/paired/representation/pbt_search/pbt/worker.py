import os
from typing import Dict

import torch
from torch import nn


def build_model() -> nn.Module:
    return nn.Sequential(
        nn.Linear(20, 32), nn.BatchNorm1d(32), nn.ReLU(),
        nn.Linear(32, 32), nn.ReLU(),
        nn.Linear(32, 4),
    )


class Worker:
    """One member of the population: trains in slices, can be overwritten by the checkpoint of a better one."""

    def __init__(self, wid: int, hp: Dict[str, float], data, ckpt_dir: str, device: str):
        self.wid = wid
        self.hp = hp
        self.data = data
        self.device = device
        self.path = os.path.join(ckpt_dir, f"worker_{wid}.pt")
        self.score = float("-inf")
        self.model = build_model().to(device)
        self.opt = self._make_optimizer()
        self.loss_fn = nn.CrossEntropyLoss()

    def _make_optimizer(self):
        return torch.optim.SGD(
            self.model.parameters(),
            lr=self.hp["lr"], momentum=self.hp["momentum"], weight_decay=self.hp["weight_decay"],
        )

    def train_slice(self, steps: int) -> None:
        x, y = self.data["train"]
        self.model.train()
        for _ in range(steps):
            pick = torch.randint(len(x), (32,))
            loss = self.loss_fn(self.model(x[pick].to(self.device)), y[pick].to(self.device))
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    @torch.no_grad()
    def evaluate(self) -> float:
        x, y = self.data["valid"]
        self.model.eval()
        pred = self.model(x.to(self.device)).argmax(1).cpu()
        self.score = (pred == y).float().mean().item()
        return self.score

    def save(self) -> None:
        torch.save({"model": self.model.state_dict(), "opt": self.opt.state_dict(), "hp": self.hp}, self.path)

    def restore(self, path: str, hp: Dict[str, float]) -> None:
        ckpt = torch.load(path, map_location="cpu")
        self.hp = hp
        self.model = build_model()
        self.model.load_state_dict(ckpt["model"])
        self.model.to(self.device)
        self.opt = self._make_optimizer()
        self.opt.load_state_dict(ckpt["opt"])
        for group in self.opt.param_groups:
            group.update(lr=hp["lr"], momentum=hp["momentum"], weight_decay=hp["weight_decay"])
