import torch


class AggregatedDataset:
    """Everything the expert has ever labelled. Grows in host memory."""

    def __init__(self, capacity, obs_dim, act_dim, generator=None):
        self.obs = torch.empty(capacity, obs_dim)
        self.act = torch.empty(capacity, act_dim)
        self.round = torch.empty(capacity, dtype=torch.long)
        self.size = 0
        self.generator = generator

    def __len__(self):
        return self.size

    def extend(self, obs, act, round_id):
        n = len(obs)
        s = slice(self.size, self.size + n)
        self.obs[s] = torch.as_tensor(obs)
        self.act[s] = torch.as_tensor(act)
        self.round[s] = round_id
        self.size += n

    def moments(self):
        o = self.obs[: self.size]
        return o.mean(0), o.std(0).clamp_min(1e-2)

    def minibatches(self, batch_size, device):
        order = torch.randperm(self.size, generator=self.generator)
        for idx in order.split(batch_size):
            yield self.obs[idx].to(device), self.act[idx].to(device)
