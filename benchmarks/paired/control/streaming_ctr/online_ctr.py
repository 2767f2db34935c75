"""Online click prediction: hashed features, FTRL-proximal, progressive validation.

Every mini batch of the stream is first scored and then learned from; the
calibration table and the log loss come from these scores only.
"""
import math
import random
import zlib

import torch

NUM_BINS = 10


def get_device():
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")


def hash_row(row, bits):
    return [zlib.crc32(("%s=%s" % kv).encode()) & ((1 << bits) - 1) for kv in sorted(row.items())]


def click_stream(n, seed=0):
    rnd = random.Random(seed)
    sites = {s: rnd.gauss(0, 1) for s in range(12)}
    ads = {a: rnd.gauss(0, 1) for a in range(20)}
    for i in range(n):
        site, ad, hour = rnd.randrange(12), rnd.randrange(20), i // 50 % 24
        logit = -1.0 + sites[site] + ads[ad] + 0.5 * math.sin(hour / 24 * 2 * math.pi)
        click = rnd.random() < 1 / (1 + math.exp(-logit))
        yield {"site": site, "ad": ad, "hour": hour, "site_ad": "%d_%d" % (site, ad)}, int(click)


def batches(stream, size, bits):
    ids, clicks = [], []
    for row, click in stream:
        ids.append(hash_row(row, bits))
        clicks.append(click)
        if len(ids) == size:
            yield torch.tensor(ids), torch.tensor(clicks, dtype=torch.float32)
            ids, clicks = [], []


class FTRL:
    def __init__(self, bits, alpha=0.1, beta=1.0, l1=0.02, l2=1.0, device="cpu"):
        self.alpha, self.beta, self.l1, self.l2 = alpha, beta, l1, l2
        self.z = torch.zeros(1 << bits, device=device)
        self.n = torch.zeros(1 << bits, device=device)

    def weights(self, ids):
        z, n = self.z[ids], self.n[ids]
        w = -(z - z.sign() * self.l1) / ((self.beta + n.sqrt()) / self.alpha + self.l2)
        return torch.where(z.abs() <= self.l1, torch.zeros_like(w), w)

    def predict(self, ids):
        return torch.sigmoid(self.weights(ids).sum(1))

    def update(self, ids, p, y):
        g = (p - y).unsqueeze(1).expand_as(ids)
        w, n = self.weights(ids), self.n[ids]
        sigma = ((n + g * g).sqrt() - n.sqrt()) / self.alpha
        flat = ids.reshape(-1)
        self.z.index_add_(0, flat, (g - sigma * w).reshape(-1))
        self.n.index_add_(0, flat, (g * g).reshape(-1))

    def sparsity(self):
        active = (self.z.abs() > self.l1).sum().item()
        return 1.0 - active / self.z.numel()


class ProgressiveValidation:
    def __init__(self, num_bins=NUM_BINS, decay=0.999, device=None):
        self.num_bins = num_bins
        self.decay = decay
        self.count = torch.zeros(num_bins, device=device)
        self.clicks = torch.zeros(num_bins, device=device)
        self.loss_sum = 0.0
        self.seen = 0

    def add(self, p, y):
        p = p.clamp(1e-6, 1 - 1e-6)
        loss = -(y * p.log() + (1 - y) * (1 - p).log())
        self.loss_sum += loss.sum().item()
        self.seen += y.numel()
        b = (p * self.num_bins).long().clamp(max=self.num_bins - 1)
        self.count = self.decay * self.count + torch.bincount(b, minlength=self.num_bins)
        self.clicks = self.decay * self.clicks + torch.bincount(b, weights=y, minlength=self.num_bins)

    def log_loss(self):
        return self.loss_sum / max(1, self.seen)

    def table(self):
        rate = self.clicks / self.count.clamp(min=1e-9)
        return ["%.1f:%.2f" % (i / self.num_bins, r) for i, r in enumerate(rate.tolist()) if self.count[i] > 1]


def run(n_events=3000, batch=50, bits=12):
    device = get_device()
    learner = FTRL(bits, device=device)
    validation = ProgressiveValidation(device=device)
    for step, (ids, clicks) in enumerate(batches(click_stream(n_events), batch, bits)):
        ids, clicks = ids.to(device), clicks.to(device)
        p = learner.predict(ids)
        validation.add(p, clicks)
        learner.update(ids, p, clicks)
        if step % 20 == 19:
            print("events %5d  progressive logloss %.4f  sparsity %.3f"
                  % (validation.seen, validation.log_loss(), learner.sparsity()))
    print("calibration", " ".join(validation.table()))


if __name__ == "__main__":
    run()
