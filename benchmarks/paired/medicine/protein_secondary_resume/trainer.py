import logging

import torch
import torch.nn.functional as F
from sklearn.metrics import recall_score

from proteins import IGNORE, SS

log = logging.getLogger("ss")


class Preempted(Exception):
    pass


class Trainer:
    def __init__(self, model, device, lr, wall):
        self.device = device
        self.model = model.to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.step_no = 0
        self.wall = wall
        # running share of the classes, for the logit adjustment
        self.prior = torch.full((len(SS),), 1.0 / len(SS), device=device)
        self.losses = []

    # -- checkpoints ---------------------------------------------------------
    def save(self, path):
        torch.save({
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "prior": self.prior,
            "step": self.step_no,
            "losses": self.losses,
            "rng": torch.get_rng_state(),
        }, path)

    def load(self, path):
        # nodes have different numbers of cards, so never restore straight to one
        ckpt = torch.load(path, map_location="cpu")
        self.model.load_state_dict(ckpt["model"])
        self.optimizer.load_state_dict(ckpt["optimizer"])
        self.prior = ckpt["prior"].to(self.device)
        self.step_no = ckpt["step"]
        self.losses = ckpt["losses"]
        torch.set_rng_state(ckpt["rng"])
        log.info("resumed at step %d", self.step_no)

    # -- training ------------------------------------------------------------
    def update_prior(self, labels, momentum=0.9):
        share = torch.bincount(labels, minlength=len(SS)).float()
        self.prior.mul_(momentum).add_(share / share.sum(), alpha=1 - momentum)

    def train_step(self, seq, ss, lengths):
        seq, ss = seq.to(self.device), ss.to(self.device)
        logits = self.model(seq, lengths)
        valid = ss != IGNORE
        self.update_prior(ss[valid])
        loss = F.cross_entropy(logits[valid] + self.prior.log(), ss[valid])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def fit(self, loader, steps):
        self.model.train()
        done_here = 0
        while True:
            for batch in loader:
                if self.step_no >= steps:
                    return
                if done_here >= self.wall:
                    raise Preempted(self.step_no)
                self.losses.append(self.train_step(*batch))
                self.step_no += 1
                done_here += 1
            log.info("step %d mean loss %.4f prior %s", self.step_no, sum(self.losses) / len(self.losses),
                     [round(p, 3) for p in self.prior.tolist()])

    # -- evaluation ----------------------------------------------------------
    @torch.inference_mode()
    def evaluate(self, loader):
        self.model.eval()
        truth, guess = [], []
        for seq, ss, lengths in loader:
            pred = self.model(seq.to(self.device), lengths).argmax(-1).cpu()
            keep = ss != IGNORE
            truth.append(ss[keep])
            guess.append(pred[keep])
        truth, guess = torch.cat(truth), torch.cat(guess)
        recall = recall_score(truth.numpy(), guess.numpy(), average=None, labels=range(len(SS)), zero_division=0)
        return (truth == guess).float().mean().item(), dict(zip(SS, recall.round(3).tolist()))
