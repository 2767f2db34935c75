"""TDL104: the second rank of a job reads the checkpoint onto the first rank's GPU."""

import torch

from torchdevlint.proofs._checkpoints import save_from

CODE = "TDL104"
SHAPES = ("2",)
EXPECT = r"rank 1 reads onto cuda:0"


RANK = 1


def fault() -> str:
    torch.cuda.set_device(RANK)
    save_from("cuda:0", {"weight": torch.ones(2)}, "model.pt")
    return f"rank {RANK} reads onto {torch.load('model.pt')['weight'].device}"


def repair() -> str:
    torch.cuda.set_device(RANK)
    save_from("cuda:0", {"weight": torch.ones(2)}, "model.pt")
    return f"rank {RANK} reads onto {torch.load('model.pt', map_location='cpu')['weight'].device}"
