"""Smooth random weather fields on a periodic grid."""
import math

import torch
import torch.nn.functional as F


def smooth_noise(n, grid, generator, slope=2.2):
    k = torch.fft.fftfreq(grid) * grid
    kk = (k[:, None] ** 2 + k[None, :] ** 2).sqrt().clamp(min=1.0)
    noise = torch.fft.fft2(torch.randn(n, grid, grid, generator=generator))
    x = torch.fft.ifft2(noise * kk**-slope).real
    return x / x.std(dim=(1, 2), keepdim=True)


def stream_to_wind(psi):
    u = -(psi.roll(-1, 1) - psi.roll(1, 1)) / 2
    v = (psi.roll(-1, 2) - psi.roll(1, 2)) / 2
    return torch.stack([u, v], dim=1) * math.pi


def make_pairs(stage, cfg, seed):
    """Coarse input and fine target, both on the host."""
    g = torch.Generator().manual_seed(seed)
    psi = smooth_noise(cfg[stage]["samples"], cfg["grid"], g)
    fine = stream_to_wind(psi) if cfg[stage]["out"] == 2 else psi[:, None]
    coarse = F.avg_pool2d(psi[:, None], cfg["factor"])
    return coarse, fine
