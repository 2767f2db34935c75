"""TDL102: a load that names a GPU, on machines that have none."""

import torch

CODE = "TDL102"
SHAPES = ("cpu", "no-driver", "hidden")
EXPECT = r"Attempting to deserialize object on (a )?CUDA device|not compiled with CUDA|NVIDIA driver|No CUDA GPUs"


def fault() -> None:
    torch.save({"weight": torch.ones(2)}, "model.pt")
    torch.load("model.pt", map_location="cuda")


def repair() -> str:
    torch.save({"weight": torch.ones(2)}, "model.pt")
    return f"read onto {torch.load('model.pt', map_location='cpu')['weight'].device}"
