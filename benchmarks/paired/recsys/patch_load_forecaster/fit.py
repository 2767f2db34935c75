import argparse
import os
import tempfile

import torch

from callbacks import ConformalExport, Progress, RunningAverage
from forecast import LoadModule, PatchForecaster, Trainer


@torch.no_grad()
def coverage(model, band, loader, device):
    model = model.to(device).eval()
    band = band.to(device)
    inside, width, n = 0.0, 0.0, 0
    for x, y in loader:
        err = (y.to(device) - model(x.to(device))).abs()
        inside += (err <= band).float().mean(1).sum().item()
        width += 2 * band.mean().item() * len(x)
        n += len(x)
    return inside / n, width / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--accelerator", default="auto")
    ap.add_argument("--alpha", type=float, default=0.1)
    args = ap.parse_args()
    torch.manual_seed(1)
    data = LoadModule()
    model = PatchForecaster(data.context, data.horizon)
    with tempfile.TemporaryDirectory() as tmp:
        export = ConformalExport(os.path.join(tmp, "load.pt"), alpha=args.alpha, min_delta=0.3)
        trainer = Trainer(args.epochs, [RunningAverage(), export, Progress()], accelerator=args.accelerator)
        trainer.fit(model, data)
        blob = torch.load(export.path)
    exported = PatchForecaster(data.context, data.horizon)
    exported.load_state_dict(blob["state"])
    cov, width = coverage(exported, blob["band"], data.test_loader(), trainer.device)
    print(f"{export.exports} exports, coverage {cov:.3f} at width {width:.3f}")
    cov, _ = coverage(trainer.model, blob["band"], data.test_loader(), trainer.device)
    print(f"averaged weights, same band: coverage {cov:.3f}")


if __name__ == "__main__":
    main()
