# Tiny NeRF on a procedurally rendered scene (a few coloured balls).
import math
import os
import random
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

use_cuda = torch.cuda.is_available()
SEED = 1
H = W = 12
FOCAL = 18.0
N_VIEWS = 6
N_SAMPLES = 8
N_IMPORTANCE = 8
N_RAND = 64
N_ITERS = int(os.environ.get("N_ITERS", 16))
CHUNK = 128
NEAR, FAR = 1.0, 5.0
PERTURB = 1.0
RAW_NOISE = 0.1

random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
if use_cuda:
    torch.cuda.manual_seed_all(SEED)


def pose_spherical(theta, phi, radius):
    ct, st, cp, sp = math.cos(theta), math.sin(theta), math.cos(phi), math.sin(phi)
    c2w = np.array(
        [
            [-st, -sp * ct, cp * ct, radius * cp * ct],
            [ct, -sp * st, cp * st, radius * cp * st],
            [0.0, cp, sp, radius * sp],
            [0.0, 0.0, 0.0, 1.0],
        ],
        dtype=np.float32,
    )
    return c2w


def get_rays(c2w):
    i, j = np.meshgrid(np.arange(W, dtype=np.float32), np.arange(H, dtype=np.float32), indexing="xy")
    dirs = np.stack([(i - W * 0.5) / FOCAL, -(j - H * 0.5) / FOCAL, -np.ones_like(i)], -1)
    rays_d = np.sum(dirs[..., None, :] * c2w[:3, :3], -1)
    rays_o = np.broadcast_to(c2w[:3, -1], rays_d.shape)
    return rays_o.reshape(-1, 3), rays_d.reshape(-1, 3)


BALLS = [((0.0, 0.0, 0.0), 0.6, (0.9, 0.2, 0.2)), ((0.7, 0.3, 0.2), 0.35, (0.2, 0.9, 0.3))]


def trace(rays_o, rays_d):
    rgb = np.ones_like(rays_o)
    depth = np.full(len(rays_o), np.inf)
    for center, radius, color in BALLS:
        oc = rays_o - np.array(center, dtype=np.float32)
        a = (rays_d**2).sum(-1)
        b = 2 * (oc * rays_d).sum(-1)
        c = (oc**2).sum(-1) - radius**2
        disc = b * b - 4 * a * c
        t = np.where(disc > 0, (-b - np.sqrt(np.maximum(disc, 0))) / (2 * a), np.inf)
        hit = t < depth
        depth = np.where(hit, t, depth)
        rgb[hit] = color
    return rgb.astype(np.float32)


class Embedder:
    def __init__(self, n_freqs):
        self.freqs = [2.0**k for k in range(n_freqs)]
        self.out_dim = 3 + 3 * 2 * n_freqs

    def __call__(self, x):
        out = [x]
        for f in self.freqs:
            out += [torch.sin(x * f), torch.cos(x * f)]
        return torch.cat(out, -1)


