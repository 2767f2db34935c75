"""Digit classifier with the geometric augmentation done on the whole batch at once."""
from dataclasses import dataclass
import math

import torch
import torch.nn.functional as F
from torch import nn, Tensor


@dataclass
class Config:
    image_size: int = 20
    num_classes: int = 6
    batch_size: int = 24
    iterations: int = 20
    max_rotation: float = 25.0
    max_shift: float = 0.15
    scale: tuple = (0.85, 1.2)
    flip: bool = True
    erase_p: float = 0.3
    lr: float = 2e-3
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


def uniform(n: int, lo: float, hi: float, device) -> Tensor:
    return torch.empty(n, device=device).uniform_(lo, hi)


def random_theta(images: Tensor, cfg: Config) -> Tensor:
    """Random 2x3 affine matrices, one for each image."""
    n, dev = images.shape[0], images.device
    angle = uniform(n, -cfg.max_rotation, cfg.max_rotation, dev) * math.pi / 180
    scale = uniform(n, *cfg.scale, dev)
    shift = uniform(2 * n, -cfg.max_shift, cfg.max_shift, dev).view(n, 2)

    theta = torch.zeros(n, 2, 3, device=dev)
    theta[:, 0, 0] = angle.cos() / scale
    theta[:, 0, 1] = -angle.sin() / scale
    theta[:, 1, 0] = angle.sin() / scale
    theta[:, 1, 1] = angle.cos() / scale
    theta[:, :, 2] = shift
    if cfg.flip:
        mirror = torch.rand(n) < 0.5
        theta[mirror, 0] *= -1
    return theta


def warp(images: Tensor, theta: Tensor) -> Tensor:
    grid = F.affine_grid(theta, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=False)


def random_erase(images: Tensor, p: float) -> Tensor:
    n, c, h, w = images.shape
    out = images.clone()
    for i in range(n):
        if torch.rand(1).item() >= p:
            continue
        eh = int(torch.randint(2, h // 3, (1,)))
        ew = int(torch.randint(2, w // 3, (1,)))
        top = int(torch.randint(0, h - eh, (1,)))
        left = int(torch.randint(0, w - ew, (1,)))
        out[i, :, top:top + eh, left:left + ew] = torch.randn(c, eh, ew)
    return out


def augment(images: Tensor, cfg: Config) -> Tensor:
    return random_erase(warp(images, random_theta(images, cfg)), cfg.erase_p)


class Net(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        side = cfg.image_size // 4
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(24 * side * side, cfg.num_classes))

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.body(x))


class Glyphs:
    """An endless stream of noisy glyphs (fixed random templates)."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        coarse = (torch.rand(cfg.num_classes, 1, 5, 5) > 0.5).float()
        self.templates = F.interpolate(coarse, size=cfg.image_size, mode="nearest")

    def batch(self, n: int):
        y = torch.randint(self.cfg.num_classes, (n,))
        x = self.templates[y]
        return x + 0.1 * torch.randn_like(x), y


def main(cfg: Config) -> None:
    torch.manual_seed(42)
    data = Glyphs(cfg)
    net = Net(cfg).to(cfg.device)
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr)

    net.train()
    for it in range(cfg.iterations):
        x, y = (t.to(cfg.device, non_blocking=True) for t in data.batch(cfg.batch_size))
        loss = F.cross_entropy(net(augment(x, cfg)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (it + 1) % 5 == 0:
            print(f"iter {it + 1:3d}  loss {loss.item():.4f}")

    net.eval()
    x, y = data.batch(60)
    with torch.no_grad():
        pred = net(x.to(cfg.device)).argmax(dim=1)
    print(f"clean accuracy {(pred.cpu() == y).float().mean():.3f}")


if __name__ == "__main__":
    main(Config())
