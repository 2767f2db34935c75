import torch
from torch import nn

from spectral import whiten
from strain import chirp


class MatchedFilterBank(nn.Module):
    """Correlates whitened strain with whitened chirps."""

    def __init__(self, asd, rate, masses):
        super().__init__()
        self.rate = rate
        bank = torch.stack([whiten(chirp(rate, rate, m), asd, rate) for m in masses])
        self.register_buffer("asd", asd)
        self.register_buffer("bank", torch.fft.rfft(bank).conj() / rate**0.5)

    def forward(self, strain):
        white = whiten(strain, self.asd, self.rate)
        spectrum = torch.fft.rfft(white)[:, None] * self.bank
        return torch.fft.irfft(spectrum, strain.shape[-1])


class Search(nn.Module):
    def __init__(self, asd, rate, masses=(20.0, 27.0, 35.0, 48.0), width=16):
        super().__init__()
        self.filters = MatchedFilterBank(asd, rate, masses)
        self.net = nn.Sequential(
            nn.Conv1d(len(masses), width, 15, stride=4), nn.ReLU(),
            nn.Conv1d(width, width, 9, stride=2), nn.ReLU(),
            nn.AdaptiveMaxPool1d(1), nn.Flatten(),
            nn.Linear(width, 1),
        )

    def forward(self, strain):
        return self.net(self.filters(strain)).squeeze(-1)
