import numpy as np
import torch
import torch.nn as nn
from scipy.optimize import linear_sum_assignment

from .registry import register


def pairwise_neg_si_sdr(est, ref, eps=1e-8):
    """[B, est, T], [B, ref, T] -> [B, est, ref]"""
    est = (est - est.mean(-1, keepdim=True)).unsqueeze(2)
    ref = (ref - ref.mean(-1, keepdim=True)).unsqueeze(1)
    dot = (est * ref).sum(-1, keepdim=True)
    proj = dot * ref / (ref.pow(2).sum(-1, keepdim=True) + eps)
    ratio = proj.pow(2).sum(-1) / ((est - proj).pow(2).sum(-1) + eps)
    return -10 * torch.log10(ratio + eps)


def hungarian(cost):
    """For every reference, the index of its estimate."""
    cost = cost.detach().cpu().numpy()
    rows = []
    for c in cost:
        est_idx, ref_idx = linear_sum_assignment(c)
        rows.append(est_idx[np.argsort(ref_idx)])
    return torch.from_numpy(np.stack(rows))


@register("loss", "pit_si_sdr")
class PITLoss(nn.Module):
    def __init__(self, activity_weight=0.0):
        super().__init__()
        self.activity_weight = activity_weight

    def forward(self, est, ref, return_perm=False):
        pairwise = pairwise_neg_si_sdr(est, ref)
        perm = hungarian(pairwise)
        index = perm.to(pairwise.device).unsqueeze(1)
        loss = pairwise.gather(1, index).mean()
        if self.activity_weight:
            silent = ref.abs().amax(-1) < 1e-4
            loss = loss + self.activity_weight * (est.pow(2).mean(-1) * silent).mean()
        return (loss, perm) if return_perm else loss


def reorder(est, perm):
    """est[b, perm[b]] for every item of the batch."""
    batch = torch.arange(len(perm)).unsqueeze(1)
    return est[batch, perm]
