"""TDL103: a rank given as map_location: an int is no location."""

import torch

from torchdevlint.proofs._checkpoints import checkpoint_from

CODE = "TDL103"
SHAPES = ("1",)
EXPECT = r"'int' object is not callable"


def fault() -> None:
    rank = 0
    checkpoint_from("cuda:0", {"weight": torch.ones(2)}, "model.pt")
    torch.load("model.pt", map_location=rank)


def repair() -> str:
    rank = 0
    checkpoint_from("cuda:0", {"weight": torch.ones(2)}, "model.pt")
    return f"read onto {torch.load('model.pt', map_location=f'cuda:{rank}')['weight'].device}"
