import torch as th
import torch.nn as nn
import torch.nn.functional as F


class QMixer(nn.Module):
    def __init__(self, args):
        super(QMixer, self).__init__()
        self.n_agents = args.n_agents
        self.embed_dim = args.mixing_embed_dim
        state_dim = args.n_agents * args.obs_size
        self.hyper_w_1 = nn.Linear(state_dim, self.embed_dim * self.n_agents)
        self.hyper_w_final = nn.Linear(state_dim, self.embed_dim)
        self.hyper_b_1 = nn.Linear(state_dim, self.embed_dim)
        self.V = nn.Sequential(nn.Linear(state_dim, self.embed_dim), nn.ReLU(), nn.Linear(self.embed_dim, 1))

    def forward(self, agent_qs, states):
        bs = agent_qs.size(0)
        states = states.reshape(-1, states.size(-1))
        agent_qs = agent_qs.reshape(-1, 1, self.n_agents)
        w1 = th.abs(self.hyper_w_1(states)).view(-1, self.n_agents, self.embed_dim)
        b1 = self.hyper_b_1(states).view(-1, 1, self.embed_dim)
        hidden = F.elu(th.bmm(agent_qs, w1) + b1)
        w_final = th.abs(self.hyper_w_final(states)).view(-1, self.embed_dim, 1)
        v = self.V(states).view(-1, 1, 1)
        return (th.bmm(hidden, w_final) + v).view(bs, -1, 1)
