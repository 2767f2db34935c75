import numpy as np
import torch

from fingerprints import fingerprint, oracle


class Pool:
    """Candidate library with known labels where the oracle was asked."""

    def __init__(self, molecules, bits, rng):
        self.molecules, self.rng = molecules, rng
        self.x = torch.from_numpy(np.stack([fingerprint(m, bits) for m in molecules]))
        self.y = torch.full((len(molecules),), float("nan"))

    @property
    def labelled(self):
        return ~torch.isnan(self.y)

    def ask(self, idx):
        for i in idx.tolist():
            self.y[i] = oracle(self.molecules[i], self.rng)

    def training_set(self):
        m = self.labelled
        return self.x[m], self.y[m]
