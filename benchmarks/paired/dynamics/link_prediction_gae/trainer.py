import logging
import os

import torch
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, roc_auc_score

from data import NegativeSampler

log = logging.getLogger(__name__)


class Trainer:
    def __init__(self, model, x, split, device, lr=1e-2, batch_size=64, seed=0, ckpt_dir="."):
        self.device = device
        self.model = model.to(device)
        self.x = x.to(device)
        self.message_edges = split.train.to(device)
        self.split = split
        self.batch_size = batch_size
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

        all_edges = torch.cat([split.train, split.val, split.test], dim=1)
        self.train_negatives = NegativeSampler(x.size(0), split.train, seed, device)
        # evaluation negatives are drawn once and stay with the host copies of the split
        eval_sampler = NegativeSampler(x.size(0), all_edges, seed + 1)
        self.eval_neg = {
            "val": eval_sampler.sample(split.val.size(1)),
            "test": eval_sampler.sample(split.test.size(1)),
        }
        self.best_auc = 0.0
        self.ckpt_path = os.path.join(ckpt_dir, "best.pt")

    def batches(self):
        order = torch.randperm(self.split.train.size(1))
        for idx in order.split(self.batch_size):
            yield self.split.train[:, idx].to(self.device, non_blocking=True)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for pos in self.batches():
            neg = self.train_negatives.sample(pos.size(1))
            pairs = torch.cat([pos, neg], dim=1)
            target = torch.zeros(pairs.size(1), device=self.device)
            target[:pos.size(1)] = 1.0

            logits = self.model(self.x, self.message_edges, pairs)
            loss = F.binary_cross_entropy_with_logits(logits, target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * pos.size(1)
        return total / self.split.train.size(1)

    @torch.no_grad()
    def evaluate(self, part):
        self.model.eval()
        pos, neg = getattr(self.split, part), self.eval_neg[part]
        pairs = torch.cat([pos, neg], dim=1)
        scores = self.model(self.x, self.message_edges, pairs.to(self.device)).sigmoid().cpu()
        labels = torch.cat([torch.ones(pos.size(1)), torch.zeros(neg.size(1))])
        return roc_auc_score(labels, scores), average_precision_score(labels, scores)

    def save(self):
        torch.save({
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "negatives": self.train_negatives.state_dict(),
        }, self.ckpt_path)

    def restore(self):
        state = torch.load(self.ckpt_path, map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.train_negatives.load_state_dict(state["negatives"])

    def fit(self, epochs):
        for epoch in range(1, epochs + 1):
            loss = self.train_epoch()
            auc, ap = self.evaluate("val")
            log.info("epoch %d loss %.4f val auc %.3f ap %.3f", epoch, loss, auc, ap)
            if auc > self.best_auc:
                self.best_auc = auc
                self.save()
        self.restore()
        return self.evaluate("test")
