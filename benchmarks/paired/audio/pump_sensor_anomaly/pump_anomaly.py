# %% [markdown]
# Anomaly detection on the vibration sensors of a pump.
# Autoencoder on windows, streaming z-score in front of it, threshold from healthy data.

# %%
import argparse
import math
from collections import deque

import numpy as np
import pandas as pd
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--passes", type=int, default=3)
parser.add_argument("--window", type=int, default=24)
parser.add_argument("--quantile", type=float, default=0.97)
cfg, _ = parser.parse_known_args()

SENSORS = ["vib_x", "vib_y", "temp", "current", "pressure"]
DEVICE = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
torch.manual_seed(42)
rng = np.random.default_rng(42)


# %% data
def simulate(hours, faulty=False):
    t = np.arange(hours * 60)
    load = 0.5 + 0.3 * np.sin(2 * math.pi * t / 180)
    frame = pd.DataFrame({
        "vib_x": 2.0 + 0.5 * load + 0.1 * rng.standard_normal(t.size),
        "vib_y": 1.5 + 0.4 * load + 0.1 * rng.standard_normal(t.size),
        "temp": 55 + 8 * load + 0.5 * rng.standard_normal(t.size),
        "current": 12 + 3 * load + 0.2 * rng.standard_normal(t.size),
        "pressure": 101 - 2 * load + 0.3 * rng.standard_normal(t.size),
    })
    frame["label"] = 0
    if faulty:
        start = len(frame) // 2
        frame.loc[start:, "vib_x"] += np.linspace(0.5, 2.0, len(frame) - start)
        frame.loc[start:, "temp"] += 6
        frame.loc[start:, "label"] = 1
    return frame


def windows(frame, size, stride=6):
    values = frame[SENSORS].to_numpy(np.float32)
    idx = np.arange(0, len(values) - size + 1, stride)
    x = np.stack([values[i:i + size] for i in idx])
    y = frame["label"].to_numpy()[idx + size - 1]
    return torch.from_numpy(x), y


# %% normaliser
class StreamingNorm:
    """Exponential mean and variance per sensor. The state stays in host memory,
    where the drift monitor reads it as arrays."""

    def __init__(self, n, momentum=0.3):
        self.mean = torch.zeros(n)
        self.var = torch.ones(n)
        self.momentum = momentum
        self.frozen = False
        self.seen = 0

    def update(self, x):
        batch_var, batch_mean = torch.var_mean(x, dim=(0, 1))
        m = 1.0 if self.seen == 0 else self.momentum
        self.mean.lerp_(batch_mean.to(self.mean.device), m)
        self.var.lerp_(batch_var.to(self.var.device), m)
        self.seen += x.size(0) * x.size(1)

    def __call__(self, x):
        if not self.frozen:
            self.update(x)
        mean, var = self.mean.to(x.device), self.var.to(x.device)
        return (x - mean) / (var + 1e-5).sqrt()

    def snapshot(self):
        return pd.DataFrame({"mean": self.mean.numpy().copy(),
                             "std": self.var.sqrt().numpy()}, index=SENSORS)


class DriftMonitor:
    def __init__(self, norm, keep=4):
        self.norm = norm
        self.history = deque(maxlen=keep)

    def tick(self):
        self.history.append(self.norm.snapshot()["mean"])

    def drift(self):
        if len(self.history) < 2:
            return 0.0
        return float((self.history[-1] - self.history[0]).abs().max())


# %% model
class WindowAE(nn.Module):
    def __init__(self, n, hidden=12, latent=4):
        super().__init__()
        self.enc = nn.GRU(n, hidden, batch_first=True)
        self.squeeze = nn.Linear(hidden, latent)
        self.expand = nn.Linear(latent, hidden)
        self.dec = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n)

    def forward(self, x):
        _, h = self.enc(x)
        z = torch.tanh(self.squeeze(h[-1]))
        seq = self.expand(z).unsqueeze(1).expand(-1, x.size(1), -1)
        return self.out(self.dec(seq)[0])


# %% training on healthy hours
train_x, _ = windows(simulate(12), cfg.window)
calib_x, _ = windows(simulate(4), cfg.window)
test_x, test_y = windows(simulate(6, faulty=True), cfg.window)

norm = StreamingNorm(len(SENSORS))
monitor = DriftMonitor(norm)
model = WindowAE(len(SENSORS)).to(DEVICE)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(cfg.passes):
    total = torch.tensor(0.0)
    model.train()
    for chunk in torch.randperm(len(train_x)).split(32):
        x = norm(train_x[chunk].to(DEVICE))
        loss = nn.functional.smooth_l1_loss(model(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.detach().cpu() * len(chunk)
    monitor.tick()
    print(f"pass {epoch}: loss {total.item() / len(train_x):.4f} drift {monitor.drift():.3f}")

norm.frozen = True
print(norm.snapshot().round(2))


# %% scores
@torch.no_grad()
def score(x):
    model.eval()
    parts = []
    for xb in x.split(64):
        z = norm(xb.to(DEVICE))
        parts.append((model(z) - z).abs().mean(dim=(1, 2)).cpu())
    return torch.cat(parts).numpy()


threshold = np.quantile(score(calib_x), cfg.quantile)
flags = score(test_x) > threshold
recall = flags[test_y == 1].mean()
false_alarms = flags[test_y == 0].mean()
print(f"threshold {threshold:.3f} recall {recall:.2f} false alarms {false_alarms:.2f}")
