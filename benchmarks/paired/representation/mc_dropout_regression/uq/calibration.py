import numpy as np
from scipy.stats import norm


def interval_coverage(y, pred, levels=(0.5, 0.8, 0.95)):
    """Share of targets inside the central predictive interval, for each level."""
    std = np.sqrt(pred.total)
    z = np.abs(y - pred.mean) / std
    return {level: float((z <= norm.ppf(0.5 + level / 2)).mean()) for level in levels}


def rmse(y, pred):
    return float(np.sqrt(((y - pred.mean) ** 2).mean()))
