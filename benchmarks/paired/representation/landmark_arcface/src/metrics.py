import numpy as np


def accuracy_at_1(preds, targets):
    return float((np.asarray(preds) == np.asarray(targets)).mean())


def global_average_precision(targets, predictions, confs):
    """GAP / micro AP@1 as in the Google Landmark Recognition competition."""
    order = np.argsort(confs)[::-1]
    correct, gap = 0, 0.0
    for i, k in enumerate(order):
        rel = int(predictions[k] == targets[k])
        correct += rel
        gap += correct / (i + 1) * rel
    return gap / len(targets)
