from contextlib import contextmanager

import torch


@contextmanager
def building_on(device, seed=None):
    """Modules made in this block get their weights on `device` straight away."""
    if seed is not None:
        torch.manual_seed(seed)
    with torch.device(device):
        yield torch.device(device)
