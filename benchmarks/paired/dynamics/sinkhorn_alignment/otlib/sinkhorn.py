import torch

from .weights import log_weights_like


def softmin(eps, cost, h):
    return -eps * torch.logsumexp(h.unsqueeze(0) - cost / eps, dim=1)


def sinkhorn_log(x, y, cost_fn, eps=0.1, iters=20, tol=1e-4):
    """Dual potentials of entropic OT between two uniform point clouds.

    The potentials are found without gradients, one last differentiable
    update gives the correct gradient (envelope theorem).
    """
    log_a, log_b = log_weights_like(x), log_weights_like(y)
    with torch.no_grad():
        c = cost_fn(x, y)
        f, g = torch.zeros_like(c[:, 0]), torch.zeros_like(c[0])
        for _ in range(iters):
            prev = f
            f = softmin(eps, c, log_b + g / eps)
            g = softmin(eps, c.T, log_a + f / eps)
            if (f - prev).abs().max().item() < tol:
                break
    f_last = softmin(eps, cost_fn(x, y.detach()), log_b + g / eps)
    g_last = softmin(eps, cost_fn(y, x.detach()), log_a + f / eps)
    return f_last, g_last


def transport_value(f, g):
    return (log_weights_like(f).exp() * f).sum() + (log_weights_like(g).exp() * g).sum()
