#!/usr/bin/env python
"""Identify the viscosity of Burgers' equation from scattered noisy observations.

    u_t + u u_x = nu u_xx,   x in [-1, 1],  t in [0, 1],  u(0, x) = -sin(pi x)

Stage 1 is Adam, stage 2 is L-BFGS on the same loss.
"""
from __future__ import print_function

import argparse
import math
import os
import tempfile
import time

import numpy as np
from scipy.interpolate import RegularGridInterpolator
import torch
import torch.nn as nn
from torch.autograd import grad

parser = argparse.ArgumentParser()
parser.add_argument('--adam', type=int, default=2000, metavar='N', help='Adam iterations')
parser.add_argument('--lbfgs', type=int, default=50, metavar='N', help='L-BFGS iterations')
parser.add_argument('--n-obs', type=int, default=200)
parser.add_argument('--n-col', type=int, default=1000)
parser.add_argument('--width', type=int, default=20)
parser.add_argument('--nu', type=float, default=0.05, help='viscosity used to make the data')
parser.add_argument('--noise', type=float, default=0.01)
parser.add_argument('--lr', type=float, default=2e-3)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--no-cuda', action='store_true', default=False)
args = parser.parse_args()
use_cuda = not args.no_cuda and torch.cuda.is_available()

np.random.seed(args.seed)
torch.manual_seed(args.seed)
if use_cuda:
    torch.cuda.manual_seed(args.seed)


# --------------------------------------------------------------- reference
def reference_solution(nu, nx=65, nt=400):
    """Explicit upwind/central finite differences, all in numpy."""
    x = np.linspace(-1, 1, nx)
    t = np.linspace(0, 1, nt)
    dx, dt = x[1] - x[0], t[1] - t[0]
    u = np.zeros((nt, nx))
    u[0] = -np.sin(np.pi * x)
    for k in range(nt - 1):
        v = u[k]
        left = (v[1:-1] - v[:-2]) / dx
        right = (v[2:] - v[1:-1]) / dx
        adv = np.where(v[1:-1] > 0, v[1:-1] * left, v[1:-1] * right)
        dif = nu * (v[2:] - 2 * v[1:-1] + v[:-2]) / dx ** 2
        u[k + 1, 1:-1] = v[1:-1] + dt * (dif - adv)
    return t, x, u


t_ref, x_ref, u_ref = reference_solution(args.nu)
interp = RegularGridInterpolator((t_ref, x_ref), u_ref)

tx_obs = np.stack([np.random.rand(args.n_obs), 2 * np.random.rand(args.n_obs) - 1], 1)
u_obs = interp(tx_obs) + args.noise * np.random.randn(args.n_obs)

obs_in = torch.from_numpy(tx_obs).float()
obs_u = torch.from_numpy(u_obs).float().unsqueeze(1)
x0 = torch.linspace(-1, 1, 50).unsqueeze(1)
init_in = torch.cat([torch.zeros_like(x0), x0], 1)
init_u = -torch.sin(math.pi * x0)


# --------------------------------------------------------------- network
class MLP(nn.Module):
    def __init__(self, width, depth=3):
        super(MLP, self).__init__()
        layers, d = [], 2
        for _ in range(depth):
            layers += [nn.Linear(d, width), nn.Tanh()]
            d = width
        layers.append(nn.Linear(d, 1))
        self.net = nn.Sequential(*layers)
        for m in self.net:
            if isinstance(m, nn.Linear):
                nn.init.xavier_normal_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, t, x):
        return self.net(torch.cat([2 * t - 1, x], 1))


net = MLP(args.width)
log_nu = nn.Parameter(torch.tensor(math.log(0.2)))
if use_cuda:
    net.cuda()
    log_nu.data = log_nu.data.cuda()
    obs_in, obs_u = obs_in.cuda(), obs_u.cuda()
    init_in, init_u = init_in.cuda(), init_u.cuda()

params = list(net.parameters()) + [log_nu]


def collocation(n):
    tx = torch.rand(n, 2)
    tx[:, 1] = 2 * tx[:, 1] - 1
    if use_cuda:
        tx = tx.cuda()
    return tx[:, :1].clone().requires_grad_(), tx[:, 1:].clone().requires_grad_()


def residual(t, x):
    u = net(t, x)
    ones = torch.ones_like(u)
    u_t, u_x = grad(u, (t, x), ones, create_graph=True)
    u_xx, = grad(u_x, x, ones, create_graph=True)
    return u_t + u * u_x - log_nu.exp() * u_xx


def total_loss(t, x):
    data = (net(obs_in[:, :1], obs_in[:, 1:]) - obs_u).pow(2).mean()
    init = (net(init_in[:, :1], init_in[:, 1:]) - init_u).pow(2).mean()
    pde = residual(t, x).pow(2).mean()
    return data + init + pde, (data.item(), init.item(), pde.item())


def rel_l2():
    """Error on the reference grid; the comparison is done in numpy."""
    step = 20
    tt, xx = np.meshgrid(t_ref[::step], x_ref, indexing='ij')
    grid = torch.from_numpy(np.stack([tt.ravel(), xx.ravel()], 1)).float()
    if use_cuda:
        grid = grid.cuda()
    with torch.no_grad():
        u = net(grid[:, :1], grid[:, 1:]).cpu().numpy().reshape(tt.shape)
    ref = u_ref[::step]
    return np.linalg.norm(u - ref) / np.linalg.norm(ref)


# --------------------------------------------------------------- stage 1
history = []
start = time.time()
optimizer = torch.optim.Adam(params, lr=args.lr)
for it in range(args.adam):
    t_c, x_c = collocation(args.n_col)
    optimizer.zero_grad()
    loss, parts = total_loss(t_c, x_c)
    loss.backward()
    optimizer.step()
    history.append((loss.item(), log_nu.exp().item()))
    if it % max(1, args.adam // 5) == 0:
        print('adam %5d  loss %.3e  data %.2e init %.2e pde %.2e  nu %.4f'
              % ((it, loss.item()) + parts + (history[-1][1],)))

# --------------------------------------------------------------- stage 2
t_c, x_c = collocation(args.n_col)
optimizer = torch.optim.LBFGS(params, max_iter=args.lbfgs, history_size=10, line_search_fn='strong_wolfe')


def closure():
    optimizer.zero_grad()
    loss, _ = total_loss(t_c, x_c)
    loss.backward()
    history.append((loss.item(), log_nu.exp().item()))
    return loss


optimizer.step(closure)
print('lbfgs done, loss %.3e, %.1fs' % (history[-1][0], time.time() - start))

# --------------------------------------------------------------- report
out = tempfile.mkdtemp(prefix='burgers_')
np.save(os.path.join(out, 'history.npy'), np.asarray(history))
torch.save({'net': {k: v.cpu() for k, v in net.state_dict().items()}, 'log_nu': log_nu.item()},
           os.path.join(out, 'solution.pt'))
print('nu = %.4f (true %.4f), relative L2 error %.3f' % (log_nu.exp().item(), args.nu, rel_l2()))
