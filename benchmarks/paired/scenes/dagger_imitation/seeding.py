import random

import numpy as np
import torch


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def make_generator(seed, device="cpu"):
    g = torch.Generator(device=device)
    g.manual_seed(seed)
    return g
