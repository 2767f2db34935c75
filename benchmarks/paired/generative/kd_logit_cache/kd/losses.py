import torch.nn as nn
import torch.nn.functional as F

from .registry import LOSSES


@LOSSES.register("kd")
class KDLoss(nn.Module):
    def __init__(self, T=4.0, alpha=0.7):
        super().__init__()
        self.T, self.alpha = T, alpha

    def forward(self, student, soft, target):
        log_p, log_q = (F.log_softmax(v / self.T, dim=1) for v in (student, soft))
        kl = F.kl_div(log_p, log_q, reduction="batchmean", log_target=True) * self.T ** 2
        return self.alpha * kl + (1 - self.alpha) * F.cross_entropy(student, target)


@LOSSES.register("mse_logits")
class LogitMSE(nn.Module):
    def forward(self, student, soft, target):
        s = student - student.mean(1, keepdim=True)
        t = soft - soft.mean(1, keepdim=True)
        return F.mse_loss(s, t)
