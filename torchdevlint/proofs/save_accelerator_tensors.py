"""TDL110: a checkpoint that names the GPU it was written on, so that every reader must map it."""

import zipfile

import torch
from torch import nn

CODE = "TDL110"
SHAPES = ("1",)
EXPECT = r"the file names: cuda:0"


def locations() -> str:
    with zipfile.ZipFile("model.pt") as archive:
        pickled = archive.read("model/data.pkl")
    named = [name for name in ("cuda:0", "cpu") if name.encode() in pickled]
    return f"the file names: {', '.join(named)}"


def fault() -> str:
    model = nn.Linear(2, 2).to("cuda")
    torch.save(model.state_dict(), "model.pt")
    return locations()


def repair() -> str:
    model = nn.Linear(2, 2).to("cuda")
    torch.save({key: value.cpu() for key, value in model.state_dict().items()}, "model.pt")
    return locations()
