import torch.nn as nn

from .costs import COSTS
from .sinkhorn import sinkhorn_log, transport_value


class SinkhornDivergence(nn.Module):
    """S(x, y) = OT(x, y) - OT(x, x) / 2 - OT(y, y) / 2"""

    def __init__(self, cost="sqeuclidean", eps=0.1, iters=20):
        super().__init__()
        self.cost_fn = COSTS[cost]
        self.eps = eps
        self.iters = iters

    def ot(self, x, y):
        return transport_value(*sinkhorn_log(x, y, self.cost_fn, self.eps, self.iters))

    def forward(self, x, y):
        return self.ot(x, y) - 0.5 * self.ot(x, x) - 0.5 * self.ot(y, y)

    def extra_repr(self):
        return f"cost={self.cost_fn.__name__}, eps={self.eps}, iters={self.iters}"
