from typing import NamedTuple

import torch
import torch.nn.functional as F

from tap import LayerTap


class Grounding(NamedTuple):
    heatmap: torch.Tensor
    box: tuple
    score: float


def relevance(activation, gradient):
    """Grad-CAM: channels weighted with their mean gradient."""
    weights = gradient.mean(dim=(2, 3), keepdim=True)
    return F.relu((weights * activation).sum(dim=1))


def normalise(maps):
    flat = maps.flatten(1)
    low, high = flat.min(1).values, flat.max(1).values
    return (maps - low[:, None, None]) / (high - low).clamp_min(1e-6)[:, None, None]


def box_of(heatmap, threshold=0.5):
    rows, cols = torch.nonzero(heatmap >= threshold, as_tuple=True)
    if len(rows) == 0:
        return (0, 0, 0, 0)
    return (int(cols.min()), int(rows.min()), int(cols.max()) + 1, int(rows.max()) + 1)


def iou(a, b):
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    inter = max(w, 0) * max(h, 0)
    area = lambda r: (r[2] - r[0]) * (r[3] - r[1])
    return inter / max(area(a) + area(b) - inter, 1e-6)


def ground(model, images, tokens, size):
    """Yield a Grounding for every pair of an image and a phrase."""
    with LayerTap(model.vision.last_conv) as tap:
        scores = model(images, tokens)
        scores.sum().backward()
        maps = relevance(tap.activation, tap.gradient)
    model.zero_grad(set_to_none=True)
    maps = F.interpolate(maps[:, None], size=size, mode="bilinear", align_corners=False)[:, 0]
    for heatmap, score in zip(normalise(maps).cpu(), scores.tolist()):
        yield Grounding(heatmap, box_of(heatmap), score)
