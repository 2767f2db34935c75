import torch
from torch import nn
from torch.nn import functional as F


class DQN(nn.Module):
    """dueling, distributional"""

    def __init__(self, args, obs_size, action_space):
        super(DQN, self).__init__()
        self.atoms = args.atoms
        self.action_space = action_space
        self.body = nn.Linear(obs_size, args.hidden_size)
        self.fc_z_v = nn.Linear(args.hidden_size, self.atoms)
        self.fc_z_a = nn.Linear(args.hidden_size, action_space * self.atoms)

    def forward(self, x, log=False):
        x = F.relu(self.body(x))
        v, a = self.fc_z_v(x), self.fc_z_a(x)
        v, a = v.view(-1, 1, self.atoms), a.view(-1, self.action_space, self.atoms)
        q = v + a - a.mean(1, keepdim=True)
        if log:
            return F.log_softmax(q, dim=2)
        return F.softmax(q, dim=2)
