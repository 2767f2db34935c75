'''
Exponential and tail (SWA) averages of the weights of a small recommender.
The averages are evaluated with a twin of the network on the CPU, where
the BatchNorm statistics are estimated again.
'''
import argparse
import copy
import json
import os
import random
import tempfile

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

ap = argparse.ArgumentParser()
ap.add_argument('--iters', type=int, default=60)
ap.add_argument('--eval-every', type=int, default=20)
ap.add_argument('--decay', type=float, default=0.9)
ap.add_argument('--swa-start', type=int, default=30)
ap.add_argument('--swa-every', type=int, default=5)
ap.add_argument('--lr', type=float, default=0.02)
ap.add_argument('--bs', type=int, default=64)
ap.add_argument('--seed', type=int, default=0)
ap.add_argument('--gpu', type=int, default=0)
args = ap.parse_args()

random.seed(args.seed)
np.random.seed(args.seed)
torch.manual_seed(args.seed)
use_cuda = torch.cuda.is_available()
if use_cuda:
    torch.cuda.set_device(args.gpu)

N_USER, N_ITEM, N_DENSE = 40, 60, 5


def make_log(n):
    u = np.random.randint(0, N_USER, n)
    i = np.random.randint(0, N_ITEM, n)
    dense = np.random.randn(n, N_DENSE).astype('float32')
    taste = np.sin(u * 0.37)[:, None] * np.cos(i * 0.21)[:, None] * 3
    score = taste[:, 0] + dense[:, 0] - 0.5 * dense[:, 1] * dense[:, 2]
    click = (np.random.rand(n) < 1 / (1 + np.exp(-score))).astype('float32')
    return torch.from_numpy(np.stack([u, i], 1)), torch.from_numpy(dense), torch.from_numpy(click)


class Ranker(nn.Module):
    def __init__(self, k=8, hidden=24):
        super().__init__()
        self.user = nn.Embedding(N_USER, k)
        self.item = nn.Embedding(N_ITEM, k)
        self.norm = nn.BatchNorm1d(N_DENSE)
        self.net = nn.Sequential(
            nn.Linear(2 * k + N_DENSE, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, 1)
        )

    def forward(self, ids, dense):
        u, i = self.user(ids[:, 0]), self.item(ids[:, 1])
        wide = (u * i).sum(1)
        return wide + self.net(torch.cat([u, i, self.norm(dense)], 1)).squeeze(1)


def host(t):
    return t.detach().to('cpu')


class Average(object):
    """Running average of the parameters of `model`."""

    def __init__(self, model, weight_fn):
        self.weight_fn = weight_fn
        self.count = 0
        self.avg = {k: host(p).clone() for k, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        w = self.weight_fn(self.count)
        for k, p in model.named_parameters():
            host(self.avg[k]).lerp_(host(p), w)
        self.count += 1

    @torch.no_grad()
    def copy_to(self, twin):
        for k, p in twin.named_parameters():
            p.copy_(self.avg[k])
        return twin

    def distance(self, model):
        sq = 0.0
        for k, p in model.named_parameters():
            sq += float(((host(p) - host(self.avg[k])) ** 2).sum())
        return sq ** 0.5


def ema(decay):
    # short warm up so that the first weights are forgotten soon
    return lambda n: 1 - min(decay, (1 + n) / (10 + n))


def uniform():
    return lambda n: 1.0 / (n + 1)


@torch.no_grad()
def refresh_bn(net, ids, dense, chunks=4):
    bns = [m for m in net.modules() if isinstance(m, nn.BatchNorm1d)]
    for m in bns:
        m.reset_running_stats()
        m.momentum = None
    net.train()
    for a, b in zip(ids.chunk(chunks), dense.chunk(chunks)):
        net(a, b)
    net.eval()


@torch.no_grad()
def auc(net, log):
    net.eval()
    ids, dense, click = log
    dev = next(net.parameters()).device
    score = net(ids.to(dev), dense.to(dev)).cpu().numpy()
    return roc_auc_score(click.numpy(), score)


train_log, test_log = make_log(1024), make_log(400)

model = Ranker()
twin = copy.deepcopy(model)
if use_cuda:
    model.cuda()
    train_ids, train_dense, train_click = (t.cuda() for t in train_log)
else:
    train_ids, train_dense, train_click = train_log

averages = {'ema': Average(model, ema(args.decay)), 'swa': Average(model, uniform())}
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
criterion = nn.BCEWithLogitsLoss()
results = []

for it in range(1, args.iters + 1):
    model.train()
    rows = torch.randint(0, len(train_click), (args.bs,), device=train_click.device)
    loss = criterion(model(train_ids[rows], train_dense[rows]), train_click[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    averages['ema'].update(model)
    if it >= args.swa_start and (it - args.swa_start) % args.swa_every == 0:
        averages['swa'].update(model)

    if it % args.eval_every == 0:
        row = {'iter': it, 'loss': round(loss.item(), 4), 'raw': round(auc(model, test_log), 4)}
        for name, average in averages.items():
            if average.count == 0:
                continue
            average.copy_to(twin)
            refresh_bn(twin, train_log[0], train_log[1])
            row[name] = round(auc(twin, test_log), 4)
            row[name + '_dist'] = round(average.distance(model), 3)
        results.append(row)
        print(json.dumps(row))

with tempfile.TemporaryDirectory() as out:
    torch.save({k: a.avg for k, a in averages.items()}, os.path.join(out, 'averages.pt'))
    with open(os.path.join(out, 'log.json'), 'w') as f:
        json.dump(results, f)
best = max(('raw', 'ema', 'swa'), key=lambda k: results[-1].get(k, 0))
print('best weights: %s' % best)
