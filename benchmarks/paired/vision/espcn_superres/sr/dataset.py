import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import Dataset


class SyntheticTextures(Dataset):
    def __init__(self, length, crop_size, upscale_factor, seed=0):
        self.length = length
        self.crop_size = crop_size - crop_size % upscale_factor
        self.upscale_factor = upscale_factor
        self.seed = seed

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        rng = np.random.RandomState(self.seed * 1000 + index)
        yy, xx = np.mgrid[:self.crop_size, :self.crop_size] / self.crop_size
        planes = []
        for _ in range(3):
            fy, fx, phase = rng.uniform(2, 9), rng.uniform(2, 9), rng.uniform(0, 6.28)
            planes.append(0.5 + 0.5 * np.sin(fy * yy + fx * xx + phase))
        target = torch.from_numpy(np.stack(planes)).float()
        lowres = F.interpolate(target[None], scale_factor=1 / self.upscale_factor,
                               mode='bicubic', align_corners=False)[0]
        return lowres.clamp(0, 1), target
