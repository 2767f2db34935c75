import logging
import os

import torch

logger = logging.getLogger(__name__)


class LogitCache:
    """Half precision table of teacher logits, one row per training sample.

    The table is memory mapped from disk when it is reopened, so it can be
    larger than what fits next to the student.
    """

    def __init__(self, num_samples, num_classes, dtype=torch.float16):
        self.table = torch.zeros(num_samples, num_classes, dtype=dtype)
        self.filled = torch.zeros(num_samples, dtype=torch.bool)

    @torch.no_grad()
    def fill(self, teacher, loader, device):
        teacher.to(device).eval()
        for batch in loader:
            rows = batch["index"]
            logits = teacher(batch["input"].to(device))
            self.table[rows] = logits.cpu().to(self.table.dtype)
            self.filled[rows] = True
        teacher.cpu()
        logger.info("cached logits for %d samples", int(self.filled.sum()))
        return self

    def fetch(self, rows, device=None):
        if not bool(self.filled[rows].all()):
            raise KeyError("some samples have no teacher logits")
        out = self.table[rows].float()
        return out if device is None else out.to(device, non_blocking=True)

    def agreement(self, targets):
        return (self.table.float().argmax(1) == targets).float().mean().item()

    def save(self, folder):
        path = os.path.join(folder, "teacher_logits.pt")
        torch.save({"table": self.table, "filled": self.filled}, path)
        return path

    @classmethod
    def open(cls, path):
        blob = torch.load(path, map_location="cpu", mmap=True)
        cache = cls.__new__(cls)
        cache.table, cache.filled = blob["table"], blob["filled"]
        return cache
