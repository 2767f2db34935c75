"""TDL202: the model moves after the optimizer has state: parameters follow, the state does not."""

import torch
from torch import nn

CODE = "TDL202"
SHAPES = ("1",)
EXPECT = r"same device"


def trained() -> tuple[nn.Module, dict[str, object]]:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return model, optimizer.state_dict()


def step(model: nn.Module, optimizer: torch.optim.Optimizer) -> str:
    model(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    return "the step works"


def fault() -> str:
    model, state = trained()
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.load_state_dict(state)
    model.to("cuda")
    return step(model, optimizer)


def repair() -> str:
    model, state = trained()
    optimizer = torch.optim.Adam(model.parameters())
    model.to("cuda")
    optimizer.load_state_dict(state)
    return step(model, optimizer)
