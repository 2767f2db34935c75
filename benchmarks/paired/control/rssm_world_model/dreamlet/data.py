import numpy as np
import torch


def bouncing_dot(episodes: int, length: int, size: int = 16, seed: int = 0):
    """frames (E, T, 1, size, size), actions (E, T, 2), rewards (E, T)"""
    rng = np.random.default_rng(seed)
    frames = np.zeros((episodes, length, 1, size, size), dtype=np.float32)
    actions = rng.uniform(-1, 1, size=(episodes, length, 2)).astype(np.float32)
    rewards = np.zeros((episodes, length), dtype=np.float32)
    for e in range(episodes):
        pos = rng.uniform(3, size - 3, size=2)
        vel = rng.normal(size=2)
        for t in range(length):
            vel = 0.9 * vel + actions[e, t]
            pos = np.clip(pos + vel, 1, size - 2)
            r, c = pos.astype(int)
            frames[e, t, 0, r - 1:r + 2, c - 1:c + 2] = 1.0
            rewards[e, t] = -np.abs(pos - size / 2).mean() / size
    return torch.from_numpy(frames), torch.from_numpy(actions), torch.from_numpy(rewards)


def batches(arrays, batch_size: int, steps: int, device: torch.device):
    n = arrays[0].shape[0]
    for _ in range(steps):
        idx = torch.randint(n, (batch_size,))
        yield [a[idx].to(device) for a in arrays]
