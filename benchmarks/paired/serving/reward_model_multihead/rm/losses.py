import torch
import torch.nn.functional as F

from .registry import LOSSES


@LOSSES.register("bradley_terry")
def bradley_terry(chosen, rejected, margin):
    return -F.logsigmoid(chosen.float() - rejected.float() - margin).mean()


@LOSSES.register("hinge")
def hinge(chosen, rejected, margin):
    return torch.relu(1 + margin - chosen.float() + rejected.float()).mean()
