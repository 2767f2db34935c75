"""MFCC front end, computed on the fly on whole batches."""
import math

import numpy as np
import torch
import torch.nn as nn


def hz_to_mel(hz):
    return 2595.0 * np.log10(1.0 + hz / 700.0)


def mel_to_hz(mel):
    return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)


def mel_filterbank(sample_rate, n_fft, n_mels):
    edges = mel_to_hz(np.linspace(hz_to_mel(20.0), hz_to_mel(sample_rate / 2), n_mels + 2))
    freqs = np.linspace(0, sample_rate / 2, n_fft // 2 + 1)
    bank = np.zeros((n_mels, freqs.size), dtype=np.float32)
    for m in range(n_mels):
        lo, mid, hi = edges[m:m + 3]
        up = (freqs - lo) / (mid - lo)
        down = (hi - freqs) / (hi - mid)
        bank[m] = np.clip(np.minimum(up, down), 0, None)
    return torch.from_numpy(bank)


def dct_matrix(n_mfcc, n_mels):
    n = torch.arange(n_mels, dtype=torch.float32)
    k = torch.arange(n_mfcc, dtype=torch.float32).unsqueeze(1)
    mat = torch.cos(math.pi / n_mels * (n + 0.5) * k)
    mat[0] *= 1.0 / math.sqrt(2.0)
    return mat * math.sqrt(2.0 / n_mels)


class MFCC(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_fft = cfg.n_fft
        self.hop_length = cfg.hop_length
        self.register_buffer("window", torch.hann_window(cfg.n_fft), persistent=False)
        self.register_buffer("fbank", mel_filterbank(cfg.sample_rate, cfg.n_fft, cfg.n_mels))
        self.register_buffer("dct", dct_matrix(cfg.n_mfcc, cfg.n_mels))
        self.register_buffer("mean", torch.zeros(cfg.n_mfcc, 1))
        self.register_buffer("std", torch.ones(cfg.n_mfcc, 1))

    def raw(self, wav):
        spec = torch.stft(wav, self.n_fft, self.hop_length, window=self.window,
                          return_complex=True).abs().pow(2)
        logmel = torch.log(self.fbank @ spec + 1e-6)
        return self.dct @ logmel

    def forward(self, wav):
        return (self.raw(wav) - self.mean) / self.std

    @torch.no_grad()
    def fit_stats(self, loader, max_batches=4):
        total, total_sq, count = 0.0, 0.0, 0
        for i, (wav, _) in enumerate(loader):
            if i >= max_batches:
                break
            feats = self.raw(wav).double()
            total = total + feats.sum(dim=(0, 2))
            total_sq = total_sq + feats.pow(2).sum(dim=(0, 2))
            count += feats.size(0) * feats.size(2)
        mean = total / count
        std = (total_sq / count - mean ** 2).clamp_min(1e-6).sqrt()
        self.mean.copy_(mean.unsqueeze(1))
        self.std.copy_(std.unsqueeze(1))
        return self
