import numpy as np
import torch
from torch.utils.data import Dataset


class JointsDataset(Dataset):
    def __init__(self, cfg, length, seed):
        m = cfg['MODEL']
        self.num_joints = m['NUM_JOINTS']
        self.image_size = m['IMAGE_SIZE']
        self.heatmap_size = m['HEATMAP_SIZE']
        self.sigma = m['SIGMA']
        self.length, self.seed = length, seed

    def __len__(self):
        return self.length

    def generate_target(self, joints, joints_vis):
        ratio = self.heatmap_size / self.image_size
        ys, xs = np.mgrid[:self.heatmap_size, :self.heatmap_size]
        target = np.zeros((self.num_joints,) + xs.shape, dtype=np.float32)
        for j, (x, y) in enumerate(joints * ratio):
            if joints_vis[j] > 0.5:
                target[j] = np.exp(-((xs - x) ** 2 + (ys - y) ** 2) / (2 * self.sigma ** 2))
        return target, joints_vis.astype(np.float32)[:, None]

    def __getitem__(self, idx):
        rng = np.random.RandomState(self.seed + idx)
        joints = rng.uniform(4, self.image_size - 4, (self.num_joints, 2))
        vis = (rng.rand(self.num_joints) > 0.2).astype(np.float32)
        ys, xs = np.mgrid[:self.image_size, :self.image_size]
        img = 0.05 * rng.randn(3, self.image_size, self.image_size)
        for j, (x, y) in enumerate(joints):
            if vis[j]:
                spot = np.exp(-((xs - x) ** 2 + (ys - y) ** 2) / 4.0)
                img += spot * np.array([j % 2, j / self.num_joints, 1.0]).reshape(3, 1, 1)
        target, weight = self.generate_target(joints, vis)
        meta = {'index': idx, 'joints': torch.from_numpy(joints).float()}
        return torch.from_numpy(img).float(), torch.from_numpy(target), torch.from_numpy(weight), meta
