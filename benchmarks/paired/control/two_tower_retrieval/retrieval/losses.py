import torch
import torch.nn as nn
import torch.nn.functional as F


class InBatchSoftmax(nn.Module):
    """Sampled softmax over the items of the batch with logQ correction."""

    def __init__(self, log_q: torch.Tensor, temperature: float = 0.1):
        super().__init__()
        self.register_buffer("log_q", log_q, persistent=False)
        self.temperature = temperature

    def forward(self, query: torch.Tensor, item: torch.Tensor, item_id: torch.Tensor) -> torch.Tensor:
        logits = query @ item.t() / self.temperature
        logits = logits - self.log_q[item_id]
        # the same item may occur twice in a batch, do not take it as a negative of itself
        same = item_id[:, None] == item_id[None, :]
        same.fill_diagonal_(False)
        logits = logits.masked_fill(same, torch.finfo(logits.dtype).min)
        target = torch.arange(len(query), device=query.device)
        return F.cross_entropy(logits, target)
