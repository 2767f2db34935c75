"""
Neural-linear contextual bandit: a network learns the features, Bayesian linear regression
per arm gives the exploration (Thompson sampling). Compared with epsilon-greedy and uniform.

    python bandit.py --rounds 200
"""
import argparse
import functools
import time
from collections import deque

import numpy as np
import scipy.linalg
import torch
from torch import nn


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        t0 = time.perf_counter()
        out = fn(*args, **kwargs)
        wrapper.seconds += time.perf_counter() - t0
        return out

    wrapper.seconds = 0.0
    return wrapper


def wheel(rounds, delta=0.6, seed=0):
    """The wheel bandit of Riquelme et al.; yields (context, mean reward of every arm)."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        while True:
            c = rng.uniform(-1, 1, 2)
            if np.linalg.norm(c) <= 1:
                break
        mean = np.full(5, 1.0)
        mean[0] = 1.2
        if np.linalg.norm(c) > delta:
            mean[1 + (c[0] < 0) + 2 * (c[1] < 0)] = 5.0
        yield c.astype(np.float32), mean


class RewardNet(nn.Module):
    def __init__(self, n_arms, hidden=32, feat=12):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, feat), nn.ReLU())
        self.head = nn.Linear(feat, n_arms)

    def forward(self, x):
        return self.head(self.body(x))


@torch.no_grad()
def features(net, contexts):
    """Float64 design matrix with an intercept, for the conjugate updates."""
    x = torch.as_tensor(np.asarray(contexts)).to(next(net.parameters()).device)
    phi = net.body(torch.atleast_2d(x)).cpu().numpy().astype(np.float64)
    return np.hstack([phi, np.ones((len(phi), 1))])


class ArmPosterior:
    """Normal-inverse-gamma regression."""

    def __init__(self, dim, lam=0.5, a0=3.0, b0=3.0):
        self.precision = lam * np.eye(dim)
        self.xty = np.zeros(dim)
        self.yty = 0.0
        self.a, self.b0, self.n = a0, b0, 0

    def observe(self, phi, y):
        self.precision += phi.T @ phi
        self.xty += phi.T @ y
        self.yty += float(y @ y)
        self.n += len(y)

    def draw(self, rng):
        chol = scipy.linalg.cho_factor(self.precision, lower=True)
        mu = scipy.linalg.cho_solve(chol, self.xty)
        a = self.a + 0.5 * self.n
        b = self.b0 + 0.5 * max(self.yty - mu @ self.xty, 0.0)
        sigma2 = b / rng.gamma(a)
        z = rng.standard_normal(len(mu))
        return mu + np.sqrt(sigma2) * scipy.linalg.solve_triangular(np.tril(chol[0]).T, z, lower=False)


class Uniform:
    def __init__(self, n_arms, seed):
        self.n_arms = n_arms
        self.rng = np.random.default_rng(seed)

    def choose(self, context):
        return int(self.rng.integers(self.n_arms))

    def learn(self, context, arm, reward):
        pass


class NeuralAgent(Uniform):
    def __init__(self, n_arms, seed, device, retrain_every=40, steps=20, batch=32):
        super().__init__(n_arms, seed)
        self.device = device
        self.net = RewardNet(n_arms)
        self.history = deque(maxlen=5000)
        self.retrain_every, self.steps, self.batch = retrain_every, steps, batch

    @timed
    def fit(self):
        """Train on the whole history, then hand the net back to the (one by one) serving loop."""
        c, a, r = (np.array(v) for v in zip(*self.history))
        c = torch.from_numpy(c).to(self.device)
        a = torch.from_numpy(a).to(self.device)
        r = torch.from_numpy(r.astype(np.float32)).to(self.device)
        self.net.to(self.device)
        opt = torch.optim.RMSprop(self.net.parameters(), lr=5e-3)
        for _ in range(self.steps):
            i = torch.randint(len(r), (self.batch,), device=self.device)
            pred = self.net(c[i]).gather(1, a[i, None]).squeeze(1)
            loss = nn.functional.mse_loss(pred, r[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
        self.after_fit()
        self.net.cpu()

    def after_fit(self):
        pass

    def learn(self, context, arm, reward):
        self.history.append((context, arm, reward))
        if len(self.history) % self.retrain_every == 0:
            self.fit()


class EpsilonGreedy(NeuralAgent):
    eps = 0.1

    def choose(self, context):
        if self.rng.random() < self.eps:
            return super().choose(context)
        with torch.no_grad():
            return int(self.net(torch.from_numpy(context)).argmax())


class NeuralLinear(NeuralAgent):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.dim = self.net.head.in_features + 1
        self.posteriors = [ArmPosterior(self.dim) for _ in range(self.n_arms)]

    def choose(self, context):
        phi = features(self.net, context)[0]
        return int(np.argmax([p.draw(self.rng) @ phi for p in self.posteriors]))

    def after_fit(self):
        # the representation has changed: rebuild every posterior from the raw history
        contexts, arms, rewards = (np.array(v) for v in zip(*self.history))
        phi = features(self.net, contexts)
        self.posteriors = [ArmPosterior(self.dim) for _ in range(self.n_arms)]
        for arm, post in enumerate(self.posteriors):
            sel = arms == arm
            if sel.any():
                post.observe(phi[sel], rewards[sel])

    def learn(self, context, arm, reward):
        self.posteriors[arm].observe(features(self.net, context), np.array([reward]))
        super().learn(context, arm, reward)


def play(agent, rounds, seed):
    noise = np.random.default_rng(seed + 1)
    regret = 0.0
    for context, mean in wheel(rounds, seed=seed):
        arm = agent.choose(context)
        agent.learn(context, arm, mean[arm] + 0.1 * noise.standard_normal())
        regret += mean.max() - mean[arm]
    return regret


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--device", default=None)
    opts = parser.parse_args()
    dev = torch.device(opts.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    torch.manual_seed(opts.seed)

    agents = {
        "uniform": Uniform(5, opts.seed),
        "eps-greedy": EpsilonGreedy(5, opts.seed, dev),
        "neural-linear": NeuralLinear(5, opts.seed, dev),
    }
    for name, agent in agents.items():
        print(f"{name:15s} regret {play(agent, opts.rounds, opts.seed):8.2f}")
    print(f"{NeuralAgent.fit.seconds:.2f} s in training")
