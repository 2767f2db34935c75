import torch


class Tracker:
    """Per-class counts on the device; only summary() waits for it."""

    def __init__(self, classes, device):
        self.right = torch.zeros(classes, device=device)
        self.seen = torch.zeros(classes, device=device)
        self.batches = 0

    def add(self, logits, labels):
        hit = (logits.argmax(1) == labels).float()
        self.right.index_add_(0, labels, hit)
        self.seen.index_add_(0, labels, torch.ones_like(hit))
        self.batches += 1

    def summary(self):
        recall = (self.right / self.seen.clamp(min=1)).cpu()
        return {"batches": self.batches, "rows": int(self.seen.sum()),
                "recall": [round(r, 3) for r in recall.tolist()]}
