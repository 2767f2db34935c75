"""Equivariant denoising diffusion for small ring conformers (EGNN backbone, dense batches)."""
import dataclasses
import functools
import logging
import math
import sys
import tempfile
from typing import Callable, Dict, Iterator, Optional

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

log = logging.getLogger("conformers")


@dataclasses.dataclass
class Settings:
    n_mol: int = 80
    max_atoms: int = 8
    hidden: int = 24
    layers: int = 2
    timesteps: int = 20
    batch: int = 16
    epochs: int = 2
    lr: float = 2e-3
    seed: int = 11
    n_samples: int = 6

    @classmethod
    def from_argv(cls, argv):
        over = {}
        for item in argv:
            key, _, value = item.partition("=")
            kind = {f.name: f.type for f in dataclasses.fields(cls)}[key]
            over[key] = (float if kind in (float, "float") else int)(value)
        return cls(**over)


def pick_device() -> torch.device:
    return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")


def seeded(seed: int, device=None) -> torch.Generator:
    g = torch.Generator(device=device or "cpu")
    return g.manual_seed(seed)


def make_rings(s: Settings) -> TensorDataset:
    g = seeded(s.seed)
    pos = torch.zeros(s.n_mol, s.max_atoms, 3)
    mask = torch.zeros(s.n_mol, s.max_atoms)
    kind = torch.zeros(s.n_mol, s.max_atoms, dtype=torch.long)
    for i in range(s.n_mol):
        n = int(torch.randint(5, s.max_atoms + 1, (), generator=g))
        ang = torch.arange(n) * (2 * math.pi / n)
        r = 0.7 / math.sin(math.pi / n)
        ring = torch.stack([r * ang.cos(), r * ang.sin(), 0.25 * (-1.0) ** torch.arange(n)], -1)
        q, _ = torch.linalg.qr(torch.randn(3, 3, generator=g))
        pos[i, :n] = ring @ q.T + 0.03 * torch.randn(n, 3, generator=g)
        mask[i, :n] = 1
        kind[i, :n] = torch.randint(0, 3, (n,), generator=g)
    return TensorDataset(centre(pos, mask), kind, mask)


def centre(x, mask):
    """Remove the centre of mass, keeping the padding at zero."""
    m = mask.unsqueeze(-1)
    return (x - (x * m).sum(1, keepdim=True) / m.sum(1, keepdim=True)) * m


