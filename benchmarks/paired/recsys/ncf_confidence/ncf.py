# Neural collaborative filtering on implicit feedback with confidence weights
# usage: python ncf.py --epochs 10 --factors 16
from __future__ import print_function

import argparse
import copy
import math
import os
import random
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

parser = argparse.ArgumentParser(description='NCF')
parser.add_argument('--epochs', type=int, default=10)
parser.add_argument('--users', type=int, default=80)
parser.add_argument('--items', type=int, default=120)
parser.add_argument('--factors', type=int, default=8)
parser.add_argument('--batch-size', type=int, default=128)
parser.add_argument('--num-neg', type=int, default=3)
parser.add_argument('--alpha', type=float, default=2.0, help='confidence scale')
parser.add_argument('--lr', type=float, default=0.01)
parser.add_argument('--seed', type=int, default=1234)
parser.add_argument('--no-cuda', action='store_true', default=False)
args = parser.parse_args()

use_cuda = not args.no_cuda and torch.cuda.is_available()

random.seed(args.seed)
np.random.seed(args.seed)
torch.manual_seed(args.seed)
if use_cuda:
    torch.cuda.manual_seed(args.seed)


def make_counts():
    """play counts from a low rank poisson model"""
    u = np.random.gamma(1.0, 0.6, size=(args.users, 4))
    v = np.random.gamma(0.5, 0.6, size=(args.items, 4))
    return np.random.poisson(u.dot(v.T) * 0.5)


counts = make_counts()
heldout = {}
for uid in range(args.users):
    nz = np.flatnonzero(counts[uid])
    if len(nz) > 2:
        heldout[uid] = int(np.random.choice(nz))
        counts[uid, heldout[uid]] = 0
positives = [set(np.flatnonzero(counts[uid]).tolist()) for uid in range(args.users)]


class NCF(nn.Module):
    def __init__(self, n_users, n_items, k):
        super(NCF, self).__init__()
        self.gmf_u = nn.Embedding(n_users, k)
        self.gmf_i = nn.Embedding(n_items, k)
        self.mlp_u = nn.Embedding(n_users, k)
        self.mlp_i = nn.Embedding(n_items, k)
        self.mlp = nn.Sequential(
            nn.Linear(2 * k, 2 * k), nn.ReLU(),
            nn.Linear(2 * k, k), nn.ReLU())
        self.out = nn.Linear(2 * k, 1)
        for m in [self.gmf_u, self.gmf_i, self.mlp_u, self.mlp_i]:
            nn.init.normal_(m.weight, std=0.05)

    def forward(self, u, i):
        gmf = self.gmf_u(u) * self.gmf_i(i)
        mlp = self.mlp(torch.cat([self.mlp_u(u), self.mlp_i(i)], 1))
        return self.out(torch.cat([gmf, mlp], 1)).squeeze(1)


def sample_epoch():
    """user, item, label, weight -- resampled every epoch, lives in host memory"""
    rows = []
    for uid in range(args.users):
        for iid in positives[uid]:
            rows.append((uid, iid, 1.0, 1.0 + args.alpha * math.log(1.0 + counts[uid, iid])))
            for _ in range(args.num_neg):
                j = random.randrange(args.items)
                while j in positives[uid]:
                    j = random.randrange(args.items)
                rows.append((uid, j, 0.0, 1.0))
    random.shuffle(rows)
    us, its, ys, ws = zip(*rows)
    return (torch.LongTensor(us), torch.LongTensor(its),
            torch.FloatTensor(ys), torch.FloatTensor(ws))


def batches(data, size):
    n = data[0].size(0)
    for s in range(0, n, size):
        yield tuple(d[s:s + size] for d in data)


model = NCF(args.users, args.items, args.factors)
if use_cuda:
    model.cuda()
optimizer = optim.Adam(model.parameters(), lr=args.lr)


def train(epoch):
    model.train()
    t0 = time.time()
    total = 0.
    steps = 0
    for user, item, label, weight in batches(sample_epoch(), args.batch_size):
        if use_cuda:
            user, item = user.cuda(), item.cuda()
            label, weight = label.cuda(), weight.cuda()
        optimizer.zero_grad()
        logit = model(user, item)
        loss = F.binary_cross_entropy_with_logits(logit, label, reduction='none')
        loss = (loss * weight).sum() / weight.sum()
        loss.backward()
        optimizer.step()
        total += loss.item()
        steps += 1
    print('Epoch %d | loss %.4f | %.1fs' % (epoch, total / steps, time.time() - t0))


def evaluate(k=10, pool=50):
    # small model, ranking is done on a cpu copy so that the gpu keeps its cache
    host = copy.deepcopy(model).cpu().eval()
    hits, ndcg = [], []
    with torch.no_grad():
        for uid, target in heldout.items():
            cand = [target]
            while len(cand) < pool:
                j = random.randrange(args.items)
                if j not in positives[uid] and j != target:
                    cand.append(j)
            score = host(torch.LongTensor([uid] * pool), torch.LongTensor(cand)).numpy()
            rank = int((score > score[0]).sum())
            hits.append(rank < k)
            ndcg.append(1.0 / math.log(rank + 2, 2) if rank < k else 0.0)
    return float(np.mean(hits)), float(np.mean(ndcg))


best = 0.
ckpt = os.path.join(tempfile.mkdtemp(prefix='ncf_'), 'ncf.pth')
for epoch in range(1, args.epochs + 1):
    train(epoch)
    hr, nd = evaluate()
    print('         HR@10 %.3f NDCG@10 %.3f' % (hr, nd))
    if hr >= best:
        best = hr
        torch.save({'epoch': epoch, 'state': model.state_dict(), 'hr': hr}, ckpt)

blob = torch.load(ckpt, map_location=lambda storage, loc: storage)
model.load_state_dict(blob['state'])
print('best epoch %d HR@10 %.3f' % (blob['epoch'], blob['hr']))
os.remove(ckpt)
os.rmdir(os.path.dirname(ckpt))
