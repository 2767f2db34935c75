"""Baseband bursts of a few digital modulations, made in host memory."""
import math

import torch

SCHEMES = ("bpsk", "qpsk", "8psk", "16qam")


def constellation(name):
    if name == "16qam":
        axis = torch.tensor([-3.0, -1.0, 1.0, 3.0]) / math.sqrt(10.0)
        return torch.complex(*torch.meshgrid(axis, axis, indexing="ij")).flatten()
    order = {"bpsk": 2, "qpsk": 4, "8psk": 8}[name]
    angle = 2 * math.pi * torch.arange(order) / order
    return torch.polar(torch.ones(order), angle)


def bursts(n, symbols, oversample, generator):
    """Yields (waveform, scheme index) pairs for ever in blocks of n."""
    points = [constellation(s) for s in SCHEMES]
    pulse = torch.hann_window(2 * oversample)
    while True:
        label = torch.randint(len(SCHEMES), (n,), generator=generator)
        rows = []
        for k in label.tolist():
            pick = torch.randint(len(points[k]), (symbols,), generator=generator)
            impulses = torch.zeros(symbols * oversample, dtype=torch.complex64)
            impulses[::oversample] = points[k][pick]
            iq = torch.view_as_real(impulses).T[:, None]
            shaped = torch.nn.functional.conv1d(iq, pulse.view(1, 1, -1), padding=oversample)
            rows.append(torch.complex(shaped[0, 0], shaped[1, 0]))
        yield torch.stack(rows), label
