import torch


class RolloutStorage(object):
    def __init__(self, num_steps, num_processes, obs_size, hidden_size):
        self.obs = torch.zeros(num_steps + 1, num_processes, obs_size)
        self.hidden = torch.zeros(num_steps + 1, num_processes, hidden_size)
        self.rewards = torch.zeros(num_steps, num_processes, 1)
        self.returns = torch.zeros(num_steps + 1, num_processes, 1)
        self.actions = torch.zeros(num_steps, num_processes, 1).long()
        self.masks = torch.ones(num_steps + 1, num_processes, 1)
        self.num_steps = num_steps

    def to(self, device):
        for name in ('obs', 'hidden', 'rewards', 'returns', 'actions', 'masks'):
            setattr(self, name, getattr(self, name).to(device))

    def insert(self, step, obs, hidden, action, reward, mask):
        self.obs[step + 1].copy_(obs)
        self.hidden[step + 1].copy_(hidden)
        self.actions[step].copy_(action)
        self.rewards[step].copy_(reward)
        self.masks[step + 1].copy_(mask)

    def after_update(self):
        self.obs[0].copy_(self.obs[-1])
        self.hidden[0].copy_(self.hidden[-1])
        self.masks[0].copy_(self.masks[-1])

    def compute_returns(self, next_value, gamma):
        self.returns[-1] = next_value
        for step in reversed(range(self.num_steps)):
            self.returns[step] = self.returns[step + 1] * gamma * self.masks[step + 1] + self.rewards[step]
