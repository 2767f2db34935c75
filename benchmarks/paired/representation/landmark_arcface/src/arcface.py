import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class DenseCrossEntropy(nn.Module):
    def forward(self, x, target):
        x = x.float()
        target = target.float()
        logprobs = F.log_softmax(x, dim=-1)
        loss = -logprobs * target
        return loss.sum(-1).mean()


class ArcFaceLossAdaptiveMargin(nn.modules.Module):
    """rare classes get a larger margin; `margins` is one number per class"""

    def __init__(self, margins, s=30.0):
        super().__init__()
        self.crit = DenseCrossEntropy()
        self.s = s
        self.margins = margins

    def _column(self, values, device):
        return torch.from_numpy(values).float().view(-1, 1).to(device)

    def forward(self, logits, labels, out_dim):
        ms = self.margins[labels.cpu().numpy()]
        cos_m = self._column(np.cos(ms), logits.device)
        sin_m = self._column(np.sin(ms), logits.device)
        th = self._column(np.cos(np.pi - ms), logits.device)
        mm = self._column(np.sin(np.pi - ms) * ms, logits.device)
        labels = F.one_hot(labels, out_dim).float()
        cosine = logits.float()
        sine = torch.sqrt((1.0 - torch.pow(cosine, 2)).clamp(min=1e-6))
        phi = cosine * cos_m - sine * sin_m
        phi = torch.where(cosine > th, phi, cosine - mm)
        output = (labels * phi) + ((1.0 - labels) * cosine)
        output *= self.s
        return self.crit(output, labels)


def margins_from_counts(counts, low=0.05, high=0.45):
    tmp = np.sqrt(1 / np.sqrt(counts))
    return (tmp - tmp.min()) / (tmp.max() - tmp.min()) * (high - low) + low
