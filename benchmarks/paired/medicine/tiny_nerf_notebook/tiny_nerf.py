# %% [markdown]
# # Tiny NeRF with hierarchical sampling
# Two coloured balls, a ring of cameras, coarse and fine network.
# Exported from the notebook with jupytext.

# %%
import math
import os
import sys
import tempfile
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = SimpleNamespace(
    views=6, size=12, near=2.0, far=6.0,
    n_coarse=12, n_fine=12, rays=64, chunk=72,
    freqs=4, width=32, lr=5e-3, iters=12, eval_every=6, seed=0,
)
for arg in sys.argv[1:]:
    key, value = arg.lstrip("-").split("=")
    setattr(cfg, key, type(getattr(cfg, key))(value))

torch.manual_seed(cfg.seed)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("device:", device)


# %% Cameras and ground truth
def pose_spherical(theta, phi, radius):
    t, p = math.radians(theta), math.radians(phi)
    eye = np.array([radius * math.cos(p) * math.cos(t), radius * math.cos(p) * math.sin(t), radius * math.sin(p)])
    forward = -eye / np.linalg.norm(eye)
    right = np.cross(forward, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    c2w = np.eye(4)
    c2w[:3] = np.stack([right, up, -forward, eye], 1)
    return c2w


def get_rays(h, w, focal, c2w):
    j, i = torch.meshgrid(torch.arange(h, dtype=torch.float32), torch.arange(w, dtype=torch.float32), indexing="ij")
    dirs = torch.stack([(i - w * 0.5 + 0.5) / focal, -(j - h * 0.5 + 0.5) / focal, -torch.ones_like(i)], -1)
    c2w = torch.as_tensor(c2w, dtype=torch.float32)
    d = dirs @ c2w[:3, :3].T
    return torch.cat([c2w[:3, 3].expand_as(d), F.normalize(d, dim=-1)], -1).reshape(-1, 6)


BALLS = torch.tensor([[0.5, 0.0, 0.0, 0.7, 1.0, 0.2, 0.1], [-0.6, 0.3, 0.2, 0.5, 0.1, 0.4, 1.0]])


def trace(rays):
    """Analytic picture of the balls, white background."""
    o, d = rays[:, :3], rays[:, 3:]
    best = torch.full((len(rays),), float("inf"))
    rgb = torch.ones(len(rays), 3)
    for ball in BALLS:
        oc = o - ball[:3]
        b = (oc * d).sum(-1)
        disc = b * b - (oc * oc).sum(-1) + ball[3] ** 2
        t = -b - disc.clamp_min(0).sqrt()
        hit = (disc > 0) & (t < best)
        rgb[hit] = ball[4:]
        best = torch.where(hit, t, best)
    return rgb


focal = cfg.size * 1.2
poses = [pose_spherical(360.0 * k / cfg.views, 25.0, 4.0) for k in range(cfg.views + 1)]
bank = [get_rays(cfg.size, cfg.size, focal, p) for p in poses]
train_rays = torch.cat(bank[:-1])
train_rgb = trace(train_rays)
val_rays, val_rgb = bank[-1], trace(bank[-1])
if device.type == "cuda":
    # the whole bank can be big, it stays in page locked memory
    train_rays, train_rgb = train_rays.pin_memory(), train_rgb.pin_memory()
print("rays in the bank:", len(train_rays))


# %% Networks
class Field(nn.Module):
    def __init__(self, freqs, width):
        super().__init__()
        self.register_buffer("bands", 2.0 ** torch.arange(freqs), persistent=False)
        pos = 3 + 6 * freqs
        self.trunk = nn.Sequential(nn.Linear(pos, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.sigma = nn.Linear(width, 1)
        self.color = nn.Sequential(nn.Linear(width + 3, width // 2), nn.ReLU(), nn.Linear(width // 2, 3))

    def forward(self, x, d):
        xb = x[..., None] * self.bands
        h = self.trunk(torch.cat([x, xb.sin().flatten(-2), xb.cos().flatten(-2)], -1))
        return self.color(torch.cat([h, d], -1)).sigmoid(), F.softplus(self.sigma(h)[..., 0] - 1)


# %% Rendering
def stratified(n_rays, cfg, device, generator=None):
    edges = torch.linspace(cfg.near, cfg.far, cfg.n_coarse + 1, device=device)
    u = torch.rand(n_rays, cfg.n_coarse, device=device, generator=generator)
    return edges[:-1] + u * (edges[1:] - edges[:-1])


def sample_pdf(t, weights, n, generator=None):
    mids = 0.5 * (t[:, 1:] + t[:, :-1])
    pdf = weights[:, 1:-1] + 1e-5
    cdf = torch.cumsum(pdf / pdf.sum(-1, keepdim=True), -1)
    cdf = torch.cat([torch.zeros_like(cdf[:, :1]), cdf], -1)
    u = torch.rand(len(t), n, device=t.device, generator=generator)
    hi = torch.searchsorted(cdf, u, right=True).clamp(1, cdf.shape[1] - 1)
    lo = hi - 1
    c0, c1 = cdf.gather(1, lo), cdf.gather(1, hi)
    m0, m1 = mids.gather(1, lo), mids.gather(1, hi)
    frac = ((u - c0) / (c1 - c0).clamp_min(1e-5)).clamp(0, 1)
    return m0 + frac * (m1 - m0)


def composite(field, rays, t):
    o, d = rays[:, None, :3], rays[:, None, 3:]
    rgb, sigma = field(o + t[..., None] * d, d.expand(-1, t.shape[1], -1))
    delta = torch.cat([t[:, 1:] - t[:, :-1], torch.full_like(t[:, :1], 1e3)], -1)
    alpha = 1 - torch.exp(-sigma * delta)
    trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
    w = alpha * trans
    return (w[..., None] * rgb).sum(1) + (1 - w.sum(1, keepdim=True)), w


def render(fields, rays, cfg, generator=None):
    coarse, fine = fields
    t = stratified(len(rays), cfg, rays.device, generator)
    rgb0, w = composite(coarse, rays, t)
    with torch.no_grad():
        extra = sample_pdf(t, w, cfg.n_fine, generator)
    t = torch.cat([t, extra], -1).sort(-1).values
    rgb1, _ = composite(fine, rays, t)
    return rgb0, rgb1


@torch.no_grad()
def validate(fields, rays, rgb, cfg):
    # same jitter in every evaluation, the curve is smoother
    generator = torch.Generator(device=device).manual_seed(1234)
    rows = [render(fields, r.to(device), cfg, generator)[1].cpu() for r in rays.split(cfg.chunk)]
    image = torch.cat(rows)
    psnr = -10 * math.log10(F.mse_loss(image, rgb).item())
    return psnr, image.view(cfg.size, cfg.size, 3)


# %% Training
fields = nn.ModuleList([Field(cfg.freqs, cfg.width) for _ in range(2)]).to(device)
optimizer = torch.optim.Adam(fields.parameters(), lr=cfg.lr)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.98)
order = torch.Generator().manual_seed(cfg.seed)
history = []
perm, cursor = torch.randperm(len(train_rays), generator=order), 0

for it in range(1, cfg.iters + 1):
    if cursor + cfg.rays > len(perm):
        perm, cursor = torch.randperm(len(train_rays), generator=order), 0
    pick = perm[cursor:cursor + cfg.rays]
    cursor += cfg.rays
    rays = train_rays[pick].to(device, non_blocking=True)
    target = train_rgb[pick].to(device, non_blocking=True)

    rgb0, rgb1 = render(fields, rays, cfg)
    loss = F.mse_loss(rgb0, target) + F.mse_loss(rgb1, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()

    if it % cfg.eval_every == 0:
        psnr, image = validate(fields, val_rays, val_rgb, cfg)
        history.append((it, loss.item(), psnr))
        print(f"iter {it:4d} loss {loss.item():.4f} psnr {psnr:.2f}")

# %% Save
out = tempfile.mkdtemp(prefix="nerf_")
np.save(os.path.join(out, "val.npy"), image.numpy())
torch.save({"fields": fields.state_dict(), "order": order.get_state(), "history": history}, os.path.join(out, "ckpt.pt"))
print("saved to", out)
