import random

import numpy as np
import torch

# host-side bookkeeping, only used for reporting
HOST_KEYS = {"counts"}


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def prepare(batch, device):
    return {
        k: v.to(device, non_blocking=True) if torch.is_tensor(v) and k not in HOST_KEYS else v
        for k, v in batch.items()
    }


def save_checkpoint(path, model, optimizer, epoch):
    state = {k: v.cpu() for k, v in model.state_dict().items()}
    torch.save({"model": state, "optim": optimizer.state_dict(), "epoch": epoch}, path)
