import torch as th
import torch.nn as nn
import torch.nn.functional as F


class RNNAgent(nn.Module):
    def __init__(self, args):
        super(RNNAgent, self).__init__()
        self.args = args
        self.fc1 = nn.Linear(args.obs_size, args.hidden_dim)
        self.rnn = nn.GRUCell(args.hidden_dim, args.hidden_dim)
        self.fc2 = nn.Linear(args.hidden_dim, args.n_actions)

    def forward(self, inputs, hidden_state):
        x = F.relu(self.fc1(inputs))
        h = self.rnn(x, hidden_state)
        return self.fc2(h), h


class IndependentAgents(nn.Module):
    """One network for each agent (no parameter sharing)."""

    def __init__(self, args):
        super(IndependentAgents, self).__init__()
        self.args = args
        self.agents = nn.ModuleList([RNNAgent(args) for _ in range(args.n_agents)])

    def init_hidden(self, batch_size, like):
        return like.new_zeros(batch_size, self.args.n_agents, self.args.hidden_dim)

    def forward(self, obs, hidden):
        # obs: (batch, agents, obs_size)
        qs, hs = [], []
        for i, agent in enumerate(self.agents):
            q, h = agent(obs[:, i], hidden[:, i])
            qs.append(q)
            hs.append(h)
        return th.stack(qs, dim=1), th.stack(hs, dim=1)
