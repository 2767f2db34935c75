import torch
from torch import nn
import torch.nn.functional as F

from .tiles import CLOUDY

KINDS = {}


class Head(nn.Module):
    def __init_subclass__(cls, kind, **kwargs):
        super().__init_subclass__(**kwargs)
        KINDS[kind] = cls

    def __init__(self, name, width, out, weight):
        super().__init__()
        self.name, self.weight = name, weight
        self.project = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, out, 1))

    def forward(self, features):
        return self.project(features)

    def loss(self, prediction, targets):
        raise NotImplementedError


class Classes(Head, kind="classes"):
    def loss(self, prediction, targets):
        return self.weight * F.cross_entropy(prediction, targets[self.name], ignore_index=CLOUDY)


class Height(Head, kind="height"):
    def loss(self, prediction, targets):
        clear = targets["cover"] != CLOUDY
        error = F.smooth_l1_loss(prediction[:, 0], targets[self.name] / 10.0, reduction="none")
        return self.weight * error[clear].mean()


def make_head(spec, width):
    options = {k: v for k, v in spec.items() if k != "kind"}
    return KINDS[spec["kind"]](width=width, **options)
