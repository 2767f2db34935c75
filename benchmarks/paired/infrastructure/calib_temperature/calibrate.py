#!/usr/bin/env python3
# Post-hoc calibration of a classifier (temperature / vector scaling), after
# Guo et al. 2017. Reports ECE before and after.

import sys
import torch
from torch import nn, optim
from torch.nn import functional as F

DEVICE = torch.device('cuda:0') if torch.cuda.is_available() else torch.device('cpu')
NUM_CLASSES = 5


class ECELoss(nn.Module):
    def __init__(self, n_bins=10):
        super(ECELoss, self).__init__()
        edges = torch.linspace(0, 1, n_bins + 1)
        self.register_buffer('lowers', edges[:-1])
        self.register_buffer('uppers', edges[1:])

    def forward(self, logits, labels):
        conf, pred = F.softmax(logits, dim=1).max(1)
        acc = pred.eq(labels)
        ece = torch.zeros(1, device=logits.device)
        for lo, hi in zip(self.lowers, self.uppers):
            in_bin = conf.gt(lo) & conf.le(hi)
            prop = in_bin.float().mean()
            if prop.item() > 0:
                ece += torch.abs(conf[in_bin].mean() - acc[in_bin].float().mean()) * prop
        return ece


class Calibrator(object):
    """Fits scale (and, for 'vector', shift) on held-out logits with LBFGS."""

    def __init__(self, mode='temperature', max_iter=30, init=1.5):
        assert mode in ('temperature', 'vector')
        self.mode = mode
        self.max_iter = max_iter
        n = 1 if mode == 'temperature' else NUM_CLASSES
        self.scale = nn.Parameter(torch.full((n,), init, device=DEVICE))
        self.shift = nn.Parameter(torch.zeros(n, device=DEVICE))

    def parameters(self):
        return [self.scale] if self.mode == 'temperature' else [self.scale, self.shift]

    def __call__(self, logits):
        out = logits / self.scale
        return out if self.mode == 'temperature' else out + self.shift

    def fit(self, logits, labels):
        nll = nn.CrossEntropyLoss()
        opt = optim.LBFGS(self.parameters(), lr=0.05, max_iter=self.max_iter)

        def closure():
            opt.zero_grad()
            loss = nll(self(logits), labels)
            loss.backward()
            return loss

        opt.step(closure)
        return nll(self(logits), labels).item()


def make_split(n, centers, noise, gen):
    y = torch.randint(0, NUM_CLASSES, (n,), generator=gen)
    x = centers[y] + noise * torch.randn(n, centers.size(1), generator=gen)
    return x, y


def train(net, x, y, steps=60):
    opt = optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()


def main(modes):
    gen = torch.Generator()
    gen.manual_seed(7)
    torch.manual_seed(7)
    centers = torch.randn(NUM_CLASSES, 8, generator=gen)
    xtr, ytr = make_split(120, centers, 1.2, gen)
    xva, yva = make_split(200, centers, 1.2, gen)

    net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, NUM_CLASSES)).to(DEVICE)
    train(net, xtr.to(DEVICE), ytr.to(DEVICE))

    net.eval()
    with torch.no_grad():
        logits = net(xva.to(DEVICE))
    labels = yva.to(DEVICE)
    ece = ECELoss().to(DEVICE)
    print('uncalibrated   nll %.4f   ece %.4f'
          % (F.cross_entropy(logits, labels).item(), ece(logits, labels).item()))

    for mode in modes:
        cal = Calibrator(mode)
        nll = cal.fit(logits, labels)
        with torch.no_grad():
            after = ece(cal(logits), labels).item()
        print('%-12s   nll %.4f   ece %.4f   scale %s'
              % (mode, nll, after, [round(v, 2) for v in cal.scale.tolist()]))


if __name__ == '__main__':
    main(sys.argv[1:] or ['temperature', 'vector'])
