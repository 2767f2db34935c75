import copy
import math
from contextlib import contextmanager

import torch


class ModelEMA:
    def __init__(self, model, decay=0.99, ramp=10):
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)
        self.decay, self.ramp = decay, ramp
        self.updates = 0

    def _rate(self):
        return self.decay * (1 - math.exp(-self.updates / self.ramp))

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        d = self._rate()
        src = model.state_dict()
        for k, v in self.module.state_dict().items():
            if v.dtype.is_floating_point:
                v.mul_(d).add_(src[k].detach(), alpha=1 - d)
            else:
                v.copy_(src[k])

    @contextmanager
    def swapped_into(self, model):
        """Evaluate `model` with the averaged weights, restore afterwards."""
        backup = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
        model.load_state_dict(self.module.state_dict())
        try:
            yield model
        finally:
            model.load_state_dict(backup)
