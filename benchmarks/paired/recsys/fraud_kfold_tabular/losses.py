import numpy as np
import torch
import torch.nn.functional as F
from sklearn.utils.class_weight import compute_class_weight
from torch import nn


class FocalLoss(nn.Module):
    def __init__(self, alpha, gamma=2.0):
        super().__init__()
        self.register_buffer("alpha", torch.as_tensor(alpha, dtype=torch.float32))
        self.gamma = gamma

    @classmethod
    def balanced(cls, y, gamma=2.0):
        return cls(compute_class_weight("balanced", classes=np.array([0, 1]), y=y), gamma)

    def forward(self, logits, target):
        logp = F.log_softmax(logits, dim=1).gather(1, target[:, None]).squeeze(1)
        return -(self.alpha[target] * (1 - logp.exp()) ** self.gamma * logp).mean()
