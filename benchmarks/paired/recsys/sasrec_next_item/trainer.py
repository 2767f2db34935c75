import logging
import os

import torch

from utils.ranking import RankingMeter

log = logging.getLogger("sasrec")


class Trainer:
    def __init__(self, model, optimizer, device, seen, ckpt_dir):
        self.model = model.to(device)
        self.optimizer = optimizer
        self.device = device
        self.seen = seen
        self.ckpt = os.path.join(ckpt_dir, "best.pt")
        self.best = -1.0

    def train_epoch(self, loader):
        self.model.train()
        total, n = 0.0, 0
        for seq, pos, neg in loader:
            seq, pos, neg = (t.to(self.device, non_blocking=True) for t in (seq, pos, neg))
            self.optimizer.zero_grad(set_to_none=True)
            loss = self.model(seq, pos, neg)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            total += loss.item() * seq.size(0)
            n += seq.size(0)
        return total / n

    def evaluate(self, loader):
        self.model.eval()
        meter = RankingMeter()
        for users, seq, target in loader:
            scores = self.model.score_all(seq.to(self.device)).cpu().numpy()
            scores[:, 0] = -1e9
            for row, (u, t) in enumerate(zip(users.tolist(), target.tolist())):
                drop = [i for i in self.seen[u] if i != t]
                scores[row, drop] = -1e9
            meter.update(scores, target.numpy())
        return meter.compute()

    def maybe_save(self, metrics):
        if metrics["NDCG@10"] > self.best:
            self.best = metrics["NDCG@10"]
            torch.save({k: v.cpu() for k, v in self.model.state_dict().items()}, self.ckpt)

    def restore(self):
        self.model.load_state_dict(torch.load(self.ckpt))
        log.info("restored best checkpoint (NDCG@10 %.4f)", self.best)
