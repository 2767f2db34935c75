import logging
import os

import torch
import torch.nn.functional as F

from engine.inferer import sliding_window
from engine.metrics import dice, lesion_recall

logger = logging.getLogger("lungseg.trainer")


def soft_dice_loss(logits, target):
    p = logits.softmax(1)[:, 1]
    t = (target == 1).float()
    inter = (p * t).sum((1, 2, 3))
    return 1 - ((2 * inter + 1) / (p.sum((1, 2, 3)) + t.sum((1, 2, 3)) + 1)).mean()


class Trainer:
    def __init__(self, model, cfg, device, out_dir):
        self.cfg = cfg
        self.device = device
        self.out_dir = out_dir
        self.model = model.to(device)
        self.class_weight = torch.tensor([0.2, 0.8], device=device)
        self.optim = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.best = -1.0

    def loss(self, logits, target):
        return F.cross_entropy(logits, target, weight=self.class_weight) + soft_dice_loss(logits, target)

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for batch in loader:
            image = batch["image"].to(self.device, non_blocking=True)
            label = batch["label"].to(self.device, non_blocking=True)
            loss = self.loss(self.model(image), label)
            self.optim.zero_grad(set_to_none=True)
            loss.backward()
            self.optim.step()
            total += loss.item()
        return total / len(loader)

    def validate(self, dataset):
        self.model.eval()
        scores, recalls = [], []
        for sample in dataset:
            probs = sliding_window(self.model, sample["image"].to(self.device), self.cfg.patch)
            pred = probs.argmax(0).cpu().numpy()
            label = sample["label"].numpy()
            scores.append(dice(pred, label))
            recalls.append(lesion_recall(pred, label))
        return sum(scores) / len(scores), sum(recalls) / len(recalls)

    def fit(self, loader, val_set):
        ckpt = os.path.join(self.out_dir, "best.pt")
        for epoch in range(self.cfg.epochs):
            train_loss = self.train_epoch(loader)
            score, recall = self.validate(val_set)
            logger.info("epoch %d loss %.4f dice %.4f recall %.3f", epoch, train_loss, score, recall)
            if score > self.best:
                self.best = score
                torch.save({"model": self.model.state_dict(), "epoch": epoch}, ckpt)
        self.model.load_state_dict(torch.load(ckpt, map_location=self.device)["model"])
        return self.best
