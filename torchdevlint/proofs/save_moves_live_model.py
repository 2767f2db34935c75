"""TDL109: saving through `.cpu()` leaves the model that is still training on the CPU."""

import torch
from torch import nn

CODE = "TDL109"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> str:
    model = nn.Linear(2, 2).to("cuda")
    batch = torch.ones(1, 2, device="cuda")
    torch.save(model.cpu().state_dict(), "model.pt")
    return f"the next step runs on {model(batch).device}"


def repair() -> str:
    model = nn.Linear(2, 2).to("cuda")
    batch = torch.ones(1, 2, device="cuda")
    state = model.state_dict()
    for key in state:
        state[key] = state[key].cpu()
    torch.save(state, "model.pt")
    return f"the next step runs on {model(batch).device}"
