"""Run a function on the host although its tensors live elsewhere."""
import functools

import torch
from torch.utils._pytree import tree_leaves, tree_map


def _device_of(tree):
    for leaf in tree_leaves(tree):
        if isinstance(leaf, torch.Tensor):
            return leaf.device
    return torch.device("cpu")


def _send(tree, device):
    return tree_map(lambda x: x.to(device) if isinstance(x, torch.Tensor) else x, tree)


def on_host(fn):
    """Decorator: the body sees CPU tensors, the caller keeps its own device."""

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        home = _device_of((args, kwargs))
        args, kwargs = _send((args, kwargs), "cpu")
        return _send(fn(*args, **kwargs), home)

    return wrapper
