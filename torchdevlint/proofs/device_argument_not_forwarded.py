"""TDL517: a function that could be told the device, and is not."""

import torch

CODE = "TDL517"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def mask(size: int, device: str = "cpu") -> torch.Tensor:
    return torch.ones(size, device=device)


def masked(x: torch.Tensor, device: str) -> torch.Tensor:
    return x.to(device) * mask(3)


def masked_on_device(x: torch.Tensor, device: str) -> torch.Tensor:
    return x.to(device) * mask(3, device=device)


def fault() -> None:
    masked(torch.ones(3), "cuda")


def repair() -> str:
    return f"the product is on {masked_on_device(torch.ones(3), 'cuda').device}"
