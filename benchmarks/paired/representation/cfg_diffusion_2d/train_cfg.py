"""Class-conditional diffusion on a ring of 2-D gaussians, sampled with classifier-free guidance.

    python train_cfg.py --steps 120 --guidance 2.0
"""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=120)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--timesteps", type=int, default=30)
    p.add_argument("--classes", type=int, default=6)
    p.add_argument("--p-uncond", type=float, default=0.15)
    p.add_argument("--guidance", type=float, default=2.0)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return p.parse_args()


def ring_batch(n, classes):
    y = torch.randint(0, classes, (n,))
    angle = 2 * math.pi * y / classes
    centers = torch.stack([angle.cos(), angle.sin()], dim=1) * 2
    return centers + 0.1 * torch.randn(n, 2), y


def cosine_alphas_cumprod(timesteps, s=0.008):
    x = torch.linspace(0, timesteps, timesteps + 1, dtype=torch.float64)
    f = torch.cos((x / timesteps + s) / (1 + s) * math.pi / 2) ** 2
    acp = f / f[0]
    betas = (1 - acp[1:] / acp[:-1]).clamp(max=0.999)
    return torch.cumprod(1 - betas, 0).float()


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(-math.log(10000.0) * torch.arange(half, device=t.device) / half)
        args = t[:, None].float() * freqs[None]
        return torch.cat([args.cos(), args.sin()], dim=-1)


class Denoiser(nn.Module):
    def __init__(self, classes, hidden=64):
        super().__init__()
        self.null_class = classes
        self.t_emb = nn.Sequential(TimeEmbedding(32), nn.Linear(32, hidden), nn.SiLU())
        self.y_emb = nn.Embedding(classes + 1, hidden)
        self.inp = nn.Linear(2, hidden)
        self.net = nn.Sequential(
            nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 2)
        )

    def forward(self, x, t, y):
        h = self.inp(x) + self.t_emb(t) + self.y_emb(y)
        return self.net(h)


def train(model, acp, opt, args):
    model.train()
    for step in range(args.steps):
        x, y = ring_batch(args.batch_size, args.classes)
        x, y = x.to(args.device), y.to(args.device)
        t = torch.randint(0, args.timesteps, (x.size(0),), device=x.device)
        drop = torch.rand(y.shape, device=y.device) < args.p_uncond
        y = y.masked_fill(drop, model.null_class)

        noise = torch.randn_like(x)
        a = acp[t].unsqueeze(1)
        x_t = a.sqrt() * x + (1 - a).sqrt() * noise
        loss = F.mse_loss(model(x_t, t, y), noise)

        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0 or step == args.steps - 1:
            print(f"step {step:4d}  loss {loss.item():.4f}")


def guidance_labels(model, y):
    """Labels of the doubled batch: first the conditional half, then the unconditional one."""
    null = torch.full_like(y, model.null_class)
    return torch.cat([y, null], dim=0)


@torch.no_grad()
def sample(model, acp, y, timesteps, scale):
    model.eval()
    x = torch.randn(y.size(0), 2, device=y.device)
    labels = guidance_labels(model, y)
    for i in reversed(range(timesteps)):
        t = torch.full((2 * x.size(0),), i, device=x.device, dtype=torch.long)
        eps_c, eps_u = model(torch.cat([x, x]), t, labels).chunk(2)
        eps = eps_u + scale * (eps_c - eps_u)
        a, a_prev = acp[i], acp[i - 1] if i > 0 else torch.tensor(1.0)
        x0 = ((x - (1 - a).sqrt() * eps) / a.sqrt()).clamp(-3, 3)
        x = a_prev.sqrt() * x0 + (1 - a_prev).sqrt() * eps
    return x


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    model = Denoiser(args.classes).to(args.device)
    acp = cosine_alphas_cumprod(args.timesteps).to(args.device)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    train(model, acp, opt, args)

    y = torch.arange(args.classes, device=args.device).repeat_interleave(16)
    x = sample(model, acp, y, args.timesteps, args.guidance).cpu()
    for c in range(args.classes):
        mean = x[c * 16:(c + 1) * 16].mean(0)
        print(f"class {c}: mean ({mean[0]:+.2f}, {mean[1]:+.2f})")


if __name__ == "__main__":
    main()