class NeRF(nn.Module):
    def __init__(self, D=3, width=32, in_dim=3, in_dim_view=3, skips=(1,)):
        super(NeRF, self).__init__()
        self.skips = skips
        self.pts_linears = nn.ModuleList(
            [nn.Linear(in_dim, width)]
            + [nn.Linear(width + in_dim if i in skips else width, width) for i in range(D - 1)]
        )
        self.alpha_linear = nn.Linear(width, 1)
        self.rgb_linear = nn.Sequential(nn.Linear(width + in_dim_view, width // 2), nn.ReLU(), nn.Linear(width // 2, 3))

    def forward(self, pts, views):
        h = pts
        for i, lin in enumerate(self.pts_linears):
            h = F.relu(lin(h))
            if i in self.skips:
                h = torch.cat([pts, h], -1)
        return torch.cat([self.rgb_linear(torch.cat([h, views], -1)), self.alpha_linear(h)], -1)


embed_pts, embed_dirs = Embedder(4), Embedder(2)
coarse = NeRF(in_dim=embed_pts.out_dim, in_dim_view=embed_dirs.out_dim)
fine = NeRF(in_dim=embed_pts.out_dim, in_dim_view=embed_dirs.out_dim)
if use_cuda:
    coarse.cuda()
    fine.cuda()
optimizer = torch.optim.Adam(list(coarse.parameters()) + list(fine.parameters()), lr=5e-3, betas=(0.9, 0.999))


def raw2outputs(raw, z_vals, rays_d, noise_std):
    dists = z_vals[..., 1:] - z_vals[..., :-1]
    dists = torch.cat([dists, torch.full_like(dists[..., :1], 1e10)], -1)
    dists = dists * rays_d.norm(dim=-1, keepdim=True)
    sigma = raw[..., 3]
    if noise_std > 0:
        sigma = sigma + torch.randn_like(sigma) * noise_std
    alpha = 1.0 - torch.exp(-F.relu(sigma) * dists)
    ones = torch.ones_like(alpha[..., :1])
    trans = torch.cumprod(torch.cat([ones, 1.0 - alpha + 1e-10], -1), -1)[..., :-1]
    weights = alpha * trans
    rgb = torch.sum(weights[..., None] * torch.sigmoid(raw[..., :3]), -2)
    depth = torch.sum(weights * z_vals, -1)
    rgb = rgb + (1.0 - weights.sum(-1, keepdim=True))
    return rgb, depth, weights


def sample_pdf(bins, weights, n_samples, det=False):
    weights = weights + 1e-5
    pdf = weights / weights.sum(-1, keepdim=True)
    cdf = torch.cumsum(pdf, -1)
    cdf = torch.cat([torch.zeros_like(cdf[..., :1]), cdf], -1)
    shape = list(cdf.shape[:-1]) + [n_samples]
    if det:
        u = torch.linspace(0.0, 1.0, n_samples, device=cdf.device).expand(shape)
    else:
        u = torch.rand(shape, device=cdf.device)
    u = u.contiguous()
    inds = torch.searchsorted(cdf, u, right=True)
    below = (inds - 1).clamp(min=0)
    above = inds.clamp(max=cdf.shape[-1] - 1)
    cdf_lo, cdf_hi = torch.gather(cdf, -1, below), torch.gather(cdf, -1, above)
    bin_lo, bin_hi = torch.gather(bins, -1, below), torch.gather(bins, -1, above)
    denom = cdf_hi - cdf_lo
    denom = torch.where(denom < 1e-5, torch.ones_like(denom), denom)
    return bin_lo + (u - cdf_lo) / denom * (bin_hi - bin_lo)


def run_network(net, rays_o, rays_d, z_vals):
    pts = rays_o[:, None, :] + rays_d[:, None, :] * z_vals[..., None]
    dirs = (rays_d / rays_d.norm(dim=-1, keepdim=True))[:, None, :].expand(pts.shape)
    return net(embed_pts(pts), embed_dirs(dirs))


def render_rays(rays_o, rays_d, train=True):
    t = torch.linspace(0.0, 1.0, N_SAMPLES, device=rays_o.device)
    z_vals = (NEAR * (1.0 - t) + FAR * t).expand(rays_o.shape[0], N_SAMPLES)
    if train and PERTURB > 0:
        mids = 0.5 * (z_vals[..., 1:] + z_vals[..., :-1])
        upper = torch.cat([mids, z_vals[..., -1:]], -1)
        lower = torch.cat([z_vals[..., :1], mids], -1)
        z_vals = lower + (upper - lower) * torch.rand(z_vals.shape, device=z_vals.device)
    noise = RAW_NOISE if train else 0.0
    rgb0, _, weights = raw2outputs(run_network(coarse, rays_o, rays_d, z_vals), z_vals, rays_d, noise)

    mids = 0.5 * (z_vals[..., 1:] + z_vals[..., :-1])
    z_new = sample_pdf(mids, weights[..., 1:-1].detach(), N_IMPORTANCE, det=not train)
    z_all, _ = torch.sort(torch.cat([z_vals, z_new], -1), -1)
    rgb, depth, _ = raw2outputs(run_network(fine, rays_o, rays_d, z_all), z_all, rays_d, noise)
    return rgb0, rgb, depth


def render_image(c2w):
    rays_o, rays_d = get_rays(c2w)
    rays_o, rays_d = torch.from_numpy(rays_o.copy()), torch.from_numpy(rays_d.copy())
    canvas = torch.zeros(H * W, 3)
    depth_map = torch.zeros(H * W)
    with torch.no_grad():
        for s in range(0, H * W, CHUNK):
            o, d = rays_o[s : s + CHUNK], rays_d[s : s + CHUNK]
            if use_cuda:
                o, d = o.cuda(), d.cuda()
            _, rgb, depth = render_rays(o, d, train=False)
            canvas[s : s + CHUNK] = rgb.cpu()
            depth_map[s : s + CHUNK] = depth.cpu()
    return canvas.view(H, W, 3).numpy(), depth_map.view(H, W).numpy()


poses = [pose_spherical(2 * math.pi * k / N_VIEWS, 0.5, 3.0) for k in range(N_VIEWS)]
rays = [np.concatenate(get_rays(p), -1) for p in poses]
colors = [trace(r[:, :3], r[:, 3:]) for r in rays]
bank = torch.from_numpy(np.concatenate([np.concatenate(rays[1:]), np.concatenate(colors[1:])], -1))
bank = bank[torch.randperm(bank.shape[0])]
print("ray bank", tuple(bank.shape), "held out view 0")

cursor = 0
for it in range(1, N_ITERS + 1):
    batch = bank[cursor : cursor + N_RAND]
    cursor += N_RAND
    if cursor >= bank.shape[0]:
        bank = bank[torch.randperm(bank.shape[0])]
        cursor = 0
    if use_cuda:
        batch = batch.cuda(non_blocking=True)
    rays_o, rays_d, target = batch[:, :3], batch[:, 3:6], batch[:, 6:]
    rgb0, rgb, _ = render_rays(rays_o, rays_d)
    loss = F.mse_loss(rgb, target) + F.mse_loss(rgb0, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for group in optimizer.param_groups:
        group["lr"] = 5e-3 * 0.1 ** (it / 500)
    if it % 8 == 0:
        print("iter %03d loss %.4f psnr %.2f" % (it, loss.item(), -10 * math.log10(F.mse_loss(rgb, target).item())))

img, depth = render_image(poses[0])
mse = float(((img - colors[0].reshape(H, W, 3)) ** 2).mean())
print("held out psnr %.2f, mean depth %.2f" % (-10 * np.log10(mse), depth.mean()))
with tempfile.TemporaryDirectory() as d:
    np.savez(os.path.join(d, "view0.npz"), img=img, depth=depth)
    torch.save({"coarse": coarse.state_dict(), "fine": fine.state_dict()}, os.path.join(d, "nerf.pth"))
