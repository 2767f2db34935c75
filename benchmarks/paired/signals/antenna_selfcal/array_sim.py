"""A toy interferometer that looks at a few point sources."""
import math

import torch


def antenna_layout(n_ant, generator):
    radius = 50.0 + 450.0 * torch.rand(n_ant, generator=generator)
    angle = 2 * math.pi * torch.rand(n_ant, generator=generator)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)


def baselines(n_ant):
    p, q = torch.triu_indices(n_ant, n_ant, offset=1)
    return p, q


def uv_tracks(layout, p, q, hours):
    """Rotate every baseline with the sky: (time, baseline, 2)."""
    base = layout[q] - layout[p]
    theta = hours * (2 * math.pi / 24.0)
    cos, sin = theta.cos()[:, None], theta.sin()[:, None]
    u = cos * base[:, 0] + sin * base[:, 1]
    v = -sin * base[:, 0] + cos * base[:, 1]
    return torch.stack([u, v], dim=-1)


def point_source_visibilities(uv, sources):
    """sources: (n, 3) rows of l, m and flux."""
    lm, flux = sources[:, :2], sources[:, 2]
    phase = -2 * math.pi * (uv @ lm.T)
    return torch.complex((flux * phase.cos()).sum(-1), (flux * phase.sin()).sum(-1))


def observe(n_ant=12, n_time=16, noise=0.02, seed=4):
    g = torch.Generator().manual_seed(seed)
    layout = antenna_layout(n_ant, g)
    p, q = baselines(n_ant)
    uv = uv_tracks(layout, p, q, torch.linspace(-3.0, 3.0, n_time))
    sources = torch.tensor([[0.0, 0.0, 4.0], [6e-4, -3e-4, 1.5], [-4e-4, 8e-4, 0.8]])
    sky = point_source_visibilities(uv, sources)
    amp = 1.0 + 0.25 * torch.randn(n_ant, generator=g)
    phase = 0.8 * torch.randn(n_ant, generator=g)
    true = torch.polar(amp.abs(), phase)
    data = true[p] * true[q].conj() * sky
    scatter = noise * torch.randn(*data.shape, 2, generator=g)
    return {
        "vis": data + torch.view_as_complex(scatter),
        "sky": sky,
        "p": p,
        "q": q,
        "weight": torch.ones(data.shape),
    }
