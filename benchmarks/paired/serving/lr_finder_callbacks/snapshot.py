"""Keep a copy of a model and its optimizer in host memory and put it back later."""
from collections import defaultdict

import torch


class Snapshot:
    def __init__(self, model, optimizer):
        self.weights = {k: v.detach().to("cpu", copy=True) for k, v in model.state_dict().items()}
        self.groups = [{k: v for k, v in g.items() if k != "params"} for g in optimizer.param_groups]
        self.state = {}
        for p, slots in optimizer.state.items():
            self.state[p] = {
                k: v.detach().to("cpu", copy=True) if torch.is_tensor(v) else v for k, v in slots.items()
            }

    def restore(self, model, optimizer):
        model.load_state_dict(self.weights)
        for group, saved in zip(optimizer.param_groups, self.groups):
            group.update(saved)
        state = defaultdict(dict)
        for p, slots in self.state.items():
            for name, value in slots.items():
                if torch.is_tensor(value) and value.dim() > 0:
                    value = value.to(p.device, copy=True)
                elif torch.is_tensor(value):
                    value = value.clone()
                state[p][name] = value
        optimizer.state = state
