"""Small helpers for dictionaries of tensors."""
import torch


def tree_to(tree, device):
    return {k: v.to(device) for k, v in tree.items()}


def tree_map(fn, *trees):
    return {k: fn(*(t[k] for t in trees)) for k in trees[0]}


def tree_norm(tree):
    return torch.sqrt(sum((v.double() ** 2).sum() for v in tree.values())).item()


def zeros_for(model):
    return {k: torch.zeros_like(p) for k, p in model.named_parameters()}


def snapshot(model):
    return {k: v.detach().clone() for k, v in model.state_dict().items()}
