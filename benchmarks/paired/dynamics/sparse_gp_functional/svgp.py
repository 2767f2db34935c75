import math

import torch
import torch.nn.functional as F


def init_params(x, num_inducing):
    """Inducing inputs are a random subset of the data, q(u) starts at the prior."""
    pick = torch.randperm(len(x))[:num_inducing]
    params = {
        "kernel": {"log_scale": torch.zeros(x.size(1)), "log_amp": torch.zeros(())},
        "q": {"z": x[pick].clone(), "mean": torch.zeros(num_inducing), "raw_chol": torch.eye(num_inducing) * 0.5},
        "log_noise": torch.tensor(-1.0),
    }
    for group in (params["kernel"], params["q"]):
        for p in group.values():
            p.requires_grad_()
    params["log_noise"].requires_grad_()
    return params


def rbf(kernel, a, b):
    scale = kernel["log_scale"].exp()
    d2 = torch.cdist(a / scale, b / scale).pow(2)
    return (2 * kernel["log_amp"]).exp() * torch.exp(-0.5 * d2)


def whitened_posterior(params, x, jitter=1e-4):
    kern, q = params["kernel"], params["q"]
    kzz = rbf(kern, q["z"], q["z"]) + jitter * torch.eye(len(q["z"]), device=x.device)
    proj = torch.linalg.solve_triangular(torch.linalg.cholesky(kzz), rbf(kern, q["z"], x), upper=False)
    chol = q["raw_chol"].tril()
    mean = proj.T @ q["mean"]
    var = (2 * kern["log_amp"]).exp() - proj.pow(2).sum(0) + (chol.T @ proj).pow(2).sum(0)
    return mean, var.clamp(min=1e-6)


def kl_to_prior(q):
    chol = q["raw_chol"].tril()
    logdet = chol.diagonal().abs().clamp(min=1e-6).log().sum()
    return 0.5 * (chol.pow(2).sum() + q["mean"].pow(2).sum() - len(q["mean"])) - logdet


def negative_elbo(params, x, y, total):
    mean, var = whitened_posterior(params, x)
    noise = (2 * params["log_noise"]).exp()
    ll = -0.5 * ((y - mean).pow(2) + var) / noise - params["log_noise"] - 0.5 * math.log(2 * math.pi)
    return -(ll.mean() - kl_to_prior(params["q"]) / total)


@torch.no_grad()
def predict(params, x):
    mean, var = whitened_posterior(params, x)
    return mean, (var + (2 * params["log_noise"]).exp()).sqrt()
