"""Stochastic weight averaging for a small 1d ResNet.

SGD with a cosine schedule, then SWALR with a constant rate while the weights are
averaged; BatchNorm statistics are recomputed before the averaged model is tested.
"""
import random

import numpy as np
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, Dataset

CFG = dict(
    epochs=4,
    swa_start=2,
    lr=0.05,
    swa_lr=0.02,
    batch_size=32,
    n_train=96,
    n_test=48,
    seed=17,
)


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)


class BeatDataset(Dataset):
    """Synthetic pulses: narrow, wide or doubled, somewhere in a noisy window."""

    def __init__(self, n, length=32, seed=0):
        rng = np.random.RandomState(seed)
        self.labels = rng.randint(0, 3, size=n)
        t = np.arange(length)
        self.signals = []
        for lab in self.labels:
            c = rng.uniform(10, length - 10)
            width = 3.0 if lab == 1 else 1.0
            s = np.exp(-0.5 * ((t - c) / width) ** 2)
            if lab == 2:
                s += np.exp(-0.5 * ((t - c - 6) / width) ** 2)
            self.signals.append(s + 0.1 * rng.randn(length))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        x = torch.as_tensor(self.signals[idx], dtype=torch.float32).unsqueeze(0)
        return x, int(self.labels[idx])


class Residual(nn.Module):
    def __init__(self, c, k=5):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv1d(c, c, k, padding=k // 2, bias=False), nn.BatchNorm1d(c), nn.ReLU(inplace=True),
            nn.Conv1d(c, c, k, padding=k // 2, bias=False), nn.BatchNorm1d(c),
        )

    def forward(self, x):
        return torch.relu(x + self.f(x))


class BeatNet(nn.Module):
    def __init__(self, width=12, classes=3):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, width, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm1d(width), nn.ReLU(),
            Residual(width), Residual(width),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(),
            nn.Linear(width, classes),
        )

    def forward(self, x):
        return self.net(x)


class Experiment:
    def __init__(self, cfg):
        self.cfg = cfg
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = BeatNet().to(self.device)
        self.swa_model = AveragedModel(self.model)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=cfg["lr"], momentum=0.9, nesterov=True)
        self.cosine = CosineAnnealingLR(self.opt, T_max=cfg["swa_start"])
        self.swa_sched = SWALR(self.opt, swa_lr=cfg["swa_lr"], anneal_epochs=1)
        self.loss_fn = nn.CrossEntropyLoss()
        self.train_loader = DataLoader(
            BeatDataset(cfg["n_train"], seed=1), cfg["batch_size"], shuffle=True, drop_last=True)
        self.test_loader = DataLoader(BeatDataset(cfg["n_test"], seed=2), cfg["batch_size"])

    def train_epoch(self):
        self.model.train()
        tot = 0.0
        for x, y in self.train_loader:
            x, y = x.to(self.device), y.to(self.device)
            self.opt.zero_grad()
            loss = self.loss_fn(self.model(x), y)
            loss.backward()
            self.opt.step()
            tot += loss.item()
        return tot / len(self.train_loader)

    @torch.no_grad()
    def test(self, model):
        model.eval()
        hits = 0
        for x, y in self.test_loader:
            hits += (model(x.to(self.device)).argmax(-1).cpu() == y).sum().item()
        return hits / len(self.test_loader.dataset)

    def run(self):
        for epoch in range(self.cfg["epochs"]):
            loss = self.train_epoch()
            if epoch >= self.cfg["swa_start"]:
                self.swa_model.update_parameters(self.model)
                self.swa_sched.step()
            else:
                self.cosine.step()
            lr = self.opt.param_groups[0]["lr"]
            print(f"epoch {epoch}: loss {loss:.3f} acc {self.test(self.model):.3f} lr {lr:.4f}")
        update_bn(self.train_loader, self.swa_model, device=self.device)
        print(f"swa ({int(self.swa_model.n_averaged)} models): acc {self.test(self.swa_model):.3f}")


if __name__ == "__main__":
    seed_everything(CFG["seed"])
    Experiment(CFG).run()
