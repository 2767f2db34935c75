"""Post-training quantisation, simulated in float.

1. train a small float model          2. attach observers to every Linear, run calibration batches
3. freeze the ranges                  4. compare float / fake-quant outputs, save the state dict
"""
import os
import tempfile
from typing import Dict, List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class PerChannelObserver(nn.Module):
    """Tracks the range of each feature (moving average after the first batch)."""

    def __init__(self, channels: int, momentum: float = 0.1):
        super().__init__()
        self.momentum = momentum
        self.seen = 0
        self.register_buffer("min_val", torch.zeros(channels))
        self.register_buffer("max_val", torch.zeros(channels))

    @torch.no_grad()
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat = x.reshape(-1, x.shape[-1])
        lo, hi = flat.min(dim=0).values, flat.max(dim=0).values
        if self.seen == 0:
            self.min_val += lo
            self.max_val += hi
        else:
            self.min_val += self.momentum * (lo - self.min_val)
            self.max_val += self.momentum * (hi - self.max_val)
        self.seen += 1
        return x

    def qparams(self, bits: int = 8) -> Tuple[torch.Tensor, torch.Tensor]:
        qmax = 2 ** bits - 1
        lo = self.min_val.clamp(max=0.0)
        hi = self.max_val.clamp(min=0.0)
        scale = ((hi - lo) / qmax).clamp_min(1e-8)
        zero = torch.round(-lo / scale).clamp(0, qmax)
        return scale, zero


class QuantLinear(nn.Module):
    def __init__(self, lin: nn.Linear, bits: int = 8):
        super().__init__()
        self.lin = lin
        self.bits = bits
        self.observer = PerChannelObserver(lin.in_features)
        self.mode = "observe"

    def fake_quant_input(self, x: torch.Tensor) -> torch.Tensor:
        scale, zero = self.observer.qparams(self.bits)
        q = torch.clamp(torch.round(x / scale) + zero, 0, 2 ** self.bits - 1)
        return (q - zero) * scale

    def fake_quant_weight(self) -> torch.Tensor:
        w = self.lin.weight
        s = w.abs().amax(dim=1, keepdim=True) / (2 ** (self.bits - 1) - 1)
        return torch.round(w / s) * s

    def forward(self, x):
        if self.mode == "observe":
            return self.lin(self.observer(x))
        return F.linear(self.fake_quant_input(x), self.fake_quant_weight(), self.lin.bias)


def convert(module: nn.Module, bits: int) -> nn.Module:
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, QuantLinear(child, bits))
        else:
            convert(child, bits)
    return module


def set_mode(model: nn.Module, mode: str) -> None:
    for m in model.modules():
        if isinstance(m, QuantLinear):
            m.mode = mode


def make_mlp(sizes: List[int]) -> nn.Sequential:
    layers: List[nn.Module] = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), nn.LayerNorm(b), nn.GELU()]
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*layers)


def stream(n_batches: int, seed: int):
    g = torch.Generator().manual_seed(seed)
    for _ in range(n_batches):
        x = torch.randn(32, 10, generator=g)
        yield x, (x[:, :5].sum(1) > x[:, 5:].abs().sum(1) - 2.5).long()


def train_float(device, batches: int = 40) -> nn.Module:
    model = make_mlp([10, 32, 32, 2])
    model.to(device)
    opt = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    for x, y in stream(batches, seed=0):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("float training done, last loss %.4f" % loss.item())
    return model


@torch.no_grad()
def accuracy(model, device) -> float:
    good = [(model(x.to(device)).argmax(1) == y.to(device)).float().mean() for x, y in stream(4, seed=5)]
    return torch.stack(good).mean().item()


def main() -> None:
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = train_float(device).eval()
    results: Dict[str, float] = {"float": accuracy(model, device)}

    for bits in (8, 4):
        clone = make_mlp([10, 32, 32, 2])
        clone.load_state_dict(model.state_dict())
        quant = convert(clone, bits).to(device).eval()
        for x, _ in stream(6, seed=1):
            quant(x.to(device))
        set_mode(quant, "quant")
        results["int%d" % bits] = accuracy(quant, device)
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "int%d.pt" % bits)
            torch.save(quant.state_dict(), path)
            print("saved %s, %.1f kB" % (os.path.basename(path), os.path.getsize(path) / 1024))
    for k, v in results.items():
        print("%-6s accuracy %.3f" % (k, v))


if __name__ == "__main__":
    main()
