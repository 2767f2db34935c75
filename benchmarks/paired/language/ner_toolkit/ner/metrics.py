from typing import Dict, List

import torch

from .dataset import IGNORE


class TagConfusion:
    """Confusion counts (rows: gold, columns: predicted) collected over batches."""

    def __init__(self, labels: List[str]):
        self.labels = labels
        self.counts = torch.zeros(len(labels) ** 2, dtype=torch.long)

    def reset(self) -> None:
        self.counts.zero_()

    def update(self, logits: torch.Tensor, gold: torch.Tensor) -> None:
        keep = gold != IGNORE
        pred = logits.argmax(dim=-1)[keep]
        cells = gold[keep] * len(self.labels) + pred
        self.counts = self.counts.to(cells.device)
        self.counts.index_add_(0, cells, torch.ones_like(cells))

    def scores(self) -> Dict[str, float]:
        matrix = self.counts.view(len(self.labels), -1).float()
        tp = matrix.diagonal()
        precision = tp / matrix.sum(0).clamp(min=1)
        recall = tp / matrix.sum(1).clamp(min=1)
        f1 = 2 * precision * recall / (precision + recall).clamp(min=1e-8)
        result = {name: f1[i].item() for i, name in enumerate(self.labels)}
        # the O class does not count
        result["macro"] = f1[1:].mean().item()
        return result
