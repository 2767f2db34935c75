"""TDL525: a table that is made once from an array, which is changed afterwards."""

import numpy as np
import torch

CODE = "TDL525"
SHAPES = ("1",)
EXPECT = r"weights that were changed: 0 of 3"


def fault() -> str:
    trust = np.ones(3, dtype=np.float32)
    table = torch.from_numpy(trust).to("cuda")
    trust[:] = 0.5
    return f"weights that were changed: {int((table != 1).sum())} of 3"


def repair() -> str:
    trust = np.ones(3, dtype=np.float32)
    trust[:] = 0.5
    table = torch.from_numpy(trust).to("cuda")
    return f"weights that were changed: {int((table != 1).sum())} of 3"
