import os

import torch


class RewindPoint:
    """Weights of an early training step, kept on disk between the rounds."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "rewind.pth")
        self.taken = False

    def take(self, model):
        torch.save({k: v.detach().cpu().clone() for k, v in model.state_dict().items()}, self.path)
        self.taken = True

    def restore(self, model):
        if not self.taken:
            raise RuntimeError("no rewind point")
        model.load_state_dict(torch.load(self.path, map_location="cpu"))
