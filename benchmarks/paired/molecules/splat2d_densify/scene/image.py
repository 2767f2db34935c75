import numpy as np
import torch
from scipy.ndimage import gaussian_filter


def make_target(size, seed):
    rng = np.random.default_rng(seed)
    img = rng.random((size, size, 3)) > 0.75
    img = np.stack([gaussian_filter(img[..., c].astype(np.float64), 2.0) for c in range(3)], -1)
    img = (img - img.min()) / (img.max() - img.min())
    return torch.from_numpy(img.astype(np.float32))


def psnr(a, b):
    return -10.0 * torch.log10(torch.mean((a - b) ** 2)).item()
