from contextlib import contextmanager

import torch


class WeightAverage:
    """Exponential moving average of the parameters, held in host memory."""

    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.updates = 0
        self.shadow = {
            name: p.detach().to("cpu", copy=True) for name, p in model.named_parameters() if p.requires_grad
        }

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for name, p in model.named_parameters():
            if name in self.shadow:
                self.shadow[name].mul_(decay).add_(p.detach().cpu(), alpha=1 - decay)

    @contextmanager
    def applied_to(self, model):
        backup = {}
        with torch.no_grad():
            for name, p in model.named_parameters():
                if name in self.shadow:
                    backup[name] = p.detach().clone()
                    p.copy_(self.shadow[name])
        try:
            yield model
        finally:
            with torch.no_grad():
                for name, p in model.named_parameters():
                    if name in backup:
                        p.copy_(backup[name])

    def state_dict(self):
        return {"decay": self.decay, "updates": self.updates, "shadow": self.shadow}
