import torch
from torch import Tensor


def to_corners(boxes: Tensor) -> Tensor:
    return torch.cat([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], dim=1)


def iou_matrix(a: Tensor, b: Tensor) -> Tensor:
    lt = torch.maximum(a[:, None, :2], b[None, :, :2])
    rb = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = (rb - lt).clamp(min=0).prod(-1)
    area_a = (a[:, 2:] - a[:, :2]).prod(-1)
    area_b = (b[:, 2:] - b[:, :2]).prod(-1)
    return inter / (area_a[:, None] + area_b[None] - inter + 1e-9)


def match(gt: Tensor, labels: Tensor, anchors: Tensor, threshold: float):
    """Assign a ground truth box (corner form) and class to every anchor; 0 is background."""
    iou = iou_matrix(gt, to_corners(anchors))
    best_gt_iou, best_gt = iou.max(dim=0)
    best_anchor = iou.argmax(dim=1)
    best_gt_iou[best_anchor] = 2.0
    best_gt[best_anchor] = torch.arange(gt.size(0), device=gt.device)
    classes = labels[best_gt] + 1
    classes[best_gt_iou < threshold] = 0
    return encode(gt[best_gt], anchors), classes


def encode(matched: Tensor, anchors: Tensor, variances=(0.1, 0.2)) -> Tensor:
    centre = (matched[:, :2] + matched[:, 2:]) / 2 - anchors[:, :2]
    centre = centre / (variances[0] * anchors[:, 2:])
    wh = (matched[:, 2:] - matched[:, :2]) / anchors[:, 2:]
    return torch.cat([centre, wh.clamp(min=1e-6).log() / variances[1]], dim=1)


def decode(loc: Tensor, anchors: Tensor, variances=(0.1, 0.2)) -> Tensor:
    boxes = torch.cat([
        anchors[:, :2] + loc[:, :2] * variances[0] * anchors[:, 2:],
        anchors[:, 2:] * torch.exp(loc[:, 2:] * variances[1]),
    ], dim=1)
    return to_corners(boxes)
