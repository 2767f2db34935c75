import torch
import torch.nn.functional as F
from torch import nn

import rng
from averaging import WeightAverage


class Preempted(Exception):
    pass


class SequenceModel(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens):
        h, _ = self.gru(self.drop(self.emb(tokens)))
        return self.out(h)


class Runner:
    def __init__(self, cfg, manager, device):
        self.cfg, self.manager, self.device = cfg, manager, device
        self.model = SequenceModel(cfg.vocab, cfg.dim).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, cfg.steps)
        self.average = WeightAverage(self.model)
        self.step = 0
        self.smooth = None

    def payload(self):
        return {
            "step": self.step,
            "smooth": self.smooth,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "average": self.average.mean,
            "average_count": self.average.count,
            "rng": rng.capture(),
        }

    def resume(self):
        payload = self.manager.load(self.device)
        if payload is None:
            return False
        self.model.load_state_dict(payload["model"])
        self.optimizer.load_state_dict(payload["optimizer"])
        self.schedule.load_state_dict(payload["schedule"])
        self.average.mean = payload["average"]
        self.average.count = payload["average_count"]
        self.step, self.smooth = payload["step"], payload["smooth"]
        rng.restore(payload["rng"])
        return True

    def sample(self):
        """Arithmetic progressions modulo the vocabulary, made on the host."""
        start = torch.randint(self.cfg.vocab, (self.cfg.batch, 1))
        stride = torch.randint(1, 4, (self.cfg.batch, 1))
        seq = (start + stride * torch.arange(self.cfg.length + 1)) % self.cfg.vocab
        return seq[:, :-1].to(self.device), seq[:, 1:].to(self.device)

    def run(self, stop_at=None):
        while self.step < self.cfg.steps:
            if stop_at is not None and self.step >= stop_at:
                raise Preempted(self.step)
            x, y = self.sample()
            loss = F.cross_entropy(self.model(x).flatten(0, 1), y.flatten())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            self.average.update(self.model)
            self.step += 1
            value = loss.item()
            self.smooth = value if self.smooth is None else 0.9 * self.smooth + 0.1 * value
            if self.step % self.cfg.save_every == 0:
                self.manager.save(self.step, self.payload(), self.smooth)
        return self.smooth
