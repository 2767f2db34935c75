import torch


class ReplayBuffer:
    """Ring buffer in host memory; sampled batches go to the learner's device."""

    def __init__(self, capacity, obs_dim, act_dim, seed=0):
        self.capacity, self.size, self.head = capacity, 0, 0
        self.fields = {
            "obs": torch.zeros(capacity, obs_dim),
            "action": torch.zeros(capacity, act_dim),
            "reward": torch.zeros(capacity, 1),
            "next_obs": torch.zeros(capacity, obs_dim),
            "done": torch.zeros(capacity, 1),
        }
        self.rng = torch.Generator().manual_seed(seed)

    def add(self, **transition):
        for name, value in transition.items():
            self.fields[name][self.head] = torch.as_tensor(value, dtype=torch.float32)
        self.head = (self.head + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def sample(self, n, device):
        rows = torch.randint(self.size, (n,), generator=self.rng)
        return {name: store[rows].to(device, non_blocking=True) for name, store in self.fields.items()}

    def __len__(self):
        return self.size
