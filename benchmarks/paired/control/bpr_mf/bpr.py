"""
BPR matrix factorization (Rendle et al., 2009) for implicit feedback.
No nn.Module here, the factors are two plain tensors.
"""
import time

import numpy as np
import torch
import torch.nn.functional as F

use_gpu = torch.cuda.is_available()
device = torch.device('cuda' if use_gpu else 'cpu')

n_users, n_items, n_clusters = 60, 80, 4
dim = 8
batch_size = 128
n_epochs = 8
lr = 0.05
reg = 1e-4


def synthetic(seed=0):
    """users and items belong to clusters; a user mostly likes items of their own cluster"""
    rng = np.random.RandomState(seed)
    user_cluster = rng.randint(n_clusters, size=n_users)
    item_cluster = rng.randint(n_clusters, size=n_items)
    p = np.where(user_cluster[:, None] == item_cluster[None, :], 0.5, 0.03)
    mat = rng.rand(n_users, n_items) < p
    test_mask = mat & (rng.rand(n_users, n_items) < 0.2)
    return mat & ~test_mask, test_mask


def sample_triples(train, rng):
    users, pos = np.nonzero(train)
    order = rng.permutation(len(users))
    users, pos = users[order], pos[order]
    neg = rng.randint(n_items, size=len(users))
    bad = train[users, neg]
    while bad.any():
        neg[bad] = rng.randint(n_items, size=bad.sum())
        bad = train[users, neg]
    for start in range(0, len(users), batch_size):
        sl = slice(start, start + batch_size)
        yield tuple(torch.as_tensor(a[sl], dtype=torch.long, device=device) for a in (users, pos, neg))


def bpr_loss(P, Q, b, users, pos, neg):
    pu, qi, qj = P[users], Q[pos], Q[neg]
    x_ui = (pu * qi).sum(1) + b[pos]
    x_uj = (pu * qj).sum(1) + b[neg]
    rank_loss = -F.logsigmoid(x_ui - x_uj).mean()
    penalty = pu.pow(2).sum(1) + qi.pow(2).sum(1) + qj.pow(2).sum(1)
    return rank_loss + reg * penalty.mean()


@torch.no_grad()
def auc(P, Q, b, train, test):
    scores = (P @ Q.t() + b).cpu().numpy()
    values = []
    for u in range(n_users):
        pos = scores[u][test[u]]
        neg = scores[u][~(train[u] | test[u])]
        if len(pos) and len(neg):
            values.append((pos[:, None] > neg[None, :]).mean())
    return float(np.mean(values))


def build_factors():
    P = torch.randn(n_users, dim) * 0.1
    Q = torch.randn(n_items, dim) * 0.1
    b = torch.zeros(n_items)
    P, Q, b = P.to(device), Q.to(device), b.to(device)
    for factor in (P, Q, b):
        factor.requires_grad_()
    optimizer = torch.optim.Adagrad([P, Q, b], lr=lr)
    return P, Q, b, optimizer


torch.manual_seed(0)
rng = np.random.RandomState(1)
train, test = synthetic()
P, Q, b, optimizer = build_factors()
print('train interactions: %d, test: %d, auc before training: %.3f'
      % (train.sum(), test.sum(), auc(P, Q, b, train, test)))

for epoch in range(n_epochs):
    tic, losses = time.time(), []
    for users, pos, neg in sample_triples(train, rng):
        loss = bpr_loss(P, Q, b, users, pos, neg)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print('epoch %d  loss %.4f  auc %.3f  (%.2fs)'
          % (epoch, np.mean(losses), auc(P, Q, b, train, test), time.time() - tic))
