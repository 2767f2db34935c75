import torch
import torch.nn.functional as F

_GRIDS = {}


def pixel_grid(ref):
    """(1, 2, H, W) pixel coordinates for a map like ref. Asked for at each level of each step."""
    h, w = ref.shape[-2:]
    key = (h, w, ref.device, ref.dtype)
    if key not in _GRIDS:
        ys = torch.arange(h, device=ref.device, dtype=ref.dtype)
        xs = torch.arange(w, device=ref.device, dtype=ref.dtype)
        yy, xx = torch.meshgrid(ys, xs, indexing="ij")
        _GRIDS[key] = torch.stack([xx, yy])[None]
    return _GRIDS[key]


def warp(img, flow):
    """Backward warp of img by flow in pixels."""
    h, w = img.shape[-2:]
    pos = pixel_grid(flow) + flow
    x = 2 * pos[:, 0] / max(w - 1, 1) - 1
    y = 2 * pos[:, 1] / max(h - 1, 1) - 1
    return F.grid_sample(img, torch.stack([x, y], -1), align_corners=True, padding_mode="border")


def upsample2(flow):
    return 2 * F.interpolate(flow, scale_factor=2, mode="bilinear", align_corners=False)
