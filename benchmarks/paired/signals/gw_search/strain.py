import math

import torch
from torch.utils.data import Dataset

from spectral import amplitude_spectrum, whiten


def chirp(n, rate, mass, t_merge=0.8):
    t = torch.arange(n) / rate
    tau = (t_merge - t).clamp(min=1e-3)
    phase = -2 * math.pi * 55.0 * (30.0 / mass) ** 0.6 * tau**0.625
    return torch.where(t < t_merge, tau**-0.25 * phase.cos(), torch.zeros_like(t))


def coloured_noise(n, rate, generator):
    f = torch.fft.rfftfreq(n, 1.0 / rate)
    shape = (30.0 / f.clamp(min=10.0)) ** 2 + 1.0
    return torch.fft.irfft(torch.fft.rfft(torch.randn(n, generator=generator)) * shape, n)


class Segments(Dataset):
    """One second segments; the noise spectrum is measured once on the host."""

    def __init__(self, n, rate=512, snr=1.5, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.rate = rate
        self.asd = amplitude_spectrum(coloured_noise(32 * rate, rate, g), rate)
        self.items = []
        for i in range(n):
            x = coloured_noise(rate, rate, g)
            mass = 20.0 + 30.0 * float(torch.rand(1, generator=g))
            if i % 2:
                x = x + snr * chirp(rate, rate, mass)
            self.items.append((x, float(i % 2)))

    def loudest(self):
        """Index of the segment with the largest whitened sample."""
        peaks = [whiten(x, self.asd, self.rate).abs().max() for x, _ in self.items]
        return int(torch.stack(peaks).argmax())

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]
