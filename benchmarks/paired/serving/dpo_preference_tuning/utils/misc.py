import logging
import random

import numpy as np
import torch


def set_seed(seed: int):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def get_logger(name="dpo"):
    logging.basicConfig(format="%(asctime)s %(name)s %(message)s", level=logging.INFO, datefmt="%H:%M:%S")
    return logging.getLogger(name)


class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += float(value) * n
        self.count += n

    @property
    def value(self):
        return self.total / max(self.count, 1)
