"""TDL201: Adagrad makes its state when it is built, and the move leaves that state behind."""

import torch
from torch import nn

CODE = "TDL201"
SHAPES = ("1",)
EXPECT = r"same device"


def step(model: nn.Module, optimizer: torch.optim.Optimizer) -> str:
    before = model.weight.detach().clone()
    model(torch.ones(1, 2, device=model.weight.device)).sum().backward()
    optimizer.step()
    return f"the step trains the model: {not torch.equal(before, model.weight)}"


def fault() -> str:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    model.to("cuda")
    return step(model, optimizer)


def repair() -> str:
    model = nn.Linear(2, 2)
    model.to("cuda")
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    return step(model, optimizer)
