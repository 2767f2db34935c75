"""TDL302: a weight made at the call of a functional loss."""

import torch
import torch.nn.functional as F

CODE = "TDL302"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> str:
    logits, target = torch.zeros(4, 2, device="cuda"), torch.zeros(4, dtype=torch.long, device="cuda")
    return f"loss {F.cross_entropy(logits, target, weight=torch.tensor([1.0, 3.0])).item():.2f}"


def repair() -> str:
    logits, target = torch.zeros(4, 2, device="cuda"), torch.zeros(4, dtype=torch.long, device="cuda")
    return f"loss {F.cross_entropy(logits, target, weight=torch.tensor([1.0, 3.0], device=logits.device)).item():.2f}"
