# coding: utf-8

# # Learning rate range test + one-cycle training
# (converted from the notebook `03_one_cycle.ipynb`)

# In[1]:

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader

np.random.seed(42)
torch.manual_seed(42)

use_cuda = torch.cuda.is_available()
print('cuda:', use_cuda)


# In[2]:

# toy "sensor" data: 16 readings, noisy quadratic target

X = np.random.randn(384, 16).astype('float32')
w = np.random.randn(16).astype('float32')
Y = (np.tanh(X @ w) + 0.3 * X[:, 0] * X[:, 1] + 0.05 * np.random.randn(384)).astype('float32')

train_ds = TensorDataset(torch.from_numpy(X[:320]), torch.from_numpy(Y[:320]))
valid_ds = TensorDataset(torch.from_numpy(X[320:]), torch.from_numpy(Y[320:]))
train_dl = DataLoader(train_ds, batch_size=32, shuffle=True)
valid_dl = DataLoader(valid_ds, batch_size=64)


# In[3]:

def get_model():
    net = nn.Sequential(
        nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(),
        nn.Dropout(0.1),
        nn.Linear(64, 32), nn.ReLU(),
        nn.Linear(32, 1),
    )
    if use_cuda:
        net = net.cuda()
    return net


def loss_batch(net, xb, yb):
    if use_cuda:
        xb, yb = xb.cuda(), yb.cuda()
    return F.mse_loss(net(xb).squeeze(1), yb)


# In[4]:

# range test: grow lr exponentially, remember the smoothed loss

def find_lr(net, lo=1e-5, hi=1.0, num=30, beta=0.9):
    opt = torch.optim.SGD(net.parameters(), lr=lo, momentum=0.9)
    mult = (hi / lo) ** (1 / num)
    lrs, hist = [], []
    avg, best = 0.0, float('inf')
    it = iter(train_dl)
    for i in range(1, num + 1):
        try:
            xb, yb = next(it)
        except StopIteration:
            it = iter(train_dl)
            xb, yb = next(it)
        loss = loss_batch(net, xb, yb)
        avg = beta * avg + (1 - beta) * loss.item()
        smooth = avg / (1 - beta ** i)
        best = min(best, smooth)
        lrs.append(opt.param_groups[0]['lr'])
        hist.append(smooth)
        if smooth > 4 * best:
            break
        opt.zero_grad()
        loss.backward()
        opt.step()
        opt.param_groups[0]['lr'] *= mult
    k = int(np.argmin(np.gradient(np.array(hist))))
    return lrs[k], lrs, hist


max_lr, lrs, hist = find_lr(get_model())
print('steepest descent at lr = %.2e (%d points)' % (max_lr, len(lrs)))


# In[5]:

def fit(epochs, net, max_lr):
    opt = torch.optim.AdamW(net.parameters(), lr=max_lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(
        opt, max_lr=max_lr, total_steps=epochs * len(train_dl))
    history = {'train': [], 'valid': []}
    for epoch in range(epochs):
        net.train()
        losses = []
        for xb, yb in train_dl:
            loss = loss_batch(net, xb, yb)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            opt.step()
            sched.step()
            losses.append(loss.item())
        history['train'].append(np.mean(losses))

        net.eval()
        with torch.no_grad():
            vals = [(loss_batch(net, xb, yb).item(), len(xb)) for xb, yb in valid_dl]
        v, n = zip(*vals)
        history['valid'].append(np.average(v, weights=n))
        print('%2d  train %.4f  valid %.4f' % (epoch, history['train'][-1], history['valid'][-1]))
    return history


h = fit(4, get_model(), min(max(max_lr, 1e-3), 1e-2))


# In[6]:

for name, curve in h.items():
    print(name, np.round(curve, 3), 'best epoch', int(np.argmin(curve)))
