"""TDL518: of the two tensors of a batch, one is moved."""

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CODE = "TDL518"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


SAMPLES = TensorDataset(torch.ones(4, 3), torch.zeros(4, 3))


def fault() -> None:
    for x, y in DataLoader(SAMPLES, batch_size=2):
        x = x.to("cuda")
        F.mse_loss(x, y)


def repair() -> str:
    losses = []
    for x, y in DataLoader(SAMPLES, batch_size=2):
        x, y = x.to("cuda"), y.to("cuda")
        losses.append(F.mse_loss(x, y).item())
    return f"losses {losses}"
