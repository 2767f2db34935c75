import math

import torch
from torch.utils.data import Dataset

from utils.se3 import pose_vec_to_mat


class SyntheticDrive(Dataset):
    """Parallel drives past a textured wall, cut in consecutive chunks.

    Item k holds chunk k of every drive, so that a stateful model sees each
    drive in order when the loader does not shuffle.
    """

    def __init__(self, n_drives=3, length=25, chunk=6, size=16, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.chunk = chunk
        t = torch.arange(length - 1).float()
        phase = torch.rand(n_drives, 1, generator=g) * 2 * math.pi
        motion = torch.zeros(n_drives, length - 1, 6)
        motion[..., 2] = 0.5 + 0.2 * torch.sin(0.4 * t + phase)
        motion[..., 4] = 0.05 * torch.cos(0.3 * t + phase)
        self.motion = motion
        heading = torch.cat([torch.zeros(n_drives, 1), motion[..., 4].cumsum(1)], 1)
        dist = torch.cat([torch.zeros(n_drives, 1), motion[..., 2].cumsum(1)], 1)
        axis = torch.linspace(-1, 1, size)
        yy, xx = torch.meshgrid(axis, axis, indexing="ij")
        zoom = (1 + 0.1 * dist)[..., None, None]
        shift = heading[..., None, None]
        self.frames = torch.sin(7 * (xx / zoom + shift)) * torch.cos(5 * yy / zoom)
        self.frames = self.frames + 0.02 * torch.randn(self.frames.shape, generator=g)

    def __len__(self):
        return self.motion.shape[1] // self.chunk

    def __getitem__(self, k):
        a, b = k * self.chunk, (k + 1) * self.chunk
        pairs = torch.stack([self.frames[:, a:b], self.frames[:, a + 1 : b + 1]], dim=2)
        return {"pairs": pairs, "motion": self.motion[:, a:b]}

    def ground_truth(self, drive):
        n = len(self) * self.chunk
        return pose_vec_to_mat(self.motion[drive, :n])
