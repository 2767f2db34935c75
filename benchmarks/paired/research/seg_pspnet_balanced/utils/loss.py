import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class BalancedCrossEntropy2d(nn.Module):
    """Cross entropy with median frequency balancing; frequencies are gathered while training."""

    def __init__(self, n_classes, ignore_index=255, max_weight=10.):
        super(BalancedCrossEntropy2d, self).__init__()
        self.n_classes = n_classes
        self.ignore_index = ignore_index
        self.max_weight = max_weight
        self.register_buffer('pixels', torch.ones(n_classes))

    def _gather(self, target):
        labels = target.data.cpu().numpy()
        hist = np.bincount(labels[labels != self.ignore_index], minlength=self.n_classes)
        pixels = self.pixels.cpu()
        pixels += torch.from_numpy(hist).float()
        self.pixels.copy_(pixels)

    def class_weights(self):
        freq = self.pixels / self.pixels.sum()
        return (freq.median() / freq).clamp(max=self.max_weight)

    def forward(self, pred, target):
        if self.training:
            self._gather(target)
        return F.cross_entropy(pred, target, weight=self.class_weights(), ignore_index=self.ignore_index)


class MultiLoss(nn.Module):
    def __init__(self, criterion, aux_weight=0.4):
        super(MultiLoss, self).__init__()
        self.criterion = criterion
        self.aux_weight = aux_weight

    def forward(self, outputs, target):
        out, aux = outputs
        loss = self.criterion(out, target)
        if aux is not None:
            loss = loss + self.aux_weight * F.cross_entropy(aux, target, ignore_index=self.criterion.ignore_index)
        return loss
