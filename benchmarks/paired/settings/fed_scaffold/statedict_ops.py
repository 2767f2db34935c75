"""Arithmetic on {name: tensor} dictionaries."""
import torch


def zeros_like(named, device=None):
    return {k: torch.zeros_like(v, device=device) for k, v in named.items()}


def detach_clone(named, device=None):
    return {k: v.detach().clone().to(device or v.device) for k, v in named.items()}


def to(named, device):
    return {k: v.to(device) for k, v in named.items()}


def add_(dst, src, alpha=1.0):
    for k in dst:
        dst[k].add_(src[k], alpha=alpha)
    return dst


def sub(a, b):
    return {k: a[k] - b[k] for k in a}


def norm(named):
    return float(torch.sqrt(sum((v.double() ** 2).sum() for v in named.values())))
