import numpy as np
from scipy import ndimage


def dice(pred, label, eps=1e-6):
    inter = np.logical_and(pred, label).sum()
    return float((2 * inter + eps) / (pred.sum() + label.sum() + eps))


def lesion_recall(pred, label):
    lesions, n = ndimage.label(label)
    if n == 0:
        return 1.0
    hits = sum(bool(pred[lesions == i].any()) for i in range(1, n + 1))
    return hits / n
