import logging
import sys

import torch


def to_device(obj, device):
    """Moves a batch to the given device."""
    if torch.is_tensor(obj):
        return obj.to(device, non_blocking=True)
    if isinstance(obj, dict):
        return {k: to_device(v, device) for k, v in obj.items()}
    if isinstance(obj, (list, tuple)) and len(obj) and torch.is_tensor(obj[0]):
        return type(obj)(to_device(v, device) for v in obj)
    return obj


class RunningMean(object):
    def __init__(self):
        self.total, self.n = 0.0, 0

    def __call__(self, value, n=1):
        self.total += float(value) * n
        self.n += n

    @property
    def value(self):
        return self.total / max(self.n, 1)


def get_logger(name):
    logger = logging.getLogger(name)
    logger.addHandler(logging.StreamHandler(sys.stdout))
    logger.setLevel(logging.INFO)
    return logger
