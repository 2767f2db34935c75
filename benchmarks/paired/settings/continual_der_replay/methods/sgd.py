import torch.nn.functional as F

from .base import ContinualModel


class Finetune(ContinualModel):
    NAME = "sgd"

    def observe(self, x, not_aug_x, y):
        return F.cross_entropy(self(x), y)
