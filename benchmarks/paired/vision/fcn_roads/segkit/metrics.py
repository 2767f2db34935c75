from __future__ import annotations

import torch
from torch import Tensor


class ConfusionMeter:
    """Streaming confusion matrix for semantic segmentation."""

    def __init__(self, num_classes: int, ignore_index: int = 255, device: torch.device | str = "cpu") -> None:
        self.num_classes = num_classes
        self.ignore_index = ignore_index
        self.device = torch.device(device)
        self.reset()

    def reset(self) -> None:
        n = self.num_classes
        self.matrix = torch.zeros(n, n, dtype=torch.int64, device=self.device)

    def update(self, pred: Tensor, target: Tensor) -> None:
        keep = target != self.ignore_index
        idx = target[keep] * self.num_classes + pred[keep]
        self.matrix += torch.bincount(idx, minlength=self.num_classes ** 2).view(self.num_classes, -1)

    def compute(self) -> dict[str, float]:
        m = self.matrix.double()
        tp = m.diag()
        union = m.sum(0) + m.sum(1) - tp
        iou = tp / union.clamp(min=1)
        return {
            "pixel_acc": (tp.sum() / m.sum().clamp(min=1)).item(),
            "miou": iou.mean().item(),
        }


class AverageMeter:
    def __init__(self) -> None:
        self.total, self.count = 0.0, 0

    def update(self, value: float, n: int = 1) -> None:
        self.total += value * n
        self.count += n

    @property
    def avg(self) -> float:
        return self.total / max(self.count, 1)
