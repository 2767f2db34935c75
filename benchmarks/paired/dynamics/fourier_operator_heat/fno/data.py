import math

import torch
from torch.utils.data import TensorDataset

from .registry import DATASETS


def gaussian_field(n, size, generator, decay=2.0):
    """Random periodic fields with a power law spectrum."""
    k = torch.fft.fftfreq(size) * size
    k2 = k[:, None] ** 2 + k[None, :] ** 2
    amp = (1.0 + k2) ** (-decay / 2)
    noise = torch.fft.fft2(torch.randn(n, size, size, generator=generator))
    return torch.fft.ifft2(noise * amp).real


@DATASETS.register("heat")
def heat_pairs(n_train, n_test, size, nu=0.02, t=1.0, seed=0):
    """Initial condition -> field after time t, solved exactly in Fourier space."""
    g = torch.Generator().manual_seed(seed)
    u0 = gaussian_field(n_train + n_test, size, g)
    k = 2 * math.pi * torch.fft.fftfreq(size) * size
    decay = torch.exp(-nu * (k[:, None] ** 2 + k[None, :] ** 2) * t / 10)
    u1 = torch.fft.ifft2(torch.fft.fft2(u0) * decay).real
    x, y = u0.unsqueeze(1), u1.unsqueeze(1)
    return TensorDataset(x[:n_train], y[:n_train]), TensorDataset(x[n_train:], y[n_train:])
