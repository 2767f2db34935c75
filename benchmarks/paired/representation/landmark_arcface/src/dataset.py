import numpy as np
import torch
from torch.utils.data import Dataset


class LandmarkDataset(Dataset):
    """long-tailed: class c has about n / (c + 1) images"""

    def __init__(self, n_classes, n_max, mode, seed=0):
        self.mode = mode
        rng = np.random.RandomState(seed)
        centers = np.random.RandomState(99).randn(n_classes, 3, 8, 8)
        labels = []
        for c in range(n_classes):
            labels += [c] * max(4, int(n_max / (c + 1)))
        self.labels = np.array(labels)
        self.images = (centers[self.labels] + 0.8 * rng.randn(len(labels), 3, 8, 8)).astype(np.float32)

    def class_counts(self):
        return np.bincount(self.labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        img = self.images[index]
        if self.mode == 'train' and np.random.rand() < 0.5:
            img = img[:, :, ::-1].copy()
        return torch.from_numpy(img), torch.tensor(self.labels[index])
