# Universal adversarial perturbation + adversarial fine-tuning on toy images
import argparse
import logging
import os
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s")
log = logging.getLogger(__name__)


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--clean-epochs", type=int, default=3)
    p.add_argument("--uap-epochs", type=int, default=3)
    p.add_argument("--adv-epochs", type=int, default=2)
    p.add_argument("--eps", type=float, default=0.35)
    p.add_argument("--step", type=float, default=0.06)
    p.add_argument("--pgd-iters", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--seed", type=int, default=7)
    return p.parse_args()


def toy_images(n, seed, classes=4, size=10):
    g = torch.Generator().manual_seed(seed)
    proto = torch.rand(classes, 3, size, size, generator=torch.Generator().manual_seed(5))
    y = torch.randint(classes, (n,), generator=g)
    x = (0.5 * proto[y] + 0.25 + 0.1 * torch.randn(n, 3, size, size, generator=g)).clamp(0, 1)
    return TensorDataset(x, y)


class Normalize(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(1, -1, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(1, -1, 1, 1))

    def forward(self, x):
        return (x - self.mean) / self.std


def make_model(classes=4, size=10):
    return nn.Sequential(
        Normalize([0.5, 0.5, 0.5], [0.2, 0.2, 0.2]),
        nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(),
        nn.Conv2d(8, 12, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(48, classes),
    )


class UniversalPerturbation:
    """One additive image for the whole data set, kept inside an l_inf ball."""

    def __init__(self, shape, eps, device):
        self.eps = eps
        self.device = device
        self.delta = torch.zeros(1, *shape, device=device)
        self.velocity = torch.zeros(1, *shape, device=device)

    def step_(self, d, grad, lr, momentum=0.5):
        v = self.velocity.mul_(momentum).add_(grad / grad.abs().mean().clamp_min(1e-12))
        d.add_(v.sign(), alpha=lr).clamp_(-self.eps, self.eps)

    def apply(self, x):
        return (x + self.delta.to(x.device)).clamp(0, 1)

    def fit_batch(self, model, x, y, lr):
        d = self.delta.to(self.device).requires_grad_(True)
        loss = F.cross_entropy(model((x + d).clamp(0, 1)), y)
        grad, = torch.autograd.grad(loss, d)
        d.requires_grad_(False)
        self.step_(d, grad, lr)
        return loss.item()

    def summary(self):
        d = self.delta.detach().cpu()
        return {"linf": d.abs().max().item(), "l2": d.norm().item(),
                "saturated": (d.abs() >= self.eps - 1e-6).float().mean().item()}

    def save(self, path):
        torch.save({"delta": self.delta.cpu(), "eps": self.eps}, path)


def pgd(model, x, y, eps, step, iters):
    adv = (x + torch.empty_like(x).uniform_(-eps, eps)).clamp(0, 1)
    for _ in range(iters):
        adv.requires_grad_(True)
        grad, = torch.autograd.grad(F.cross_entropy(model(adv), y), adv)
        adv = adv.detach() + step * grad.sign()
        adv = torch.min(torch.max(adv, x - eps), x + eps).clamp(0, 1)
    return adv.detach()


def train_epoch(model, opt, loader, device, attack=None):
    model.train()
    running = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        if attack is not None:
            x = torch.cat([x, attack(x, y)])
            y = y.repeat(2)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    return running / len(loader)


@torch.no_grad()
def accuracy(model, loader, device, transform=lambda x: x):
    model.eval()
    hit = sum((model(transform(x.to(device))).argmax(1).cpu() == y).sum().item() for x, y in loader)
    return hit / len(loader.dataset)


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train = DataLoader(toy_images(160, 1), args.batch_size, shuffle=True)
    test = DataLoader(toy_images(80, 2), 40)

    model = make_model().to(device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for ep in range(args.clean_epochs):
        log.info("clean %d loss %.3f", ep, train_epoch(model, opt, train, device))
    log.info("clean acc %.3f", accuracy(model, test, device))

    uap = UniversalPerturbation((3, 10, 10), args.eps, device)
    t0 = time.time()
    for ep in range(args.uap_epochs):
        losses = [uap.fit_batch(model, x.to(device), y.to(device), args.step) for x, y in train]
        log.info("uap %d loss %.3f  %s", ep, sum(losses) / len(losses),
                 {k: round(v, 3) for k, v in uap.summary().items()})
    log.info("uap acc %.3f (%.1fs)", accuracy(model, test, device, uap.apply), time.time() - t0)

    def mixed_attack(x, y):
        half = len(x) // 2
        return torch.cat([pgd(model, x[:half], y[:half], args.eps / 2, args.step, args.pgd_iters),
                          uap.apply(x[half:])])

    for ep in range(args.adv_epochs):
        log.info("adv %d loss %.3f", ep, train_epoch(model, opt, train, device, mixed_attack))
    log.info("after: clean %.3f uap %.3f", accuracy(model, test, device),
             accuracy(model, test, device, uap.apply))

    with tempfile.TemporaryDirectory() as d:
        uap.save(os.path.join(d, "uap.pt"))
        back = torch.load(os.path.join(d, "uap.pt"))
    # transfer to a fresh, untrained net on the host
    other = make_model()
    log.info("transfer acc %.3f", accuracy(other, test, "cpu", lambda x: (x + back["delta"]).clamp(0, 1)))


if __name__ == "__main__":
    main()
