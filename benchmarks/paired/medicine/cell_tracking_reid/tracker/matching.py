import numpy as np
from scipy.optimize import linear_sum_assignment


def iou(a, b):
    lt = np.maximum(a[:, None, :2], b[None, :, :2])
    rb = np.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = np.prod(np.clip(rb - lt, 0, None), axis=2)
    area = lambda x: np.prod(x[:, 2:] - x[:, :2], axis=1)
    return inter / (area(a)[:, None] + area(b)[None] - inter)


def assign(cost, limit):
    """Hungarian matching. Returns pairs, unmatched rows, unmatched columns."""
    cost = np.asarray(cost, dtype=np.float64)
    if cost.size == 0:
        return [], list(range(cost.shape[0])), list(range(cost.shape[1]))
    rows, cols = linear_sum_assignment(np.minimum(cost, limit + 1e-3))
    pairs = [(r, c) for r, c in zip(rows.tolist(), cols.tolist()) if cost[r, c] <= limit]
    done_r, done_c = {r for r, _ in pairs}, {c for _, c in pairs}
    return (
        pairs,
        [r for r in range(cost.shape[0]) if r not in done_r],
        [c for c in range(cost.shape[1]) if c not in done_c],
    )
