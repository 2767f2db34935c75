import torch
import torch.nn.functional as F


def masked_gaussian_nll(pred, target, mask, sigma=0.1):
    sq = ((pred - target) / sigma).pow(2).sum(-1) * 0.5
    return (sq * mask).sum(1) / mask.sum(1)


def kl_standard_normal(mean, logvar):
    return 0.5 * (logvar.exp() + mean.pow(2) - 1 - logvar).sum(-1)


def elbo(outputs, batch, beta, cls_weight):
    recon, logit, mean, logvar = outputs
    rec = masked_gaussian_nll(recon, batch.values, batch.mask).mean()
    kl = kl_standard_normal(mean, logvar).mean()
    ce = F.binary_cross_entropy_with_logits(logit, batch.outcome)
    return rec + beta * kl + cls_weight * ce, {"rec": rec.item(), "kl": kl.item(), "ce": ce.item()}
