import random

import numpy as np
import torch


def discount_cumsum(x, gamma):
    out = np.zeros_like(x)
    out[-1] = x[-1]
    for t in reversed(range(x.shape[0] - 1)):
        out[t] = x[t] + gamma * out[t + 1]
    return out


class Walker:
    """a point on a line, reward for the way made to the right; actions in (-1, 1)"""

    state_dim, act_dim, max_ep_len = 2, 1, 12

    def reset(self):
        self.x, self.v, self.t = 0.0, 0.0, 0
        return np.array([self.x, self.v])

    def step(self, a):
        self.v = 0.8 * self.v + 0.2 * float(np.clip(a, -1, 1)[0])
        self.x += self.v
        self.t += 1
        return np.array([self.x, self.v]), self.v, self.t >= self.max_ep_len


def gather(n, seed=0):
    rng = np.random.RandomState(seed)
    env, trajectories = Walker(), []
    for _ in range(n):
        skill = rng.uniform(-0.5, 1)
        path = {"observations": [], "actions": [], "rewards": []}
        s, done = env.reset(), False
        while not done:
            a = np.clip(skill + 0.3 * rng.randn(1), -0.99, 0.99)
            s2, r, done = env.step(a)
            for k, v in zip(path, (s, a, r)):
                path[k].append(v)
            s = s2
        trajectories.append({k: np.array(v) for k, v in path.items()})
    return trajectories


def get_batch(trajectories, batch_size, K, scale, device):
    s, a, rtg, timesteps, mask = [], [], [], [], []
    for _ in range(batch_size):
        traj = random.choice(trajectories)
        si = random.randint(0, len(traj["rewards"]) - 1)
        sl = slice(si, si + K)
        state = traj["observations"][sl]
        n, pad = len(state), K - len(state)
        s.append(np.pad(state, ((pad, 0), (0, 0))))
        a.append(np.pad(traj["actions"][sl], ((pad, 0), (0, 0))))
        g = discount_cumsum(traj["rewards"][si:], 1.0)[:n, None] / scale
        rtg.append(np.pad(g, ((pad, 0), (0, 0))))
        timesteps.append(np.pad(np.arange(si, si + n), (pad, 0)))
        mask.append(np.pad(np.ones(n), (pad, 0)))
    floats = [torch.from_numpy(np.stack(x)).to(dtype=torch.float32, device=device) for x in (s, a, rtg)]
    longs = [torch.from_numpy(np.stack(x)).to(dtype=torch.long, device=device) for x in (timesteps, mask)]
    return floats + longs
