"""TDL513: a CPU generator cannot draw numbers on the GPU."""

import torch

CODE = "TDL513"
SHAPES = ("1",)
EXPECT = r"Expected a 'cuda' device type for generator but found 'cpu'"


def fault() -> None:
    generator = torch.Generator()
    torch.randn(3, device="cuda", generator=generator)


def repair() -> str:
    generator = torch.Generator(device="cuda")
    return f"drawn on {torch.randn(3, device='cuda', generator=generator).device}"
