"""Tiny helpers for nested dicts of tensors."""
import torch


def tree_map(fn, tree):
    if isinstance(tree, dict):
        return {k: tree_map(fn, v) for k, v in tree.items()}
    return fn(tree)


def tree_leaves(tree):
    if isinstance(tree, dict):
        for v in tree.values():
            yield from tree_leaves(v)
    else:
        yield tree


@torch.no_grad()
def place(tree, device):
    """The tree on `device`; leaves that were trainable stay trainable leaves."""
    return tree_map(lambda p: p.to(device).requires_grad_(p.requires_grad), tree)


def freeze(tree):
    return tree_map(lambda p: p.detach().cpu().clone(), tree)
