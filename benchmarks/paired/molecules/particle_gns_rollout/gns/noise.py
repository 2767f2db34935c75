import torch

from .registry import register


@register("noise", "random_walk")
class RandomWalkNoise:
    def __init__(self, std):
        self.std = std

    def __call__(self, history):
        steps = history.shape[1] - 1
        v = torch.randn_like(history[:, 1:]) * (self.std / steps**0.5)
        v = v.cumsum(1)
        return torch.cat([torch.zeros_like(history[:, :1]), v.cumsum(1)], 1)


@register("noise", "none")
class NoNoise:
    def __call__(self, history):
        return torch.zeros_like(history)
