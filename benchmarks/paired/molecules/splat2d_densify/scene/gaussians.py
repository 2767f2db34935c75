import torch
import torch.nn as nn

from optim.surgery import cat_to_optimizer, prune_optimizer


def inverse_sigmoid(x):
    return torch.log(x / (1 - x))


class GaussianModel2D:
    """Isotropic 2D Gaussians with adaptive density control."""

    NAMES = ("xy", "scaling", "opacity", "rgb")

    def __init__(self, device):
        self.device = device
        self.optimizer = None
        self.percent_dense = 0.05

    def create_random(self, n):
        dev = self.device
        self._xy = nn.Parameter(torch.rand(n, 2, device=dev))
        self._scaling = nn.Parameter(torch.full((n, 1), -2.5, device=dev))
        self._opacity = nn.Parameter(inverse_sigmoid(torch.full((n, 1), 0.3, device=dev)))
        self._rgb = nn.Parameter(torch.randn(n, 3, device=dev) * 0.3)
        self._reset_stats()

    def _reset_stats(self):
        n = self.num
        self.grad_accum = torch.zeros(n, 1, device=self.device)
        self.denom = torch.zeros(n, 1, device=self.device)

    @property
    def num(self):
        return self._xy.shape[0]

    @property
    def scale(self):
        return torch.exp(self._scaling)

    @property
    def opacity(self):
        return torch.sigmoid(self._opacity)

    @property
    def rgb(self):
        return torch.sigmoid(self._rgb)

    def training_setup(self, cfg):
        groups = [{"params": [getattr(self, "_" + n)], "lr": cfg["lr"][n], "name": n} for n in self.NAMES]
        self.optimizer = torch.optim.Adam(groups, eps=1e-15)

    def add_densification_stats(self):
        self.grad_accum += self._xy.grad.norm(dim=-1, keepdim=True)
        self.denom += 1

    def _assign(self, tensors):
        for name, t in tensors.items():
            setattr(self, "_" + name, t)

    def prune_points(self, mask):
        keep = ~mask
        self._assign(prune_optimizer(self.optimizer, keep))
        self.grad_accum, self.denom = self.grad_accum[keep], self.denom[keep]

    def _append(self, new):
        self._assign(cat_to_optimizer(self.optimizer, new))
        self._reset_stats()

    def _select(self, grads, threshold):
        # grads were measured before cloning, the new points have none yet
        padded = torch.zeros(self.num, device=self.device)
        padded[: grads.shape[0]] = grads.squeeze(-1)
        return padded >= threshold

    def clone(self, grads, threshold):
        mask = self._select(grads, threshold) & (self.scale.squeeze(-1) <= self.percent_dense)
        self._append({n: getattr(self, "_" + n).detach()[mask] for n in self.NAMES})

    def split(self, grads, threshold, n=2):
        mask = self._select(grads, threshold) & (self.scale.squeeze(-1) > self.percent_dense)
        stds = self.scale.detach()[mask].repeat(n, 1).expand(-1, 2)
        new = {k: getattr(self, "_" + k).detach()[mask].repeat(n, 1) for k in self.NAMES}
        new["xy"] = new["xy"] + torch.normal(torch.zeros_like(stds), stds)
        new["scaling"] = torch.log(torch.exp(new["scaling"]) / (0.8 * n))
        self._append(new)
        tail = torch.zeros(n * int(mask.sum()), dtype=torch.bool, device=self.device)
        self.prune_points(torch.cat([mask, tail]))

    def densify_and_prune(self, grad_threshold, min_opacity):
        grads = self.grad_accum / self.denom.clamp(min=1)
        before = self.num
        self.clone(grads, grad_threshold)
        self.split(grads, grad_threshold)
        grown = self.num
        self.prune_points((self.opacity < min_opacity).squeeze(-1))
        return before, grown, self.num

    def capture(self):
        return {n: getattr(self, "_" + n).detach().cpu().clone() for n in self.NAMES}

    def restore(self, state):
        for n in self.NAMES:
            setattr(self, "_" + n, nn.Parameter(state[n].to(self.device)))
        self._reset_stats()
