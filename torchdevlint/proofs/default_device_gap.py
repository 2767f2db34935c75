"""TDL516: the default device does not reach `torch.from_numpy`."""

import numpy as np
import torch

CODE = "TDL516"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> None:
    torch.set_default_device("cuda")
    x = torch.from_numpy(np.ones(3, dtype=np.float32))
    x + torch.ones(3)


def repair() -> str:
    torch.set_default_device("cuda")
    x = torch.from_numpy(np.ones(3, dtype=np.float32)).to("cuda")
    return f"the sum is on {(x + torch.ones(3)).device}"
