"""Inner loop of Reptile, and a way to adapt a model for a moment only."""
from contextlib import contextmanager

import torch
import torch.nn.functional as F


def inner_loop(model, batches, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    device = next(model.parameters()).device
    loss = None
    for x, y in batches:
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


class Snapshot:
    """Copy of the weights in host memory."""

    def __init__(self, model):
        self.weights = {name: p.detach().clone().cpu() for name, p in model.named_parameters()}

    @torch.no_grad()
    def restore(self, model):
        for name, p in model.named_parameters():
            p.copy_(self.weights[name])

    @torch.no_grad()
    def pull(self, model, rate):
        """Move from the snapshot a bit towards where the model is now (outer step)."""
        for name, p in model.named_parameters():
            origin = self.weights[name].to(p.device)
            p.copy_(origin.lerp(p, rate))


@contextmanager
def adapted(model, batches, lr):
    before = Snapshot(model)
    try:
        inner_loop(model, batches, lr)
        yield model
    finally:
        before.restore(model)
