"""Sampling kernels: each takes a state x and an energy and gives the next state."""
import torch

KERNELS = {}


def kernel(name):
    def add(fn):
        KERNELS[name] = fn
        return fn
    return add


def gradient(energy, x):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        e = energy(x)
        (g,) = torch.autograd.grad(e.sum(), x)
    return e.detach(), g


def gaussian_like(x, stream):
    return torch.randn(x.shape, generator=stream, device=x.device, dtype=x.dtype)


@kernel("ula")
def ula(energy, x, step, streams):
    _, g = gradient(energy, x)
    return x - step * g + (2 * step) ** 0.5 * gaussian_like(x, streams["noise"])


@kernel("mala")
def mala(energy, x, step, streams):
    e, g = gradient(energy, x)
    noise = gaussian_like(x, streams["noise"])
    y = x - step * g + (2 * step) ** 0.5 * noise
    e2, g2 = gradient(energy, y)
    back = (x - y + step * g2).pow(2).sum(1) / (4 * step)
    log_ratio = e - e2 + noise.pow(2).sum(1) / 2 - back
    u = torch.rand(len(x), generator=streams["accept"], device=x.device)
    return torch.where((u.log() < log_ratio)[:, None], y, x)
