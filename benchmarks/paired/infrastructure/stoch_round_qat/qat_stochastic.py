"""Quantisation-aware training with stochastic rounding.

Weights and activations are rounded to k bits by an autograd function with a
straight-through gradient (clipped outside the representable range).
"""
from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Iterator

import torch
from torch import Tensor, nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("qat")


@dataclass(frozen=True)
class QConfig:
    weight_bits: int = 4
    act_bits: int = 8
    stochastic: bool = True


@dataclass(frozen=True)
class TrainConfig:
    steps: int = 60
    batch: int = 64
    lr: float = 5e-3
    hidden: int = 32
    seed: int = 3
    cuda: bool = torch.cuda.is_available()


class StochasticRound(torch.autograd.Function):
    """y = floor(x / s + u) * s with u ~ U[0, 1), clamped to [lo, hi]."""

    @staticmethod
    def forward(ctx, x: Tensor, scale: Tensor, lo: int, hi: int, stochastic: bool) -> Tensor:
        z = x / scale
        ctx.save_for_backward(z)
        ctx.bounds = (lo, hi)
        if stochastic:
            u = torch.rand(z.shape, dtype=z.dtype, device=z.device)
            q = torch.floor(z + u)
        else:
            q = torch.round(z)
        return q.clamp_(lo, hi) * scale

    @staticmethod
    def backward(ctx, grad: Tensor):
        (z,) = ctx.saved_tensors
        lo, hi = ctx.bounds
        inside = (z >= lo) & (z <= hi)
        return grad * inside, None, None, None, None


def quantize(x: Tensor, bits: int, signed: bool, stochastic: bool) -> Tensor:
    hi = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1
    lo = -hi - 1 if signed else 0
    scale = x.detach().abs().amax().clamp_min(1e-6) / hi
    return StochasticRound.apply(x, scale, lo, hi, stochastic)


class QLinear(nn.Linear):
    def __init__(self, fan_in: int, fan_out: int, cfg: QConfig) -> None:
        super().__init__(fan_in, fan_out)
        self.cfg = cfg

    def forward(self, x: Tensor) -> Tensor:
        stochastic = self.cfg.stochastic and self.training
        w = quantize(self.weight, self.cfg.weight_bits, True, stochastic)
        return nn.functional.linear(x, w, self.bias)


class QReLU(nn.Module):
    def __init__(self, cfg: QConfig) -> None:
        super().__init__()
        self.cfg = cfg

    def forward(self, x: Tensor) -> Tensor:
        return quantize(x.relu(), self.cfg.act_bits, False, False)


def build(cfg: TrainConfig, q: QConfig) -> nn.Sequential:
    return nn.Sequential(
        QLinear(2, cfg.hidden, q), QReLU(q),
        QLinear(cfg.hidden, cfg.hidden, q), QReLU(q),
        nn.Linear(cfg.hidden, 2),
    )


def two_spirals(n: int, gen: torch.Generator) -> tuple[Tensor, Tensor]:
    t = 3 * torch.rand(n, generator=gen) + 0.3
    y = torch.randint(2, (n,), generator=gen)
    phase = t * 1.5 + y * torch.pi
    x = torch.stack((t * phase.cos(), t * phase.sin()), dim=1)
    return x + 0.05 * torch.randn(n, 2, generator=gen), y


def batches(cfg: TrainConfig, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    gen = torch.Generator().manual_seed(cfg.seed)
    for _ in range(cfg.steps):
        x, y = two_spirals(cfg.batch, gen)
        yield x.to(device), y.to(device)


def main() -> None:
    cfg, q = TrainConfig(), QConfig()
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if cfg.cuda else "cpu")
    model = build(cfg, q).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    loss_fn = nn.CrossEntropyLoss()

    model.train()
    for step, (x, y) in enumerate(batches(cfg, device)):
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            log.info("step %3d  loss %.4f", step, loss.item())

    model.eval()
    x, y = two_spirals(256, torch.Generator().manual_seed(99))
    with torch.no_grad():
        acc = (model(x.to(device)).argmax(1).cpu() == y).float().mean()
    log.info("W%dA%d accuracy %.3f", q.weight_bits, q.act_bits, acc)


if __name__ == "__main__":
    main()
