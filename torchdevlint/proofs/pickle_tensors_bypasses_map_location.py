"""TDL111: a pickle of a GPU tensor, opened where the GPU does not exist."""

import pickle

import torch

from torchdevlint.proofs._checkpoints import saved_on

CODE = "TDL111"
SHAPES = ("cpu", "1")
EXPECT = r"Attempting to deserialize object on (a )?CUDA device"


def fault() -> None:
    with saved_on("cuda:1"):
        data = pickle.dumps(torch.ones(2))
    pickle.loads(data)


def repair() -> str:
    with saved_on("cuda:1"):
        torch.save(torch.ones(2), "tensor.pt")
    return f"read onto {torch.load('tensor.pt', map_location='cpu').device}"
