import numpy as np


class MAEMeter:
    """Keeps predictions as NumPy so that errors can be broken down afterwards."""

    def __init__(self):
        self.pred, self.true, self.size = [], [], []

    def update(self, pred, batch):
        self.pred.append(pred.detach().cpu().numpy())
        self.true.append(batch["energy"].detach().cpu().numpy())
        self.size.append(batch["counts"].numpy())

    def compute(self):
        err = np.abs(np.concatenate(self.pred) - np.concatenate(self.true))
        return {"mae": float(err.mean()), "mae_per_atom": float((err / np.concatenate(self.size)).mean())}
