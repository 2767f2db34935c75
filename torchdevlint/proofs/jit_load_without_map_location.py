"""TDL106: a TorchScript archive that was saved on a GPU, read by a build without CUDA."""

import torch
from torch import nn

from torchdevlint.proofs._checkpoints import archive_from

CODE = "TDL106"
SHAPES = ("cpu",)
EXPECT = r"Could not run 'aten::empty_strided' with arguments from the 'CUDA' backend"


def fault() -> None:
    archive_from("cuda:1", nn.Linear(2, 2), "model.pt")
    torch.jit.load("model.pt")


def repair() -> str:
    archive_from("cuda:1", nn.Linear(2, 2), "model.pt")
    module = torch.jit.load("model.pt", map_location="cpu")
    return f"read onto {next(module.parameters()).device}"
