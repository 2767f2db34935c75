"""A shaded sphere seen from a ring of cameras."""
import numpy as np
import torch


def look_at(eye):
    forward = -eye / np.linalg.norm(eye)
    right = np.cross(forward, np.array([0.0, 0.0, 1.0]))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    return np.stack([right, up, -forward], axis=1)


def camera_rays(eye, size, focal):
    j, i = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    dirs = np.stack([(i - size / 2 + 0.5) / focal, -(j - size / 2 + 0.5) / focal, -np.ones_like(i, dtype=float)], -1)
    dirs = dirs.reshape(-1, 3) @ look_at(eye).T
    dirs /= np.linalg.norm(dirs, axis=-1, keepdims=True)
    return np.broadcast_to(eye, dirs.shape), dirs


def shade(o, d, radius=0.6):
    b = (o * d).sum(-1)
    disc = b ** 2 - ((o * o).sum(-1) - radius ** 2)
    hit = disc > 0
    t = -b - np.sqrt(np.where(hit, disc, 0))
    normal = (o + d * t[:, None]) / radius
    color = 0.5 + 0.5 * normal
    color[~hit] = 1.0
    return color


class RayBank:
    """All training rays in host memory, shuffled once per epoch."""

    def __init__(self, n_views=6, size=12, seed=0):
        rng = np.random.default_rng(seed)
        o_all, d_all, c_all = [], [], []
        for k in range(n_views):
            phi = 2 * np.pi * k / n_views + rng.normal(0, 0.05)
            eye = np.array([2 * np.cos(phi), 2 * np.sin(phi), 0.7])
            o, d = camera_rays(eye, size, focal=size * 1.2)
            o_all.append(o), d_all.append(d), c_all.append(shade(o, d))
        to_t = lambda a: torch.from_numpy(np.ascontiguousarray(np.concatenate(a))).float()
        self.origins, self.dirs, self.colors = to_t(o_all), to_t(d_all), to_t(c_all)
        self.rays_per_view = size * size

    def __len__(self):
        return len(self.origins)

    def view(self, k):
        s = slice(k * self.rays_per_view, (k + 1) * self.rays_per_view)
        return self.origins[s], self.dirs[s], self.colors[s]

    def batches(self, batch_size, device):
        order = torch.randperm(len(self))
        for idx in order.split(batch_size):
            yield tuple(x[idx].to(device, non_blocking=True) for x in (self.origins, self.dirs, self.colors))
