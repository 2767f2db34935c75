"""TDL113: a snapshot through `.cpu()` that goes on training, on a machine without GPU."""

import torch
from torch import nn

CODE = "TDL113"
SHAPES = ("cpu", "hidden")
EXPECT = r"the best weights come back: False"


def fault() -> str:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weight = model.weight.detach().clone()
    best = {key: value.cpu() for key, value in model.state_dict().items()}
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    model.load_state_dict(best)
    return f"the best weights come back: {torch.equal(weight, model.weight)}"


def repair() -> str:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weight = model.weight.detach().clone()
    best = {key: value.detach().cpu().clone() for key, value in model.state_dict().items()}
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    model.load_state_dict(best)
    return f"the best weights come back: {torch.equal(weight, model.weight)}"
