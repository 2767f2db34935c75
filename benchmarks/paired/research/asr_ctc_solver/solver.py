import logging
import os

import torch
import torch.nn.functional as F

from data_loader import CHARS, get_loader
from decoder import edit_distance, greedy_decode, prefix_beam_decode
from models import build_model

logger = logging.getLogger("asr")


class Solver(object):
    def __init__(self, config):
        self.config = config
        self.device = torch.device("cuda:0" if torch.cuda.is_available() and config.use_gpu else "cpu")
        pin = self.device.type == "cuda"
        self.train_loader = get_loader("train", config.batch_size, pin)
        self.dev_loader = get_loader("dev", config.batch_size, pin)
        self.start_epoch = 0
        self.best_cer = float("inf")
        self._compute_cmvn()
        self.build_model()

    def _compute_cmvn(self):
        total, sq, n = 0.0, 0.0, 0
        for feats, lens, _, _, _ in self.train_loader:
            for f, l in zip(feats, lens):
                total = total + f[:l].sum(0)
                sq = sq + (f[:l] ** 2).sum(0)
                n += int(l)
        mean = total / n
        std = (sq / n - mean ** 2).clamp(min=1e-4).sqrt()
        self.cmvn = (mean.to(self.device), std.to(self.device))

    def build_model(self):
        self.model = build_model(self.config.model, self.cmvn[0].numel(), len(CHARS)).to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), self.config.lr)
        if self.config.resume:
            self._restore(self.config.resume)

    def _restore(self, path):
        ckpt = torch.load(path, map_location="cpu")
        self.model.load_state_dict(ckpt["model"])
        self.optimizer.load_state_dict(ckpt["optimizer"])
        self.start_epoch = ckpt["epoch"] + 1
        self.best_cer = ckpt["cer"]

    def _save(self, epoch, cer):
        path = os.path.join(self.config.save_path, "best.pt")
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "epoch": epoch, "cer": cer}, path)
        return path

    def _forward(self, feats, lens):
        mean, std = self.cmvn
        feats = (feats.to(self.device, non_blocking=True) - mean) / std
        logits, out_lens = self.model(feats, lens)
        return F.log_softmax(logits, dim=-1), out_lens

    def train(self):
        for epoch in range(self.start_epoch, self.config.epochs):
            self.model.train()
            running = 0.0
            for feats, lens, targets, target_lens, _ in self.train_loader:
                log_probs, out_lens = self._forward(feats, lens)
                loss = F.ctc_loss(log_probs.transpose(0, 1), targets.to(self.device), out_lens, target_lens,
                                  zero_infinity=True)
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.optimizer.step()
                running += loss.item()
            loss, cer = self.evaluate(self.dev_loader)
            logger.info("epoch %d train %.3f dev %.3f cer %.3f", epoch, running / len(self.train_loader), loss, cer)
            if cer <= self.best_cer:
                self.best_cer = cer
                logger.info("saved %s", self._save(epoch, cer))

    @torch.no_grad()
    def evaluate(self, loader, beam=False):
        self.model.eval()
        errors, chars, total = 0, 0, 0.0
        for feats, lens, targets, target_lens, texts in loader:
            log_probs, out_lens = self._forward(feats, lens)
            total += F.ctc_loss(log_probs.transpose(0, 1), targets.to(self.device), out_lens, target_lens,
                                zero_infinity=True).item()
            if beam:
                hyps = [prefix_beam_decode(lp.cpu().numpy(), int(n)) for lp, n in zip(log_probs, out_lens)]
            else:
                hyps = greedy_decode(log_probs.cpu().numpy(), out_lens.numpy())
            errors += sum(edit_distance(h, r) for h, r in zip(hyps, texts))
            chars += sum(len(r) for r in texts)
        return total / len(loader), errors / max(chars, 1)

    def test(self):
        loss, cer = self.evaluate(self.dev_loader, beam=True)
        logger.info("beam search: loss %.3f cer %.3f", loss, cer)
