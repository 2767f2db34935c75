"""TDL105: weights that lie on the GPU twice: in the model and in the loaded dictionary."""

import torch
from torch import nn

CODE = "TDL105"
SHAPES = ("1",)
EXPECT = r"copies of the weights on the GPU: 2"


def copies(model: nn.Module, state: dict[str, torch.Tensor]) -> str:
    weights = [model.weight, state["weight"]]
    return f"copies of the weights on the GPU: {sum(w.is_cuda for w in weights)}"


def fault() -> str:
    model = nn.Linear(2, 2).to("cuda")
    torch.save(nn.Linear(2, 2).state_dict(), "model.pt")
    state = torch.load("model.pt", map_location="cuda")
    model.load_state_dict(state)
    return copies(model, state)


def repair() -> str:
    model = nn.Linear(2, 2).to("cuda")
    torch.save(nn.Linear(2, 2).state_dict(), "model.pt")
    state = torch.load("model.pt", map_location="cpu")
    model.load_state_dict(state)
    return copies(model, state)
