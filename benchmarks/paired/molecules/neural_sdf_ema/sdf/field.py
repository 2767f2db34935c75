import math

import torch
from torch import Tensor, nn


class FourierSDF(nn.Module):
    def __init__(self, width: int = 48, depth: int = 3, n_freqs: int = 12, sigma: float = 1.5) -> None:
        super().__init__()
        self.register_buffer("B", torch.randn(3, n_freqs) * sigma)
        dims = [3 + 2 * n_freqs] + [width] * depth
        self.body = nn.Sequential(*(m for a, b in zip(dims, dims[1:]) for m in (nn.Linear(a, b), nn.Softplus(beta=50))))
        self.out = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        proj = 2 * math.pi * x @ self.B
        return self.out(self.body(torch.cat([x, proj.sin(), proj.cos()], -1))).squeeze(-1)

    def gradient(self, x: Tensor) -> Tensor:
        x = x.detach().requires_grad_(True)
        (g,) = torch.autograd.grad(self(x).sum(), x, create_graph=True)
        return g
