from __future__ import print_function

import os
import shutil
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

import argparse

parser = argparse.ArgumentParser(description='Deep ensemble + MC dropout regression with recalibrated intervals')
parser.add_argument('--members', type=int, default=3)
parser.add_argument('--epochs', type=int, default=40)
parser.add_argument('--mc', type=int, default=8, help='dropout passes per member')
parser.add_argument('--bs', type=int, default=32)
parser.add_argument('--lr', type=float, default=1e-2)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--no-cuda', action='store_true', default=False)
args = parser.parse_args()

use_cuda = torch.cuda.is_available() and not args.no_cuda
np.random.seed(args.seed)
torch.manual_seed(args.seed)
if use_cuda:
    torch.cuda.manual_seed(args.seed)

# ---------------------------------------------------------------- data
N_OUT = 2


def sample(n):
    x = np.random.uniform(-2, 2, size=(n, 3))
    mean = np.stack([10 + 4 * np.sin(2 * x[:, 0]) + x[:, 1], -300 + 50 * x[:, 2] ** 2], 1)
    std = np.stack([0.3 + 0.5 * np.abs(x[:, 1]), 5 + 5 * np.abs(x[:, 0])], 1)
    y = mean + std * np.random.randn(n, N_OUT)
    return torch.from_numpy(x).float(), torch.from_numpy(y).float()


train_x, train_y = sample(192)
calib_x, calib_y = sample(64)
test_x, test_y = sample(64)


def batches(x, y, bs):
    perm = torch.randperm(len(x))
    for i in range(0, len(x), bs):
        j = perm[i:i + bs]
        yield x[j], y[j]


# ---------------------------------------------------------------- model
class Member(nn.Module):
    def __init__(self, hidden=32, p=0.1):
        super(Member, self).__init__()
        self.fc1 = nn.Linear(3, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.mu = nn.Linear(hidden, N_OUT)
        self.logvar = nn.Linear(hidden, N_OUT)
        self.p = p

    def forward(self, x):
        h = F.dropout(torch.tanh(self.fc1(x)), self.p, training=True)
        h = F.dropout(torch.tanh(self.fc2(h)), self.p, training=True)
        return self.mu(h), self.logvar(h).clamp(-6, 4)


def nll(mu, logvar, y):
    return 0.5 * (logvar + (y - mu) ** 2 / logvar.exp()).mean()


def train_member(k, workdir):
    """Bootstrap sample, own target scaling; leaves a checkpoint and returns its name."""
    pick = torch.from_numpy(np.random.choice(len(train_x), len(train_x)))
    x, y = train_x[pick], train_y[pick]
    shift, scale = y.mean(0), y.std(0)
    y = (y - shift) / scale

    net = Member()
    if use_cuda:
        net.cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        total = 0
        for bx, by in batches(x, y, args.bs):
            if use_cuda:
                bx, by = bx.cuda(), by.cuda()
            bx, by = Variable(bx), Variable(by)
            optimizer.zero_grad()
            loss = nll(*net(bx), y=by)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(bx)
    print('member %d: train nll %.3f' % (k, total / len(x)))
    fname = os.path.join(workdir, 'member_%d.pth.tar' % k)
    torch.save({'state_dict': net.cpu().state_dict(), 'shift': shift, 'scale': scale, 'epoch': args.epochs}, fname)
    return fname


def load_member(fname):
    ckpt = torch.load(fname, map_location='cuda' if use_cuda else 'cpu')
    net = Member()
    net.load_state_dict(ckpt['state_dict'])
    if use_cuda:
        net.cuda()
    net.eval()
    return net, ckpt['shift'], ckpt['scale']


# ---------------------------------------------------------------- prediction
def predict(files, x):
    """mean and std of the mixture, as numpy arrays in the units of y"""
    if use_cuda:
        x = x.cuda()
    means, seconds = [], []
    for fname in files:
        net, shift, scale = load_member(fname)
        with torch.no_grad():
            for _ in range(args.mc):
                mu, logvar = net(x)
                mu = mu * scale + shift
                var = logvar.exp() * scale ** 2
                means.append(mu)
                seconds.append(var + mu ** 2)
    mean = torch.stack(means).mean(0)
    var = (torch.stack(seconds).mean(0) - mean ** 2).clamp(min=1e-6)
    return mean.cpu().numpy(), var.sqrt().cpu().numpy()


def coverage(mean, std, y, width):
    return (np.abs(y - mean) <= width * std).mean(axis=0)


def calibrate(mean, std, y, level=0.9):
    """split conformal: the quantile of the scaled residuals"""
    score = np.abs(y - mean) / std
    n = len(score)
    q = min(1.0, np.ceil((n + 1) * level) / n)
    return np.quantile(score, q, axis=0)


def main():
    workdir = tempfile.mkdtemp()
    try:
        files = [train_member(k, workdir) for k in range(args.members)]
        width = calibrate(*predict(files, calib_x), y=calib_y.numpy())
        mean, std = predict(files, test_x)
        target = test_y.numpy()
        rmse = np.sqrt(((mean - target) ** 2).mean(0))
        print('rmse', rmse.round(2), '| naive coverage', coverage(mean, std, target, 1.645).round(2),
              '| calibrated', coverage(mean, std, target, width).round(2))
    finally:
        shutil.rmtree(workdir)


if __name__ == '__main__':
    main()
