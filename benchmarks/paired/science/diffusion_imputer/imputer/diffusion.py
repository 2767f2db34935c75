import torch
import torch.nn as nn


class GaussianDiffusion(nn.Module):
    def __init__(self, denoiser, steps=20, beta_start=1e-4, beta_end=0.3):
        super().__init__()
        self.denoiser = denoiser
        self.steps = steps
        beta = torch.linspace(beta_start ** 0.5, beta_end ** 0.5, steps) ** 2
        alpha_bar = torch.cumprod(1 - beta, dim=0)
        self.register_buffer('beta', beta)
        self.register_buffer('alpha_bar', alpha_bar)

    def loss(self, x, observed, cond):
        # cond: values given to the network; the rest of the observed ones is the target
        b = x.shape[0]
        t = torch.randint(0, self.steps, (b,), device=x.device)
        noise = torch.randn_like(x)
        a = self.alpha_bar[t].view(b, 1, 1)
        noisy = a.sqrt() * x + (1 - a).sqrt() * noise
        pred = self.denoiser(cond * x, (1 - cond) * noisy, cond, t)
        target = observed * (1 - cond)
        return ((pred - noise) ** 2 * target).sum() / target.sum().clamp(min=1)

    @torch.no_grad()
    def impute(self, x, cond, n_samples=4):
        out = []
        for _ in range(n_samples):
            cur = torch.randn_like(x)
            for i in reversed(range(self.steps)):
                t = torch.full((x.shape[0],), i, dtype=torch.long, device=x.device)
                eps = self.denoiser(cond * x, (1 - cond) * cur, cond, t)
                coef = self.beta[i] / (1 - self.alpha_bar[i]).sqrt()
                cur = (cur - coef * eps) / (1 - self.beta[i]).sqrt()
                if i > 0:
                    cur = cur + self.beta[i].sqrt() * torch.randn_like(cur)
            out.append(cond * x + (1 - cond) * cur)
        return torch.stack(out).median(dim=0).values
