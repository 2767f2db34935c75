import torch

from .base import Metric


class ConfusionMetric(Metric):
    def __init__(self, num_classes: int, ignore_index: int = 255):
        super().__init__()
        self.num_classes = num_classes
        self.ignore_index = ignore_index
        self.add_state("matrix", torch.zeros(num_classes, num_classes, dtype=torch.long))

    def update(self, logits, target):
        keep = target != self.ignore_index
        pred = logits.argmax(dim=1)[keep]
        flat = target[keep] * self.num_classes + pred
        counts = torch.bincount(flat, minlength=self.num_classes ** 2)
        self.matrix += counts.view(self.num_classes, self.num_classes)


class PixelAccuracy(ConfusionMetric):
    def compute(self):
        total = self.matrix.sum().clamp(min=1)
        return (self.matrix.diag().sum() / total).item()


class MeanIoU(ConfusionMetric):
    def compute(self):
        m = self.matrix.cpu().double()
        inter = m.diag()
        union = m.sum(0) + m.sum(1) - inter
        present = union > 0
        return (inter[present] / union[present]).mean().item()
