import math

import numpy as np
import torch


class CosineSchedule:
    """Everything in float64 NumPy; a row of numbers is cast when it is needed."""

    def __init__(self, steps):
        self.steps = steps
        grid = np.linspace(0, 1, steps + 1)
        bar = np.cos((grid + 0.008) / 1.008 * math.pi / 2) ** 2
        self.betas = np.clip(1 - bar[1:] / bar[:-1], 0, 0.999)
        self.alphas_bar = np.cumprod(1 - self.betas)
        self.alphas_bar_prev = np.append(1.0, self.alphas_bar[:-1])

    def _rows(self, values, t):
        return torch.from_numpy(values).float()[t.cpu()].view(-1, 1, 1, 1)

    def signal_noise(self, t):
        signal = self._rows(np.sqrt(self.alphas_bar), t).to(t.device)
        noise = self._rows(np.sqrt(1 - self.alphas_bar), t).to(t.device)
        return signal, noise

    def posterior(self, t):
        """Coefficients of x0 and x_t in the mean of q(x_{t-1} | x_t, x0), and its deviation."""
        rest = 1 - self.alphas_bar
        c0 = self.betas * np.sqrt(self.alphas_bar_prev) / rest
        ct = (1 - self.alphas_bar_prev) * np.sqrt(1 - self.betas) / rest
        sigma = np.sqrt(self.betas * (1 - self.alphas_bar_prev) / rest)
        return tuple(self._rows(v, t).to(t.device) for v in (c0, ct, sigma))

    def min_snr(self, gamma):
        snr = self.alphas_bar / (1 - self.alphas_bar)
        return torch.from_numpy(np.minimum(snr, gamma) / snr).float()
