import os

import torch


def save_checkpoint(path, **parts):
    tmp = path + ".tmp"
    torch.save(parts, tmp)
    os.replace(tmp, path)


def load_checkpoint(path):
    # big checkpoints: never double the GPU memory while resuming
    return torch.load(path, map_location="cpu")
