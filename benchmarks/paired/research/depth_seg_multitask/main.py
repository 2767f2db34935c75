"""Multi-task dense prediction: segmentation, depth and normals with learned task weights."""
import argparse
import os
import random
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CHANNELS = {'semantic': 4, 'depth': 1, 'normal': 3}


class PlanesDataset(Dataset):
    """Tilted planes: semantic label, depth map and surface normal per pixel."""

    n_classes = 4

    def __init__(self, n, size=16, seed=0):
        rng = np.random.RandomState(seed)
        yy, xx = np.mgrid[:size, :size] / size
        self.items = []
        for _ in range(n):
            a, b, c = rng.uniform(-1, 1, 3)
            depth = np.clip(2 + a * xx + b * yy + 0.2 * c, 0.1, None)
            normal = np.array([-a, -b, 1.0])
            normal = np.tile((normal / np.linalg.norm(normal))[:, None, None], (1, size, size))
            semantic = (np.floor(depth * 1.5) % self.n_classes).astype(np.int64)
            semantic[rng.rand(size, size) < 0.05] = -1
            depth[rng.rand(size, size) < 0.05] = 0
            img = np.stack([depth, np.sin(4 * depth), a * xx + b * yy]) + 0.05 * rng.randn(3, size, size)
            self.items.append(tuple(torch.from_numpy(v.astype(np.float32)) for v in (img, depth[None], normal))
                              + (torch.from_numpy(semantic),))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, depth, normal, semantic = self.items[i]
        return img, {'semantic': semantic, 'depth': depth, 'normal': normal}


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


def finish(task, x):
    if task == 'semantic':
        return F.log_softmax(x, dim=1)
    if task == 'normal':
        return x / torch.norm(x, p=2, dim=1, keepdim=True).clamp(min=1e-6)
    return x


class SplitNet(nn.Module):
    def __init__(self, tasks, c=8):
        super().__init__()
        self.tasks = tasks
        self.encoder = nn.Sequential(conv(3, c), nn.MaxPool2d(2), conv(c, 2 * c))
        self.heads = nn.ModuleDict({t: nn.Sequential(conv(2 * c, c), nn.Conv2d(c, CHANNELS[t], 1)) for t in tasks})

    def forward(self, x):
        f = F.interpolate(self.encoder(x), scale_factor=2, mode='bilinear', align_corners=False)
        return {t: finish(t, self.heads[t](f)) for t in self.tasks}


class MTAN(nn.Module):
    def __init__(self, tasks, c=8):
        super().__init__()
        self.tasks = tasks
        self.shared = nn.ModuleList([conv(3, c), conv(c, c)])
        self.att = nn.ModuleDict({t: nn.ModuleList([nn.Sequential(nn.Conv2d(c, c, 1), nn.Sigmoid())
                                                    for _ in range(2)]) for t in tasks})
        self.heads = nn.ModuleDict({t: nn.Conv2d(c, CHANNELS[t], 1) for t in tasks})

    def forward(self, x):
        feats = []
        for block in self.shared:
            x = block(x)
            feats.append(x)
        return {t: finish(t, self.heads[t](sum(a(f) * f for a, f in zip(self.att[t], feats)))) for t in self.tasks}


def build_network(opt):
    return {'split': SplitNet, 'mtan': MTAN}[opt.network](opt.tasks)


class EqualWeighting(nn.Module):
    def __init__(self, opt, device):
        super().__init__()
        self.n = len(opt.tasks)

    def forward(self, losses):
        return sum(losses)

    def end_epoch(self, costs):
        pass

    def describe(self):
        return [1.0] * self.n


class Uncertainty(nn.Module):
    """Homoscedastic uncertainty weighting (Kendall et al., 2018)."""

    def __init__(self, opt, device):
        super().__init__()
        self.logsigma = nn.Parameter(torch.full((len(opt.tasks),), -0.5, device=device))

    def forward(self, losses):
        return sum(1 / (2 * torch.exp(s)) * l + s / 2 for l, s in zip(losses, self.logsigma))

    def end_epoch(self, costs):
        pass

    def describe(self):
        return (1 / (2 * torch.exp(self.logsigma))).tolist()


class DynamicWeightAverage(nn.Module):
    def __init__(self, opt, device):
        super().__init__()
        self.temp = opt.temp
        self.history = []
        self.register_buffer('lambda_weight', torch.ones(len(opt.tasks), device=device))

    def forward(self, losses):
        return sum(w * l for w, l in zip(self.lambda_weight, losses))

    def end_epoch(self, costs):
        self.history.append(np.asarray(costs))
        if len(self.history) > 1:
            w = np.exp(self.history[-1] / self.history[-2] / self.temp)
            w = len(w) * w / w.sum()
            self.lambda_weight.copy_(torch.from_numpy(w))

    def describe(self):
        return self.lambda_weight.tolist()


def get_weighting(opt, device):
    if opt.weighting == 'uncert':
        return Uncertainty(opt, device)
    elif opt.weighting == 'dwa':
        return DynamicWeightAverage(opt, device)
    return EqualWeighting(opt, device)


