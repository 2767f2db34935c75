import numpy as np
from scipy.signal import istft, stft

NPERSEG, HOP = 30, 15


def to_logspec(wav):
    _, _, spec = stft(wav, nperseg=NPERSEG, noverlap=NPERSEG - HOP)
    return np.clip(np.log10(np.abs(spec) + 1e-3) / 1.5 + 1, -1, 1)[..., :16]


def griffin_lim(logspec, n_iter=4, seed=0):
    mag = 10 ** ((logspec - 1) * 1.5)
    phase = np.exp(2j * np.pi * np.random.default_rng(seed).random(mag.shape))
    for _ in range(n_iter):
        _, wav = istft(mag * phase, nperseg=NPERSEG, noverlap=NPERSEG - HOP)
        _, _, spec = stft(wav, nperseg=NPERSEG, noverlap=NPERSEG - HOP)
        phase = np.exp(1j * np.angle(spec[..., :mag.shape[-1]]))
    return wav
