import torch
import torch.nn as nn


class Member(nn.Module):
    def __init__(self, inp, out, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inp, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, out))

    def forward(self, x):
        return self.net(x)


class EnsembleDynamics(nn.Module):
    """Predicts normalised state differences; one bootstrap per member."""

    def __init__(self, state_dim, action_dim, normalizers, members=3, hidden=32):
        super().__init__()
        self.norm_in, self.norm_out = normalizers
        self.members = nn.ModuleList(Member(state_dim + action_dim, state_dim, hidden) for _ in range(members))

    def step(self, state, action, which=None):
        x = self.norm_in.normalize(torch.cat([state, action], -1))
        if which is None:
            out = torch.stack([m(x) for m in self.members]).mean(0)
        else:
            out = self.members[which](x)
        return state + self.norm_out.denormalize(out)

    def loss(self, state, action, nxt):
        x = self.norm_in.normalize(torch.cat([state, action], -1))
        y = self.norm_out.normalize(nxt - state)
        total = x.new_zeros(())
        for m in self.members:
            w = torch.rand(len(x), 1, device=x.device).mul(2)
            total = total + (w * (m(x) - y).pow(2)).mean()
        return total / len(self.members)
