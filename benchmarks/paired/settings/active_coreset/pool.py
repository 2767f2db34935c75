import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset


class Pool(Dataset):
    """All samples, with a mask that tells which labels have been bought."""

    def __init__(self, cfg, seed):
        n = cfg.n_pool + cfg.n_test
        X, y = make_classification(n, cfg.n_features, n_informative=6, n_redundant=0,
                                   n_classes=cfg.n_classes, n_clusters_per_class=1, random_state=seed)
        X = StandardScaler().fit_transform(X).astype(np.float32)
        self.X, self.y = torch.from_numpy(X[: cfg.n_pool]), torch.from_numpy(y[: cfg.n_pool])
        self.test = TensorDataset(torch.from_numpy(X[cfg.n_pool:]), torch.from_numpy(y[cfg.n_pool:]))
        self.labelled = np.zeros(cfg.n_pool, dtype=bool)
        rng = np.random.default_rng(seed)
        self.labelled[rng.choice(cfg.n_pool, cfg.initial, replace=False)] = True

    def __len__(self):
        return len(self.X)

    def __getitem__(self, i):
        return self.X[i], self.y[i]

    def label(self, idx):
        idx = np.asarray(idx)
        assert not self.labelled[idx].any(), "sample bought twice"
        self.labelled[idx] = True

    @property
    def unlabelled_idx(self):
        return np.flatnonzero(~self.labelled)

    @property
    def labelled_idx(self):
        return np.flatnonzero(self.labelled)

    def loader(self, idx, batch_size, shuffle=False):
        return DataLoader(Subset(self, idx.tolist()), batch_size=batch_size, shuffle=shuffle)
