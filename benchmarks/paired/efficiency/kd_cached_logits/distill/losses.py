import torch.nn as nn
import torch.nn.functional as F


class SoftTargetLoss(nn.Module):
    def __init__(self, temperature, alpha):
        super().__init__()
        self.T = temperature
        self.alpha = alpha

    def forward(self, student_logits, teacher_logits, target):
        log_p = F.log_softmax(student_logits / self.T, dim=1)
        q = F.softmax(teacher_logits / self.T, dim=1)
        soft = F.kl_div(log_p, q, reduction="batchmean") * self.T ** 2
        hard = F.cross_entropy(student_logits, target)
        return self.alpha * soft + (1 - self.alpha) * hard, soft.detach(), hard.detach()