def compute_loss(pred, gt, task):
    if task == 'semantic':
        return F.nll_loss(pred, gt, ignore_index=-1)
    mask = (torch.sum(gt, dim=1) != 0).float().unsqueeze(1)
    if task == 'depth':
        return torch.sum(torch.abs(pred - gt) * mask) / torch.nonzero(mask).size(0)
    return 1 - torch.sum((pred * gt) * mask) / torch.nonzero(mask).size(0)


class ConfMatrix(object):
    def __init__(self, num_classes):
        self.num_classes = num_classes
        self.mat = None

    def update(self, pred, target):
        n = self.num_classes
        if self.mat is None:
            self.mat = torch.zeros((n, n), dtype=torch.int64, device=pred.device)
        with torch.no_grad():
            k = (target >= 0) & (target < n)
            self.mat += torch.bincount(n * target[k] + pred[k], minlength=n ** 2).reshape(n, n)

    def miou(self):
        h = self.mat.float()
        iu = torch.diag(h) / (h.sum(1) + h.sum(0) - torch.diag(h)).clamp(min=1)
        return torch.mean(iu).item()


class Trainer(object):
    def __init__(self, opt):
        self.opt = opt
        self.device = torch.device('cuda' if torch.cuda.is_available() and not opt.no_cuda else 'cpu')
        self.model = build_network(opt).to(self.device)
        self.weighting = get_weighting(opt, self.device)
        params = [{'params': self.model.parameters()}]
        extra = list(self.weighting.parameters())
        if extra:
            params.append({'params': extra, 'lr': 5 * opt.lr})
        self.optimizer = torch.optim.Adam(params, lr=opt.lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=2, gamma=0.5)
        self.train_loader = DataLoader(PlanesDataset(24), opt.batch_size, shuffle=True)
        self.test_loader = DataLoader(PlanesDataset(8, seed=1), opt.batch_size)
        self.save_dir = tempfile.mkdtemp(prefix=opt.name)

    def _losses(self, img, targets):
        targets = {k: v.to(self.device) for k, v in targets.items()}
        preds = self.model(img.to(self.device))
        return preds, targets, [compute_loss(preds[t], targets[t], t) for t in self.opt.tasks]

    def train_epoch(self):
        self.model.train()
        costs = np.zeros(len(self.opt.tasks))
        for img, targets in self.train_loader:
            _, _, losses = self._losses(img, targets)
            loss = self.weighting(losses)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            costs += np.array([l.item() for l in losses]) / len(self.train_loader)
        self.weighting.end_epoch(costs)
        return costs

    @torch.no_grad()
    def test_epoch(self):
        self.model.eval()
        costs = np.zeros(len(self.opt.tasks))
        conf = ConfMatrix(PlanesDataset.n_classes)
        for img, targets in self.test_loader:
            preds, targets, losses = self._losses(img, targets)
            if 'semantic' in preds:
                conf.update(preds['semantic'].argmax(1).flatten(), targets['semantic'].flatten())
            costs += np.array([l.item() for l in losses]) / len(self.test_loader)
        return costs, conf.miou() if conf.mat is not None else float('nan')

    def run(self):
        for epoch in range(self.opt.epochs):
            train_cost = self.train_epoch()
            test_cost, miou = self.test_epoch()
            self.scheduler.step()
            print('Epoch: {:03d} | TRAIN: {} || TEST: {} mIoU {:.3f} || weights {}'.format(
                epoch, ' '.join('%.3f' % c for c in train_cost), ' '.join('%.3f' % c for c in test_cost), miou,
                ' '.join('%.3f' % w for w in self.weighting.describe())))
        torch.save({'model': self.model.state_dict(), 'weighting': self.weighting.state_dict()},
                   os.path.join(self.save_dir, 'final.pth'))


def get_options():
    p = argparse.ArgumentParser(description='Multi-task dense prediction')
    p.add_argument('--name', type=str, default='mtl')
    p.add_argument('--network', type=str, default='split', choices=['split', 'mtan'])
    p.add_argument('--weighting', type=str, default='uncert', choices=['equal', 'uncert', 'dwa'])
    p.add_argument('--temp', type=float, default=2.0)
    p.add_argument('--tasks', nargs='+', default=['semantic', 'depth', 'normal'])
    p.add_argument('--epochs', type=int, default=3)
    p.add_argument('--batch_size', type=int, default=6)
    p.add_argument('--lr', type=float, default=1e-2)
    p.add_argument('--no_cuda', action='store_true')
    p.add_argument('--seed', type=int, default=0)
    return p.parse_args()


def main():
    opt = get_options()
    random.seed(opt.seed)
    np.random.seed(opt.seed)
    torch.manual_seed(opt.seed)
    trainer = Trainer(opt)
    n = sum(p.numel() for p in trainer.model.parameters() if p.requires_grad)
    print('LOSS FORMAT: {} | {} parameters'.format(' '.join(opt.tasks), n))
    trainer.run()


if __name__ == '__main__':
    main()
