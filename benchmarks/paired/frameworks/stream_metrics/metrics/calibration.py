import torch

from .base import Metric


class ReliabilityBins(Metric):
    """Expected calibration error over equal-width confidence bins."""

    def __init__(self, num_classes: int, bins: int = 10, ignore_index: int = 255):
        super().__init__()
        self.bins = bins
        self.ignore_index = ignore_index
        for name in ("hits", "confidence", "count"):
            self.add_state(name, torch.zeros(bins))

    def update(self, logits, target):
        keep = target != self.ignore_index
        conf, pred = logits.softmax(dim=1).max(dim=1)
        conf, pred, target = conf[keep], pred[keep], target[keep]
        where = (conf * self.bins).long().clamp(max=self.bins - 1)
        self.hits.scatter_add_(0, where, (pred == target).to(self.hits.dtype))
        self.confidence.scatter_add_(0, where, conf)
        self.count.scatter_add_(0, where, torch.ones_like(conf))

    def compute(self):
        gap = (self.hits - self.confidence).abs().sum()
        return (gap / self.count.sum().clamp(min=1)).item()
