"""Sliding window inference with gaussian blending (same idea as nnU-Net / MONAI)."""
import itertools

import torch

_IMPORTANCE = {}


def importance_map(patch, device, sigma_scale=0.125):
    key = (tuple(patch), str(device), sigma_scale)
    if key not in _IMPORTANCE:
        grid = torch.ones(1, device=device)
        for p in patch:
            x = torch.arange(p, dtype=torch.float32, device=device) - (p - 1) / 2.0
            g = torch.exp(-0.5 * (x / (p * sigma_scale)) ** 2)
            grid = grid[..., None] * g
        grid = grid[0]
        _IMPORTANCE[key] = (grid / grid.max()).clamp_min(1e-3)
    return _IMPORTANCE[key]


def window_starts(size, patch, overlap):
    step = max(int(patch * (1 - overlap)), 1)
    starts = list(range(0, max(size - patch, 0) + 1, step))
    if starts[-1] != size - patch:
        starts.append(size - patch)
    return starts


@torch.no_grad()
def sliding_window(model, volume, patch, overlap=0.5, batch=4):
    """volume: (1, D, H, W) on the device of the model. Returns class probabilities."""
    weight = importance_map(patch, volume.device)
    shape = volume.shape[1:]
    probs = volume.new_zeros((model.num_classes, *shape))
    norm = volume.new_zeros(shape)

    corners = list(itertools.product(*[window_starts(s, p, overlap) for s, p in zip(shape, patch)]))
    for i in range(0, len(corners), batch):
        slices = [tuple(slice(c, c + p) for c, p in zip(corner, patch)) for corner in corners[i:i + batch]]
        x = torch.stack([volume[(slice(None), *s)] for s in slices])
        y = model(x).softmax(1)
        for s, out in zip(slices, y):
            probs[(slice(None), *s)] += out * weight
            norm[s] += weight
    return probs / norm
