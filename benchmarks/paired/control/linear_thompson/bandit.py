#!/usr/bin/env python3
"""
Contextual bandits with linear payoffs.

Compares LinUCB and linear Thompson sampling on a simulated news recommendation
problem.  All runs are carried out in parallel (one row for each run).
"""
import sys
import torch

USE_CUDA = torch.cuda.is_available()
DEV = 'cuda' if USE_CUDA else 'cpu'


class Simulator:
    """n_runs independent problems with n_arms arms and a shared context distribution"""

    def __init__(self, n_runs, n_arms, dim, noise=0.1, seed=7):
        self.rng = torch.Generator(device=DEV)
        self.rng.manual_seed(seed)
        self.n_runs, self.n_arms, self.dim, self.noise = n_runs, n_arms, dim, noise
        self.theta = torch.randn(n_runs, n_arms, dim, device=DEV, generator=self.rng)
        self.theta /= self.theta.norm(dim=-1, keepdim=True)

    def context(self):
        x = torch.randn(self.n_runs, self.dim, device=DEV, generator=self.rng)
        return x / x.norm(dim=-1, keepdim=True)

    def pull(self, x, arm):
        means = torch.einsum('rad,rd->ra', self.theta, x)
        chosen = means.gather(1, arm[:, None]).squeeze(1)
        reward = chosen + self.noise * torch.randn(self.n_runs, device=DEV, generator=self.rng)
        regret = means.max(1).values - chosen
        return reward, regret


class LinearBandit:
    def __init__(self, n_runs, n_arms, dim, lam=1.0):
        self.n_runs, self.n_arms, self.dim = n_runs, n_arms, dim
        self.A = lam * torch.eye(dim, device=DEV).repeat(n_runs, n_arms, 1, 1)
        self.b = torch.zeros(n_runs, n_arms, dim, device=DEV)
        self.rows = torch.arange(n_runs, device=DEV)

    def estimate(self):
        A_inv = torch.linalg.inv(self.A)
        theta_hat = torch.matmul(A_inv, self.b.unsqueeze(-1)).squeeze(-1)
        return A_inv, theta_hat

    def update(self, x, arm, reward):
        outer = x.unsqueeze(2) * x.unsqueeze(1)
        self.A[self.rows, arm] += outer
        self.b[self.rows, arm] += reward.unsqueeze(1) * x


class LinUCB(LinearBandit):
    def __init__(self, *args, alpha=0.6, **kwargs):
        super().__init__(*args, **kwargs)
        self.alpha = alpha

    def choose(self, x):
        A_inv, theta_hat = self.estimate()
        mean = torch.einsum('rad,rd->ra', theta_hat, x)
        var = torch.einsum('rd,rade,re->ra', x, A_inv, x)
        return (mean + self.alpha * var.clamp(min=0).sqrt()).argmax(1)


class LinTS(LinearBandit):
    def __init__(self, *args, v=0.3, seed=11, **kwargs):
        super().__init__(*args, **kwargs)
        self.v = v
        self.gen = torch.Generator(device=DEV).manual_seed(seed)

    def choose(self, x):
        A_inv, theta_hat = self.estimate()
        chol = torch.linalg.cholesky(A_inv)
        z = torch.randn(theta_hat.shape, generator=self.gen, device=DEV)
        theta = theta_hat + self.v * torch.matmul(chol, z.unsqueeze(-1)).squeeze(-1)
        return torch.einsum('rad,rd->ra', theta, x).argmax(1)


def play(agent, sim, horizon):
    total = torch.zeros(sim.n_runs, device=DEV)
    curve = []
    for _ in range(horizon):
        x = sim.context()
        arm = agent.choose(x)
        reward, regret = sim.pull(x, arm)
        agent.update(x, arm, reward)
        total += regret
        curve.append(total.mean().item())
    return curve


def main(horizon=60, n_runs=8, n_arms=5, dim=6):
    results = {}
    for name, cls in (('LinUCB', LinUCB), ('LinTS', LinTS)):
        sim = Simulator(n_runs, n_arms, dim)
        results[name] = play(cls(n_runs, n_arms, dim), sim, horizon)
    print('%8s' % 'step' + ''.join('%12s' % n for n in results))
    for t in range(9, horizon, 10):
        print('%8d' % (t + 1) + ''.join('%12.3f' % c[t] for c in results.values()))


if __name__ == '__main__':
    main(*[int(a) for a in sys.argv[1:]])
