import torch
import torch.nn.functional as F

from .latency import expected_latency


class Architect:
    """First-order DARTS: alternate steps of the architecture on the validation half."""

    def __init__(self, net, lr=0.05, latency_weight=0.0, table=None):
        self.net = net
        self.table = table
        self.latency_weight = latency_weight
        self.optimizer = torch.optim.Adam(net.arch_parameters(), lr=lr, betas=(0.5, 0.999), weight_decay=1e-3)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        if self.latency_weight:
            loss = loss + self.latency_weight * expected_latency(self.net, self.table)
        loss.backward()
        self.optimizer.step()
        return loss.item()
