import numpy as np
import torch
import torch.nn.functional as F


def ece(probs, labels, n_bins=8):
    conf, pred = probs.max(1)
    hit = pred.eq(labels).float()
    edges = torch.linspace(0, 1, n_bins + 1)
    which = torch.bucketize(conf, edges[1:-1])
    err = 0.0
    for b in which.unique():
        sel = which == b
        err += sel.float().mean().item() * abs(hit[sel].mean().item() - conf[sel].mean().item())
    return err


def fit_temperature(logits, labels, max_iter=20):
    """logits (S, N, C) and labels (N,), collected over the calibration set."""
    log_t = torch.zeros((), requires_grad=True)
    opt = torch.optim.LBFGS([log_t], lr=0.1, max_iter=max_iter)

    def closure():
        opt.zero_grad()
        mean = (logits / log_t.exp()).softmax(-1).mean(0)
        loss = F.nll_loss(mean.clamp_min(1e-8).log(), labels)
        loss.backward()
        return loss

    opt.step(closure)
    return log_t.detach().exp()


def retention_curve(probs, labels, uncertainty, fractions=(0.5, 0.75, 1.0)):
    order = np.argsort(np.asarray(uncertainty))
    hit = (probs.argmax(1) == labels).numpy()[order]
    return {f: float(hit[: max(1, int(len(hit) * f))].mean()) for f in fractions}
