import torch


class EMA:
    """Exponential moving average of the weights, by name."""

    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.backup = None

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].lerp_(p.detach(), 1 - self.decay)

    def apply_to(self, model):
        self.backup = {n: p.detach().cpu().clone() for n, p in model.named_parameters()}
        self._write(model, self.shadow)

    def restore(self, model):
        self._write(model, self.backup)
        self.backup = None

    @staticmethod
    @torch.no_grad()
    def _write(model, values):
        for n, p in model.named_parameters():
            p.copy_(values[n])

    def state_dict(self):
        return {"decay": self.decay, "shadow": self.shadow}

    def load_state_dict(self, state):
        self.decay = state["decay"]
        for name, value in state["shadow"].items():
            self.shadow[name].copy_(value)
