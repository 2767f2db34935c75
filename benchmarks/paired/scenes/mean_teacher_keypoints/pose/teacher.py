import copy

import torch


class MeanTeacher:
    """Keeps an exponential moving average of the student."""

    def __init__(self, student, decay=0.99):
        self.decay = decay
        self.updates = 0
        self.module = copy.deepcopy(student).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, student):
        self.updates += 1
        d = min(self.decay, (1 + self.updates) / (10 + self.updates))
        source = student.state_dict()
        for name, value in self.module.state_dict().items():
            new = source[name].to(value.device)
            if value.dtype.is_floating_point:
                value.lerp_(new, 1 - d)
            else:
                value.copy_(new)

    @torch.no_grad()
    def __call__(self, x):
        return self.module(x)
