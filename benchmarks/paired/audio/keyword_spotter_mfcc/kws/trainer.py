import logging
import os

import torch
import torch.nn as nn

logger = logging.getLogger("kws")


def confusion_matrix(targets, preds):
    n = int(max(targets.max(), preds.max())) + 1
    return torch.bincount(targets * n + preds, minlength=n * n).view(n, n)


class Trainer:
    def __init__(self, model, cfg, weights, device):
        self.cfg = cfg
        self.device = device
        self.model = model.to(device)
        self.criterion = nn.CrossEntropyLoss(weight=weights.to(device),
                                             label_smoothing=cfg.label_smoothing)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.best = -1.0

    def train_epoch(self, loader):
        self.model.train()
        running = torch.zeros((), device=self.device)
        for wav, target in loader:
            wav = wav.to(self.device, non_blocking=True)
            target = target.to(self.device, non_blocking=True)
            gain = torch.empty(wav.size(0), 1, device=wav.device).uniform_(0.7, 1.3)
            loss = self.criterion(self.model(wav * gain), target)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            running += loss.detach()
        return (running / len(loader)).item()

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        preds, targets = [], []
        for wav, target in loader:
            logits = self.model(wav.to(self.device))
            preds.append(logits.argmax(-1).cpu())
            targets.append(target)
        preds, targets = torch.cat(preds), torch.cat(targets)
        return (preds == targets).float().mean().item(), confusion_matrix(targets, preds)

    def fit(self, train_loader, val_loader):
        for epoch in range(self.cfg.epochs):
            loss = self.train_epoch(train_loader)
            acc, cm = self.evaluate(val_loader)
            logger.info("epoch %d loss %.3f val acc %.3f", epoch, loss, acc)
            if acc > self.best:
                self.best = acc
                self.save()
        logger.info("confusion:\n%s", cm)

    def save(self):
        state = {k: v.cpu() for k, v in self.model.state_dict().items()}
        torch.save({"model": state, "acc": self.best}, os.path.join(self.cfg.out_dir, "best.pt"))
