import numpy as np
import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

from .envs import VecCartPole


def expert_policy(obs):
    """A hand-tuned linear controller."""
    score = obs @ np.array([0.1, 0.4, 2.0, 1.2], dtype=np.float32)
    return (score > 0).astype(np.int64)


def record(n_envs=8, steps=40, seed=7):
    env = VecCartPole(n_envs, seed=seed)
    obs = env.reset()
    states, actions = [], []
    for _ in range(steps):
        a = expert_policy(obs)
        states.append(obs)
        actions.append(a)
        obs, _, _ = env.step(a)
    return torch.from_numpy(np.concatenate(states)), torch.from_numpy(np.concatenate(actions))


def expert_stream(batch_size, n_batches):
    """Endless iterator over demonstration batches."""
    dataset = TensorDataset(*record())
    sampler = RandomSampler(dataset, replacement=True, num_samples=batch_size * n_batches)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler, pin_memory=torch.cuda.is_available())
    while True:
        yield from loader
