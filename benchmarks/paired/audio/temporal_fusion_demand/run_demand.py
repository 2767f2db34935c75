import argparse
import tempfile

import numpy as np
import pandas as pd
import torch

from tft.callbacks import BestCheckpoint, History
from tft.data import DemandData
from tft.network import TemporalFusion
from tft.scaling import TargetScaler
from tft.trainer import Trainer

QUANTILES = (0.1, 0.5, 0.9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    torch.manual_seed(4)

    data = DemandData()
    model = TemporalFusion(data.n_series, data.calendar.size(1), quantiles=QUANTILES)
    scaler = TargetScaler.fit(data.train_panel)
    history = History()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(model, scaler, QUANTILES, args.lr, args.epochs,
                          callbacks=[history, BestCheckpoint(folder)])
        trainer.fit(data.loader("train"), data.loader("val"))
    print(pd.DataFrame(history.rows).round(3).to_string(index=False))

    pred, target = trainer.predict(data.loader("test"))
    inside = np.mean((target >= pred[..., 0]) & (target <= pred[..., 2]))
    wape = np.abs(pred[..., 1] - target).sum() / target.sum()
    print(f"epoch {trainer.epoch}: WAPE {wape:.3f}, coverage {inside:.2f}")


if __name__ == "__main__":
    main()
