import torch
import torch.nn as nn


class TimeEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("freq", 1.0 / 10 ** torch.linspace(0, 4, dim))
        self.phase = nn.Parameter(torch.zeros(dim))

    def forward(self, dt):
        return torch.cos(dt.unsqueeze(-1) * self.freq + self.phase)


class NodeMemory(nn.Module):
    """Per node state, updated by a GRU after each batch of events."""

    def __init__(self, num_nodes, dim, msg_dim, time_dim):
        super().__init__()
        self.num_nodes = num_nodes
        self.dim = dim
        self.time_enc = TimeEncoder(time_dim)
        self.cell = nn.GRUCell(2 * dim + msg_dim + time_dim, dim)
        self.register_buffer("state", torch.zeros(num_nodes, dim), persistent=False)
        self.register_buffer("last_update", torch.zeros(num_nodes), persistent=False)

    def reset(self):
        self.state = torch.zeros_like(self.state)
        self.last_update.zero_()

    def detach(self):
        self.state = self.state.detach()

    def read(self, nodes):
        return self.state[nodes], self.last_update[nodes]

    def update(self, src, dst, t, msg):
        nodes = torch.cat([src, dst])
        peers = torch.cat([dst, src])
        t2, msg2 = t.repeat(2), msg.repeat(2, 1)

        # keep only the latest event of every node in the batch
        pos = torch.arange(nodes.numel(), device=nodes.device)
        rank = t2.argsort(stable=True).argsort()
        latest = torch.full((self.num_nodes,), -1, dtype=torch.long, device=nodes.device)
        latest = latest.scatter_reduce(0, nodes, rank, reduce="amax")
        keep = pos[latest[nodes] == rank]

        nodes, peers, t2, msg2 = nodes[keep], peers[keep], t2[keep], msg2[keep]
        h, last = self.read(nodes)
        inp = torch.cat([h, self.state[peers], msg2, self.time_enc(t2 - last)], dim=-1)
        new = self.cell(inp, h)
        self.state = self.state.index_copy(0, nodes, new)
        self.last_update[nodes] = t2

    def snapshot(self):
        """Host copy of the memory, to roll back after looking into the future."""
        return {"state": self.state.detach().cpu().clone(), "last_update": self.last_update.cpu().clone()}

    def rollback(self, snap):
        self.state = self.state.detach().copy_(snap["state"])
        self.last_update.copy_(snap["last_update"])
