"""What is trained and evaluated; the engine knows nothing about it."""
import functools

import torch
from torch import nn
import torch.nn.functional as F


def host_outputs(step):
    """Evaluation outputs are kept for a whole epoch, so they live in host memory."""

    @functools.wraps(step)
    def wrapper(self, batch):
        return {k: v.detach().cpu() for k, v in step(self, batch).items()}

    return wrapper


class SequenceTask(nn.Module):
    """Base class: one label per sequence, cross entropy."""

    label = "frame"

    def __init__(self, n_classes, width=32):
        super().__init__()
        self.n_classes = n_classes
        self.conv = nn.Conv1d(4, width, 9, stride=3, padding=3)
        self.mix = nn.Conv1d(width, width, 3, padding=1)
        self.head = nn.Linear(2 * width, n_classes)

    @property
    def device(self):
        return self.head.weight.device

    def encode(self, bases):
        x = F.one_hot(bases.to(self.device), 4).float().mT
        x = self.mix(self.conv(x).relu()).relu()
        return torch.cat([x.amax(-1), x.mean(-1)], dim=1)

    def forward(self, bases):
        return self.head(self.encode(bases))

    def training_step(self, batch):
        return F.cross_entropy(self(batch["bases"]), batch[self.label].to(self.device))

    @host_outputs
    def evaluation_step(self, batch):
        return {"scores": self(batch["bases"]), "label": batch[self.label]}


class FrameTask(SequenceTask):
    """Reading frames; averages over rotations by whole codons when evaluating."""

    def __init__(self, rotations=3, **kwargs):
        super().__init__(n_classes=3, **kwargs)
        self.rotations = rotations

    @host_outputs
    def evaluation_step(self, batch):
        bases = batch["bases"]
        views = [self(bases.roll(3 * k, dims=1)) for k in range(self.rotations)]
        scores = torch.stack(views).softmax(-1).mean(0)
        return {"scores": scores, "label": batch[self.label], "size": batch["size"]}
