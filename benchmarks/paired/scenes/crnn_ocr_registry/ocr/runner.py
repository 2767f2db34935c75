import os

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from . import DATASETS, DECODERS, MODELS
from .data.lines import Collate


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (x != y))
    return row[-1]


class Runner:
    def __init__(self, cfg):
        self.cfg = cfg
        name = cfg.get("device", "auto")
        if name == "auto":
            name = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(name)
        train, val = DATASETS.build(cfg["train"]), DATASETS.build(cfg["val"])
        collate = Collate(train.charset)
        self.train_loader = DataLoader(train, cfg["batch_size"], shuffle=True, collate_fn=collate)
        self.val_loader = DataLoader(val, cfg["batch_size"], collate_fn=collate)
        self.model = MODELS.build(cfg["model"], num_classes=len(train.charset) + 1).to(self.device)
        self.decoder = DECODERS.build(cfg["decoder"], charset=train.charset, device=self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"])
        self.epoch = 0

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for imgs, flat, lengths, _ in self.train_loader:
            lp = self.model(imgs.to(self.device))
            steps = torch.full((lp.shape[1],), lp.shape[0], dtype=torch.long)
            loss = F.ctc_loss(lp, flat.to(self.device), steps, lengths, zero_infinity=True)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.epoch == 0:
                self.decoder.observe(flat, lengths)
            total += loss.item()
        self.epoch += 1
        return total / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        wrong = chars = 0
        for imgs, _, _, texts in self.val_loader:
            for guess, text in zip(self.decoder(self.model(imgs.to(self.device))), texts):
                wrong += edit_distance(guess, text)
                chars += len(text)
        return wrong / chars

    def save(self, folder):
        path = os.path.join(folder, f"epoch_{self.epoch}.pth")
        torch.save(
            {
                "model": self.model.state_dict(),
                "decoder": self.decoder.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "epoch": self.epoch,
            },
            path,
        )
        return path

    def resume(self, path):
        ckpt = torch.load(path, map_location=self.device)
        self.model.load_state_dict(ckpt["model"])
        self.decoder.load_state_dict(ckpt["decoder"])
        self.optimizer.load_state_dict(ckpt["optimizer"])
        self.epoch = ckpt["epoch"]
