# %% [markdown]
# # LSTM autoencoder for machine telemetry
# Train on clean windows, calibrate a threshold, score the test log on the edge box (no GPU there).

# %%
import os
import shutil
import tempfile

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from scipy.signal import lfilter
from scipy.stats import genpareto
from sklearn.metrics import average_precision_score

SEED, WINDOW, CHANNELS, EPOCHS = 3, 16, 4, 2
workdir = tempfile.mkdtemp(prefix="lstm_ae_")
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)
print("running on", device.type)


# %%
def telemetry(n, anomalies=0):
    t = np.arange(n)
    base = np.stack([np.sin(2 * np.pi * t / p) for p in (11, 17, 23, 31)], 1)
    noise = lfilter([1.0], [1.0, -0.7], 0.15 * rng.standard_normal((n, CHANNELS)), axis=0)
    scale = np.array([1.0, 40.0, 0.01, 7.0])
    x = (base + noise) * scale + np.array([0.0, 300.0, 0.5, -20.0])
    label = np.zeros(n, dtype=int)
    for _ in range(anomalies):
        s = int(rng.integers(0, n - 12))
        c = int(rng.integers(CHANNELS))
        x[s:s + 12, c] += rng.choice([-1, 1]) * 2.5 * scale[c]
        label[s:s + 12] = 1
    return pd.DataFrame(x.astype("float32"), columns=["rpm", "temp", "vib", "amps"]), label


train_df, _ = telemetry(600)
calib_df, _ = telemetry(300)
test_df, test_label = telemetry(400, anomalies=5)
train_df.describe().loc[["mean", "std"]]


# %%
class LSTMAutoencoder(nn.Module):
    def __init__(self, channels, hidden=12):
        super().__init__()
        self.encoder = nn.LSTM(channels, hidden, batch_first=True)
        self.decoder = nn.LSTM(channels, hidden, batch_first=True)
        self.out = nn.Linear(hidden, channels)

    def forward(self, x):
        _, state = self.encoder(x)
        start = x.new_zeros(x.size(0), 1, x.size(2))
        rev = torch.flip(x, dims=[1])
        y, _ = self.decoder(torch.cat([start, rev[:, :-1]], dim=1), state)
        return torch.flip(self.out(y), dims=[1])


def windows(x, stride=1):
    return x.unfold(0, WINDOW, stride).transpose(1, 2)


def standardize(x, stats):
    return (x - stats["mean"]) / stats["std"]


# %%
train_x = torch.from_numpy(train_df.to_numpy()).to(device)
stats = {"mean": train_x.mean(0), "std": train_x.std(0)}
train_w = windows(standardize(train_x, stats), stride=2).contiguous()

model = LSTMAutoencoder(CHANNELS).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=EPOCHS * (len(train_w) // 32))
for epoch in range(EPOCHS):
    model.train()
    order = torch.randperm(len(train_w))[:32 * (len(train_w) // 32)].view(-1, 32)
    running = []
    for idx in order:
        batch = train_w[idx]
        noisy = batch + 0.05 * torch.randn_like(batch)
        loss = nn.functional.smooth_l1_loss(model(noisy), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        running.append(loss.item())
    print(f"epoch {epoch}  loss {np.mean(running):.4f}")


# %% Threshold: peaks over threshold on a clean stretch
@torch.no_grad()
def window_errors(net, x, stats):
    net.eval()
    w = windows(standardize(x, stats))
    return (net(w) - w).abs().amax(dim=-1).mean(dim=1)


calib = window_errors(model, torch.from_numpy(calib_df.to_numpy()).to(device), stats).cpu().numpy()
u = np.quantile(calib, 0.9)
shape, _, scale = genpareto.fit(calib[calib > u] - u, floc=0)
threshold = float(u + genpareto.ppf(0.95, shape, scale=scale))
print(f"threshold {threshold:.3f}")

path = os.path.join(workdir, "detector.pt")
torch.save({"model": model.state_dict(), "stats": stats, "threshold": threshold,
            "columns": list(train_df.columns)}, path)


# %% Edge scorer
class EdgeScorer:
    def __init__(self, path):
        ckpt = torch.load(path, map_location="cpu")
        self.columns = ckpt["columns"]
        self.stats = ckpt["stats"]
        self.threshold = ckpt["threshold"]
        self.net = LSTMAutoencoder(len(self.columns))
        self.net.load_state_dict(ckpt["model"])

    def score(self, frame):
        x = torch.from_numpy(frame[self.columns].to_numpy())
        err = window_errors(self.net, x, self.stats).numpy()
        # spread each window's error over the samples it covers
        acc, cnt = np.zeros(len(frame)), np.zeros(len(frame))
        for i, e in enumerate(err):
            acc[i:i + WINDOW] += e
            cnt[i:i + WINDOW] += 1
        return acc / np.maximum(cnt, 1)


scorer = EdgeScorer(path)
score = scorer.score(test_df)
flagged = score > scorer.threshold
print(f"AP {average_precision_score(test_label, score):.3f}  flagged {flagged.mean():.1%}  "
      f"true {test_label.mean():.1%}")

# %% The live model goes on with the newest clean data
fresh = windows(standardize(torch.from_numpy(calib_df.to_numpy()).to(device), stats))[::4]
model.train()
loss = nn.functional.smooth_l1_loss(model(fresh), fresh)
optimizer.zero_grad()
loss.backward()
optimizer.step()
print(f"online step loss {loss.item():.4f}")
shutil.rmtree(workdir)
