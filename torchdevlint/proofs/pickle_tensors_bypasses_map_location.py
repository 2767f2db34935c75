"""TDL111: a pickle of a model on a GPU, opened where the GPU does not exist."""

import pickle

import torch
from torch import nn

from torchdevlint.proofs._checkpoints import saved_on

CODE = "TDL111"
SHAPES = ("cpu", "1")
EXPECT = r"Attempting to deserialize object on (a )?CUDA device"


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def fault() -> None:
    model = nn.Linear(2, 2).to(DEVICE)
    with saved_on("cuda:1"):
        data = pickle.dumps(model)
    pickle.loads(data)


def repair() -> str:
    model = nn.Linear(2, 2).to(DEVICE)
    with saved_on("cuda:1"):
        torch.save(model.state_dict(), "model.pt")
    return f"read onto {torch.load('model.pt', map_location='cpu')['weight'].device}"
