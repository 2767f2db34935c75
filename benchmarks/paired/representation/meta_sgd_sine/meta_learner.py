from typing import Dict

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call


class MetaSGD(nn.Module):
    """MAML whose inner step size is learned for every weight (Li et al. 2017)."""

    def __init__(self, net: nn.Module, init_lr: float = 0.01, first_order: bool = False):
        super().__init__()
        self.net = net
        self.first_order = first_order
        self.lrs = nn.ParameterDict(
            {self._key(name): nn.Parameter(torch.full_like(p, init_lr)) for name, p in net.named_parameters()}
        )

    @staticmethod
    def _key(name: str) -> str:
        return name.replace(".", "_")

    def meta_parameters(self):
        yield from self.net.parameters()
        yield from self.lrs.values()

    def adapt(self, x: Tensor, y: Tensor, steps: int) -> Dict[str, Tensor]:
        fast = dict(self.net.named_parameters())
        for _ in range(steps):
            loss = F.mse_loss(functional_call(self.net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=not self.first_order)
            fast = {name: w - self.lrs[self._key(name)] * g for (name, w), g in zip(fast.items(), grads)}
        return fast

    def forward(self, support, query, steps: int = 1) -> Tensor:
        fast = self.adapt(*support, steps)
        x, y = query
        return F.mse_loss(functional_call(self.net, fast, (x,)), y)
