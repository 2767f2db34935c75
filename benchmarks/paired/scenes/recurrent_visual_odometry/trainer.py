import logging
import pathlib

import torch
import torch.nn.functional as F

from utils.metrics import ate_rmse
from utils.modes import host_inference
from utils.se3 import integrate, pose_vec_to_mat

log = logging.getLogger("vo")


class Trainer:
    def __init__(self, model, train_loader, val_set, args):
        self.args = args
        self.device = torch.device(args.device)
        self.model = model.to(self.device)
        self.loader = train_loader
        self.val_set = val_set
        self.opt = torch.optim.Adam(model.parameters(), lr=args.lr)
        self.iteration = 0
        self.best = float("inf")

    def loss(self, pred, target):
        t = F.smooth_l1_loss(pred[..., :3], target[..., :3])
        r = F.smooth_l1_loss(pred[..., 3:], target[..., 3:])
        rel = pose_vec_to_mat(pred) - pose_vec_to_mat(target)
        return t + self.args.rot_weight * r + 0.1 * rel.pow(2).mean()

    def fit(self):
        for epoch in range(self.args.epochs):
            self.model.reset_state()
            total = 0.0
            for batch in self.loader:
                pairs = batch["pairs"].to(self.device)
                motion = batch["motion"].to(self.device)
                self.model.detach_state()
                loss = self.loss(self.model(pairs), motion)
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.opt.step()
                total += loss.item()
                self.iteration += 1
                if self.iteration % self.args.val_every == 0:
                    self.validate()
            log.info("epoch %d loss %.4f best ATE %.3f", epoch, total / len(self.loader), self.best)

    def validate(self):
        with host_inference(self.model) as net:
            preds = torch.cat([net(self.val_set[k]["pairs"]) for k in range(len(self.val_set))], dim=1)
        errors = []
        for drive in range(preds.shape[0]):
            pred = integrate(pose_vec_to_mat(preds[drive]))
            errors.append(ate_rmse(pred, integrate(self.val_set.ground_truth(drive))))
        ate = sum(errors) / len(errors)
        log.info("iter %d ATE %.3f", self.iteration, ate)
        if ate < self.best:
            self.best = ate
            self.save(pathlib.Path(self.args.out) / "best.pth")

    def save(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save({"model": self.model.state_dict(), "state": self.model.export_state(), "it": self.iteration}, path)
