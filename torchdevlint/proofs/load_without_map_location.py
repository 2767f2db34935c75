"""TDL101: a checkpoint saved on the second GPU, read where there is none such."""

import torch

from torchdevlint.proofs._checkpoints import checkpoint_from

CODE = "TDL101"
SHAPES = ("cpu", "no-driver", "hidden", "1")
EXPECT = r"Attempting to deserialize object on (a )?CUDA device"


def fault() -> None:
    checkpoint_from("cuda:1", {"weight": torch.ones(2)}, "model.pt")
    torch.load("model.pt")


def repair() -> str:
    checkpoint_from("cuda:1", {"weight": torch.ones(2)}, "model.pt")
    return f"read onto {torch.load('model.pt', map_location='cpu')['weight'].device}"