class EGCL(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * dim + 1, dim), nn.SiLU(), nn.Linear(dim, dim), nn.SiLU())
        self.coord = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, 1, bias=False))
        self.node = nn.Sequential(nn.Linear(2 * dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        nn.init.xavier_uniform_(self.coord[-1].weight, gain=1e-2)

    def forward(self, h, x, pair):
        n = h.shape[1]
        diff = x.unsqueeze(2) - x.unsqueeze(1)
        d2 = diff.pow(2).sum(-1, keepdim=True)
        hi, hj = h.unsqueeze(2).expand(-1, -1, n, -1), h.unsqueeze(1).expand(-1, n, -1, -1)
        m = self.edge(torch.cat([hi, hj, d2], -1)) * pair
        x = x + (diff / (d2 + 1).sqrt() * self.coord(m) * pair).sum(2)
        return h + self.node(torch.cat([h, m.sum(2)], -1)), x


class EGNN(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.embed = nn.Embedding(3, s.hidden)
        self.time = nn.Linear(1, s.hidden)
        self.layers = nn.ModuleList(EGCL(s.hidden) for _ in range(s.layers))

    def forward(self, x, kind, mask, t):
        pair = (mask.unsqueeze(2) * mask.unsqueeze(1)).unsqueeze(-1)
        eye = torch.eye(x.shape[1], device=x.device).view(1, *pair.shape[1:3], 1)
        pair = pair * (1 - eye)
        h = self.embed(kind) + self.time(t.view(-1, 1, 1))
        y = x
        for layer in self.layers:
            h, y = layer(h, y, pair)
        return centre(y - x, mask)


class Diffusion(nn.Module):
    def __init__(self, net: nn.Module, timesteps: int):
        super().__init__()
        self.net, self.T = net, timesteps
        beta = torch.linspace(1e-3, 0.25, timesteps)
        bar = torch.cumprod(1 - beta, 0)
        for name, value in {"beta": beta, "bar": bar, "sqrt_bar": bar.sqrt(), "sqrt_om": (1 - bar).sqrt()}.items():
            self.register_buffer(name, value)

    def noise_like(self, x, mask, generator: Optional[torch.Generator] = None):
        return centre(torch.randn(x.shape, generator=generator, device=x.device), mask)

    def loss(self, batch, generator=None):
        x, kind, mask = batch
        t = torch.randint(0, self.T, (len(x),), generator=generator, device=x.device)
        eps = self.noise_like(x, mask, generator)
        xt = self.sqrt_bar[t].view(-1, 1, 1) * x + self.sqrt_om[t].view(-1, 1, 1) * eps
        pred = self.net(xt, kind, mask, t / self.T)
        return ((pred - eps).pow(2).sum((1, 2)) / (3 * mask.sum(1))).mean()

    def trajectory(self, kind, mask) -> Iterator[torch.Tensor]:
        x = self.noise_like(torch.zeros(*mask.shape, 3, device=mask.device), mask)
        for k in range(self.T - 1, -1, -1):
            t = torch.full((len(x),), k / self.T, device=x.device)
            eps = self.net(x, kind, mask, t)
            x = (x - self.beta[k] / self.sqrt_om[k] * eps) / (1 - self.beta[k]).sqrt()
            if k > 0:
                x = x + self.beta[k].sqrt() * self.noise_like(x, mask)
            yield x


def inference(fn: Callable) -> Callable:
    @functools.wraps(fn)
    def wrapper(model, *args, **kwargs):
        was = model.training
        model.eval()
        try:
            with torch.no_grad():
                return fn(model, *args, **kwargs)
        finally:
            model.train(was)

    return wrapper


@inference
def validate(model, loader, device, seed) -> float:
    # same timesteps and noise every time, otherwise the curve is unreadable
    gen = seeded(seed, device)
    losses = [model.loss([b.to(device) for b in batch], gen).item() for batch in loader]
    return sum(losses) / len(losses)


@inference
def bond_statistics(model, dataset, n, device) -> Dict[str, float]:
    kind, mask = (torch.stack(c) for c in zip(*[dataset[i][1:] for i in range(n)]))
    *_, x = model.trajectory(kind.to(device), mask.to(device))
    x = x.cpu()
    d = torch.cdist(x, x) + 1e3 * (1 - mask).unsqueeze(1) + 1e3 * torch.eye(x.shape[1])
    nearest = d.amin(-1)[mask.bool()]
    return {"nearest": nearest.median().item(), "clash": (nearest < 0.8).float().mean().item()}


def main(argv):
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s: %(message)s")
    s = Settings.from_argv(argv)
    torch.manual_seed(s.seed)
    device = pick_device()

    train, val = random_split(make_rings(s), [0.8, 0.2], generator=seeded(s.seed + 1))
    loader = DataLoader(train, s.batch, shuffle=True, generator=seeded(s.seed + 2))
    val_loader = DataLoader(val, s.batch)

    model = Diffusion(EGNN(s), s.timesteps).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=s.lr)
    history = []
    for epoch in range(s.epochs):
        for batch in loader:
            loss = model.loss([b.to(device) for b in batch])
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        history.append(validate(model, val_loader, device, s.seed))
        log.info("epoch %d train %.3f val %.3f", epoch, loss.item(), history[-1])

    with tempfile.NamedTemporaryFile(suffix=".ckpt") as f:
        torch.save({"settings": dataclasses.asdict(s), "model": model.state_dict(), "val": history}, f.name)
    log.info("samples: %s", bond_statistics(model, val, s.n_samples, device))


if __name__ == "__main__":
    main(sys.argv[1:])
