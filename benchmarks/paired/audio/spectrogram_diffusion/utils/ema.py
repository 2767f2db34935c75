import copy

import torch


class EMA:
    """Shadow weights on the CPU, to spare accelerator memory."""

    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for k, v in model.state_dict().items():
            self.shadow[k].lerp_(v.cpu(), 1 - self.decay)

    def materialize(self, model):
        clone = copy.deepcopy(model)
        clone.load_state_dict(self.shadow)
        return clone.eval()
