"""Windows, templates' spectra and whitening; used on the host and on the device."""
import math

import torch

_tables = {}


def _cached(kind, n, like, build):
    """Tables depend on size, type and place of the strain they are used with."""
    key = (kind, n, like.dtype, like.device)
    if key not in _tables:
        _tables[key] = build().to(like)
    return _tables[key]


def tukey(n, like, alpha=0.25):
    def build():
        t = torch.linspace(0.0, 1.0, n, dtype=torch.float64)
        edge = torch.minimum(t, 1.0 - t) / (alpha / 2)
        return 0.5 * (1.0 - torch.cos(math.pi * edge.clamp(max=1.0)))

    return _cached("tukey", n, like, build)


def highpass(n, rate, like, corner=20.0):
    def build():
        f = torch.fft.rfftfreq(n, 1.0 / rate, dtype=torch.float64)
        return 1.0 / (1.0 + (corner / f.clamp(min=1e-3)) ** 8)

    return _cached("highpass", n, like, build)


def amplitude_spectrum(strain, segment):
    """Median of windowed periodograms with half overlapping segments."""
    parts = strain.unfold(-1, segment, segment // 2)
    power = torch.fft.rfft(parts * tukey(segment, strain)).abs() ** 2
    return power.median(dim=-2).values.clamp(min=1e-12).sqrt()


def whiten(strain, asd, rate):
    n = strain.shape[-1]
    spectrum = torch.fft.rfft(strain * tukey(n, strain)) / asd * highpass(n, rate, strain)
    white = torch.fft.irfft(spectrum, n)
    return white / white.std(dim=-1, keepdim=True)
