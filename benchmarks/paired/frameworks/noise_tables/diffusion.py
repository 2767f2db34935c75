import torch
import torch.nn.functional as F
from torch import nn

from schedules import rows


class Denoiser(nn.Module):
    def __init__(self, dim, width, steps):
        super().__init__()
        self.time = nn.Embedding(steps, width)
        self.inp = nn.Linear(dim, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, dim)

    def forward(self, x, t):
        h = F.silu(self.inp(x) + self.time(t))
        return self.out(F.silu(self.mid(h)) + h)


class Diffusion(nn.Module):
    def __init__(self, net, tables):
        super().__init__()
        self.net = net
        self.tables = tables

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self.tables = self.tables.to(next(self.net.parameters()).device)
        return self

    def loss(self, x0):
        t = torch.randint(self.tables.steps, (len(x0),), device=x0.device)
        noise = torch.randn_like(x0)
        signal, sigma = self.tables.signal, self.tables.sigma
        x = rows(signal, t, x0) * x0 + rows(sigma, t, x0) * noise
        return F.mse_loss(self.net(x, t), noise)

    @torch.no_grad()
    def sample(self, count, dim, plan=None):
        device = self.tables.betas.device
        x = torch.randn(count, dim, device=device)
        plan = plan or self.tables.plan(self.tables.steps)
        for now, nxt in zip(plan, plan[1:] + [None]):
            t = torch.full((count,), now, device=device)
            a, s = self.tables.signal[now], self.tables.sigma[now]
            eps = self.net(x, t)
            clean = ((x - s * eps) / a).clamp(-4, 4)
            if nxt is None:
                return clean
            x = self.tables.signal[nxt] * clean + self.tables.sigma[nxt] * eps
            x = x + self.tables.posterior_var[now].sqrt() * 0.1 * torch.randn_like(x)
