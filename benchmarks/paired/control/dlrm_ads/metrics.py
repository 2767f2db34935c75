import numpy as np


def roc_auc(labels, scores):
    labels, scores = np.asarray(labels), np.asarray(scores)
    order = scores.argsort()
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = labels > 0.5
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / max(1, n_pos * n_neg)


def normalized_entropy(labels, probs, eps=1e-7):
    labels, probs = np.asarray(labels), np.clip(probs, eps, 1 - eps)
    ce = -(labels * np.log(probs) + (1 - labels) * np.log(1 - probs)).mean()
    p = labels.mean()
    return ce / -(p * np.log(p) + (1 - p) * np.log(1 - p))
