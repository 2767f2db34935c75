"""TDL113: a snapshot through `.cpu()` that goes on training, on a machine without GPU."""

import torch
from torch import nn

CODE = "TDL113"
SHAPES = ("cpu", "hidden")
EXPECT = r"the snapshot follows the training: True"


def train(model: nn.Module) -> None:
    with torch.no_grad():
        model.weight.add_(1)


def fault() -> str:
    model = nn.Linear(2, 2)
    best = {key: value.cpu() for key, value in model.state_dict().items()}
    train(model)
    return f"the snapshot follows the training: {torch.equal(best['weight'], model.weight)}"


def repair() -> str:
    model = nn.Linear(2, 2)
    best = {key: value.detach().cpu().clone() for key, value in model.state_dict().items()}
    train(model)
    return f"the snapshot follows the training: {torch.equal(best['weight'], model.weight)}"
