from dataclasses import dataclass

import numpy as np
import torch
from scipy.spatial.distance import cdist
from torch.utils.data import Dataset

ELEMENTS = ["C", "N", "O", "S", "F"]


@dataclass
class Molecule:
    name: str
    z: torch.Tensor          # (atoms,)
    pos: torch.Tensor        # (conformers, atoms, 3)
    edges: list              # one (2, E) tensor per conformer
    y: float


class ConformerDataset(Dataset):
    """Random walks in space that pretend to be molecules."""

    def __init__(self, n, n_conformers, cutoff=2.2, seed=0):
        rng = np.random.default_rng(seed)
        self.n_elements = len(ELEMENTS)
        self.items = []
        for i in range(n):
            atoms = int(rng.integers(4, 10))
            z = rng.integers(0, len(ELEMENTS), atoms)
            confs, edges = [], []
            for _ in range(int(rng.integers(1, n_conformers + 1))):
                step = rng.normal(size=(atoms, 3))
                pos = np.cumsum(1.4 * step / np.linalg.norm(step, axis=1, keepdims=True), 0)
                near = (cdist(pos, pos) < cutoff) & ~np.eye(atoms, dtype=bool)
                confs.append(pos)
                edges.append(torch.from_numpy(np.stack(near.nonzero())))
            polar = np.isin(z, [1, 2]).mean()
            self.items.append(Molecule(
                name="-".join(ELEMENTS[k] for k in z),
                z=torch.from_numpy(z),
                pos=torch.tensor(np.stack(confs), dtype=torch.float32),
                edges=edges,
                y=float(-3 + 4 * polar - 0.1 * atoms + rng.normal(0, 0.05)),
            ))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class TargetScaler:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    @classmethod
    def fit(cls, values):
        v = torch.tensor(list(values))
        return cls(v.mean(0, keepdim=True), v.std(0, keepdim=True).clamp_min(1e-3))

    def transform(self, y):
        return (y - self.mean) / self.std

    def inverse(self, y):
        return y * self.std + self.mean
