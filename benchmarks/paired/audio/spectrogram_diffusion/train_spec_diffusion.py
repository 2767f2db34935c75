import argparse
from types import SimpleNamespace

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from diffusion import CosineSchedule, GaussianDiffusion, SpecUNet
from utils.audio import griffin_lim, to_logspec
from utils.ema import EMA
from utils.loss_tracker import LossByStep

CONFIGS = {
    "debug": dict(steps=8, width=8, batch=16, epochs=1, items=48, lr=2e-3, ema=0.9),
    "small": dict(steps=50, width=32, batch=32, epochs=20, items=2000, lr=1e-3, ema=0.999),
}
INSTRUMENTS = ["flute", "pluck", "noise"]


def instrument(kind, rng, n=225):
    t = np.arange(n)
    tone = np.sin(2 * np.pi * rng.uniform(0.03, 0.3) * t)
    if kind == 0:
        return tone
    if kind == 1:
        return tone * np.exp(-t / 60)
    return rng.standard_normal(n) * np.linspace(1, 0.2, n)


def make_dataset(n):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, len(INSTRUMENTS), n)
    specs = np.stack([to_logspec(instrument(k, rng)) for k in labels])
    return TensorDataset(torch.tensor(specs, dtype=torch.float32).unsqueeze(1), torch.tensor(labels))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", choices=CONFIGS, default="debug")
    parser.add_argument("--epochs", type=int)
    args = parser.parse_args()
    cfg = SimpleNamespace(**CONFIGS[args.config])
    cfg.epochs = args.epochs or cfg.epochs
    cfg.device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)

    loader = DataLoader(make_dataset(cfg.items), cfg.batch, shuffle=True)
    net = SpecUNet(len(INSTRUMENTS), cfg.width).to(cfg.device)
    process = GaussianDiffusion(CosineSchedule(cfg.steps))
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    ema, tracker = EMA(net, cfg.ema), LossByStep(cfg.steps)

    for epoch in range(cfg.epochs):
        for x0, label in loader:
            loss, detail = process.loss(net, x0.to(cfg.device), label.to(cfg.device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update(net)
            tracker.add(*detail)
        print(f"epoch {epoch} loss {loss.item():.3f} by step",
              " ".join(f"{v:.2f}" for v in tracker.report()))

    label = torch.arange(len(INSTRUMENTS), device=cfg.device)
    generator = torch.Generator().manual_seed(123)
    for step, x in process.sample(ema.materialize(net), label, (1, 16, 16), generator=generator):
        if step % 4 == 0:
            print(f"t={step} range {x.min().item():.2f} {x.max().item():.2f}")
    for name, spec in zip(INSTRUMENTS, x.squeeze(1).cpu().numpy()):
        print(f"{name}: peak {np.abs(griffin_lim(spec)).max():.3f}")


if __name__ == "__main__":
    main()
