"""Conversions between joint coordinates and heatmaps."""
import torch
import torch.nn.functional as F

_GRIDS = {}


def coord_grid(h, w, device):
    key = (h, w, str(device))
    if key not in _GRIDS:
        ys = torch.arange(h, dtype=torch.float32, device=device)
        xs = torch.arange(w, dtype=torch.float32, device=device)
        _GRIDS[key] = (ys.view(1, 1, h, 1), xs.view(1, 1, 1, w))
    return _GRIDS[key]


def draw_gaussians(joints, res, sigma=1.0):
    """joints (J, 2) in heatmap pixels -> (J, res, res)"""
    ys, xs = coord_grid(res, res, joints.device)
    x = joints[:, 0].view(1, -1, 1, 1)
    y = joints[:, 1].view(1, -1, 1, 1)
    return torch.exp(-((xs - x) ** 2 + (ys - y) ** 2) / (2 * sigma ** 2)).squeeze(0)


def soft_argmax(heatmaps, beta=10.0):
    """(B, J, H, W) -> (B, J, 2)"""
    b, j, h, w = heatmaps.shape
    prob = F.softmax(beta * heatmaps.reshape(b, j, -1), dim=2).view(b, j, h, w)
    ys, xs = coord_grid(h, w, heatmaps.device)
    x = (prob * xs).sum(dim=(2, 3))
    y = (prob * ys).sum(dim=(2, 3))
    return torch.stack([x, y], dim=2)


def hard_argmax(heatmaps):
    b, j, h, w = heatmaps.shape
    idx = heatmaps.reshape(b, j, -1).argmax(2)
    return torch.stack([idx % w, torch.div(idx, w, rounding_mode='floor')], dim=2).float()
