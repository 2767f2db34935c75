import argparse
import itertools
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from nbeats import BaggedForecaster, MASELoss, MultiFrequencyNBeats, NBeatsConfig, smape  # noqa: E402

SEASONS = {"hourly": 6, "daily": 7, "monthly": 12}


def make_series(freq, n, length, generator):
    t = torch.arange(length, dtype=torch.float32)
    season = 2 * torch.pi * t / SEASONS[freq]
    phase = 6 * torch.rand(n, 1, generator=generator)
    slope = 0.05 * torch.randn(n, 1, generator=generator)
    noise = 0.1 * torch.randn(n, length, generator=generator)
    return 5 + slope * t + torch.sin(season + phase) + noise


class WindowSampler:
    def __init__(self, series, cfg, batch_size, seed):
        self.series, self.cfg, self.batch_size = series, cfg, batch_size
        self.g = torch.Generator().manual_seed(seed)

    def __iter__(self):
        span = self.cfg.backcast + self.cfg.horizon
        for freq in itertools.cycle(self.series):
            data = self.series[freq]
            rows = torch.randint(len(data), (self.batch_size,), generator=self.g)
            start = torch.randint(data.size(1) - span, (self.batch_size, 1), generator=self.g)
            windows = data[rows].gather(1, start + torch.arange(span))
            yield freq, windows[:, :self.cfg.backcast], windows[:, self.cfg.backcast:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=24)
    ap.add_argument("--members", type=int, default=2)
    ap.add_argument("--device", default=None)
    opt = ap.parse_args()
    device = opt.device or ("cuda" if torch.cuda.is_available() else "cpu")

    torch.manual_seed(0)
    cfg = NBeatsConfig()
    g = torch.Generator().manual_seed(0)
    series = {f: make_series(f, 16, 96, g) for f in cfg.frequencies}
    loss_fn = MASELoss(SEASONS)

    def train_one(model, member):
        decay = [p for p in model.parameters() if p.ndim > 1]
        plain = [p for p in model.parameters() if p.ndim <= 1]
        optim = torch.optim.AdamW([{"params": decay, "weight_decay": 1e-2},
                                   {"params": plain, "weight_decay": 0.0}], lr=3e-3)
        sampler = WindowSampler(series, cfg, batch_size=16, seed=member)
        for freq, past, future in itertools.islice(sampler, opt.steps):
            past, future = past.to(device), future.to(device)
            loss = loss_fn(model(past, freq), future, past, freq)
            optim.zero_grad()
            loss.backward()
            optim.step()
        return loss.item()

    forecaster = BaggedForecaster(lambda: MultiFrequencyNBeats(cfg), opt.members, device)
    forecaster.fit(train_one)
    for freq, data in series.items():
        past, future = data[:, -30:-6], data[:, -6:]
        naive = past[:, -1:].expand_as(future)
        pred = forecaster.predict(past, freq)
        print(f"{freq:8s} sMAPE {smape(pred, future):.2f} (naive {smape(naive, future):.2f})")


if __name__ == "__main__":
    main()
