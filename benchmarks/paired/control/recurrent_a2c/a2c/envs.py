import numpy as np
import torch


class RecallEnv(object):
    """A cue is shown in the first step only and asked for some steps later."""

    num_cues = 3

    def __init__(self, seed, delay=4):
        self.rng = np.random.RandomState(seed)
        self.delay = delay

    def reset(self):
        self.t = 0
        self.cue = self.rng.randint(self.num_cues)
        return self._obs()

    def _obs(self):
        obs = np.zeros(self.num_cues + 1, dtype=np.float32)
        if self.t == 0:
            obs[self.cue] = 1
        obs[-1] = float(self.t == self.delay)
        return obs

    def step(self, action):
        done = self.t == self.delay
        reward = float(action == self.cue) if done else 0.0
        self.t += 1
        return self._obs(), reward, done, {}


class VecEnv(object):
    def __init__(self, envs):
        self.envs = envs

    def reset(self):
        return np.stack([e.reset() for e in self.envs])

    def step(self, actions):
        obs, rews, dones = [], [], []
        for e, a in zip(self.envs, actions):
            o, r, d, _ = e.step(a)
            obs.append(e.reset() if d else o)
            rews.append(r)
            dones.append(d)
        return np.stack(obs), np.array(rews, dtype=np.float32), np.array(dones), {}


class VecPyTorch(object):
    """numpy on the inside, tensors on the outside"""

    def __init__(self, venv, device):
        self.venv = venv
        self.device = device

    def reset(self):
        return torch.from_numpy(self.venv.reset()).float().to(self.device)

    def step(self, actions):
        obs, reward, done, info = self.venv.step(actions.squeeze(1).cpu().numpy())
        obs = torch.from_numpy(obs).float().to(self.device)
        reward = torch.from_numpy(reward).unsqueeze(1).float().to(self.device)
        return obs, reward, done, info


def make_vec_envs(num, seed, device):
    return VecPyTorch(VecEnv([RecallEnv(seed + i) for i in range(num)]), device)
