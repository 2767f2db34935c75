import argparse
import json
import logging

import torch
from torch.utils.data import DataLoader

from evaluation import summarize
from forecaster import DeepARForecaster
from series import WindowDataset, make_panel


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--series", type=int, default=60)
    ap.add_argument("--length", type=int, default=90)
    ap.add_argument("--context", type=int, default=21)
    ap.add_argument("--horizon", type=int, default=7)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--device", default=None)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")

    y, cov = make_panel(args.series, args.length, seed=3)
    cut = args.length - args.horizon
    train = WindowDataset(y[:, :cut], cov[:cut], args.context, args.horizon)
    tail = args.context + args.horizon
    test = WindowDataset(y[:, -tail:], cov[-tail:], args.context, args.horizon)

    model = DeepARForecaster(args.series, cov.shape[1], args.context, args.horizon, device=args.device)
    model.fit(train, args.epochs)

    paths, actual = [], []
    for batch in DataLoader(test, batch_size=16):
        paths.append(model.predict_paths(batch))
        actual.append(batch["target"][:, args.context:])
    report = summarize(torch.cat(paths, dim=1), torch.cat(actual))
    print(json.dumps({k: round(v, 4) for k, v in report.items()}, indent=2))


if __name__ == "__main__":
    main()
