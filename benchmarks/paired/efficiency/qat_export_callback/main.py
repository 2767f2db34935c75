import argparse
import logging

import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from torch.utils.data import DataLoader, TensorDataset

from callbacks import Int8Export, ObserverFreeze, PrintLogs
from quant import prepare_qat
from trainer import QATTrainer

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--export-every", type=int, default=1)
    parser.add_argument("--freeze-after", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    torch.manual_seed(0)

    X, y = make_classification(320, 16, n_informative=10, n_classes=4, random_state=0)
    X, y = torch.from_numpy(X).float(), torch.from_numpy(y)
    train, val = TensorDataset(X[:256], y[:256]), (X[256:], y[256:])

    net = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 4))
    trainer = QATTrainer(
        prepare_qat(net),
        args.device,
        args.lr,
        [Int8Export(args.export_every, *val), ObserverFreeze(args.freeze_after), PrintLogs()],
    )
    trainer.fit(DataLoader(train, batch_size=64, shuffle=True), args.epochs)
