"""Log-mel and MFCC features, computed on the fly on the device of the audio."""
import math
from functools import lru_cache

import torch


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


@lru_cache(maxsize=None)
def mel_matrix(sr, n_fft, n_mels, fmin, fmax):
    mels = torch.linspace(hz_to_mel(fmin), hz_to_mel(fmax), n_mels + 2)
    hz = mel_to_hz(mels)
    bins = torch.linspace(0, sr / 2, n_fft // 2 + 1)
    up = (bins[None] - hz[:-2, None]) / (hz[1:-1] - hz[:-2])[:, None]
    down = (hz[2:, None] - bins[None]) / (hz[2:] - hz[1:-1])[:, None]
    return torch.minimum(up, down).clamp(min=0)


@lru_cache(maxsize=None)
def dct_matrix(n_mfcc, n_mels):
    n = torch.arange(n_mels).float()
    k = torch.arange(n_mfcc).float()[:, None]
    dct = torch.cos(math.pi / n_mels * (n + 0.5) * k) * math.sqrt(2.0 / n_mels)
    dct[0] /= math.sqrt(2.0)
    return dct


def log_mel(wav, sr=8000, n_fft=256, hop=128, n_mels=20):
    window = torch.hamming_window(n_fft, device=wav.device)
    spec = torch.stft(wav, n_fft, hop, window=window, return_complex=True).abs().pow(2)
    mel = mel_matrix(sr, n_fft, n_mels, 20.0, sr / 2).to(wav.device)
    return torch.log(mel @ spec + 1e-6)


def mfcc(wav, n_mfcc=12, **kw):
    lm = log_mel(wav, **kw)
    dct = dct_matrix(n_mfcc, lm.size(-2)).to(wav.device)
    return dct @ lm


def deltas(feat, win=2):
    pad = torch.nn.functional.pad(feat, (win, win), mode="replicate")
    num = sum(i * (pad[..., win + i:pad.size(-1) - win + i] - pad[..., win - i:pad.size(-1) - win - i])
              for i in range(1, win + 1))
    return num / (2 * sum(i * i for i in range(1, win + 1)))
