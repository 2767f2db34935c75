"""
Evolution strategies (Salimans et al. 2017), batched over the population.

All members of the population are evaluated in parallel with torch.baddbmm; the
environment is a batched cart on a spring that should be held at a set point.
"""
import argparse
import math

import numpy as np
import torch


def compute_ranks(x):
    """ranks in [0, len(x)), as in the original code of OpenAI"""
    assert x.ndim == 1
    ranks = np.empty(len(x), dtype=int)
    ranks[x.argsort()] = np.arange(len(x))
    return ranks


def compute_centered_ranks(x):
    y = compute_ranks(x.ravel()).reshape(x.shape).astype(np.float32)
    y /= (x.size - 1)
    y -= .5
    return y


class BatchedMLP:
    """A two layer network whose weights are cut out of the rows of a matrix."""

    def __init__(self, n_in, n_hidden, n_out):
        self.shapes = [(n_hidden, n_in), (n_hidden,), (n_out, n_hidden), (n_out,)]
        self.sizes = [int(np.prod(s)) for s in self.shapes]
        self.n_params = sum(self.sizes)

    def init(self, device):
        parts = []
        for s in self.shapes:
            if len(s) == 2:
                parts.append(torch.randn(s, device=device).mul_(1 / math.sqrt(s[1])).flatten())
            else:
                parts.append(torch.zeros(s, device=device))
        return torch.cat(parts)

    def __call__(self, thetas, x):
        n = thetas.shape[0]
        w1, b1, w2, b2 = [p.view(n, *s) for p, s in zip(thetas.split(self.sizes, dim=1), self.shapes)]
        h = torch.tanh(torch.baddbmm(b1.unsqueeze(2), w1, x.unsqueeze(2)))
        return torch.tanh(torch.baddbmm(b2.unsqueeze(2), w2, h)).squeeze(2)


def evaluate(net, thetas, horizon):
    """sum of rewards for every row of thetas"""
    n = thetas.shape[0]
    state = thetas.new_zeros(n, 3)
    state[:, 0] = 1.0
    state[:, 2] = 0.3
    total = thetas.new_zeros(n)
    for _ in range(horizon):
        force = net(thetas, state)[:, 0]
        pos, vel, goal = state.unbind(1)
        vel = vel + 0.1 * (2 * force - 0.5 * pos - 0.2 * vel)
        pos = pos + 0.1 * vel
        total -= (pos - goal).abs() + 0.01 * force.pow(2)
        state = torch.stack([pos, vel, goal], dim=1)
    return total


class Adam:
    def __init__(self, theta, lr, beta1=0.9, beta2=0.999, eps=1e-8):
        self.theta, self.lr, self.beta1, self.beta2, self.eps = theta, lr, beta1, beta2, eps
        self.m = torch.zeros_like(theta)
        self.v = torch.zeros_like(theta)
        self.t = 0

    def update(self, grad):
        self.t += 1
        a = self.lr * math.sqrt(1 - self.beta2 ** self.t) / (1 - self.beta1 ** self.t)
        self.m.mul_(self.beta1).add_(grad, alpha=1 - self.beta1)
        self.v.mul_(self.beta2).addcmul_(grad, grad, value=1 - self.beta2)
        self.theta.add_(self.m / (self.v.sqrt() + self.eps), alpha=-a)


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument('--pop', type=int, default=32, help='half of the population (mirrored sampling)')
    ap.add_argument('--sigma', type=float, default=0.05)
    ap.add_argument('--lr', type=float, default=0.05)
    ap.add_argument('--l2', type=float, default=0.005)
    ap.add_argument('--iterations', type=int, default=10)
    ap.add_argument('--horizon', type=int, default=30)
    ap.add_argument('--gpu', type=int, default=0, help='-1 for cpu')
    args = ap.parse_args()

    if args.gpu >= 0 and torch.cuda.is_available():
        device = torch.device('cuda', args.gpu)
    else:
        device = torch.device('cpu')
    torch.manual_seed(3)

    net = BatchedMLP(3, 16, 1)
    theta = net.init(device)
    optimizer = Adam(theta, args.lr)

    for it in range(args.iterations):
        eps = torch.randn(args.pop, net.n_params, device=device)
        candidates = torch.cat([theta + args.sigma * eps, theta - args.sigma * eps])
        fitness = evaluate(net, candidates, args.horizon)

        shaped = compute_centered_ranks(fitness.cpu().numpy())
        weights = torch.from_numpy(shaped).to(device)
        weights = weights[:args.pop] - weights[args.pop:]
        grad = torch.mv(eps.t(), weights) / (2 * args.pop * args.sigma)
        optimizer.update(-grad + args.l2 * theta)

        if it % 3 == 0 or it == args.iterations - 1:
            centre = evaluate(net, theta.unsqueeze(0), args.horizon).item()
            print('iter %3d | mean %.3f | best %.3f | centre %.3f'
                  % (it, fitness.mean().item(), fitness.max().item(), centre))


if __name__ == '__main__':
    main()
